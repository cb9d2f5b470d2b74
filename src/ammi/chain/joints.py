"""The joint probabilities of any k bits of a tree, exactly.

Along a path from a bit v up to an ancestor a, p(z_v | z_a) is a product of 2 x 2 tables, one for each step; products of
2, 4, 8, … steps make that of any path in a logarithm of its length. Let s_1 … s_k be the bits depth-first. The deepest
bit a above all of them (or the highest of them) is where some s_t and s_{t+1} meet; given z_a its two sides are
independent:

    F(w_1 … w_k | z_a) = [sum_u p(z_u | z_a) F(w_1 … w_t | z_u)] [sum_v p(z_v | z_a) F(w_{t+1} … w_k | z_v)],
    p(w_1 … w_k)       = sum over z_a of p(z_a) F(w_1 … w_k | z_a),      F(w | z_s) = [w = z_s] of a single bit,

u and v the deepest bits above all of each side, the sums over their values. The cost is O(k log m + 2^k) for each set
and document.
"""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from ammi.chain.rooted import Rooted, rooted

Shape = tuple  # (t, left, right): two sides, s_t the last of the left one; () is a single bit


@dataclass(frozen=True, eq=False)
class Plan:
    """How to compute the joint of each of n sets of k bits; it is the same for all documents.

    Args:
        top: (n,), the deepest bit above all of a set.
        below: (n, k - 1, 2), the bits u and v of the two sides that meet between s_t and s_{t+1}.
        distance: (n, k - 1, 2), how many steps above them they meet.
        groups: the shapes that occur, and the sets (by number) that have each.
        words: (n, 2**k), the number of w among s_1 … s_k, for each w read in the order in which a set was given.
    """

    top: Tensor
    below: Tensor
    distance: Tensor
    groups: tuple[tuple[Shape, Tensor], ...]
    words: Tensor


class Paths:
    """p(z_v | z_a) along paths of a batch of trees, from the steps p(z_v | z_parent) as (m + 1, 2, 2, B)."""

    def __init__(self, steps: Tensor, shape: Rooted):
        self.jumps, self.ups = [steps], [shape.up.to(steps.device)]  # of 1, 2, 4, … steps

    def down(self, below: Tensor, distance: Tensor) -> Tensor:
        """Return p(z_v | z_a) as (n, 2, 2, B), entry [n, z_a, z_v], with a the bits `distance` (n,) steps above v."""
        steps, at = self.jumps[0], below.to(self.ups[0].device)
        tables = torch.eye(2, dtype=steps.dtype, device=steps.device).unsqueeze(-1)  # (2, 2, 1)
        for power in range(int(distance.max()).bit_length()):
            jump, up = self._jump(power)
            longer = jump.index_select(0, at)
            moves = (distance.to(at.device) >> power) % 2 == 1
            tables = torch.where(moves.view(-1, 1, 1, 1), compose(longer, tables) if power else longer, tables)
            at = torch.where(moves, up[at], at)
        return tables.expand(len(below), 2, 2, steps.shape[-1])

    def _jump(self, power: int) -> tuple[Tensor, Tensor]:
        while len(self.jumps) <= power:
            jump, up = self.jumps[-1], self.ups[-1]
            self.jumps.append(compose(jump.index_select(0, up), jump))
            self.ups.append(up[up])
        return self.jumps[power], self.ups[power]


def compose(upper: Tensor, lower: Tensor) -> Tensor:
    """Tables upper (n, 2, 2, B) and, below them, lower (n, 2, W, B), the bit between summed out: (n, 2, W, B)."""
    (to_zero, to_one), (from_zero, from_one) = upper.unbind(2), lower.unbind(1)  # its gradient is one copy
    return to_zero.unsqueeze(2) * from_zero.unsqueeze(1) + to_one.unsqueeze(2) * from_one.unsqueeze(1)


def joints(paths: Paths, bits: Tensor, plan: Plan) -> Tensor:
    """Return the joint probabilities (n, 2**k, B) of a plan's sets, from the marginals of all bits (m + 1, 2, B)."""
    tables = paths.down(plan.below.flatten(), plan.distance.flatten())
    tables = tables.unflatten(0, plan.below.shape)  # (n, k - 1, 2, 2, 2, B)
    found = []
    for shape, rows in plan.groups:
        given_top = _merge(shape, [pair.unbind(1) for pair in tables[rows].unbind(1)])  # (n, 2, 2**k, B)
        found.append((bits[plan.top[rows]].unsqueeze(2) * given_top).sum(1))
    rows = torch.cat([rows for _, rows in plan.groups]).argsort()
    entries = (rows.unsqueeze(1) * plan.words.shape[1] + plan.words).flatten().to(bits.device)
    return torch.cat(found).flatten(0, 1).index_select(0, entries).unflatten(0, plan.words.shape)


def _merge(shape: Shape, tables: list[tuple[Tensor, ...]]) -> Tensor:
    """Return F of sets that have one shape, (n, 2, 2**k, B), from the tables of both sides of each meeting point."""
    t, *parts = shape
    left, right = (
        compose(table, _merge(part, tables)) if part else table for table, part in zip(tables[t], parts, strict=True)
    )
    return (left.unsqueeze(3) * right.unsqueeze(2)).flatten(2, 3)


@lru_cache(maxsize=64)
def plan_of(parents: tuple[int, ...], sets: tuple[tuple[int, ...], ...]) -> Plan:
    """Return the plan of n sets of k >= 2 bits each of a forest; the bit -1 is 0."""
    shape = rooted(parents)
    rank = torch.empty_like(shape.up)
    rank[[len(parents), *shape.sequence]] = torch.arange(len(rank))
    bits, order = _depth_first(torch.tensor(sets) % len(rank), rank)
    meets = shape.meet(bits[:, :-1], bits[:, 1:])  # (n, k - 1)
    groups: dict[Shape, list[int]] = {}
    top, below = [], []
    for row, (depths, own, meet) in enumerate(
        zip(shape.depth[meets].tolist(), bits.tolist(), meets.tolist(), strict=True)
    ):
        parts = _shape(depths, 0, len(depths))
        groups.setdefault(parts, []).append(row)
        below.append([[0, 0] for _ in meet])
        top.append(_fill(parts, 0, own, meet, below[-1]))
    sides = torch.tensor(below)
    return Plan(
        torch.tensor(top),
        sides,
        shape.depth[sides] - shape.depth[meets].unsqueeze(-1),
        tuple((parts, torch.tensor(rows)) for parts, rows in groups.items()),
        _words(order),
    )


def _depth_first(bits: Tensor, rank: Tensor) -> tuple[Tensor, Tensor]:
    """Return sets (n, k) in the depth-first order of their bits, and the former positions (n, k) of these."""
    order = rank[bits].argsort(dim=1, stable=True)
    return bits.gather(1, order), order


def _shape(depths: list[int], start: int, end: int) -> Shape:
    """Return the shape of the bits s_start … s_end whose meeting points have these depths."""
    if start == end:
        return ()
    t = min(range(start, end), key=depths.__getitem__)
    return t, _shape(depths, start, t), _shape(depths, t + 1, end)


def _fill(shape: Shape, start: int, bits: list[int], meets: list[int], below: list[list[int]]) -> int:
    """Write the bits below each meeting point of a shape; the deepest bit above all of its bits, from s_start on."""
    if not shape:
        return bits[start]
    t, left, right = shape
    below[t] = [_fill(left, start, bits, meets, below), _fill(right, t + 1, bits, meets, below)]
    return meets[t]


def _words(order: Tensor) -> Tensor:
    """Return the number (n, 2**k) of each w, read in the original order of its bits, in another order (n, k)."""
    k = order.shape[1]
    values = (torch.arange(2**k).unsqueeze(1) >> torch.arange(k - 1, -1, -1)) & 1  # (2**k, k), as given
    return (values[:, order] << torch.arange(k - 1, -1, -1)).sum(-1).T
