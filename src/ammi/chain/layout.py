"""The table of a Markov chain over bits, and how its contexts are numbered.

A chain of order o over codes z in {0,1}^m is a table of logits (..., m, 2**o): entry [i, c] is the logit of
z_i = 1 given the o bits before it, with z_i = 0 for i < 1. The context c is those bits read as a binary number,
the oldest bit the most significant, so that after bit b the context becomes (2*c + b) % 2**o.
"""

import math
from numbers import Integral

import torch
import torch.nn.functional as F
from torch import Tensor

LARGEST_TABLE = 2**26  # logits of one chain; its windows and gradients are then some gigabytes


def check_size(n_bits: int, order: int) -> None:
    """Refuse sizes that are no chain's, or whose table is too large for memory."""
    if not isinstance(n_bits, Integral) or n_bits < 1:
        raise ValueError(f"a chain has a whole number of bits, from 1 up, got {n_bits!r}")
    if not isinstance(order, Integral) or order < 0:
        raise ValueError(f"the order of a chain is a whole number from 0 up, got {order!r}")
    if n_bits > LARGEST_TABLE >> order:
        raise ValueError(
            f"a chain of {n_bits} bits and order {order} has {n_bits} * 2**{order} logits, more than the "
            f"{LARGEST_TABLE} that are possible: take a lower order or fewer bits"
        )


def check_width(n_bits: int, width: int) -> None:
    """Refuse windows without bits, or with more probabilities than fit in memory."""
    if width < 1:
        raise ValueError(f"a window has at least 1 bit, got {width}")
    if n_bits > (2 * LARGEST_TABLE) >> width:  # the statistics of the largest table
        raise ValueError(
            f"windows of {width} bits at {n_bits} bits are {n_bits} * 2**{width} probabilities, more than the "
            f"{2 * LARGEST_TABLE} that are possible: take narrower windows"
        )


def check_some(logits: Tensor) -> None:
    """Refuse an empty batch, which has no mean."""
    if logits.numel() == 0:
        raise ValueError(f"the mean needs at least one distribution, got a batch of shape {tuple(logits.shape[:-2])}")


def holds(condition: Tensor) -> bool:
    """Return whether a condition is true everywhere; inside torch.vmap no value can be seen, and nothing is checked."""
    try:
        return bool(condition.all())
    except RuntimeError:  # torch has no public way to ask whether a tensor is mapped over
        return True


def order_of(logits: Tensor) -> int:
    """Return the Markov order o of a table (..., m, 2**o)."""
    if not torch.is_tensor(logits) or not logits.is_floating_point() or logits.ndim < 2 or logits.shape[-2] < 1:
        got = f"{logits.dtype} of shape {tuple(logits.shape)}" if torch.is_tensor(logits) else type(logits).__name__
        raise ValueError(
            f"a chain is a floating-point tensor of logits of shape (..., m, 2**order) with m >= 1, got {got}"
        )
    width = logits.shape[-1]
    if width < 1 or width & (width - 1):
        raise ValueError(f"the last dimension of a chain's logits must be a power of two (2**order), got {width}")
    return width.bit_length() - 1


def same_bits(p: Tensor, q: Tensor) -> None:
    """Refuse two tables (of chains, or of windows) over codes of different length, or of batches that do not fit."""
    if p.ndim < 2 or q.ndim < 2:
        raise ValueError(f"tables have the shape (..., m, 2**k), got {tuple(p.shape)} and {tuple(q.shape)}")
    if p.shape[-2] != q.shape[-2]:
        raise ValueError(f"both chains must have the same number of bits, got {p.shape[-2]} and {q.shape[-2]}")
    if p.ndim > 2 and q.ndim > 2:
        _batch_of_both(p.shape[:-2], q.shape[:-2], f"tables of shape {tuple(q.shape)}")


def shape_with_codes(logits: Tensor, z: Tensor) -> torch.Size:
    """Return the common shape (..., m) of tables (..., m, K) and codes z (..., m), or refuse shapes that do not fit."""
    n_bits = logits.shape[-2]
    if z.ndim < 1 or z.shape[-1] != n_bits:
        raise ValueError(f"a code of this distribution has {n_bits} bits in its last dimension, got {tuple(z.shape)}")
    batch = _batch_of_both(logits.shape[:-2], z.shape[:-1], f"codes of shape {tuple(z.shape)}")
    return torch.Size((*batch, n_bits))


def check_expands(own: torch.Size, wanted: torch.Size) -> None:
    """Refuse to expand a batch to a shape that it does not broadcast to."""
    if _batch_of_both(own, wanted, f"chains of batch shape {tuple(wanted)}") != torch.Size(wanted):
        raise ValueError(f"a batch of shape {tuple(own)} cannot be expanded to {tuple(wanted)}: name a larger one")


def _batch_of_both(own: torch.Size, other: torch.Size, what: str) -> torch.Size:
    try:
        return torch.broadcast_shapes(own, other)
    except RuntimeError:
        raise ValueError(
            f"{what} do not fit a batch of shape {tuple(own)}: pass one of the same shape, or of one that repeats"
        ) from None


def with_order(logits: Tensor, order: int) -> Tensor:
    """Return the same chain as a table of a higher order: entries repeat for contexts it ignores."""
    own = order_of(logits)
    if order < own:
        raise ValueError(f"a chain of order {own} has no table of the lower order {order}")
    check_size(logits.shape[-2], order)
    return logits.repeat(*[1] * (logits.ndim - 1), 2 ** (order - own))  # (..., m, 2**order)


def bit_log_probs(logits: Tensor) -> Tensor:
    """Return log p(z_i = b | context c) as (..., m, 2**o, 2), finite wherever the logits are."""
    return F.logsigmoid(torch.stack((-logits, logits), dim=-1))


def bit_probs(logits: Tensor) -> Tensor:
    """Return p(z_i = b | context c) as (..., m, 2**o, 2), both bits to full relative precision."""
    return torch.sigmoid(torch.stack((-logits, logits), dim=-1))


def contexts(z: Tensor, order: int) -> Tensor:
    """Return the context that each bit of z (..., m) is read in, as integers (..., m)."""
    z = z.long()
    c = torch.zeros_like(z)
    for age in range(1, min(order, z.shape[-1] - 1) + 1):
        c[..., age:] += z[..., :-age] << (age - 1)
    return c


def batch_last(table: Tensor) -> Tensor:
    """Return (..., m, 2**o) as (m, 2**o, B), so that each step along the bits runs over contiguous documents."""
    n_chains = math.prod(table.shape[:-2])  # explicit, since -1 is ambiguous for an empty batch
    return table.reshape(n_chains, *table.shape[-2:]).permute(1, 2, 0).contiguous()


def batch_first(table: Tensor, like: Tensor) -> Tensor:
    """Return (n, 2**k, B) with the batch shape of the logits: (..., n, 2**k)."""
    return table.permute(2, 0, 1).reshape(*like.shape[:-2], *table.shape[:2])


def bits_batch_last(logits: Tensor) -> Tensor:
    """Return p(bit | context) of logits (..., m, 2**o) as (m, 2**o, 2, B)."""
    table = batch_last(logits)
    return torch.sigmoid(torch.stack((-table, table), dim=2))
