"""Codes of a chain: their log probability, the most probable one (Viterbi), and random ones."""

import torch
import torch.nn.functional as F
from torch import Tensor

from ammi.chain.layout import bit_log_probs, contexts, order_of, shape_with_codes


def log_prob(logits: Tensor, z: Tensor) -> Tensor:
    """Return log p(z) (...,) of codes z (..., m), batch shapes broadcast."""
    order = order_of(logits)
    shape = shape_with_codes(logits, z)
    read = contexts(z, order).expand(shape).unsqueeze(-1)
    logit = logits.expand(*shape, -1).gather(-1, read).squeeze(-1)  # (..., m)
    return F.logsigmoid(torch.where(z.expand(shape) == 1, logit, -logit)).sum(-1)


@torch.no_grad()
def viterbi(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Return the most probable code (..., m), of the logits' type, and its log probability (...,).

    Of two equally good ways into a context the one from a 0 bit is kept, so the answer is one and always the same.
    """
    order = order_of(logits)
    if order == 0:  # each bit by the sign of its logit: log probabilities of logits near 0 round to a tie
        return (logits > 0).squeeze(-1).to(logits.dtype), F.logsigmoid(logits.abs()).sum((-2, -1))
    best = torch.full_like(logits[..., 0, :], -torch.inf)  # (..., 2**o), the best prefix that ends in each context
    best[..., 0] = 0
    oldest = []
    for step in bit_log_probs(logits).unbind(-3):  # (..., 2**o, 2)
        windows = (best.unsqueeze(-1) + step).flatten(-2).unflatten(-1, (2, -1))  # (..., oldest bit, 2**o)
        from_zero, from_one = windows.unbind(-2)
        oldest.append((from_one > from_zero).long())
        best = torch.maximum(from_zero, from_one)
    value, context = best.max(-1, keepdim=True)
    bits = []
    for choice in reversed(oldest):
        window = (choice.gather(-1, context) << order) + context  # the last o + 1 bits of the best way here
        bits.append(window % 2)
        context = window >> 1
    return torch.cat(bits[::-1], dim=-1).to(logits.dtype), value.squeeze(-1)


@torch.no_grad()
def sample(logits: Tensor, shape: torch.Size) -> Tensor:
    """Return independent exact samples (*shape, ..., m), of the logits' type."""
    n_contexts = 2 ** order_of(logits)
    uniform = torch.rand(*shape, *logits.shape[:-1], dtype=logits.dtype, device=logits.device)
    probs = torch.sigmoid(logits).expand(*shape, *logits.shape)
    context = torch.zeros_like(uniform[..., :1], dtype=torch.long)
    bits = []
    for step, u in zip(probs.unbind(-2), uniform.split(1, dim=-1), strict=True):
        bit = u < step.gather(-1, context)
        bits.append(bit)
        context = (2 * context + bit) % n_contexts
    return torch.cat(bits, dim=-1).to(logits.dtype)
