"""Both vectorisers against scikit-learn and plain numpy, and what a user can do wrong with them."""

import json
import random
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sentencepiece import SentencePieceProcessor
from sklearn.feature_extraction.text import TfidfVectorizer

from ammi.data import corpus_path, data_folder, read_documents
from ammi.text import SentencePieceVectorizer, Vectorizer, WordVectorizer, load_vectorizer
from ammi.text.vectorizers import _reservoir

WORDS = ["the", "The", "a", "of", "matrix", "cat", "Dog_house", "größe", "déjà", "ΟΔΟΣ", "한국어", "3.14", "x"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join), min_size=1, max_size=30)
CORPUS = [" ".join(np.random.default_rng(i).choice(WORDS, 30)) for i in range(200)]
MAKERS: list[Callable[[], Vectorizer]] = [lambda: WordVectorizer(100), lambda: SentencePieceVectorizer(100)]
both = pytest.mark.parametrize("make", MAKERS, ids=["words", "sentencepiece"])


def assert_same(X: csr_matrix, Y: csr_matrix) -> None:
    assert X.shape == Y.shape
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, part), getattr(Y, part))


@settings(deadline=None)
@given(texts, texts, st.integers(1, 3))
def test_words_against_scikit_learn(train, test, min_documents):
    ours = WordVectorizer(min_documents=min_documents)
    theirs = TfidfVectorizer(sublinear_tf=True, min_df=min_documents)
    try:
        X = theirs.fit_transform(train)
    except ValueError:
        with pytest.raises(ValueError, match="nothing can be learned"):
            ours.fit(train)
        return
    ours.fit(iter(train))
    assert ours.vocabulary_ == theirs.get_feature_names_out().tolist()
    theirs.idf_ = np.log((len(train) + 2) / (np.bincount(X.indices) + 1))
    found = ours.transform(test)
    assert found.dtype == np.float32
    assert found.has_canonical_format
    np.testing.assert_allclose(found.toarray(), theirs.transform(test).toarray(), atol=1e-6)


def test_the_vocabulary_is_of_the_words_in_most_documents():
    vectorizer = WordVectorizer(2).fit(["bb aa cc", "cc bb", "dd dd dd dd", "cc"])
    assert vectorizer.vocabulary_ == ["bb", "cc"]
    np.testing.assert_allclose(vectorizer.idf_, np.log([6 / 3, 6 / 4]))


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pieces")
    SentencePieceVectorizer(60).fit(CORPUS).save(folder)
    return load_vectorizer(folder), SentencePieceProcessor(model_file=str(folder / "sentencepiece.model"))


@settings(deadline=None)
@given(texts)
def test_pieces_against_the_formula(pieces, texts):
    vectorizer, processor = pieces

    def counts(texts):
        return np.array([np.bincount(processor.encode(t), minlength=len(processor))[1:] for t in texts])

    c = counts(texts)
    weights = (1 + np.log(np.maximum(c, 1))) * (c > 0) * np.log(202 / ((counts(CORPUS) > 0).sum(0) + 1))
    lengths = np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-9)
    X = vectorizer.transform(texts)
    assert X.has_canonical_format
    np.testing.assert_allclose(X.toarray(), weights / lengths, atol=1e-6)


def test_pieces_are_no_more_than_asked_for_and_case_is_folded(pieces):
    vectorizer, _ = pieces
    assert 30 < len(vectorizer.vocabulary_) <= 60
    assert "<unk>" not in vectorizer.vocabulary_
    assert_same(vectorizer.transform(["THE CAT"]), vectorizer.transform(["the cat"]))


@both
def test_what_was_saved_is_loaded(make, tmp_path):
    vectorizer = make().fit(CORPUS)
    vectorizer.save(tmp_path / "new" / "folder")
    loaded = load_vectorizer(tmp_path / "new" / "folder")
    assert type(loaded) is type(vectorizer)
    assert loaded.vocabulary_ == vectorizer.vocabulary_
    assert_same(loaded.transform(CORPUS), vectorizer.transform(CORPUS))
    loaded.save(tmp_path / "again")
    for file in (tmp_path / "again").iterdir():
        assert file.read_bytes() == (tmp_path / "new" / "folder" / file.name).read_bytes()


def test_another_format_is_refused(tmp_path):
    WordVectorizer().fit(CORPUS).save(tmp_path)
    path = tmp_path / "vectorizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 2}))
    with pytest.raises(ValueError, match=r"vectorizer\.json has format 2: expected 1"):
        load_vectorizer(tmp_path)


@both
def test_the_number_of_threads_and_of_cores_changes_nothing(make, monkeypatch, tmp_path):
    monkeypatch.setattr("ammi.text.tfidf.CHUNK_CHARACTERS", 1000)  # many chunks
    vectorizer = make().fit(CORPUS)
    X = vectorizer.transform(CORPUS)
    for n_threads in (1, 3, 8):
        assert_same(vectorizer.transform(iter(CORPUS), n_threads=n_threads), X)
    code = (
        "import os, sys, json; os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1]);"
        f"from ammi.text import {type(vectorizer).__name__} as V;"
        "V(100).fit(json.load(sys.stdin)).save(sys.argv[1])"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], input=json.dumps(CORPUS), text=True, check=True)
    assert_same(load_vectorizer(tmp_path).transform(CORPUS), X)


@both
def test_odd_texts(make):
    vectorizer = make().fit(CORPUS)
    X = vectorizer.transform(["", "the matrix", " \n\t", "\ud800", "the matrix \x00", "ζζζ"])
    assert np.diff(X.indptr)[[0, 2]].tolist() == [0, 0]
    assert X[1].nnz >= 2
    assert vectorizer.transform([]).shape == (0, len(vectorizer.vocabulary_))
    assert vectorizer.transform(["", ""]).shape == (2, len(vectorizer.vocabulary_))
    assert vectorizer.transform(iter([])).dtype == np.float32


@both
def test_one_document_is_enough(make):
    vectorizer = make().fit(["hello world"])
    X = vectorizer.transform(["hello world", "world", "none"])
    np.testing.assert_allclose(X.multiply(X).sum(1)[:2], 1, rtol=1e-5)


@both
def test_a_large_document(make):
    vectorizer = make().fit(CORPUS)
    large = " ".join(CORPUS) * 400
    assert len(large) > 10_000_000
    X = vectorizer.transform([large, CORPUS[0]])
    np.testing.assert_allclose(X.multiply(X).sum(1), 1, rtol=1e-5)
    make().fit([large])


@both
@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        ("one string", "texts is one string: expected a list"),
        (["fine", None], "text number 1 is None: expected a string"),
        ([], "nothing can be learned from 0 texts: there is no word in any of them"),
        (["", " "], "nothing can be learned from 2 texts: there is no word in any of them"),
    ],
)
def test_wrong_texts_are_refused(make, texts, complaint):
    with pytest.raises(ValueError, match=complaint):
        make().fit(texts)


@both
def test_wrong_use_is_refused(make):
    vectorizer = make()
    with pytest.raises(ValueError, match="has learned nothing yet: call fit first"):
        vectorizer.transform(["a"])
    vectorizer.vocabulary_size = 0
    with pytest.raises(ValueError, match="vocabulary_size is 0: expected 1 or more"):
        vectorizer.fit(["a"])


def test_too_few_pieces_are_refused():
    with pytest.raises(ValueError, match="SentencePiece cannot learn from these 200 texts"):
        SentencePieceVectorizer(5).fit(CORPUS)


def test_the_sample_is_uniform():
    times = np.zeros(30)
    for seed in range(2000):
        sample = _reservoir(map(str, range(30)), 10, random.Random(seed))
        assert len(set(sample)) == 10
        times[[int(text) for text in sample]] += 1
    np.testing.assert_allclose(times / 2000, 1 / 3, atol=0.05)
    assert sorted(_reservoir(["a", "b", "c"], 10, random.Random(0))) == ["a", "b", "c"]


def test_words_on_reuters():
    try:
        data_folder()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    texts = [document.text for document in read_documents(corpus_path("reuters"))][:3000]
    ours = WordVectorizer(10**6, min_documents=2).fit(texts)
    theirs = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(texts)
    assert ours.vocabulary_ == theirs.get_feature_names_out().tolist()
    theirs.idf_ = ours.idf_
    assert abs(ours.transform(texts) - theirs.transform(texts)).max() < 1e-6
