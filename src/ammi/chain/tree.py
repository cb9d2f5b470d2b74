"""A tree over the bits as a structure: each bit depends on one other bit, its parent, at any position.

    p(z) = prod_i p(z_i | z_parent(i)),      H(p, q) = - sum_i sum_w μ(w | i) log q(z_i | z_parent(i)),

with μ(w | i) the joint probability under p of bit i and its parent in q, w = 2 * z_parent + z_i. A root's parent is a
bit that is 0. A tree's table is (m, 2): entry [i, c] is the logit of z_i = 1 if the parent is c. So its table, its
statistics (m, 4), cross entropy and best prior are those of a chain of order 1, with other parents.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from numbers import Integral
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor

from ammi.chain.entropy import best_prior, check_mixture, entropy_of_halves, windows_cross_entropy
from ammi.chain.joints import Paths, joints, plan_of
from ammi.chain.layout import (
    batch_first,
    batch_last,
    bit_probs,
    bits_batch_last,
    check_size,
    check_some,
    check_width,
    shape_with_codes,
)
from ammi.chain.levels import marginals, mean_joints
from ammi.chain.pairs import check_pairs
from ammi.chain.rooted import Rooted, depth_first, rooted
from ammi.chain.structure import Distributions, Structure


@dataclass(frozen=True)
class Tree(Structure):
    """Distributions in which each bit depends on its parent; a forest of several trees is allowed.

    Args:
        n_bits: m.
        parents: the parent of each bit, -1 for a root; `chow_liu` finds the best ones.
    """

    n_bits: int
    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        check_size(self.n_bits, 1)
        if len(self.parents) != self.n_bits:
            raise ValueError(f"a tree of {self.n_bits} bits has as many parents, got {len(self.parents)}")
        for parent in self.parents:
            if not isinstance(parent, Integral) or not -1 <= parent < self.n_bits:
                raise ValueError(f"a parent is a bit from 0 to {self.n_bits - 1}, or -1 for a root, got {parent!r}")
        object.__setattr__(self, "n_bits", int(self.n_bits))
        object.__setattr__(self, "parents", tuple(map(int, self.parents)))
        circle = set(range(self.n_bits)) - set(depth_first(self.parents))
        if circle:
            raise ValueError(f"a tree has no circles, but no root is above bit {min(circle)}: make a parent there -1")

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_bits, 2

    @property
    def statistics_shape(self) -> tuple[int, int]:
        return self.n_bits, 4

    @property
    def rooted(self) -> Rooted:
        """The lookup tables of the tree's shape."""
        return rooted(self.parents)

    @property
    def sequence(self) -> tuple[int, ...]:
        """The bits depth-first, parents before children: an order for a chain that keeps dependent bits near."""
        return self.rooted.sequence

    def read(self, table: Tensor) -> "TreeDistributions":
        if not table.is_floating_point() or table.ndim < 2 or table.shape[-2:] != self.shape:
            raise ValueError(
                f"a tree of {self.n_bits} bits has floating-point tables of shape (..., {self.n_bits}, 2), got "
                f"{table.dtype} of shape {tuple(table.shape)}"
            )
        return TreeDistributions(self, table)

    def statistics(self, p: Distributions) -> Tensor:
        self._check_bits(p.n_bits)
        return p.pairs(self.parents, range(self.n_bits))

    def mean_statistics(self, p: Distributions) -> Tensor:
        self._check_bits(p.n_bits)
        return p.mean_pairs(self.parents, range(self.n_bits))

    def statistics_among(self, pairs: Tensor) -> Tensor:
        """Select the statistics (m, 4) of this tree from those of all pairs (m, m, 4), as `mean_all_pairs` has them."""
        self._check_bits(len(pairs))
        bits = torch.arange(self.n_bits, device=pairs.device)
        parents = torch.tensor(self.parents, device=pairs.device)
        root = (parents < 0).unsqueeze(-1)
        own = pairs[torch.where(parents < 0, bits, parents), bits]  # (m, 4), of a root with itself
        alone = torch.stack((own[:, 0], own[:, 3], torch.zeros_like(own[:, 0]), torch.zeros_like(own[:, 0])), dim=-1)
        return torch.where(root, alone, own)

    def cross_entropy_of(self, statistics: Tensor, table: Tensor) -> Tensor:
        return windows_cross_entropy(statistics, table)

    def best_prior(self, statistics: Tensor) -> Tensor:
        return best_prior(statistics)

    def check_prior(self, encoder: Structure) -> None:
        if encoder.shape[1] > self.shape[1]:
            raise ValueError(
                f"each bit of a tree depends on one other, too few as a prior of {encoder}: take a chain as the prior"
            )

    def reordered(self, order: Sequence[int]) -> "Tree":
        position = {bit: place for place, bit in enumerate(order)}
        return Tree(self.n_bits, tuple(position.get(self.parents[bit], -1) for bit in order))

    def _check_bits(self, n_bits: int) -> None:
        if n_bits != self.n_bits:
            raise ValueError(f"both structures must have the same number of bits, got {n_bits} and {self.n_bits}")


@dataclass(frozen=True, eq=False)
class TreeDistributions(Distributions):
    """A batch of distributions of one tree; joint probabilities are computed once and kept."""

    _joints: dict[tuple[tuple[int, ...], ...], Tensor] = field(default_factory=dict, repr=False)

    @property
    def tree(self) -> Tree:
        return cast(Tree, self.structure)

    @cached_property
    def steps(self) -> Tensor:
        """p(z_v | z_parent) of all bits, and of the bit above the roots, which is 0, (m + 1, 2, 2, B)."""
        steps = bits_batch_last(self.logits)  # (m, 2, 2, B)
        zero = torch.stack((torch.ones_like(steps[:1, :, 0]), torch.zeros_like(steps[:1, :, 0])), dim=2)
        return torch.cat((steps, zero))

    @cached_property
    def paths(self) -> Paths:
        """p(z_v | z_a) for any bit v and any bit a above it."""
        return Paths(self.steps, self.tree.rooted)

    @cached_property
    def bits(self) -> Tensor:
        """The marginals of all bits, and of the bit above the roots, (m + 1, 2, B)."""
        return marginals(self.steps, self.tree.rooted)

    @cached_property
    def edges(self) -> Tensor:
        """The joint of each bit's parent and itself, (..., m, 4)."""
        above = self.bits.index_select(0, self.tree.rooted.up[:-1].to(self.bits.device))
        return batch_first((above.unsqueeze(2) * self.steps[:-1]).flatten(1, 2), self.logits)

    def windows(self, width: int) -> Tensor:
        check_width(self.n_bits, width)
        if width == 1:
            return batch_first(self.bits[:-1], self.logits)
        ends = range(self.n_bits)
        return self._joint(tuple(tuple(max(i - age, -1) for age in range(width - 1, -1, -1)) for i in ends))

    def mean_windows(self, width: int) -> Tensor:
        return self.mean(self.windows(width))

    def pairs(self, first: Sequence[int], second: Sequence[int]) -> Tensor:
        check_pairs(self.n_bits, first, second)
        if tuple(first) == self.tree.parents and tuple(second) == tuple(range(self.n_bits)):
            return self.edges
        return self._joint(tuple(zip(first, second, strict=True)))

    def mean_all_pairs(self) -> Tensor:
        check_some(self.logits)
        return mean_joints(self.steps, self.bits, self.tree.rooted)

    def _joint(self, sets: tuple[tuple[int, ...], ...]) -> Tensor:
        """Return the joint probabilities (..., n, 2**k) of n sets of k bits; the bit -1 is 0."""
        if not sets:
            return self.logits.new_zeros(*self.logits.shape[:-2], 0, 4)
        if sets not in self._joints:
            plan = plan_of(self.tree.parents, sets)
            self._joints[sets] = batch_first(joints(self.paths, self.bits, plan), self.logits)
        return self._joints[sets]

    def log_prob(self, z: Tensor) -> Tensor:
        """Return log p(z) (...,) of codes z (..., m), batch shapes broadcast."""
        shape = shape_with_codes(self.logits, z)
        parent = F.pad(z.long(), (0, 1))[..., self.tree.rooted.up[:-1]]  # (..., m), 0 above the roots
        logit = self.logits.expand(*shape, 2).gather(-1, parent.expand(shape).unsqueeze(-1)).squeeze(-1)
        return F.logsigmoid(torch.where(z.expand(shape) == 1, logit, -logit)).sum(-1)

    def mixture_entropy(self) -> Tensor:
        _, m, _ = check_mixture(self.logits)
        return entropy_of_halves(self._halves((m + 1) // 2), m)

    @torch.no_grad()
    def mode(self) -> Tensor:
        """Return the most probable codes (..., m), of the logits' type, by passing maxima from the leaves to the roots.

        A bit is 1 only if that is more probable than 0 given its parent, so that ties always give the same code.
        """
        logits, shape = batch_last(self.logits), self.tree.rooted  # (m, 2, B)
        gain = logits.new_zeros(len(shape.up), logits.shape[-1])  # log of (best below with a 1 here) / (with a 0 here)
        is_one = torch.empty_like(logits, dtype=torch.bool)
        for level, _ in reversed(shape.levels):
            own, below = logits[level], gain[level].unsqueeze(1)  # (n, 2, B), (n, 1, B)
            one = is_one[level] = own + below > 0
            best = torch.where(one, F.logsigmoid(own) + below, F.logsigmoid(-own))
            gain.index_add_(0, shape.up[level].to(gain.device), best[:, 1] - best[:, 0])
        z = torch.zeros_like(gain, dtype=torch.long)
        for level, _ in shape.levels:
            z[level] = is_one[level].gather(1, z[shape.up[level]].unsqueeze(1)).squeeze(1).long()
        return batch_first(z[:-1].unsqueeze(1), self.logits).squeeze(-1).to(self.logits.dtype)

    @torch.no_grad()
    def sample(self, shape: torch.Size) -> Tensor:
        probs = torch.sigmoid(self.logits).expand(*shape, *self.logits.shape)
        uniform = torch.rand(probs.shape[:-1], dtype=probs.dtype, device=probs.device)
        z = F.pad(torch.zeros_like(uniform, dtype=torch.long), (0, 1))  # (..., m + 1)
        for level, _ in self.tree.rooted.levels:
            parent = z[..., self.tree.rooted.up[level]].unsqueeze(-1)
            z[..., level] = (uniform[..., level] < probs[..., level, :].gather(-1, parent).squeeze(-1)).long()
        return z[..., :-1].to(self.logits.dtype)

    def _halves(self, split: int) -> Iterable[tuple[Tensor, Tensor]]:
        """Yield the probabilities (B, n) of prefixes, the first `split` bits depth-first, and of suffixes.

        There is a pair for each value of the prefix bits that are parents of suffix bits.
        """
        sequence, parents = self.tree.sequence, self.tree.parents
        probs = bit_probs(self.logits)  # (B, m, 2, 2)
        seen = sorted({parents[bit] for bit in sequence[split:]} & set(sequence[:split]))
        prefixes = _string_probs(probs, sequence[:split], parents, {})
        shifts = torch.tensor([split - 1 - sequence.index(bit) for bit in seen], dtype=torch.long)
        values = (torch.arange(2**split).unsqueeze(1) >> shifts) & 1  # (2**split, seen)
        for known in product((0, 1), repeat=len(seen)):
            rows = (values == torch.tensor(known)).all(1).nonzero().squeeze(1)
            given = dict(zip(seen, known, strict=True))
            yield prefixes[:, rows], _string_probs(probs, sequence[split:], parents, given)


def _string_probs(probs: Tensor, bits: Sequence[int], parents: Sequence[int], known: dict[int, int]) -> Tensor:
    """Return the probability (B, 2**n) of each string of n bits in depth-first order, given parents outside it."""
    strings = probs.new_ones(len(probs), 1)
    for i, bit in enumerate(bits):
        if parents[bit] in bits:
            parent = (torch.arange(2**i) >> (i - 1 - bits.index(parents[bit]))) & 1
        else:
            parent = torch.full((2**i,), known.get(parents[bit], 0))
        strings = (strings.unsqueeze(-1) * probs[:, bit, parent]).flatten(1)  # (B, 2**(i+1))
    return strings
