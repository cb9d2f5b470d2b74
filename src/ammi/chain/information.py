"""How much codes say about their documents: the terms of entropies and of bounds, one for each document, in nats.

The documents are n distributions p_l, each as probable as any other, and Z is a code of one of them. With their mixture
p̄ = 1/n Σ_l p_l, and any distributions q_l in the place of the p_l, all these are means over documents:

    H(Z|Y)  = 1/n Σ_l H(p_l)                  H⁺(Z|X) = 1/n Σ_l H(p_l, q_l) ≥ H(Z|X)
    H(Z)    = 1/n Σ_l H(p_l, p̄)               over all 2^m codes: `mixture_terms`
    H⁺(Z)   = 1/n Σ_l H(p_l, prior)           ≥ H(Z), a prior from other documents: `bound_terms`
    InfoNCE = 1/n Σ_l E[log c_l(z) / c̄(z)]    ≤ I(X, Z), z drawn from p_l; never above log n: `contrast_terms`

InfoNCE with c = p is I(Y, Z) = H(Z) - H(Z|Y) of these documents itself, up to the drawing of z.
"""

from collections.abc import Iterator
from math import log
from typing import NamedTuple

import torch
from torch import Tensor

from ammi.chain.chow_liu import chow_liu
from ammi.chain.condition import certain_logit
from ammi.chain.entropy import MAX_BRUTE_FORCE_BITS
from ammi.chain.markov import Chain
from ammi.chain.structure import Distributions, Structure
from ammi.chain.tree import Tree

HIGHEST_ORDER = 8  # of the chains that are tried as a prior
MOST_BITS_OF_A_TREE = 1024
MOST_PRODUCTS = 2**40  # of an enumeration, n 2^m: some minutes
_AT_ONCE = 2**24  # numbers in a table
_SMOOTHING = 0.5  # of a document, added to each count (Krichevsky and Trofimov)
SHARES = (0.02, 0.1, 0.5)  # that are tried: of the structure in a prior that is a mixture, and of any other code


def cross_entropies(p: Distributions, q: Distributions) -> Tensor:
    """Return H(p_l, q_l) of each document, (n,)."""
    size = max(p.logits[0].numel(), q.logits[0].numel())
    return torch.cat([own.cross_entropy(other) for own, other in zip(_parts(p, size), _parts(q, size), strict=True)])


def certain(codes: Tensor) -> Distributions:
    """Return the distributions that give all probability to codes (n, m)."""
    codes = codes.double()
    return Chain(codes.shape[-1]).read((2 * codes - 1).unsqueeze(-1) * certain_logit(codes.dtype))


def mixture_terms(p: Distributions) -> Tensor | None:
    """Return H(p_l, p̄) of each document (n,), over all codes; their mean is H(Z), the entropy of the mixture.

    Certain codes are counted. For others, as in `mixture_entropy`, the mixture is a few matrix products of halves of
    codes, Aᵀ S / n, which takes n 2^m steps: None if those are too many, or if the structure has no halves.
    """
    n, m = p.logits.shape[:2]
    if type(p.structure) is Chain and p.logits.abs().min() >= certain_logit(p.logits.dtype):
        _, which, counts = p.mode().unique(dim=0, return_inverse=True, return_counts=True)
        return log(n) - counts[which].to(p.logits.dtype).log()
    if m > MAX_BRUTE_FORCE_BITS or n > MOST_PRODUCTS >> m or p.halves() is None:
        return None
    parts = list(_parts(p, 2 ** (m // 2 + 1)))
    mixture: list[Tensor] = []
    for part in parts:
        for i, (prefixes, suffixes) in enumerate(part.halves() or ()):
            if i == len(mixture):
                mixture.append(prefixes.new_zeros(prefixes.shape[1], suffixes.shape[1]))
            mixture[i].addmm_(prefixes.T, suffixes, alpha=1 / n)
    for table in mixture:
        table.clamp_min_(torch.finfo(table.dtype).tiny).log_()
    terms = []
    for part in parts:
        found = zip(part.halves() or (), mixture, strict=True)
        terms.append(torch.stack([-((head @ table) * tail).sum(1) for (head, tail), table in found]).sum(0))
    return torch.cat(terms)


def contrast_terms(q: Distributions, codes: Tensor, parts: list[Tensor], shares: tuple[float, ...]) -> Tensor:
    """Return the mean over draws of log c_l(z) - log c̄(z), for codes z (S, n, m) that were drawn from p_l, (n,).

    c_l = (1 - s) q_l / q̄ + s, with the share s of all shares that gives most: without a share for any other code, a q
    of independent bits has a large loss where y is not what x predicts. Means are over the part that a document is in;
    parts are numbers of documents.
    """
    found = [q.logits.new_zeros(codes.shape[:2]) for _ in shares]
    for rows in parts:
        for log_probs, own, draw in _log_probs(q.structure.read(q.logits[rows]), codes[:, rows]):
            ratio = log_probs - log_probs.logsumexp(1, keepdim=True) + log(len(rows))
            for share, terms in zip(shares, found, strict=True):
                critic = torch.logaddexp(ratio + log(1 - share), ratio.new_tensor(share).log())
                chosen = critic.gather(1, own.unsqueeze(1)).squeeze(1)
                terms[draw, rows[own]] = chosen - critic.logsumexp(1) + log(len(rows))
    return max((terms.mean(0) for terms in found), key=lambda terms: float(terms.mean()))


def bound_terms(p: Distributions, codes: Tensor, fold: Tensor, parts: list[Tensor]) -> tuple[str, Tensor]:
    """Return the name of the best prior, and H(p_l, prior) of each document (n,), the prior from other folds.

    The prior is a chain of an order up to 8 or a tree, the one that predicts other folds best; or a mixture of it and
    of the other documents' own distributions, those in the same part, which is better if documents have codes in
    common. The terms of a mixture are means over codes z (S, n, m) that were drawn from p_l.
    """
    folds = [(fold == i).nonzero().squeeze(1) for i in fold.unique()]
    name, priors = _best_priors(p, folds)
    found = {name: _with_priors(p, folds, priors)}
    by_structure = -torch.stack([_with_priors(certain(z), folds, priors) for z in codes])  # (S, n)
    by_others = torch.zeros_like(by_structure)
    for rows in parts:
        for log_probs, own, draw in _log_probs(p.structure.read(p.logits[rows]), codes[:, rows]):
            same = fold[rows[own]].unsqueeze(1) == fold[rows]
            among = log_probs.masked_fill(same, -torch.inf).logsumexp(1)
            by_others[draw, rows[own]] = among - (~same).sum(1).log()
    for share in SHARES:
        together = torch.logaddexp(by_others + log(1 - share), by_structure + log(share))
        found[f"{share:.0%} {name}, {1 - share:.0%} codes of other documents"] = -together.mean(0)
    best = min(found, key=lambda name: float(found[name].mean()))
    return best, found[best]


def _log_probs(q: Distributions, codes: Tensor) -> Iterator[tuple[Tensor, Tensor, int]]:
    """Yield log q_j(z) of codes z (S, n, m) for all j, block by block, (size, n); their own numbers; and the draw."""
    # A cross entropy is linear in the statistics of p, so -log q_j(z) is a product of those of z and a table of q_j.
    statistics = q.logits.new_zeros(len(q.logits), *q.structure.statistics_shape).requires_grad_()
    with torch.enable_grad():
        total = q.structure.cross_entropy_of(statistics, q.logits).sum()
    weights = torch.autograd.grad(total, statistics)[0].flatten(1)  # (n, statistics)
    for draw, drawn in enumerate(codes):
        for own in torch.arange(len(drawn)).split(max(1, _AT_ONCE // max(weights.shape))):
            yield -q.structure.statistics(certain(drawn[own])).flatten(1) @ weights.T, own, draw


def _best_priors(p: Distributions, folds: list[Tensor]) -> tuple[str, list[Distributions]]:
    """Return the name of the structure that predicts folds best from the others, and its prior for each fold."""
    counts = [_Counts.of(p.structure.read(p.logits[rows])) for rows in folds]
    priors = []  # of each fold, those of all structures
    for own in counts:
        others = _Counts(*(sum(tables) for tables in zip(*(one for one in counts if one is not own), strict=True)))
        structures: list[Structure] = [Chain(p.n_bits, order) for order in range(_highest_order(p) + 1)]
        structures += [chow_liu(others.pairs / others.pairs[0, 0].sum())] if len(others.pairs) else []
        priors.append([s.read(s.best_prior(others.statistics(s) + _SMOOTHING)) for s in structures])
    by_structure = list(zip(*priors, strict=True))

    def total(priors: tuple[Distributions, ...]) -> float:
        return sum(float(own.cross_entropy(q)) for own, q in zip(counts, priors, strict=True))

    best = min(range(len(by_structure)), key=lambda i: total(by_structure[i]))
    is_tree = isinstance(by_structure[best][0].structure, Tree)
    return "tree" if is_tree else f"chain of order {best}", list(by_structure[best])


def _with_priors(p: Distributions, folds: list[Tensor], priors: list[Distributions]) -> Tensor:
    """Return H(p_l, prior of its fold) of each document, (n,)."""
    terms = p.logits.new_zeros(len(p.logits))
    for rows, q in zip(folds, priors, strict=True):
        batch = p.structure.read(p.logits[rows])
        parts = _parts(batch, max(2 * q.logits.numel(), batch.logits[0].numel()))
        terms[rows] = torch.cat([part.cross_entropy(q) for part in parts])
    return terms


class _Counts(NamedTuple):
    """Expected counts in a batch: of the widest windows (m, 2**k), and of all pairs of bits (m, m, 4), or of none."""

    windows: Tensor
    pairs: Tensor

    @classmethod
    def of(cls, p: Distributions) -> "_Counts":
        width = _highest_order(p) + 1
        paired = p.n_bits if p.n_bits <= MOST_BITS_OF_A_TREE else 0
        windows, pairs = p.logits.new_zeros(p.n_bits, 2**width), p.logits.new_zeros(paired, paired, 4)
        for part in _parts(p, 2**width * p.n_bits):
            windows += len(part.logits) * part.mean_windows(width)
            pairs += len(part.logits) * part.mean_all_pairs() if paired else 0
        return cls(windows, pairs)

    def statistics(self, structure: Structure) -> Tensor:
        if isinstance(structure, Tree):
            return structure.statistics_among(self.pairs)
        return self.windows.unflatten(-1, (-1, structure.statistics_shape[-1])).sum(-2)  # without the older bits

    def cross_entropy(self, q: Distributions) -> Tensor:
        return q.structure.cross_entropy_of(self.statistics(q.structure), q.logits)


def _highest_order(p: Distributions) -> int:
    return min(HIGHEST_ORDER, p.n_bits - 1, max(0, (_AT_ONCE // 16 // p.n_bits).bit_length() - 2))


def _parts(p: Distributions, size: int) -> Iterator[Distributions]:
    """Yield the distributions in batches, whose tables of `size` numbers a document fit in memory together."""
    return map(p.structure.read, p.logits.split(max(1, _AT_ONCE // size)))
