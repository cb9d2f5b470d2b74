"""Calls of `ammi.chain`: every function of tensors, and every method of chains, trees and MarkovBits."""

from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from ammi import MarkovBits, chain
from tests.torture.calls import Calls, call, calls

_FILLINGS = [0.0, 1.0, -3.0, float("nan"), float("inf"), 1e300]


def _filled(shape: list[int], filling: float | None) -> Tensor:
    if filling is None:
        n = torch.Size(shape).numel()
        return torch.linspace(-3, 3, max(n, 1), dtype=torch.float64)[:n].reshape(shape)
    return torch.full(shape, filling, dtype=torch.float64)


_fillings = st.none() | st.none() | st.sampled_from(_FILLINGS)
_batches = st.sampled_from([[], [], [1], [2], [3], [0], [2, 1], [1, 3]])
_lengths = st.sampled_from([1, 2, 3, 3, 3, 5])
tables = st.builds(
    lambda batch, m, order, filling: _filled([*batch, m, 2**order], filling),
    _batches, _lengths, st.integers(0, 3), _fillings,
)  # fmt: skip
odd = st.builds(_filled, st.lists(st.sampled_from([0, 1, 2, 3, 4, 8]), max_size=4), _fillings)
tensors = st.one_of(tables, tables, odd)
moments = st.builds(
    lambda m, more, filling: _filled([m, m, *more], filling),
    _lengths, st.sampled_from([[], [4], [2, 2], [3]]), _fillings,
)  # fmt: skip
bits = st.builds(lambda batch, m, filling: (_filled([*batch, m], filling) > 0).double(), _batches, _lengths, _fillings)
codes = st.one_of(bits, bits, odd.map(lambda z: (z > 0).double()))
known = codes.map(lambda z: z - (z.cumsum(-1) % 2 if z.ndim else 0)).map(lambda z: z.clamp(-1, 1))
widths = st.integers(-1, 9)
shapes = st.lists(st.integers(0, 3), max_size=2).map(torch.Size)
places = st.lists(st.integers(-2, 5), max_size=4)


def _of_chain(method: str, n_bits: int, order: int, table: Tensor, *arguments: Any) -> object:
    return getattr(chain.Chain(n_bits, order).read(table), method)(*arguments)


def _of_tree(method: str, parents: list[int], table: Tensor, *arguments: Any) -> object:
    return getattr(chain.Tree(len(parents), tuple(parents)).read(table), method)(*arguments)


def _of_bits(method: str, logits: Tensor, *arguments: Any) -> object:
    found = getattr(MarkovBits(logits), method)
    return found(*arguments) if callable(found) else found


def _cross_entropy_of_bits(logits: Tensor, other: Tensor) -> Tensor:
    return MarkovBits(logits).cross_entropy(MarkovBits(other))


def _cross_entropy_with_tree(parents: list[int], table: Tensor, n_bits: int, order: int, other: Tensor) -> object:
    tree, other_chain = chain.Tree(len(parents), tuple(parents)), chain.Chain(n_bits, order)
    p, q = tree.read(table), other_chain.read(other)
    return p.cross_entropy(q), q.cross_entropy(p)


OF_DISTRIBUTIONS: dict[str, tuple[st.SearchStrategy, ...]] = {
    "windows": (widths,),
    "mean_windows": (widths,),
    "pairs": (places, places),
    "mean_pairs": (places, places),
    "mean_all_pairs": (),
    "mixture_entropy": (),
    "mode": (),
    "sample": (shapes,),
    "entropy": (),
    "marginals": (),
}
OF_BITS: dict[str, tuple[st.SearchStrategy, ...]] = {
    "log_prob": (codes,),
    "sample": (shapes,),
    "entropy": (),
    "mode": (),
    "mean": (),
    "variance": (),
    "marginals": (widths,),
    "condition": (known,),
    "enumerate_support": (),
    "expand": (shapes,),
}
_parents = st.lists(st.integers(-2, 4), min_size=1, max_size=5) | st.sampled_from(
    [[-1, 0, 1], [-1, 0, 0], [-1], [1, -1]]
)
_orders = st.integers(0, 3)


def _call_of(function: Any, method: str, *given: st.SearchStrategy) -> Any:
    return call(lambda *arguments: function(method, *arguments), *given)


OF_CHAINS: Calls = {
    **calls(
        "chain",
        {
            **dict.fromkeys(
                (chain.entropy, chain.viterbi, chain.order_of, chain.forward, chain.best_prior, chain.mixture_entropy),
                (tensors,),
            ),
            **dict.fromkeys((chain.chow_liu, chain.mutual_information, chain.pairs_of_moments), (moments | tensors,)),
            **dict.fromkeys(
                (chain.cross_entropy, chain.kl_divergence, chain.prior_cross_entropy, chain.windows_cross_entropy),
                (tensors, tensors),
            ),
            **dict.fromkeys((chain.with_order, chain.window_marginals, chain.mean_windows), (tensors, widths)),
            chain.log_prob: (tensors, codes),  # of values other than 0 and 1 MarkovBits speaks
            chain.condition: (tensors, known),
            chain.sample: (tensors, shapes),
            chain.pair_marginals: (tensors, places, places),
        },
    ),
    **{
        f"ChainDistributions.{name}": _call_of(_of_chain, name, _lengths, _orders, tensors, *given)
        for name, given in OF_DISTRIBUTIONS.items()
    },
    **{
        f"TreeDistributions.{name}": _call_of(_of_tree, name, _parents, tensors, *given)
        for name, given in {**OF_DISTRIBUTIONS, "log_prob": (codes,)}.items()
    },
    "TreeDistributions.cross_entropy": call(_cross_entropy_with_tree, _parents, tensors, _lengths, _orders, tensors),
    **{f"MarkovBits.{name}": _call_of(_of_bits, name, tensors, *given) for name, given in OF_BITS.items()},
    "MarkovBits.cross_entropy": call(_cross_entropy_of_bits, tensors, tensors),
}
