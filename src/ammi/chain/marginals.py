"""Marginal probabilities of a chain: the forward pass (the paper's Algorithm Forward) and windows of any width.

Inside, the batch is the last dimension, (m, 2**k, B): every step then runs over whole contiguous rows of documents.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from ammi.chain.layout import batch_first, batch_last, bit_probs, bits_batch_last, check_some, check_width, order_of
from ammi.chain.recursion import down


def forward(logits: Tensor) -> Tensor:
    """Return π(c | i), the probability that the o bits before bit i are c, as (..., m, 2**o)."""
    if order_of(logits) == 0:
        return torch.ones_like(logits)
    probs = bits_batch_last(logits)
    source = _before_the_first(probs.shape[1], probs).unsqueeze(0)  # (1, 2**o, B)
    return batch_first(down(probs, F.pad(source, (0, 0, 0, 0, 0, len(probs) - 1))), logits)


def window_marginals(logits: Tensor, width: int, pi: Tensor | None = None) -> Tensor:
    """Return μ(w | i), the probability that the `width` bits ending at bit i are w, as (..., m, 2**width).

    `pi` is forward(logits), where it is known already: one pass serves many quantities.
    """
    if width == 1 and order_of(logits) == 0:
        return bit_probs(logits).squeeze(-2)
    before, probs = _before_and_bit(logits, width, pi)
    return batch_first(_sum_out_older(_append(before, probs), width), logits)


def mean_windows(logits: Tensor, width: int, pi: Tensor | None = None) -> Tensor:
    """Return the window marginals of the uniform mixture of all chains in the batch, as (m, 2**width)."""
    check_some(logits)
    if order_of(logits) == 0:
        return _mean_windows_by_halves(logits, width)
    before, probs = _before_and_bit(logits, width, pi)
    by_context = before.unflatten(1, (-1, probs.shape[1]))  # (m, 2**(k-o), 2**o, B)
    windows = torch.einsum("ihcl,icbl->ihcb", by_context, probs).flatten(1) / probs.shape[-1]
    return _sum_out_older(windows, width)


def _mean_windows_by_halves(logits: Tensor, width: int) -> Tensor:
    """mean_windows for o = 0: the halves of a window are independent given the chain, so the mean over chains of
    their product is one matrix product, and tables of 2**(width/2) entries a chain are all that is needed."""
    check_width(logits.shape[-2], width)
    n_newer = width // 2
    probs = bits_batch_last(logits)  # (m, 1, 2, B)
    older = probs.squeeze(1)
    for _ in range(1, width - n_newer):
        older = _append(_delay(older, 1), probs)  # (m, 2**(width - n_newer), B)
    newer = _sum_out_older(older, n_newer)
    return torch.einsum("iul,ivl->iuv", _delay(older, n_newer), newer).flatten(1) / probs.shape[-1]


def _before_and_bit(logits: Tensor, width: int, pi: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the probability of the k = max(o, width - 1) bits before each bit (m, 2**k, B), and p(bit | context).

    A window grows by a bit at its new end, at all positions at once: the windows that end at i - 1, times
    p(z_i | their last o bits), are the wider windows that end at i.
    """
    order = order_of(logits)
    check_width(logits.shape[-2], width)
    probs = bits_batch_last(logits)  # (m, 2**o, 2, B)
    before = batch_last(forward(logits) if pi is None else pi)  # (m, 2**o, B)
    for _ in range(order + 1, width):
        before = _delay(_append(before, probs), 1)
    return before, probs


def _delay(windows: Tensor, n: int) -> Tensor:
    """Return for each bit i the windows (m, 2**k, B) that end at i - n; bits before the first one are 0."""
    start = _before_the_first(windows.shape[1], windows).expand(n, -1, -1)
    return torch.cat((start, windows))[: len(windows)]


def _before_the_first(n_windows: int, like: Tensor) -> Tensor:
    """Return the context before the first bit, in which all bits are 0: (2**k, B)."""
    start = like.new_zeros(n_windows, like.shape[-1])
    start[0] = 1
    return start


def _append(before: Tensor, probs: Tensor) -> Tensor:
    """Windows (m, 2**k, B) before each bit, and the bit itself: (m, 2**(k+1), B)."""
    by_context = before.unflatten(1, (-1, probs.shape[1])).unsqueeze(3)  # (m, 2**(k-o), 2**o, 1, B)
    return (by_context * probs.unsqueeze(1)).flatten(1, 3)


def _sum_out_older(windows: Tensor, width: int) -> Tensor:
    """Windows (m, 2**k, ...) without their oldest bits: (m, 2**width, ...)."""
    return windows.unflatten(1, (-1, 2**width)).sum(1)
