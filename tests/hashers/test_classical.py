"""What defines each of the hashers without a network: BOW, LSH, SpH, STH, ITQ."""

import tracemalloc

import numpy as np
import pytest
import scipy.linalg
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_sparse
from threadpoolctl import threadpool_limits

from ammi.evaluate import precision_at_k
from ammi.hashers.bow import BOW
from ammi.hashers.itq import ITQ, best_rotation
from ammi.hashers.lsh import LSH
from ammi.hashers.projections import principal_axes
from ammi.hashers.sph import SpH, slowest_modes
from ammi.hashers.sth import STH, graph_codes, neighbour_graph
from tests.conftest import topics

seeds = st.integers(0, 2**32 - 1)
thorough = settings(max_examples=40, deadline=None)


def same_up_to_complement(bits, expected) -> bool:
    """Whether each column of bits is a column of expected or its complement: an axis has no direction of its own."""
    agreement = (bits == expected).mean(axis=0)
    return bool(np.isin(agreement, (0, 1)).all())


@thorough
@given(n=st.integers(1, 8), n_words=st.integers(1, 40), sparse=st.booleans(), seed=seeds)
def test_bow_is_the_set_of_words(n, n_words, sparse, seed):
    X = np.random.default_rng(seed).integers(-1, 3, size=(n, n_words)).astype(float)
    rows = csr_matrix(X) if sparse else X
    hasher = BOW().fit(rows)
    assert hasher.n_bits == n_words
    np.testing.assert_array_equal(hasher.transform(rows), X > 0)
    codes, sets = hasher.encode(rows), [set(np.flatnonzero(row > 0)) for row in X]
    for i in range(n):
        for j in range(n):
            assert np.bitwise_count(codes[i] ^ codes[j]).sum() == len(sets[i] ^ sets[j])


def test_bow_packs_a_large_vocabulary_in_blocks():
    X = random_sparse(300, 2**20, density=1e-5, format="csr", random_state=np.random.default_rng(0))
    hasher = BOW().fit(X)
    tracemalloc.start()
    codes = hasher.encode(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert codes.shape == (300, 2**17)
    assert peak < 2 * codes.nbytes + 2**25  # the codes, their parts, and a block of bits; all bits would be 2**28
    np.testing.assert_array_equal(np.unpackbits(codes[-3:], axis=1), (X[-3:] > 0).toarray())


@thorough
@given(m=st.integers(1, 70), sparse=st.booleans(), seed=seeds)
def test_lsh_is_the_sign_of_random_projections(m, sparse, seed):
    X = random_sparse(20, 30, density=0.3, format="csr", random_state=np.random.default_rng(seed))
    rows = X if sparse else X.toarray()
    W = np.random.RandomState(seed).standard_normal((30, m))
    np.testing.assert_array_equal(LSH(m, random_state=seed).fit(rows).transform(rows), X @ W > 0)


@pytest.mark.parametrize("angle", [0.1, 0.8, 2.5])
def test_lsh_bits_differ_in_proportion_to_the_angle(angle):
    X = np.array([[1, 0], [np.cos(angle), np.sin(angle)]])
    first, second = LSH(50_000, random_state=0).fit(X).transform(X)
    assert (first != second).mean() == pytest.approx(angle / np.pi, abs=0.01)


@thorough
@given(sides=st.lists(st.floats(0.01, 100), min_size=1, max_size=6), m=st.integers(1, 40))
def test_the_slowest_modes_of_a_box(sides, m):
    everything = sorted((k * np.pi / side, i) for i, side in enumerate(sides) for k in range(1, m + 1))
    axes, frequencies = slowest_modes(np.array(sides), m)
    np.testing.assert_allclose(frequencies, [frequency for frequency, _ in everything[:m]])
    assert len(set(zip(axes, frequencies, strict=True))) == m
    for axis, frequency in zip(axes, frequencies, strict=True):
        k = frequency * sides[axis] / np.pi
        assert k == pytest.approx(round(k))


@thorough
@given(
    sides=st.tuples(st.floats(6, 9), st.floats(3, 5), st.floats(0.5, 2)),
    m=st.integers(1, 30),
    sparse=st.booleans(),
)
def test_sph_cuts_a_uniform_box_along_its_eigenfunctions(sides, m, sparse):
    """The points of a grid vary along each side alone, so the principal axes are the sides."""
    u = np.linspace(0, 1, 13) ** 1.1  # so that no point is on a cut
    grid = np.stack(np.meshgrid(u, u, u), axis=-1).reshape(-1, 3)
    box = grid * sides + 5
    modes = sorted((k * np.pi / side, i, k) for i, side in enumerate(sides) for k in range(1, m + 2))
    assume(np.diff([frequency for frequency, _, _ in modes[: m + 1]]).min() > 1e-6)
    expected = modes[:m]
    hasher = SpH(m).fit(csr_matrix(box) if sparse else box)
    for (frequency, i, _), weight in zip(expected, hasher.weights_.T, strict=True):
        np.testing.assert_allclose(np.abs(weight), frequency * np.eye(3)[i], atol=1e-6 * frequency)
    eigenfunctions = np.stack([np.cos(k * np.pi * grid[:, i]) for _, i, k in expected], axis=1)
    assert same_up_to_complement(hasher.transform(box), eigenfunctions > 0)


def test_sph_uses_further_modes_where_there_are_fewer_dimensions_than_bits():
    X = np.linspace(0, 1, 101)[:, None]
    bits = SpH(5).fit(X).transform(X)
    np.testing.assert_array_equal((bits[1:] != bits[:-1]).sum(axis=0), [1, 2, 3, 4, 5])


@thorough
@given(n=st.integers(2, 40), k=st.integers(1, 8), sparse=st.booleans(), seed=seeds)
def test_the_graph_joins_near_documents_by_their_cosine(n, k, sparse, seed):
    X = np.random.default_rng(seed).standard_normal((n, 6))
    W = neighbour_graph(csr_matrix(X) if sparse else X, k).toarray()
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -np.inf)
    near = np.argsort(np.argsort(-cosine, axis=1), axis=1) < k
    np.testing.assert_allclose(W, np.where(near | near.T, cosine.clip(0), 0), atol=1e-12)


@pytest.mark.parametrize("n", [40, 400, 600])
def test_sth_codes_are_balanced_cuts_of_the_eigenvectors_of_the_graph(n):
    rng = np.random.default_rng(n)
    W = neighbour_graph(rng.random((n, 12)), 15)
    codes = graph_codes(W, 10, rng)
    np.testing.assert_array_equal(codes.sum(axis=0), n // 2)
    D = np.diag(W.toarray().sum(axis=1))
    _, y = scipy.linalg.eigh(D - W.toarray(), D)
    y = y[:, 1:11]  # without the constant one
    assert same_up_to_complement(codes, y > np.median(y, axis=0))


def test_sth_separates_parts_of_the_graph_that_are_not_joined():
    X = csr_matrix(np.kron(np.eye(2), 1 + np.random.default_rng(0).random((10, 3))))
    first, second = np.split(STH(1, neighbours=5, random_state=0, verbose=False).fit(X).transform(X).ravel(), 2)
    assert first.min() == first.max() != second.min() == second.max()


def test_sth_gives_new_documents_the_codes_of_their_like():
    X, labels = topics(500)
    hasher = STH(16, random_state=0, verbose=False).fit(X[:400])
    trained = graph_codes(neighbour_graph(X[:400], 25), 3, np.random.default_rng(0))
    predicted = hasher.transform(X[:400])[:, :3]
    agreement = (predicted == trained).mean(axis=0)
    assert (np.maximum(agreement, 1 - agreement) > 0.9).all()
    codes = hasher.encode(X)
    assert precision_at_k(codes[400:], labels[400:], codes[:400], labels[:400], k=20) > 80


def test_sth_bits_beyond_the_eigenvectors_are_0():
    X, _ = topics(10)
    bits = STH(30, random_state=0, verbose=False).fit(X).transform(X)
    assert bits[:, :9].any(axis=0).all()
    assert not bits[:, 9:].any()


def quantisation_error(P, R) -> float:
    return np.square(np.where(P @ R > 0, 1, -1) - P @ R).sum()


@thorough
@given(n=st.integers(1, 50), d=st.integers(1, 8), more=st.integers(0, 8), seed=seeds)
def test_itq_rotations_stay_orthogonal_and_the_error_never_rises(n, d, more, seed):
    rng = np.random.default_rng(seed)
    P = rng.standard_normal((n, d)) * rng.random(d)
    start = np.eye(d, d + more)
    rotations = [best_rotation(P, start, iterations) for iterations in (0, 1, 2, 10)]
    for R in rotations:
        np.testing.assert_allclose(R @ R.T, np.eye(d), atol=1e-12)
    errors = [quantisation_error(P, R) for R in rotations]
    assert (np.diff(errors) <= 1e-9).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_itq_loses_less_than_the_principal_components(dtype):
    X, _ = topics(400)
    hasher = ITQ(16, random_state=0).fit(X.astype(dtype))
    mean, axes = principal_axes(X.astype(dtype), 16, np.random.RandomState(0))
    rotation = axes.T @ hasher.weights_
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(16), atol=1e-5)
    np.testing.assert_allclose(axes @ rotation, hasher.weights_, atol=1e-5)
    P = X @ axes - mean @ axes
    assert quantisation_error(P, rotation) < quantisation_error(P, np.eye(16))
    np.testing.assert_array_equal(hasher.transform(X), (X.toarray() - X.mean(axis=0)) @ hasher.weights_ > 0)


@pytest.mark.parametrize("shape", [(50, 8), (8, 50), (60, 1500), (3000, 30), (1, 5)])
@pytest.mark.parametrize("sparse", [True, False])
def test_principal_axes_are_the_singular_vectors_of_the_centred_rows(shape, sparse):
    X = random_sparse(*shape, density=0.3, format="csr", random_state=np.random.default_rng(0))
    mean, axes = principal_axes(X if sparse else X.toarray(), 5, np.random.RandomState(0))
    centred = X.toarray() - X.toarray().mean(axis=0)
    expected = np.linalg.svd(centred, full_matrices=False)[2][: min(5, shape[0] - 1)]
    np.testing.assert_allclose(mean, X.toarray().mean(axis=0))
    np.testing.assert_allclose(np.abs(expected @ axes), np.eye(len(expected)), atol=1e-6)


@pytest.mark.parametrize("sparse", [True, False])
def test_rows_that_vary_in_few_directions_have_few_axes(sparse):
    rng = np.random.default_rng(0)
    X = rng.random((100, 3)) @ rng.random((3, 20))
    for rows, n_axes in ((X, 3), (np.tile(X[0], (100, 1)), 0), (X[:2], 1)):
        _, axes = principal_axes(csr_matrix(rows) if sparse else rows, 10, np.random.RandomState(0))
        assert axes.shape == (20, n_axes)


@pytest.mark.parametrize("method", [SpH, ITQ, STH])
def test_documents_that_are_all_equal_have_one_code(method):
    bits = method(12).set_params(**({"verbose": False} if method is STH else {})).fit_transform(np.ones((30, 5)))
    assert (bits == bits[0]).all()


@pytest.mark.parametrize(
    ("hasher", "message"),
    [
        (LSH(0), "n_bits must be a whole number from 1 to 65536, got 0"),
        (ITQ(8, iterations=-1), "iterations must be a whole number from 0 up, got -1"),
        (STH(8, neighbours=0), "neighbours must be a whole number from 1 up, got 0"),
        (STH(8, C=0.0), "C must be above 0, got 0.0"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(hasher, message):
    with pytest.raises(ValueError, match=message):
        hasher.fit(np.eye(5))


@pytest.mark.parametrize("method", [ITQ, STH, SpH])
def test_codes_do_not_depend_on_the_threads_of_blas(method):
    X = random_sparse(300, 1200, 0.05, format="csr", random_state=0)
    found = set()
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.add(method(16, random_state=0).fit(X).fingerprint_)
    assert len(found) == 1
