"""Each measure against a plain numpy twin."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from ammi.evaluate import distinct_codes, leave_one_out_precision, matching_at_k, precision_at_k


def hamming(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (np.unpackbits(a, axis=1)[:, None] != np.unpackbits(b, axis=1)[None]).sum(-1)


def plain_hits(distances: np.ndarray, relevant: np.ndarray, k: int) -> float:
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return float(np.mean([row[near].sum() for row, near in zip(relevant, nearest, strict=True)]))


def share_a_label(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, None] == b[None] if a.ndim == 1 else (a.astype(int) @ b.T) > 0


def random_codes(rng: np.random.Generator, n: int, bits: int) -> np.ndarray:
    return np.packbits(rng.integers(0, 2, (n, bits), dtype=np.uint8), axis=1)


def random_labels(rng: np.random.Generator, n: int, single: bool) -> np.ndarray:
    return rng.integers(0, 3, n) if single else (rng.random((n, 11)) < 0.2).astype(np.uint8)


sizes = {
    "n": st.integers(1, 30),
    "q": st.integers(1, 8),
    "bits": st.sampled_from([1, 3, 8, 12, 64]),
    "k": st.integers(1, 40),
}


@settings(deadline=None)
@given(
    n=st.integers(1, 30),
    q=st.integers(1, 8),
    bits=st.sampled_from([1, 3, 8, 12, 64]),
    k=st.integers(1, 40),
    single=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_precision_equals_a_stable_sort(n, q, bits, k, single, seed):
    rng = np.random.default_rng(seed)
    base, queries = random_codes(rng, n, bits), random_codes(rng, q, bits)
    base_labels, query_labels = random_labels(rng, n, single), random_labels(rng, q, single)
    expected = plain_hits(hamming(queries, base), share_a_label(query_labels, base_labels), k) / min(k, n) * 100
    assert precision_at_k(queries, query_labels, base, base_labels, k) == pytest.approx(expected)
    if not single:
        sparse = precision_at_k(queries, csr_matrix(query_labels), base, csr_matrix(base_labels), k)
        assert sparse == pytest.approx(expected)


@settings(deadline=None)
@given(n=st.integers(1, 5), bits=st.integers(1, 3), k=st.integers(1, 6), seed=st.integers(0, 2**31))
def test_expected_precision_is_the_mean_over_all_orders_of_the_base(n, bits, k, seed):
    rng = np.random.default_rng(seed)
    base, queries = random_codes(rng, n, bits), random_codes(rng, 3, bits)
    base_labels, query_labels = random_labels(rng, n, True), random_labels(rng, 3, True)
    distances, relevant = hamming(queries, base), share_a_label(query_labels, base_labels)
    orders = [list(order) for order in itertools.permutations(range(n))]
    expected = np.mean([plain_hits(distances[:, o], relevant[:, o], k) for o in orders]) / min(k, n) * 100
    assert precision_at_k(queries, query_labels, base, base_labels, k, ties="expected") == pytest.approx(expected)


@settings(deadline=None)
@given(n=st.integers(1, 30), bits=st.sampled_from([2, 8, 20]), k=st.integers(1, 40), seed=st.integers(0, 2**31))
def test_matching_finds_the_row_of_the_same_number(n, bits, k, seed):
    rng = np.random.default_rng(seed)
    codes, related = random_codes(rng, n, bits), random_codes(rng, n, bits)
    expected = plain_hits(hamming(codes, related), np.eye(n, dtype=bool), k) * 100
    assert matching_at_k(codes, related, k) == pytest.approx(expected)
    assert matching_at_k(codes, codes, n, ties="expected") == pytest.approx(100)


def test_distinct_codes():
    assert distinct_codes(np.array([[1, 2], [1, 2], [2, 1]], dtype=np.uint8)) == 2


def test_bad_input_is_refused():
    codes = np.zeros((3, 2), dtype=np.uint8)
    with pytest.raises(ValueError, match="query labels must be"):
        precision_at_k(codes, [1, 2], codes, [1, 2, 3])
    with pytest.raises(ValueError, match="same labels"):
        precision_at_k(codes, np.ones((3, 20)), codes, np.ones((3, 8)))
    with pytest.raises(ValueError, match="k >= 1"):
        precision_at_k(codes, [1, 2, 3], codes, [1, 2, 3], k=0)
    with pytest.raises(ValueError, match="row i of both must be a pair"):
        matching_at_k(codes, codes[:2])
    with pytest.raises(ValueError, match="'insertion' or 'expected'"):
        matching_at_k(codes, codes, ties="random")  # type: ignore[arg-type]


@settings(deadline=None)
@given(
    n=st.integers(2, 40),
    bits=st.sampled_from([1, 3, 8, 64]),
    k=st.integers(1, 50),
    single=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_leave_one_out_equals_each_document_among_the_others(n, bits, k, single, seed):
    rng = np.random.default_rng(seed)
    codes, labels = random_codes(rng, n, bits), random_labels(rng, n, single)
    each = []
    for row in range(n):
        others = np.arange(n) != row
        each.append(precision_at_k(codes[[row]], labels[[row]], codes[others], labels[others], k))
    assert leave_one_out_precision(codes, labels, k) == pytest.approx(np.mean(each))
