"""Vectors that an index keeps: rounded as it is said, compared as plain numpy compares, and changed with documents."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ammi.search import HammingIndex, KeptVectors
from ammi.search.ranking import VectorRanking
from ammi.search.vectors import VECTOR_KINDS, cosines, packed, unpacked
from tests.search.plain import random_codes
from tests.search.stores import LOCATIONS, PostgresStore, every_store, traced

M, WIDTH = 24, 5
finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
matrices = arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=7), elements=finite)
every_kind = pytest.mark.parametrize("kind", VECTOR_KINDS)


def kept(X: np.ndarray, kind: str) -> np.ndarray:
    about = KeptVectors(kind, X.shape[1])
    rows = packed(X, about, [f"document {n}" for n in range(len(X))])
    assert rows.shape == (len(X), about.n_bytes)
    return unpacked(rows, about)


def plain_cosine(a: np.ndarray, b: np.ndarray) -> float:
    """By fractions, which are not rounded before the end, nor too large or too small."""
    if not a.any() or not b.any():
        return 0.0
    p, q = ([Fraction(float(x)) / Fraction(float(np.abs(row).max())) for x in row] for row in (a, b))
    product = sum(x * y for x, y in zip(p, q, strict=True))
    return float(product) / math.sqrt(sum(x * x for x in p) * sum(y * y for y in q))


@every_kind
@settings(deadline=None)
@example(X=np.array([[3.401993e38, 0]], np.float32))  # is rounded up beyond float32
@given(X=matrices)
def test_what_is_kept_is_rounded_once_and_by_no_more_than_is_said(kind, X):
    rounded = kept(X, kind)
    greatest = np.abs(X).max(axis=1, keepdims=True).astype(np.float64)
    if kind == "int8":
        least = greatest / 254 * (1 + 1e-6)
    else:
        least = np.maximum(np.abs(X).astype(np.float64) * 2.0**-11, greatest * 2.0**-38)
    assert (np.abs(rounded.astype(np.float64) - X) <= least + 1e-45).all()
    np.testing.assert_array_equal(kept(rounded, kind), rounded)


@every_kind
@settings(deadline=None)
@given(X=matrices, data=st.data())
def test_the_score_is_the_cosine_of_what_is_kept(kind, X, data):
    rows = kept(X, kind)
    query = data.draw(arrays(np.float32, X.shape[1], elements=finite))
    found = cosines(query, rows)
    assert found == pytest.approx([plain_cosine(query, row) for row in rows], abs=1e-12)
    assert (np.abs(found) <= 1).all()
    assert cosines(query, np.repeat(rows, 9, axis=0)).tolist() == np.repeat(found, 9).tolist()  # ties are ties


def test_a_vector_of_float16_comes_back_as_it_was():
    X = np.random.default_rng(0).normal(size=(50, 30)).astype(np.float16)
    np.testing.assert_array_equal(kept(X, "float16"), X.astype(np.float32))


@pytest.fixture(params=VECTOR_KINDS)
def index(store, tmp_path, request):
    with store.create(LOCATIONS[store](tmp_path), M, vectors=KeptVectors(request.param, WIDTH)) as index:
        yield index


def vectors_of(index) -> dict:
    return {entry.id: entry.vector for block in index.entries() for entry in block}


@every_store
def test_a_shortlist_is_ranked_by_the_cosine(index):
    rng = np.random.default_rng(0)
    codes, X = random_codes(rng, 200, M, 50), rng.normal(size=(200, WIDTH))
    X[7], X[9] = 0, X[8]
    index.add(codes, metadata=[{"odd": bool(n % 2)} for n in range(200)], vectors=X)
    rows = kept(X, index.vectors.kind)
    queries = random_codes(rng, 3, M, 50)
    asked = np.vstack([rng.normal(size=(2, WIDTH)), np.zeros((1, WIDTH))])
    away = np.unpackbits(queries[:, None] ^ codes, axis=2).sum(axis=2, dtype=np.int64)
    for shortlist, where in ((200, None), (20, None), (20, {"odd": True})):
        rankings = [VectorRanking(row) for row in asked]
        found = index.search_ranked(queries, rankings, 10, where, shortlist=shortlist)
        for row, distances, hits in zip(asked, away, found, strict=True):
            some = [n for n in range(200) if where is None or n % 2]
            near = sorted(sorted(some, key=lambda n: (distances[n], n))[:shortlist])
            scores = {n: plain_cosine(row, rows[n]) for n in near}
            order = sorted(near, key=lambda n: -round(scores[n], 12))[:10]
            assert [hit.id for hit in hits] == order
            assert [hit.score for hit in hits] == pytest.approx([scores[n] for n in order], abs=1e-12)
            assert [hit.distance for hit in hits] == [distances[n] for n in order]


@every_store
def test_words_find_candidates_for_a_vector(index):
    codes, X = np.array([[0, 0, 0], [255, 255, 255], [255, 0, 0]], np.uint8), np.eye(WIDTH)[[0, 1, 2]]
    index.add(codes, ["near", "far", "other"], ["oil", "zyzzyva", "price"], vectors=X)
    for words, expected in (("", ("near", 0.0)), ("zyzzyva", ("far", 1.0))):
        (hits,) = index.search_ranked(codes[:1], [VectorRanking(X[1], words)], 1, shortlist=1)
        assert [(hit.id, hit.score) for hit in hits] == [expected]


@every_store
def test_vectors_go_with_their_documents(index):
    codes, X = np.zeros((4, 3), np.uint8), np.arange(20.0).reshape(4, WIDTH)
    index.add(codes, ["a", "b", "a", "c"], vectors=X)  # of one id the last counts
    index.add(codes[:1], ["c"], vectors=-X[3:])
    index.delete(["b"])
    rows = kept(np.vstack([X[2], -X[3]]), index.vectors.kind)
    found = vectors_of(index)
    assert list(found) == ["a", "c"]
    np.testing.assert_array_equal(list(found.values()), rows)
    np.testing.assert_array_equal([entry.vector for entry in index.get(["c", "a"])], rows[::-1])
    index.recode(lambda entries: (codes[: len(entries)], None), M, fingerprint="x", files=None)
    np.testing.assert_array_equal(list(vectors_of(index).values()), rows)


@every_store
def test_a_recode_may_bring_vectors_of_another_width(index):
    index.add(np.zeros((3000, 3), np.uint8), vectors=np.ones((3000, WIDTH)))
    index.delete(range(5))
    new = {id: np.random.default_rng(id).normal(size=2) for id in range(3000)}

    def encode(entries):
        return np.zeros((len(entries), 1), np.uint8), np.array([new[entry.id] for entry in entries])

    index.recode(encode, 8, fingerprint="x", files=None, width=2)
    assert index.vectors.width == 2
    expected = kept(np.array([new[id] for id in range(5, 3000)]), index.vectors.kind)
    np.testing.assert_array_equal(list(vectors_of(index).values()), expected)
    for wrong in (lambda entries: (encode(entries)[0], None), lambda entries: (encode(entries)[0], np.ones((3, 9)))):
        with pytest.raises(ValueError, match="vector"):
            index.recode(wrong, 8, fingerprint="y", files=None, width=2)
        assert (index.vectors.width, index.fingerprint) == (2, "x")
        np.testing.assert_array_equal(list(vectors_of(index).values()), expected)


@pytest.mark.parametrize("store", [HammingIndex, PostgresStore])
def test_what_is_added_during_a_recode_has_its_new_vector(store, tmp_path):
    with store.create(LOCATIONS[store](tmp_path), 8, vectors=KeptVectors("float16", 2)) as index:
        index.add(np.zeros((2000, 1), np.uint8), vectors=np.zeros((2000, 2)))
        late: list[Any] = []

        def encode(entries):
            if not late:
                late.extend(index.add(np.zeros((2, 1), np.uint8), [7, "new"], vectors=np.zeros((2, 2))))
                index.delete([8])
            return np.zeros((len(entries), 1), np.uint8), np.full((len(entries), 3), 4.0)

        index.recode(encode, 8, fingerprint="x", files=None, width=3)
        found = vectors_of(index)
        assert list(found)[-2:] == [7, "new"]
        assert len(found) == 2000
        np.testing.assert_array_equal(list(found.values()), np.full((2000, 3), 4.0))
        index.add(np.zeros((1, 1), np.uint8), ["later"], vectors=np.ones((1, 3)))
        assert len(vectors_of(index)) == len(index)
        table = "vectors" if store is HammingIndex else "vectors_2"
        with index._reading():
            ((rows,),) = index._database.execute(f"SELECT COUNT(*) FROM {table}")
        assert rows == len(index)


@every_store
def test_what_is_no_vector_of_the_index_is_refused_and_changes_nothing(index, store, tmp_path):
    codes = np.zeros((2, 3), np.uint8)
    index.add(codes[:1], ["a"], vectors=np.ones((1, WIDTH)))
    for vectors, words in (
        (None, "keeps a vector of each document: add documents with their vectors"),
        (
            np.ones((2, 4)),
            r"shape \(2, 4\), but this collection keeps 5 numbers of each: pass an array of shape \(2, 5\)",
        ),
        (np.ones(5), r"shape \(5,\)"),
        (np.ones((3, 5)), r"2 documents came with vectors of float64 and shape \(3, 5\)"),
        (np.full((2, 5), "x"), "vectors of <U1"),
        (np.array([[1.0] * 5, [1, 2, np.nan, 4, 5]]), "the vector of document 'c' holds nan, expected numbers"),
        (np.array([[1.0] * 5, [1, 2, 1e300, 4, 5]]), r"the vector of document 'c' holds 1e\+300"),
    ):
        with pytest.raises(ValueError, match=words):
            index.add(codes, ["b", "c"], vectors=vectors)
    assert list(index) == ["a"]
    for vector, words in ((np.ones(4), r"has the shape \(4,\), but those .* 5 numbers"), (np.full(5, np.nan), "NaN")):
        with pytest.raises(ValueError, match=words):
            index.search_ranked(codes[:1], [VectorRanking(vector)])
    with pytest.raises(ValueError, match="shortlist is 5, but k is 10: pass a shortlist of 10 or more"):
        index.search_ranked(codes[:1], [VectorRanking(np.ones(5))], 10, shortlist=5)
    with store.create(f"{LOCATIONS[store](tmp_path)}2", 8) as none:
        with pytest.raises(ValueError, match="keeps no vectors, but some were passed: create one that keeps them"):
            none.add(codes[:, :1], vectors=np.ones((2, 5)))
        with pytest.raises(ValueError, match=r"keeps no vectors to rank by: .* vectors=\"float16\" \(--keep-vectors"):
            none.search_ranked(codes[:1, :1], [VectorRanking(np.ones(5))])
        assert none.vectors is None
    for wrong, words in (
        (KeptVectors("float64", 3), "'float16' or 'int8'"),
        (KeptVectors("int8", 0), "the width of vectors is 0"),
    ):
        with pytest.raises(ValueError, match=words):
            store.create(f"{LOCATIONS[store](tmp_path)}3", 8, vectors=wrong)
        assert not store.exists(f"{LOCATIONS[store](tmp_path)}3")


def test_an_index_of_before_is_one_without_vectors(tmp_path):
    """An index has tables of vectors only where it keeps some, so that those made without are as they were."""
    with HammingIndex.create(tmp_path / "index", 8) as index, index._reading():
        tables = {name for (name,) in index._database.execute("SELECT name FROM sqlite_master")}
    assert not {name for name in tables if "vector" in name}


def test_a_search_reads_the_vectors_of_its_shortlist_alone(tmp_path):
    rng = np.random.default_rng(0)
    with HammingIndex.create(tmp_path / "index", 64, vectors=KeptVectors("int8", 8)) as index:
        index.add(rng.integers(0, 256, (5000, 8), dtype=np.uint8), vectors=rng.normal(size=(5000, 8)))
        with traced(index) as statements:
            index.search_ranked(np.zeros((1, 8), np.uint8), [VectorRanking(np.ones(8))], 3, shortlist=50)
        ((select, values),) = [one for one in statements if "FROM vectors" in one[0]]
        with index._reading():
            assert len(index._database.execute(select, values).fetchall()) == 50
            plan = " ".join(step for *_, step in index._database.execute(f"EXPLAIN QUERY PLAN {select}", values))
        assert "SEARCH vectors USING INTEGER PRIMARY KEY" in plan
