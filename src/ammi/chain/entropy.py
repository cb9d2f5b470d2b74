"""Entropy, cross entropy and divergence of chains, exactly, in nats; and the entropy of a mixture by brute force.

Everything but the brute force rests on one identity, for p of any order and q of order o':

    H(p, q) = - sum_i sum_w μ(w | i) log q(z_i | its o' bits before),   w = the o' + 1 bits ending at i,

with μ the window marginals of p (the paper's Algorithm CrossEntropy, where o' >= o; summing out older bits gives
the same windows where o' < o).
"""

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from ammi.chain.layout import bit_log_probs, bit_probs, order_of, same_bits, with_order
from ammi.chain.marginals import mean_windows, window_marginals

MAX_BRUTE_FORCE_BITS = 24


def windows_cross_entropy(windows: Tensor, q: Tensor) -> Tensor:
    """Return H(p, q) (...,) from the window marginals (..., m, 2**(o'+1)) of p and the logits (..., m, 2**o') of q.

    It is linear in the windows: for a q that no document changes, average them over documents first.
    """
    width = order_of(q) + 1
    same_bits(windows, q)
    if windows.shape[-1] != 2**width:
        raise ValueError(
            f"a prior of order {width - 1} needs windows of {width} bits, 2**{width} entries wide, got "
            f"{windows.shape[-1]} entries"
        )
    return -(windows * bit_log_probs(q).flatten(-2)).sum((-2, -1))


def cross_entropy(p: Tensor, q: Tensor) -> Tensor:
    """Return H(p, q) = -E_p[log q(z)] (...,), for chains of any two orders, in O(m 2^max(o, o'))."""
    return windows_cross_entropy(window_marginals(p, order_of(q) + 1), q)


def entropy(p: Tensor) -> Tensor:
    """Return H(p) (...,)."""
    return cross_entropy(p, p)


def kl_divergence(p: Tensor, q: Tensor) -> Tensor:
    """Return KL(p || q) = E_p[log p(z) - log q(z)] (...,), for chains of any two orders."""
    order = max(order_of(p), order_of(q))
    same_bits(p, q)
    log_ratio = bit_log_probs(with_order(p, order)) - bit_log_probs(with_order(q, order))
    return (window_marginals(p, order + 1) * log_ratio.flatten(-2)).sum((-2, -1))


def prior_cross_entropy(p: Tensor, q: Tensor) -> Tensor:
    """Return Ĥ⁺(Z), the mean over a batch p (B, m, 2**o) of H(p_l, q), for one prior q (m, 2**r) that all share.

    The windows are averaged before they meet the prior, so a step on q costs O(m 2^r) whatever the batch size.
    """
    return windows_cross_entropy(mean_windows(p, order_of(q) + 1), q)


def best_prior(windows: Tensor) -> Tensor:
    """Return the order-r chain q that minimises H⁺ for windows μ (..., m, 2**(r+1)): its logits (..., m, 2**r).

    q(z_i | context) = μ(context, z_i) / μ(context). A context that never occurs gets 1/2.
    """
    if order_of(windows) < 1:
        raise ValueError("windows must have at least 2 entries (a window of one bit), got 1")
    log_mass = windows.clamp_min(torch.finfo(windows.dtype).tiny).log().unflatten(-1, (-1, 2))
    return log_mass[..., 1] - log_mass[..., 0]


def mixture_entropy(logits: Tensor, *, codes_at_once: int = 2**20) -> Tensor:
    """Return Ĥ(Z) (the paper's equation 2), the entropy of the uniform mixture of a batch (B, m, 2**o), all 2^m codes.

    A code is a prefix and a suffix that sees only the prefix's last o bits, so that for each such context c the
    mixture's probabilities of all codes are one matrix product, A_c^T S_c / B, with A_c (B, prefixes ending in c)
    and S_c (B, suffixes). Blocks of `codes_at_once` are reduced one by one, and recomputed for the gradient, so
    memory stays bounded up to 24 bits.
    """
    check_mixture(logits)
    return entropy_of_halves(halves_of_codes(logits), logits.shape[1], codes_at_once)


def halves_of_codes(logits: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield for each context the probabilities of the prefixes that end in it (B, n), and of the suffixes (B, n')."""
    m = logits.shape[1]
    order = min(order_of(logits), m - 1)  # an earlier bit is 0: contexts of m bits or more never occur
    probs = bit_probs(logits[..., : 2**order])  # (B, m, 2**o, 2)
    split = max((m + 1) // 2, order)
    prefixes = _string_probs(probs[:, :split], 0).unflatten(-1, (-1, 2**order))  # (B, 2**(split-o), 2**o)
    return ((prefixes[..., c], _string_probs(probs[:, split:], c)) for c in range(2**order))


def check_mixture(logits: Tensor) -> torch.Size:
    """Return the shape of a batch of tables (B, m, K) whose mixture brute force can reach; others are refused."""
    if logits.ndim != 3:
        raise ValueError(f"a mixture needs logits of shape (B, m, 2**order), got {tuple(logits.shape)}")
    n_tables, m, _ = logits.shape
    if n_tables < 1:
        raise ValueError("a mixture needs at least one chain, got a batch of none")
    if m > MAX_BRUTE_FORCE_BITS:
        raise ValueError(f"brute force enumerates 2^m codes: at most {MAX_BRUTE_FORCE_BITS} bits, got {m}")
    return logits.shape


def entropy_of_halves(halves: Iterable[tuple[Tensor, Tensor]], m: int, codes_at_once: int = 2**20) -> Tensor:
    """Return the entropy () of a mixture over all 2^m codes, each of them a prefix and a suffix of one pair of halves.

    A pair is the probability of some prefixes (B, n) and that of the suffixes (B, n') that can follow all of these.
    """
    total = []
    for prefixes, suffixes in halves:
        for block in prefixes.split(max(1, codes_at_once // suffixes.shape[1]), dim=1):
            if 2**m > codes_at_once:
                total.append(checkpoint(_block_entropy, block, suffixes, use_reentrant=False))
            else:
                total.append(_block_entropy(block, suffixes))
    return torch.stack(total).sum()


def _string_probs(probs: Tensor, context: int) -> Tensor:
    """Return the probability of each n-bit string after a context: bits' probs (B, n, 2**o, 2) to (B, 2**n)."""
    n_chains, n, n_contexts, _ = probs.shape
    strings = probs.new_ones(n_chains, 1)
    for i in range(n):
        seen = (context << i) + torch.arange(2**i, device=probs.device)
        strings = (strings.unsqueeze(-1) * probs[:, i, seen % n_contexts]).flatten(1)  # (B, 2**(i+1))
    return strings


def _block_entropy(prefixes: Tensor, suffixes: Tensor) -> Tensor:
    """-sum P log P of a block of codes, P the mixture's probabilities; 0 where P is too small to be told from 0."""
    mixture = prefixes.T @ suffixes / prefixes.shape[0]
    return torch.special.entr(mixture.clamp_min(torch.finfo(mixture.dtype).tiny)).sum()
