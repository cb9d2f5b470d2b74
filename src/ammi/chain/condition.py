"""A chain conditioned on some of its bits, by a backward pass from the known bits.

With β_i(c) the probability of the known bits after bit i, given the o bits c that end at it,

    p(z_i = 1 | c, known) / p(z_i = 0 | c, known) = p(1 | c) β_i(c1) / p(0 | c) β_i(c0),    c1 = (2c + 1) % 2**o,
    β_{i-1}(c) = sum over the b that bit i can be of p(b | c) β_i(cb),                      β_m = 1,

so the conditioned distribution is a chain of the same order, and its logits are the old ones plus
log β_i(c1) - log β_i(c0).
"""

import torch
from torch import Tensor

from ammi.chain.layout import bit_log_probs, order_of, shape_with_codes

UNKNOWN = -1


def certain_logit(dtype: torch.dtype) -> float:
    """Return the logit of a bit that is known.

    It is finite, because 0 times infinity would make every entropy NaN, and so large that the other bit has a
    probability of exactly 0 and that no sum of other log probabilities comes near it. Its square is not infinite yet,
    so that gradients can be scaled.
    """
    if dtype == torch.float16:
        raise ValueError("torch.float16 has no logit for a bit that is certain: convert the logits with .float()")
    return torch.finfo(dtype).max ** 0.5


def condition(logits: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
    """Return the logits (..., m, 2**o) of p(z | known bits), and log p(known bits) (...,); batch shapes broadcast.

    Args:
        logits: (..., m, 2**o).
        known: (..., m), 0 or 1 where a bit is known and -1 where it is not.
    """
    n_contexts = 2 ** order_of(logits)
    shape = shape_with_codes(logits, known)
    logits = logits.expand(*shape, n_contexts)
    known = known.expand(shape).unsqueeze(-1)  # (..., m, 1)
    after = logits.new_zeros(*shape[:-1], n_contexts)  # log β_m
    turned = []
    steps = list(zip(logits.unbind(-2), bit_log_probs(logits).unbind(-3), known.unbind(-2), strict=True))
    for step, log_probs, bit in reversed(steps):
        lead = after.repeat(*[1] * (after.ndim - 1), 2).unflatten(-1, (n_contexts, 2))  # log β_i(cb), (..., 2**o, 2)
        turned.append(step + lead[..., 1] - lead[..., 0])
        zero, one = (log_probs + lead).unbind(-1)
        after = torch.where(bit == UNKNOWN, torch.logaddexp(zero, one), torch.where(bit == 1, one, zero))
    certain = certain_logit(logits.dtype) * (2 * known.to(logits.dtype) - 1)  # (..., m, 1)
    return torch.where(known == UNKNOWN, torch.stack(turned[::-1], dim=-2), certain), after[..., 0]
