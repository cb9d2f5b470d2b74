"""Passing probabilities down a tree, level by level: the marginals of all bits, and the joint of every two bits.

    p(z_v) = sum_u p(z_u) p(z_v | z_u),      p(z_x, z_v) = sum_u p(z_x, z_u) p(z_v | z_u),

with u the parent of v and x any bit that is not below v: of a higher level, or another one of v's level.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from ammi.chain.rooted import Rooted


def marginals(steps: Tensor, shape: Rooted) -> Tensor:
    """Return p(z_v) of all bits, and of the bit m above the roots, (m + 1, 2, B), from the steps (m + 1, 2, 2, B)."""
    found = [steps[-1:, 0]]
    for (_, parent), own in zip(shape.levels, _by_level(steps, shape), strict=True):
        above = found[-1].index_select(0, parent.to(steps.device))  # (n, 2, B)
        found.append((above.unsqueeze(2) * own).sum(1))
    return torch.cat(found).index_select(0, shape.by_level.argsort().to(steps.device))


def mean_joints(steps: Tensor, bits: Tensor, shape: Rooted) -> Tensor:
    """Return the mean over the batch of p(z_x, z_v) for every two bits, (m, m, 4), from the steps and the marginals.

    A block is the joint (e, n, 2, 2, B) of all bits so far and the n bits of the last level, which are its last rows.
    """
    block = _with_itself(bits[-1:]).unsqueeze(1)
    means = [block.mean(-1)]
    for (level, positions), own in zip(shape.levels, _by_level(steps, shape), strict=True):
        parent = positions.to(steps.device)
        above = _down(block.index_select(1, parent), own)
        row = len(block) - block.shape[1] + parent
        beside = _down(above.index_select(0, row).permute(1, 0, 3, 2, 4), own).permute(1, 0, 3, 2, 4)
        same = torch.eye(len(level), dtype=torch.bool, device=steps.device).view(len(level), -1, 1, 1, 1)
        block = torch.cat((above, torch.where(same, _with_itself(bits[level]), beside)))
        means.append(block.mean(-1))
    return _square(means, shape)


def _by_level(steps: Tensor, shape: Rooted) -> tuple[Tensor, ...]:
    """Return the steps (n, 2, 2, B) of each level; taken apart at once, because then their gradients are one copy."""
    sizes = [len(level.bits) for level in shape.levels]
    return steps.index_select(0, shape.by_level[1:].to(steps.device)).split(sizes)


def _down(joint: Tensor, own: Tensor) -> Tensor:
    """Return p(z_x, z_v) as (e, n, 2, 2, B) from p(z_x, z_u), of the same shape, and p(z_v | z_u) as (n, 2, 2, B)."""
    (from_zero, from_one), (zero, one) = joint.unbind(3), own.unsqueeze(1).unbind(2)
    return from_zero.unsqueeze(3) * zero + from_one.unsqueeze(3) * one


def _with_itself(bits: Tensor) -> Tensor:
    """Return the joint (n, 2, 2, B) of bits (n, 2, B) with themselves."""
    return torch.diag_embed(bits.mT).permute(0, 2, 3, 1)


def _square(means: list[Tensor], shape: Rooted) -> Tensor:
    """Return the table (m, m, 4) from the means (e, n, 2, 2) of each level's block."""
    size = len(shape.by_level)
    table = torch.cat([F.pad(mean, (0, 0, 0, 0, 0, 0, 0, size - len(mean))) for mean in means], dim=1)
    depth = shape.depth[shape.by_level]
    is_lower = (depth.unsqueeze(1) > depth).view(size, size, 1, 1).to(table.device)
    table = torch.where(is_lower, table.permute(1, 0, 3, 2), table)
    positions = shape.by_level.argsort()[:-1]
    return table[positions][:, positions].flatten(2)
