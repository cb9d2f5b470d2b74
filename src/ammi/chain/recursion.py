"""The two linear recursions over the contexts of a chain, with derivatives of any order and torch.func transforms.

With probs p (m, 2**o, 2, B), a source s (m, 2**o, B), and c' = (2c + b) % 2**o the context that c becomes after bit b:

    down   x_i(c') = s_i(c') + sum of p_{i-1}(b | c) x_{i-1}(c) over the (c, b) that lead to c'
    up     y_i(c)  = s_i(c)  + sum_b p_i(b | c) y_{i+1}(c')

Each is the transpose of the other. So in the gradient of either, its source gets a pass of the other one over the
gradient of the result, and p_i(b | c) gets x_i(c) y_{i+1}(c'), with x and y the two passes.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


def down(probs: Tensor, source: Tensor) -> Tensor:
    """Run from the first bit to the last; a source of 1 in the context before the first bit gives the forward pass."""
    return _Recursion.apply(probs, source, False)


def up(probs: Tensor, source: Tensor) -> Tensor:
    """Run from the last bit to the first."""
    return _Recursion.apply(probs, source, True)


class _Recursion(torch.autograd.Function):
    """Both recursions, written out because recording each step of a loop would take longer than the steps."""

    @staticmethod
    def forward(probs: Tensor, source: Tensor, upward: bool) -> Tensor:
        result = source.clone(memory_format=torch.contiguous_format)
        # A context is its oldest bit and the others; with the bit b after it, it becomes the others and b.
        by_oldest, by_newest = _by_oldest(result), _by_newest(result)  # (m, 2, 2**(o-1), 1, B), (m, 1, 2**(o-1), 2, B)
        if upward:
            totals, reached, summed = by_oldest.squeeze(3), by_newest[1:], 2
        else:
            totals, reached, summed = by_newest.squeeze(1)[1:], by_oldest, 0
        links = list(zip(totals.unbind(0), _by_oldest(probs).unbind(0), reached.unbind(0), strict=False))
        for total, step, other in reversed(links) if upward else links:
            total += (step * other).sum(summed)
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, bool], output: Tensor) -> None:
        probs, _, ctx.upward = inputs
        ctx.save_for_backward(probs, output)
        ctx.save_for_forward(probs, output)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        probs, result = ctx.saved_tensors
        other = _Recursion.apply(probs, gradients[0], not ctx.upward)
        x, y = (other, result) if ctx.upward else (result, other)
        return (_by_oldest(x) * _by_newest(_next(y))).reshape(probs.shape), other, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> Tensor:
        (probs, result), (d_probs, d_source, _) = ctx.saved_tensors, tangents
        if ctx.upward:
            reached = (_by_oldest(d_probs) * _by_newest(_next(result))).sum(3)
        else:
            reached = F.pad((_by_oldest(result) * _by_oldest(d_probs)).sum(1)[:-1], (0, 0, 0, 0, 0, 0, 1, 0))
        return _Recursion.apply(probs, d_source + reached.reshape(result.shape), ctx.upward)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        """Put the dimension that is mapped over into the batch."""
        flat = []
        for table, dim in zip(inputs[:2], in_dims, strict=False):
            mapped = table.unsqueeze(-1) if dim is None else table.movedim(dim, -1)
            flat.append(mapped.expand(*mapped.shape[:-1], info.batch_size).flatten(-2))
        result = _Recursion.apply(*flat, inputs[2])
        return result.unflatten(-1, (result.shape[-1] // info.batch_size, info.batch_size)), 3


def _by_oldest(table: Tensor) -> Tensor:
    """Split the oldest bit from contexts (m, 2**o, B) or (m, 2**o, 2, B): (m, 2, 2**(o-1), 1 or 2, B)."""
    return table.reshape(table.shape[0], 2, table.shape[1] // 2, 2 if table.ndim == 4 else 1, table.shape[-1])


def _by_newest(table: Tensor) -> Tensor:
    """Split the newest bit from contexts (m, 2**o, B): (m, 1, 2**(o-1), 2, B)."""
    return table.reshape(table.shape[0], 1, table.shape[1] // 2, 2, table.shape[-1])


def _next(table: Tensor) -> Tensor:
    """Return the entries (m, 2**o, B) of the following bit, and 0 after the last one."""
    return F.pad(table[1:], (0, 0, 0, 0, 0, 1))
