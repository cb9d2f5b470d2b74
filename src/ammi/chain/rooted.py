"""The shape of a forest over bits: lookup tables for its algorithms, computed once for each tuple of parents.

All roots have one more bit as their parent, the bit m, which is always 0, like bits before the first in a chain. So a
forest is one tree, every bit has a parent, and `depth` counts from bit m.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor


class Level(NamedTuple):
    """The n bits of one depth, by their number (n,), and the positions (n,) of their parents in the level above."""

    bits: Tensor
    parents: Tensor


@dataclass(frozen=True, eq=False)
class Rooted:
    """A forest under the bit m.

    Args:
        up: (m + 1,), the parent of each bit; m of the roots and of m itself.
        depth: (m + 1,), how many steps up bit m is.
        sequence: the m bits depth-first: a bit comes after its parent, and a branch is not interrupted.
        levels: the bits of depth 1, of depth 2, …, and the positions of their parents in the level above.
        by_level: (m + 1,), the bit m and all bits, level by level.
        ancestors: (m + 1, m + 1), where [v, a] says whether a is v or above it.
    """

    up: Tensor
    depth: Tensor
    sequence: tuple[int, ...]
    levels: tuple[Level, ...]
    by_level: Tensor
    ancestors: Tensor

    def meet(self, u: Tensor, v: Tensor) -> Tensor:
        """Return the lowest common ancestor of each pair of bits."""
        return torch.where(self.ancestors[u] & self.ancestors[v], self.depth, -1).argmax(-1)


@lru_cache(maxsize=64)
def rooted(parents: tuple[int, ...]) -> Rooted:
    """Return the shape of a forest of parents[i], the parent of bit i, -1 for a root."""
    m = len(parents)
    up = [m if parent < 0 else parent for parent in parents] + [m]
    sequence = depth_first(parents)
    depth, ancestors = [0] * (m + 1), torch.eye(m + 1, dtype=torch.bool)
    ancestors[:, m] = True
    for bit in sequence:
        depth[bit] = depth[up[bit]] + 1
        ancestors[bit] |= ancestors[up[bit]]
    ups, depths = torch.tensor(up), torch.tensor(depth)
    numbers = [(depths == d).nonzero().squeeze(1) for d in range(max(depth) + 1)]
    levels = tuple(Level(bits, torch.searchsorted(above, ups[bits])) for above, bits in pairwise(numbers))
    return Rooted(ups, depths, sequence, levels, torch.cat(numbers), ancestors)


def depth_first(parents: tuple[int, ...]) -> tuple[int, ...]:
    """Return the bits below roots, parents first, children by their number; bits of a cycle are left out."""
    children: dict[int, list[int]] = {}
    for bit, parent in enumerate(parents):
        children.setdefault(parent, []).append(bit)
    found, waiting = [], children.get(-1, [])[::-1]
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])[::-1]
    return tuple(found)
