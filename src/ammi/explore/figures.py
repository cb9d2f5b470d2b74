r"""Figures of a set of codes: balance and information, from counts.

With p_i the share of ones of bit i, H its entropy and I(i; j) the mutual information of two bits, all in bits, the
entropy of the codes is at most Σ_i H(p_i), and at most that less Σ I(i; j) over the edges of any tree of bits; the best
tree is the one with the most information (`best_tree`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.best_tree import best_tree
from ammi.search.hamming import Codes

Numbers = NDArray[np.float64]
_CODES_AT_ONCE = 1 << 16


class Figures(NamedTuple):
    """Counts, balance and information of all codes; entropies are in bits."""

    documents: int
    distinct: int
    balance: Numbers  # (m,) share of ones
    entropy: Numbers  # (m,) of each bit
    information: Numbers  # (m, m) mutual information; 0 on the diagonal
    together: Numbers  # (m, m) correlation: positive where two bits tend to be equal
    tree: list[tuple[int, int]]  # the edges of the best tree, (a, b) with a < b
    code_entropy: float  # of the codes as they occur

    @property
    def independent(self) -> float:
        """The entropy of the codes if their bits were independent."""
        return float(self.entropy.sum())

    @property
    def with_tree(self) -> float:
        """An upper bound of the entropy, by the best tree."""
        return max(0.0, self.independent - sum(float(self.information[edge]) for edge in self.tree))


def figures(codes: Codes, n_bits: int) -> Figures:
    """Return the figures of codes (n, ceil(m / 8))."""
    ones, both = _counts(codes, n_bits)
    n = max(len(codes), 1)
    p = ones / n
    information, together = _information(both / n, p) if len(codes) else (np.zeros((n_bits, n_bits)),) * 2
    counts = _code_counts(codes)
    share = counts / n
    return Figures(
        len(codes),
        len(counts),
        p,
        entropy_of(p),
        information,
        together,
        sorted((min(a, b), max(a, b)) for a, b in enumerate(best_tree(information)) if b >= 0),
        float(-(share * np.log2(share)).sum()) + 0.0,
    )


def entropy_of(p: Numbers) -> Numbers:
    """Return H(p) of a bit that is 1 with probability p."""
    return -(_p_log_p(p) + _p_log_p(1 - p)) + 0.0


def bits_of(codes: Codes, n_bits: int) -> NDArray[np.uint8]:
    """Unpack codes to 0 and 1, (n, m)."""
    return np.unpackbits(codes, axis=1, count=n_bits)


def _counts(codes: Codes, n_bits: int) -> tuple[Numbers, Numbers]:
    """Count the codes in which each bit is 1, (m,), and in which each two bits are, (m, m)."""
    both = np.zeros((n_bits, n_bits))
    for start in range(0, len(codes), _CODES_AT_ONCE):
        bits = bits_of(codes[start : start + _CODES_AT_ONCE], n_bits).astype(np.float32)
        both += bits.T @ bits  # whole numbers below 2**24, which float32 holds
    return np.diag(both).copy(), both


def _information(both: Numbers, p: Numbers) -> tuple[Numbers, Numbers]:
    """Return mutual information and correlation of each two bits, from the probability that both are 1."""
    first, second = p[:, None], p[None]
    cells = (both, first - both, second - both, 1 - first - second + both)
    alone = (first * second, first * (1 - second), (1 - first) * second, (1 - first) * (1 - second))
    joint = sum(_p_log_p(np.clip(cell, 0, 1)) for cell in cells)
    apart = sum(
        np.where(cell > 0, cell, 0) * np.log2(np.where(q > 0, q, 1)) for cell, q in zip(cells, alone, strict=True)
    )
    information = np.maximum(joint - apart, 0)
    np.fill_diagonal(information, 0)
    spread = np.sqrt(np.outer(p * (1 - p), p * (1 - p)))
    together = np.divide(both - first * second, spread, out=np.zeros_like(both), where=spread > 0)
    return information, together


def _code_counts(codes: Codes) -> NDArray[np.int64]:
    """Count how often each distinct code occurs."""
    if codes.shape[1] <= 8:  # numbers are sorted much faster than rows of bytes
        padded = np.zeros((len(codes), 8), np.uint8)
        padded[:, : codes.shape[1]] = codes
        return np.unique(padded.view(np.uint64), return_counts=True)[1]
    rows = np.ascontiguousarray(codes).view(np.dtype((np.void, codes.shape[1])))
    return np.unique(rows, return_counts=True)[1]


def _p_log_p(p: Numbers) -> Numbers:
    return p * np.log2(np.where(p > 0, p, 1))
