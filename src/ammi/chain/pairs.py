"""The joint probabilities of two bits: of any pair in a chain, and of all pairs in a batch.

A table of pairs is (..., n, 4): entry [n, w] is the probability that z_first and z_second of the n-th pair are w, read
as windows are, w = 2 * z_first + z_second. A first bit of -1 is a bit before the first one, and 0. In a chain the older
bit a of a pair is carried along with the context until the newer one, over d = 1, 2, …:

    λ_0(a, c) = μ(c | i) [a = c % 2],      λ_d(a, c') = sum of λ_{d-1}(a, c) p_{i+d}(b | c) over (c, b) that lead to c',
    p(z_i = a, z_{i+d} = b) = sum_c λ_{d-1}(a, c) p_{i+d}(b | c),

with μ(c | i) the probability of the o bits that end at bit i. One pass serves all pairs of the same older bit.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from ammi.chain.layout import batch_first, batch_last, bit_probs, bits_batch_last, check_some, order_of
from ammi.chain.marginals import window_marginals


def pair_marginals(logits: Tensor, first: Sequence[int], second: Sequence[int], pi: Tensor | None = None) -> Tensor:
    """Return the joint probabilities (..., n, 4) of n pairs of bits of a chain; `pi` is forward(logits), if known."""
    order = order_of(logits)
    check_pairs(logits.shape[-2], first, second)
    a, b = (torch.as_tensor(bits, dtype=torch.long, device=logits.device) for bits in (first, second))
    if order == 0:
        probs = _with_the_bit_before(bits_batch_last(logits).squeeze(1))  # (m + 1, 2, B)
        joint = (probs[a].unsqueeze(2) * probs[b].unsqueeze(1)).flatten(1, 2)
    else:
        joint = _by_distance(logits, a, b, pi)
    return batch_first(joint, logits)


def check_pairs(n_bits: int, first: Sequence[int], second: Sequence[int]) -> None:
    """Refuse pairs that are not two different bits."""
    if len(first) != len(second):
        raise ValueError(f"pairs need as many first as second bits, got {len(first)} and {len(second)}")
    for a, b in zip(first, second, strict=True):
        if not (-1 <= a < n_bits and 0 <= b < n_bits and a != b):
            raise ValueError(
                f"a pair is two different bits from 0 to {n_bits - 1}, or -1 and a bit, got {a} and {b}: name others"
            )


def mean_pairs_of_independent_bits(logits: Tensor) -> Tensor:
    """Return the mean joint probabilities (m, m, 4) of all pairs in a batch of order 0, by one matrix product PᵀP / B.

    P (B, 2m) has both probabilities of each bit, so that small ones are not differences of large ones.
    """
    check_some(logits)
    probs = bit_probs(logits.flatten(0, -3) if logits.ndim > 2 else logits.unsqueeze(0)).squeeze(-2)  # (B, m, 2)
    flat = probs.flatten(1)
    table = (flat.T @ flat / len(flat)).unflatten(1, (-1, 2)).unflatten(0, (-1, 2)).transpose(1, 2)  # (m, m, 2, 2)
    return _with_diagonal(table, probs.mean(0))


def square(upper: Tensor, marginals: Tensor) -> Tensor:
    """Return the table of all pairs (m, m, 4) from pairs i < j row by row (m(m-1)/2, 4) and the marginals (m, 2)."""
    n_bits = len(marginals)
    i, j = torch.triu_indices(n_bits, n_bits, 1, device=upper.device)
    table = upper.new_zeros(n_bits, n_bits, 2, 2)
    table[i, j] = upper.unflatten(1, (2, 2))
    table[j, i] = upper.unflatten(1, (2, 2)).mT
    return _with_diagonal(table, marginals)


def pairs_of_moments(moments: Tensor) -> Tensor:
    """Return the table of every two bits (m, m, 4) from second moments E[z_i z_j] (m, m), whose diagonal is E[z_i].

    The other three probabilities are differences, and rounded ones: what falls below 0 is 0.
    """
    if moments.ndim != 2 or moments.shape[0] != moments.shape[1]:
        raise ValueError(f"second moments of every two bits have the shape (m, m), got {tuple(moments.shape)}")
    ones = moments.diagonal()
    only_first, only_second = ones.unsqueeze(1) - moments, ones - moments
    neither = 1 - moments - only_first - only_second
    return torch.stack((neither, only_second, only_first, moments), dim=-1).clamp_min(0)


def _by_distance(logits: Tensor, first: Tensor, second: Tensor, pi: Tensor | None) -> Tensor:
    """Return the joint probabilities (n, 4, B) of pairs of bits of chains of order 1 and more."""
    older, newer = torch.minimum(first, second), torch.maximum(first, second)
    probs = bits_batch_last(logits)  # (m, 2**o, 2, B)
    contexts = batch_last(window_marginals(logits, order_of(logits), pi))  # (m, 2**o, B), that end at each bit
    alone, both = (older < 0).nonzero().squeeze(1), (older >= 0).nonzero().squeeze(1)
    bits = contexts.unflatten(1, (-1, 2)).sum(1)[newer[alone]]  # (n, 2, B)
    places, found = [alone], [torch.stack((bits, torch.zeros_like(bits)), dim=1)]
    distance = (newer - older)[both]
    sources, source, reach = _by_reach(older[both], distance)
    newest = torch.arange(probs.shape[1], device=probs.device) % 2
    state = contexts[sources].unsqueeze(1) * torch.stack((1 - newest, newest)).unsqueeze(-1)  # (n, 2, 2**o, B)
    for d in range(1, max(reach, default=0) + 1):
        n = sum(far >= d for far in reach)
        steps = probs.index_select(0, sources[:n] + d)  # its gradient is faster than that of probs[...]
        joint = state[:n].unsqueeze(3) * steps.unsqueeze(1)  # (n, 2, 2**o, 2, B)
        here = (distance == d).nonzero().squeeze(1)
        places.append(both[here])
        found.append(joint.sum(2).index_select(0, source[here]))
        state = joint.flatten(2, 3).unflatten(2, (2, -1)).sum(2)  # over the oldest bit
    entries = 4 * torch.cat(places).argsort().unsqueeze(1) + _in_order(first, second)
    return torch.cat(found).flatten(0, 2).index_select(0, entries.flatten()).unflatten(0, (-1, 4))


def _in_order(first: Tensor, second: Tensor) -> Tensor:
    """Return the positions (n, 4) of each w = 2 * z_first + z_second in a table whose first bit is the older one."""
    same, swapped = torch.tensor([[0, 1, 2, 3], [0, 2, 1, 3]], device=first.device)
    return torch.where((first > second).unsqueeze(1), swapped, same)


def _by_reach(older: Tensor, distance: Tensor) -> tuple[Tensor, Tensor, list[int]]:
    """Return the older bits, sorted by how far they are needed; the one of each pair; and how far each is needed."""
    bits, which = older.unique(return_inverse=True)
    reach = torch.zeros_like(bits).scatter_reduce(0, which, distance, "amax")
    reach, order = reach.sort(descending=True, stable=True)
    return bits[order], order.argsort()[which], reach.tolist()


def _with_the_bit_before(probs: Tensor) -> Tensor:
    """Append to bits (m, 2, B) the bit before the first one, which is 0, where the index -1 finds it: (m + 1, 2, B)."""
    zero = torch.stack((torch.ones_like(probs[:1, 0]), torch.zeros_like(probs[:1, 0])), dim=1)
    return torch.cat((probs, zero))


def _with_diagonal(table: Tensor, marginals: Tensor) -> Tensor:
    """Return (m, m, 2, 2) as (m, m, 4), where a bit and itself are equal."""
    same = torch.eye(len(marginals), dtype=torch.bool, device=table.device).view(*table.shape[:2], 1, 1)
    return torch.where(same, torch.diag_embed(marginals).unsqueeze(0), table).flatten(2)
