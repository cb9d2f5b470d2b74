"""Two models as one: a code of subjects by words, and beside it one that keeps the cosine of dense rows."""

import numpy as np
import pytest

from ammi import ITQ, LSH, Collection, DocumentHasher, load
from ammi.hashers.logits import bit_logits
from ammi.hashers.saving import describe_files
from ammi.search import ranking
from ammi.search.ranking import WordRanking
from tests.test_kept_vectors import TEXTS, WIDTH, DenseCharacters, cosines
from tests.test_kept_vectors import vectors as kept_vectors

WORD_BITS, DENSE_BITS = 12, 20  # no whole bytes
QUERY = "a loan of the store"


@pytest.fixture(scope="module")
def model() -> DocumentHasher:
    dense = DocumentHasher(ITQ(DENSE_BITS, random_state=0), DenseCharacters(WIDTH))
    return DocumentHasher(LSH(WORD_BITS, random_state=0), beside=dense).fit(TEXTS)


def test_the_bits_of_both_stand_side_by_side(model, tmp_path):
    words = DocumentHasher(LSH(WORD_BITS, random_state=0)).fit(TEXTS)
    dense = DocumentHasher(ITQ(DENSE_BITS, random_state=0), DenseCharacters(WIDTH)).fit(TEXTS)
    bits = np.hstack([words.transform(TEXTS), dense.transform(TEXTS)])
    assert model.n_bits == WORD_BITS + DENSE_BITS
    np.testing.assert_array_equal(model.transform(iter(TEXTS)), bits)
    np.testing.assert_array_equal(model.encode(TEXTS), np.packbits(bits, axis=1))
    assert model.encode([]).shape == (0, 4)
    assert len({model.fingerprint_, words.fingerprint_, dense.fingerprint_}) == 3
    assert model.describe()["beside"] == dense.describe()
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert describe_files(model.to_files(), tmp_path) == again.describe() == model.describe()
    assert again.fingerprint_ == model.fingerprint_
    np.testing.assert_array_equal(again.encode(TEXTS), model.encode(TEXTS))


def test_texts_with_vectors_are_found_by_words_and_by_vectors(tmp_path):
    X = np.random.default_rng(0).normal(size=(len(TEXTS), 6))
    documents = [{"text": text, "vector": row} for text, row in zip(TEXTS, X, strict=True)]
    with Collection.create(tmp_path / "c", ITQ(16, random_state=0).fit(X)) as collection:
        assert collection.ranks()[0] == "asymmetric"
        collection.add(documents)
        assert collection.ranks() == ["asymmetric", "distance", "text"]
        hits = collection.search("the loans", 40)  # English, by the texts
        assert {hit.text for hit in hits} == {text for text in TEXTS if "loan" in text}
        assert hits == collection.search("the loans", 40, rank="text")
        assert collection.search("the ocean") == []
        assert collection.search(X[3], 1)[0].id == 3
        with pytest.raises(ValueError, match="is no vector"):
            collection.search("the loans", rank="distance")
        with pytest.raises(ValueError, match="a query is a vector"):
            collection.search_many(["the loans", X[3]])


def test_a_code_of_unknown_words_says_nothing(model, tmp_path):
    """Ten texts of nothing but "Blah blah blah." came first, whatever was asked."""
    with Collection.create(tmp_path / "c", model) as collection:
        collection.add(TEXTS)
        hits = collection.search("xyzzyfoo", 5)
        assert hits
        parts = [hit.why.parts for hit in hits if hit.why]
        assert all(one["code"] == 0 != one["cosine"] for one in parts)
        assert len(parts) == len(hits)


@pytest.mark.parametrize("vectors", [None, "float16"])
def test_a_text_is_answered_by_words_and_both_codes(model, vectors, tmp_path):
    with Collection.create(tmp_path / "c", model, vectors=vectors) as collection:
        collection.add(TEXTS)
        hits = collection.search(QUERY, len(TEXTS), shortlist=len(TEXTS))
        by_words = {
            hit.id: hit.score
            for hit in collection.store.search_ranked(
                model.encode([QUERY]), [WordRanking(QUERY, None)], len(TEXTS), shortlist=len(TEXTS)
            )[0]
        }
        rows, signs = model.rows([QUERY]), 2.0 * model.transform(TEXTS) - 1
        logits = [bit_logits(part.hasher_, X)[0] for part, X in zip(model.parts, rows, strict=True)]
        subject = signs[:, :WORD_BITS] @ logits[0] / np.linalg.norm(logits[0]) / np.sqrt(WORD_BITS)
        cosine = signs[:, WORD_BITS:] @ logits[1] / np.linalg.norm(logits[1]) / np.sqrt(DENSE_BITS)
        if vectors:
            cosine = cosines(rows[1][0], kept_vectors(collection))
            assert [hit.score for hit in collection.search(QUERY, 3, rank="vectors", shortlist=40)] == pytest.approx(
                np.sort(cosine)[::-1][:3]
            )
        parts = ranking.CODE_WEIGHT * subject + ranking.COSINE_WEIGHT * cosine
        expected = [by_words.get(row, 0) + parts[row] for row in range(len(TEXTS))]
        assert {hit.id: hit.score for hit in hits} == pytest.approx(dict(enumerate(expected)))
        if not vectors:
            mean = parts / (ranking.CODE_WEIGHT + ranking.COSINE_WEIGHT)
            bits = collection.search(QUERY, len(TEXTS), rank="asymmetric", shortlist=len(TEXTS))
            assert {hit.id: hit.score for hit in bits} == pytest.approx(dict(enumerate(mean)))
        near = collection.like(0, 5)
        assert [hit.distance for hit in near] == [(signs[0] != signs[hit.id]).sum() for hit in near]
        assert collection.describe()["beside"]["bits"] == DENSE_BITS
        assert collection.bit_probabilities([QUERY]).shape == (1, WORD_BITS + DENSE_BITS)
        collection.rebuild(model.beside_)
        assert collection.n_bits == DENSE_BITS
        collection.rebuild(model)
        assert collection.search(QUERY, len(TEXTS), shortlist=len(TEXTS)) == hits
