"""How many bits of information codes carry about documents, exactly or between bounds (docs/information.md)."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import reduce
from math import inf, log2
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from ammi import displays
from ammi.chain import Chain, Distributions
from ammi.chain.information import SHARES, bound_terms, certain, contrast_terms, cross_entropies, mixture_terms
from ammi.hashers.base import Hasher
from ammi.hashers.documents import DocumentHasher, Documents
from ammi.hashers.information import InformationHasher
from ammi.hashers.training_data import rows_beside
from ammi.nets.divergences import BITS_PER_NAT
from ammi.nets.matrix import Matrix
from ammi.nets.rows import Rows, row_blocks
from ammi.training.information import InformationObjective

_FOLDS = 5
_RESAMPLES = 1000
_LARGEST_CONTRAST = 4096  # documents that InfoNCE tells apart; more are cut into parts
_LEAST_DRAWS = 2000  # codes that are drawn in all, also of a few documents


@dataclass(frozen=True)
class Figure:
    """A number of bits, its 95% interval over documents, and how it was found.

    Args:
        kind: "exact", "upper bound" or "lower bound".
        how: in words.
    """

    value: float
    low: float
    high: float
    kind: str
    how: str

    def __str__(self) -> str:
        return f"{self.value:7.2f} {self.low:7.2f} to {self.high:5.2f}   {self.kind}: {self.how}"


@dataclass(frozen=True)
class Information:
    """What `ammi.information` found, in bits; `str` of it is a table, `to_dict` gives it for JSON.

    Args:
        documents: n, the number of documents or pairs.
        bits: m.
        related: whether it is the information of pairs, I(X, Z), and not of documents, I(Y, Z).
        entropy: H(Z) if it is exact, otherwise the same as `entropy_bound`.
        entropy_bound: H⁺(Z) ≥ H(Z), with a prior that has not seen the document.
        conditional_entropy: H(Z|Y), or of pairs H⁺(Z|X) ≥ H(Z|X).
        exact: I(Y, Z) of these documents, None if their codes cannot be enumerated, and of pairs.
        at_least: a lower bound of the information, or `exact`.
        at_most: an upper bound of the information of these documents, never above the ceiling.
        ceiling: log2 n: n documents show no more, whatever the code.
    """

    documents: int
    bits: int
    related: bool
    entropy: Figure
    entropy_bound: Figure
    conditional_entropy: Figure
    exact: Figure | None
    at_least: Figure
    at_most: Figure
    ceiling: float

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain numbers and strings."""
        return asdict(self)

    def __repr__(self) -> str:
        return "\n".join([self._title(), *(f"{name:9}{figure}" for name, figure in self._rows().items())])

    def _repr_html_(self) -> str:
        rows = [
            (name, f"{one.value:.2f}", f"{one.low:.2f} to {one.high:.2f}", f"{one.kind}: {one.how}")
            for name, one in self._rows().items()
        ]
        return displays.framed(displays.table(("", "bits", "95% interval", ""), rows, ("bits",), title=self._title()))

    def _title(self) -> str:
        what = "pairs" if self.related else "documents"
        return f"{self.bits} bits, {self.documents:,} {what} (log2 n = {self.ceiling:.2f}), 95% intervals"

    def _rows(self) -> dict[str, Figure]:
        information = "I(X,Z)" if self.related else "I(Y,Z)"
        rows = {"H(Z)": self.entropy} if self.entropy.kind == "exact" else {}
        rows |= {"H⁺(Z)": self.entropy_bound, "H⁺(Z|X)" if self.related else "H(Z|Y)": self.conditional_entropy}
        rows |= {information: self.exact} if self.exact else {f"{information} ≥": self.at_least}
        return rows | {f"{information} ≤": self.at_most}


def information(
    model: Hasher | DocumentHasher, documents: Documents, *, related: Documents | None = None, random_state: int = 0
) -> Information:
    """Measure how many bits the codes of a fitted model say about documents, exactly or between bounds.

    Z is a code of a document y that is drawn from the given ones: drawn from p(z|y) for AMMI and BMMI, and the code
    itself for other methods, whose H(Z|Y) is 0. The information of documents, I(Y, Z) = H(Z) - H(Z|Y), is how much
    a code says about which of them it belongs to. That of pairs, I(X, Z), is how much the code of y says about its
    related document x. It is measured best on documents that the model was not fitted to.

    Args:
        model: a hasher, or a DocumentHasher.
        documents: rows for a hasher, documents for a DocumentHasher; at least 10.
        related: a document related to each, row for row.
        random_state: draws codes, folds and resamples.
    """
    check_is_fitted(model)
    is_whole = isinstance(model, DocumentHasher)
    hashers = [part.hasher_ for part in model.parts] if is_whole else [model]
    rows = model.rows(documents) if is_whole else [documents]
    beside = [None] * len(rows) if related is None else model.rows(related) if is_whole else [related]
    rows = [hasher._check_rows(Y, reset=False) for hasher, Y in zip(hashers, rows, strict=True)]
    beside = [
        None if X is None else rows_beside(hasher, X, "related", len_of=Y)
        for hasher, Y, X in zip(hashers, rows, beside, strict=True)
    ]
    n = rows[0].shape[0]
    if n < 2 * _FOLDS:
        raise ValueError(f"information is measured on at least {2 * _FOLDS} documents, got {n}: pass more")
    rng = np.random.default_rng(random_state)
    fold = torch.from_numpy(rng.permutation(n) % _FOLDS)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(random_state)
        each = [_distributions(*part, fold) for part in zip(hashers, rows, beside, strict=True)]
        p, q = reduce(_side_by_side, [p for p, _ in each]), reduce(_side_by_side, [q for _, q in each])
        return _measured(p, p if related is None else q, fold, rng)


def _distributions(model: Hasher, Y: Matrix, X: Matrix | None, fold: Tensor) -> tuple[Distributions, Distributions]:
    """Return p(z|y) and q(z|x) of each document; without related documents q is p."""
    if isinstance(model, InformationHasher):
        objective, device = model.objective_, model._device()
        assert isinstance(objective, InformationObjective)
        with model._reading():
            p = _read(objective.distributions, Y, device)
            return p, p if X is None else _read(objective.related_distributions, X, device)
    y = torch.from_numpy(model.transform(Y)).double()
    p = certain(y)
    return p, p if X is None else _flipped(y, torch.from_numpy(model.transform(X)).double(), fold)


def _side_by_side(p: Distributions, after: Distributions) -> Distributions:
    """Return the distributions of codes of two parts, which are independent given the document."""
    if type(p.structure) is not Chain or after.structure.shape[1:] != (1,):
        raise ValueError(
            f"the model has two codes, of {p.structure} and {after.structure}, whose information is measured only if "
            "the first is a chain and the bits of the second are independent: measure two models of one code each"
        )
    tables = [p.logits, after.logits.expand(-1, -1, p.structure.shape[1])]
    return Chain(p.n_bits + after.n_bits, p.structure.order).read(torch.cat(tables, dim=-2))


def _read(read: Callable[[Rows], Distributions], rows: Matrix, device: torch.device) -> Distributions:
    """Return the distributions of all rows, in double precision."""
    batches = [read(block) for block in row_blocks(rows, device)]
    return batches[0].structure.read(torch.cat([batch.logits.double().cpu() for batch in batches]))


def _flipped(y: Tensor, x: Tensor, fold: Tensor) -> Distributions:
    """Return q(z|x) for codes (n, m) without probabilities: each bit of x's code flips as often as in other folds."""
    flips, logits = (y != x).double(), torch.zeros_like(x)
    for i in fold.unique():
        others = flips[fold != i]
        rate = (others.sum(0) + 0.5) / (len(others) + 1)
        logits[fold == i] = (2 * x[fold == i] - 1) * ((1 - rate) / rate).log()
    return Chain(x.shape[1]).read(logits.unsqueeze(-1))


def _measured(p: Distributions, q: Distributions, fold: Tensor, rng: np.random.Generator) -> Information:
    n, related, ceiling = len(fold), q is not p, log2(len(fold))
    order, n_parts = torch.from_numpy(rng.permutation(n)), -(-n // _LARGEST_CONTRAST)
    parts = [order[i::n_parts] for i in range(n_parts)]
    codes = p.sample(torch.Size([-(-_LEAST_DRAWS // n)]))  # (S, n, m)
    own, conditional, mixture = cross_entropies(p, p), cross_entropies(p, q), mixture_terms(p)
    prior, bound = bound_terms(p, codes, fold, parts)
    seed = rng.integers(2**31)

    def figure(terms: Tensor, kind: str, how: str, most: float = inf) -> Figure:
        """Return the mean of terms (n,), and its interval over resampled documents, which are the same for all."""
        values, again = terms.numpy() * BITS_PER_NAT, np.random.default_rng(seed)
        means = [values[again.integers(n, size=n)].mean() for _ in range(_RESAMPLES if n <= 10**5 else 100)]
        value, (low, high) = float(values.mean()), np.quantile(means, (0.025, 0.975)).tolist()
        return Figure(
            min(value, most), min(low, most), min(high, most), kind, how if value <= most + 1e-9 else "log2 n"
        )

    entropy_bound = figure(bound, "upper bound", f"prior {prior}")
    exact = None
    if related:
        about = figure(conditional, "upper bound", "the code of y, predicted from x")
    else:
        about = figure(conditional, "exact", "the mean of all documents")
        exact = None if mixture is None else figure(mixture - own, "exact", "H(Z) - H(Z|Y)")
    if exact is None:
        contrast = contrast_terms(q, codes, parts, (0.0, *SHARES) if related else (0.0,))
        at_least = figure(contrast, "lower bound", "InfoNCE over the codes", most=ceiling)
    return Information(
        documents=n,
        bits=p.n_bits,
        related=related,
        entropy=entropy_bound if mixture is None else figure(mixture, "exact", "over all codes"),
        entropy_bound=entropy_bound,
        conditional_entropy=about,
        exact=exact,
        at_least=exact or at_least,
        at_most=figure(bound - own, "upper bound", "H⁺(Z) - H(Z|Y)", most=ceiling),
        ceiling=ceiling,
    )
