"""Divergences of the codes of autoencoders from their priors, in nats, and bits with a straight-through gradient."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

BITS_PER_NAT = 1 / math.log(2)


def straight_through(logits: Tensor, drawn: bool) -> Tensor:
    """Return bits with these log odds, drawn or the more probable ones; their gradient is that of the probabilities."""
    q = torch.sigmoid(logits)
    bits = torch.bernoulli(q.nan_to_num()) if drawn else (q > 0.5).to(q.dtype)  # a NaN still shows in q
    return q + (bits - q).detach()


def bernoulli_divergence(logits: Tensor, prior_logits: Tensor) -> Tensor:
    """Return KL(Bern(σ(a)) ‖ Bern(σ(g_c))) for a (B, m) and each of g (K, m) or (B, K, m), summed over bits: (B, K)."""
    q = torch.sigmoid(logits)
    entropy = (F.softplus(logits) - q * logits).sum(-1, keepdim=True)  # (B, 1)
    cross_entropy = F.softplus(prior_logits).sum(-1) - (prior_logits @ q.unsqueeze(-1)).squeeze(-1)  # (B, K)
    return cross_entropy - entropy


def gaussian_divergence(mean: Tensor, log_variance: Tensor, prior_mean: Tensor, prior_log_variance: Tensor) -> Tensor:
    """Return KL(N(mean, exp(log_variance)) ‖ N(prior...)) summed over the last dimension, shapes broadcast."""
    ratio = (log_variance - prior_log_variance).exp()
    distance = (mean - prior_mean) ** 2 / prior_log_variance.exp()
    return (ratio + distance - 1 - log_variance + prior_log_variance).sum(-1) / 2


def mixture_divergence(component_logits: Tensor, prior_logits: Tensor, divergences: Tensor) -> Tensor:
    """Return KL(q(c) ‖ π) + Σ_c q(c) KL_c (B,), from log odds (B, K) of q(c), (K,) or (B, K) of π, and KL_c (B, K)."""
    log_q = component_logits.log_softmax(-1)
    return (log_q.exp() * (log_q - prior_logits.log_softmax(-1) + divergences)).sum(-1)
