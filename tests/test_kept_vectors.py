"""A collection that keeps vectors: what it answers by them, and where they come from and go to."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from ammi import ITQ, LSH, Collection, DocumentHasher
from ammi.features import WordFeatures, features
from examples.character_features import CharacterFeatures
from tests.search.stores import LOCATIONS

WIDTH = 32
TEXTS = [f"{word} number {n} of the {word}s" for n, word in enumerate(["barrel", "harvest", "loan", "store"] * 10)]


class DenseCharacters(CharacterFeatures):
    """Rows of texts as an embedding makes them: dense ones."""

    name = "dense characters"

    def transform(self, documents: Any) -> Any:
        return super().transform(documents).toarray()


features.register(DenseCharacters.name, DenseCharacters)


@pytest.fixture(params=LOCATIONS, ids=lambda store: store.__name__)
def location(request, tmp_path) -> str:
    return LOCATIONS[request.param](tmp_path)


@pytest.fixture(scope="module", name="X")
def matrix() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((300, WIDTH)).astype(np.float32)


@pytest.fixture(scope="module")
def hasher(X) -> ITQ:
    return ITQ(16, random_state=0).fit(X)


@pytest.fixture(scope="module")
def text_model() -> DocumentHasher:
    return DocumentHasher(LSH(16, random_state=0), DenseCharacters(WIDTH)).fit(TEXTS)


@pytest.fixture
def collection(location, hasher, X) -> Iterator[Collection]:
    with Collection.create(location, hasher, vectors="int8") as created:
        created.add(X)
        yield created


def vectors(collection: Collection) -> np.ndarray:
    return np.stack([entry.vector for entry in collection if entry.vector is not None])


def cosines(query: np.ndarray, rows: np.ndarray) -> np.ndarray:
    query, rows = query.astype(np.float64), rows.astype(np.float64)
    return rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query)


def test_a_vector_is_answered_by_the_cosine_of_what_is_kept(collection, hasher, X):
    rows = vectors(collection)
    assert np.abs(rows - X).max() <= np.abs(X).max() / 254 * 1.001
    query = np.random.default_rng(1).standard_normal(WIDTH)
    scores = cosines(query, rows)
    hits = collection.search(query, 10)
    assert [hit.id for hit in hits] == np.argsort(-scores, kind="stable")[:10].tolist()  # all are on the shortlist
    assert [hit.score for hit in hits] == pytest.approx(sorted(scores)[-10:][::-1])
    assert hits == collection.search(query, 10, rank="vectors") == collection.search_many([query], 10)[0]
    away = (hasher.transform(X) != hasher.transform(query[None])).sum(axis=1)
    assert [hit.distance for hit in hits] == [away[hit.id] for hit in hits]
    near = np.argsort(away, kind="stable")[:20]
    short = collection.search(query, 10, shortlist=20)
    assert [hit.id for hit in short] == near[np.lexsort((near, -scores[near]))][:10].tolist()
    with pytest.raises(ValueError, match="shortlist is 3"):
        collection.search(query, shortlist=3)


def test_like_is_by_vectors_too(collection):
    scores = cosines(vectors(collection)[4], vectors(collection))
    assert [hit.id for hit in collection.like(4, 5)] == np.argsort(-scores, kind="stable")[1:6].tolist()
    assert all(hit.distance <= 2 for hit in collection.like(4, radius=2))


@pytest.mark.parametrize("vector", [np.ones(WIDTH - 1), np.full(WIDTH, np.nan)], ids=["width", "nan"])
def test_what_is_no_vector_is_refused_and_nothing_is_lost(collection, vector):
    for wrong in (lambda: collection.search(vector), lambda: collection.add(np.stack([vector, vector]))):
        with pytest.raises(ValueError, match=r"\(31,\)|31 numbers|NaN") as refused:
            wrong()
        assert "\n" not in str(refused.value)
    assert len(collection) == 300


def test_zeros_are_kept_and_like_nothing(collection):
    collection.add(np.zeros((2, WIDTH)), ids=["zero", "nought"])
    assert collection.get("zero").vector.tolist() == [0] * WIDTH
    assert {hit.score for hit in collection.search(np.zeros(WIDTH))} == {0.0}
    assert not {"zero", "nought"} & {id for group in collection.duplicates(0.01) for id, _ in group.duplicates}


def test_a_collection_without_vectors_says_what_to_do(location, hasher, X):
    with Collection.create(location, hasher) as created:
        created.add(X[:20])
        assert created.search(X[3]) == created.search(X[3], rank="asymmetric")
        with pytest.raises(ValueError, match=r"keeps no vectors to rank by: .*create it anew .*vectors=\"float16\""):
            created.search(X[3], rank="vectors")
        assert "vectors" not in created.describe()


def test_only_dense_rows_are_kept(location, hasher, X, tmp_path):
    words = DocumentHasher(LSH(8, random_state=0), WordFeatures()).fit(TEXTS)
    with pytest.raises(ValueError, match=r"the words features of model .* make sparse rows"):
        Collection.create(tmp_path / "words", words, vectors="int8")
    assert not Collection.exists(tmp_path / "words")
    with pytest.raises(ValueError, match="vectors is 'float64', expected 'float16' or 'int8'"):
        Collection.create(tmp_path / "words", hasher, vectors="float64")
    with Collection.create(location, hasher, vectors="float16") as created:
        with pytest.raises(ValueError, match="the vectors are sparse"):
            created.add(csr_matrix(X))
        with pytest.raises(ValueError, match="keeps a vector of each document"):
            created.add_codes(hasher.encode(X[:2]), ["a", "b"], fingerprint=created.model.fingerprint_)
        assert len(created) == 0


def test_texts_are_kept_as_the_rows_that_codes_are_made_of(location, text_model):
    with Collection.create(location, text_model, vectors="float16") as created:
        created.add(TEXTS)
        rows = text_model.features_.transform(TEXTS)
        np.testing.assert_allclose(vectors(created), rows, rtol=2.0**-11, atol=1e-9)
        codes = [entry.code.tobytes() for entry in created]
        assert codes == [code.tobytes() for code in text_model.encode(TEXTS)]
        query = "the barrels of oil"
        scores = cosines(text_model.features_.transform([query])[0], vectors(created))
        hits = created.search(query, 5, rank="vectors")
        assert [hit.score for hit in hits] == pytest.approx(sorted(scores)[-5:][::-1])
        assert created.search(query, 5) == created.search(query, 5, rank="text")


def test_the_words_of_a_text_find_candidates_for_its_vector(location, text_model):
    """A short code may be far from that of a text with the same words."""
    for text_index in (True, False):
        with Collection.create(
            f"{location}-{text_index}", text_model, vectors="int8", text_index=text_index
        ) as created:
            codes, rankings, _ = created._rank_policy(created._stored()).encode(["oil loan"], "vectors")
            assert codes.tobytes() == text_model.encode(["oil loan"]).tobytes()
            assert rankings
            assert rankings[0].text == ("oil loan" if text_index else "")
            created.add(TEXTS)
            assert len(created.search("oil loan", 3, rank="vectors")) == 3


@pytest.mark.parametrize("name", ["all.jsonl", "all.parquet"])
def test_what_was_exported_has_its_vectors_when_it_is_added_again(name, collection, hasher, X, tmp_path, monkeypatch):
    collection.export(tmp_path / name)
    with Collection.create(tmp_path / "again", hasher, vectors="int8") as again:
        monkeypatch.setattr(ITQ, "encode", lambda *_: pytest.fail("it was encoded again"))
        again.add(tmp_path / name)
        monkeypatch.undo()
        np.testing.assert_array_equal(vectors(again), vectors(collection))
        assert [entry.code.tobytes() for entry in again] == [entry.code.tobytes() for entry in collection]
    other = LSH(24, random_state=1).fit(X)
    with Collection.create(tmp_path / "other", other, vectors="float16") as again:
        again.add(tmp_path / name)
        expected = other.encode(vectors(collection))
        assert [entry.code.tobytes() for entry in again] == [code.tobytes() for code in expected]


def test_kept_vectors_are_encoded_anew_by_another_model(collection, X):
    """Without kept vectors a model of vectors could not take over at all."""
    before = vectors(collection)
    other = LSH(24, random_state=1).fit(X)
    collection.rebuild(other)
    np.testing.assert_array_equal(vectors(collection), before)
    assert [entry.code.tobytes() for entry in collection] == [code.tobytes() for code in other.encode(before)]
    with pytest.raises(ValueError, match=f"reads vectors of 7 numbers, and those kept in .* have {WIDTH}"):
        collection.rebuild(LSH(8, random_state=0).fit(X[:, :7]))
    assert collection.n_bits == 24


def test_a_new_model_of_texts_makes_new_vectors(location, text_model):
    wider = DocumentHasher(LSH(8, random_state=0), DenseCharacters(50)).fit(TEXTS)
    with Collection.create(location, text_model, vectors="float16") as created:
        created.add(TEXTS)
        created.rebuild(wider)
        np.testing.assert_allclose(vectors(created), wider.features_.transform(TEXTS), rtol=2.0**-11, atol=1e-9)
        assert created.search("barrels", 3, rank="vectors")
        with pytest.raises(ValueError, match="make sparse rows"):
            created.rebuild(DocumentHasher(LSH(8, random_state=0), WordFeatures()).fit(TEXTS))
        assert created.store.vectors == ("float16", 50)


def test_copies_among_vectors_are_found_by_their_cosine(collection, X):
    """Not by codes, which thousands have in common."""
    assert collection.duplicates() == []
    noise = 0.02 * np.random.default_rng(2).standard_normal((3, WIDTH))
    collection.add(X[[5, 5, 9]] + noise, ids=["a", "b", "c"])
    told: list[int] = []
    groups = collection.duplicates(advance=told.append)
    assert [group.kept for group in groups] == [5, 9]
    assert {id for id, _ in groups[0].duplicates} == {"a", "b"}
    rows = {entry.id: entry.vector for entry in collection}
    for group in groups:
        for id, similarity in group.duplicates:
            assert similarity == pytest.approx(cosines(rows[group.kept], rows[id][None])[0])
    assert sum(told) == 2 * len(collection)
    assert collection.duplicates(1) == []
    copy, other = collection.match(np.stack([X[7] + noise[0], -X[7]]), k=2)
    assert copy.duplicate == (7, pytest.approx(cosines(X[7] + noise[0], rows[7][None])[0]))
    assert (other.duplicate, other.nearest) == (None, collection.search(-X[7], 2))


def test_it_says_what_it_keeps(collection):
    about = collection.describe()
    assert about["vectors"] == f"int8, {WIDTH} numbers each"
    assert about["vector_bytes"] == 300 * (WIDTH + 8)


@pytest.mark.parametrize("rank", [None, "vectors", "distance", "asymmetric"])
def test_no_queries_have_no_answers(collection, rank):
    assert collection.search_many([], rank=rank) == []
