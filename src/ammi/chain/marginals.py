"""Marginal probabilities of a chain: the forward pass (the paper's Algorithm Forward) and windows of any width.

Inside, the batch is the last dimension, (m, 2**k, B): every step then runs over whole contiguous rows of documents.
"""

import torch
from torch import Tensor

from ammi.chain.layout import bit_probs, order_of


def forward(logits: Tensor) -> Tensor:
    """π(c | i), the probability that the o bits before bit i are c, as (..., m, 2**o)."""
    order_of(logits)
    return _batch_first(_forward(_batch_last(bit_probs(logits))), logits)


def window_marginals(logits: Tensor, width: int) -> Tensor:
    """μ(w | i), the probability that the `width` bits ending at bit i are w, as (..., m, 2**width)."""
    before, probs = _before_and_bit(logits, width)
    return _batch_first(_sum_out_older(_append(before, probs), width), logits)


def mean_windows(logits: Tensor, width: int) -> Tensor:
    """The window marginals of the uniform mixture of all chains in the batch, as (m, 2**width)."""
    before, probs = _before_and_bit(logits, width)
    by_context = before.unflatten(1, (-1, probs.shape[1]))  # (m, 2**(k-o), 2**o, B)
    windows = torch.einsum("ihcl,icbl->ihcb", by_context, probs).flatten(1) / probs.shape[-1]
    return _sum_out_older(windows, width)


def _before_and_bit(logits: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """The probability of the k = max(o, width - 1) bits before each bit (m, 2**k, B), and p(bit | context).

    A window grows by a bit at its new end, at all positions at once: the windows that end at i - 1, times
    p(z_i | their last o bits), are the wider windows that end at i.
    """
    order = order_of(logits)
    if width < 1:
        raise ValueError(f"a window has at least 1 bit, got {width}")
    probs = _batch_last(bit_probs(logits))  # (m, 2**o, 2, B)
    before = _forward(probs)  # (m, 2**o, B)
    for _ in range(order + 1, width):
        windows = _append(before, probs)[:-1]
        before = torch.cat((_before_the_first(windows.shape[1], probs).unsqueeze(0), windows))
    return before, probs


def _forward(probs: Tensor) -> Tensor:
    """π (m, 2**o, B) from p(bit | context) (m, 2**o, 2, B).

    The joint of a context and the next bit is the distribution of the last o + 1 bits; without its oldest bit it is
    the distribution of the next context.
    """
    n_bits, n_contexts, _, n_chains = probs.shape
    if n_contexts == 1:
        return probs.new_ones(()).expand(n_bits, 1, n_chains)
    before = [_before_the_first(n_contexts, probs)]
    for step in probs.unbind(0)[:-1]:  # (2**o, 2, B)
        joint = before[-1].unsqueeze(1) * step
        before.append(joint.view(2, n_contexts, n_chains).sum(0))
    return torch.stack(before)


def _before_the_first(n_windows: int, probs: Tensor) -> Tensor:
    """All bits before the first one are 0: (2**k, B)."""
    start = probs.new_zeros(n_windows, probs.shape[-1])
    start[0] = 1
    return start


def _append(before: Tensor, probs: Tensor) -> Tensor:
    """Windows (m, 2**k, B) before each bit, and the bit itself: (m, 2**(k+1), B)."""
    by_context = before.unflatten(1, (-1, probs.shape[1])).unsqueeze(3)  # (m, 2**(k-o), 2**o, 1, B)
    return (by_context * probs.unsqueeze(1)).flatten(1, 3)


def _sum_out_older(windows: Tensor, width: int) -> Tensor:
    """Windows (m, 2**k, ...) without their oldest bits: (m, 2**width, ...)."""
    return windows.unflatten(1, (-1, 2**width)).sum(1)


def _batch_last(table: Tensor) -> Tensor:
    """(..., m, 2**o, 2) as (m, 2**o, 2, B)."""
    return table.reshape(-1, *table.shape[-3:]).permute(1, 2, 3, 0).contiguous()


def _batch_first(table: Tensor, like: Tensor) -> Tensor:
    """(m, 2**k, B) with the batch shape of the logits: (..., m, 2**k)."""
    return table.permute(2, 0, 1).reshape(*like.shape[:-2], *table.shape[:2])
