"""Tf-idf over words and over pieces against scikit-learn and plain numpy, and what a user can do wrong with them."""

import json
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor
from sklearn.feature_extraction.text import TfidfVectorizer

from ammi.features import PieceFeatures, WordFeatures, features_from_files
from ammi.features.pieces import _reservoir
from tests.features.made import CORPUS, articles, assert_same, both, documents, files_of


@settings(deadline=None)
@given(documents, documents, st.integers(1, 3))
def test_words_against_scikit_learn(train, test, min_documents):
    ours = WordFeatures(min_documents=min_documents)
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
    maker = WordFeatures(2).fit(["bb aa cc", "cc bb", "dd dd dd dd", "cc"])
    assert maker.vocabulary_ == ["bb", "cc"]
    np.testing.assert_allclose(maker.idf_, np.log([6 / 3, 6 / 4]))


@pytest.fixture(scope="module")
def pieces():
    files = PieceFeatures(60).fit(CORPUS).to_files()
    return features_from_files(files), SentencePieceProcessor(model_proto=files["sentencepiece.model"])


@settings(deadline=None)
@given(documents)
def test_pieces_against_the_formula(pieces, texts):
    maker, processor = pieces

    def counts(texts):
        return np.array([np.bincount(processor.encode(t), minlength=len(processor))[1:] for t in texts])

    c = counts(texts)
    weights = (1 + np.log(np.maximum(c, 1))) * (c > 0) * np.log(202 / ((counts(CORPUS) > 0).sum(0) + 1))
    lengths = np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-9)
    X = maker.transform(texts)
    assert X.has_canonical_format
    np.testing.assert_allclose(X.toarray(), weights / lengths, atol=1e-6)


def test_pieces_are_no_more_than_asked_for_and_case_is_folded(pieces):
    maker, _ = pieces
    assert 30 < len(maker.vocabulary_) <= 60
    assert "<unk>" not in maker.vocabulary_
    assert_same(maker.transform(["THE CAT"]), maker.transform(["the cat"]))


@pytest.mark.slow
@both
def test_the_number_of_threads_and_of_cores_changes_nothing(make, monkeypatch, tmp_path):
    monkeypatch.setattr("ammi.features.texts.CHUNK_CHARACTERS", 1000)  # many chunks
    maker = make().fit(CORPUS)
    X = maker.transform(CORPUS)
    for n_threads in (1, 3, 8):
        assert_same(maker.transform(iter(CORPUS), n_threads=n_threads), X)
    code = (
        "import os, sys, json; os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1]);"
        f"from ammi.features import {type(maker).__name__} as V;"
        "from ammi.files import write_folder; from pathlib import Path;"
        "write_folder(Path(sys.argv[1]), V(100).fit(json.load(sys.stdin)).to_files())"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], input=json.dumps(CORPUS), text=True, check=True)
    assert_same(features_from_files(files_of(tmp_path)).transform(CORPUS), X)


@both
def test_odd_texts(make):
    maker = make().fit(CORPUS)
    X = maker.transform(["", "the matrix", " \n\t", "\ud800", "the matrix \x00", "ζζζ"])
    assert np.diff(X.indptr)[[0, 2]].tolist() == [0, 0]
    assert X[1].nnz >= 2
    assert maker.transform([]).shape == (0, len(maker.vocabulary_))
    assert maker.transform(["", ""]).shape == (2, len(maker.vocabulary_))
    assert maker.transform(iter([])).dtype == np.float32


@both
def test_one_document_is_enough(make):
    maker = make().fit(["hello world"])
    X = maker.transform(["hello world", "world", "none"])
    np.testing.assert_allclose(X.multiply(X).sum(1)[:2], 1, rtol=1e-5)


@pytest.mark.slow
@both
def test_a_large_document(make):
    maker = make().fit(CORPUS)
    large = " ".join(CORPUS) * 400
    assert len(large) > 10_000_000
    X = maker.transform([large, CORPUS[0]])
    np.testing.assert_allclose(X.multiply(X).sum(1), 1, rtol=1e-5)
    make().fit([large])


@both
@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        ("one string", r"texts is the single string 'one string': pass a list of strings"),
        (["fine", None], "text 1 is None: expected a string"),
        ([], "nothing can be learned from 0 texts: there is no word in any of them"),
        (["", " "], "nothing can be learned from 2 texts: there is no word in any of them"),
    ],
)
def test_wrong_texts_are_refused(make, texts, complaint):
    with pytest.raises(ValueError, match=complaint):
        make().fit(texts)


@both
def test_wrong_use_is_refused(make):
    maker = make()
    with pytest.raises(ValueError, match="has learned nothing yet: call fit first"):
        maker.transform(["a"])
    for wrong in (0, 2.5, "many"):
        with pytest.raises(ValueError, match=f"vocabulary_size is {wrong!r}: expected a whole number from 1 up"):
            maker.set_params(vocabulary_size=wrong).fit(["a"])


def test_the_largest_vocabulary_is_one_that_holds_all_units():
    texts = ["wheat and soil", "a ship in the harbour"]
    largest, large = (PieceFeatures(size).fit(texts) for size in (2**31 - 1, 1000))
    assert largest.fingerprint_ == large.fingerprint_


@pytest.mark.parametrize(
    ("maker", "complaint"),
    [
        (WordFeatures(min_documents=0), "min_documents is 0: expected a whole number from 1 up"),
        (PieceFeatures(sample_size=0), "sample_size is 0: expected a whole number from 1 up"),
        (PieceFeatures(random_state=None), "random_state is None: expected a whole number from 0 up"),  # type: ignore[arg-type]
    ],
)
def test_wrong_parameters_are_refused_when_they_are_used(maker, complaint):
    with pytest.raises(ValueError, match=complaint):
        maker.fit(CORPUS)


@both
def test_what_could_not_be_learned_leaves_what_was(make):
    maker = make().fit(CORPUS)
    X = maker.transform(CORPUS)
    with pytest.raises(ValueError, match="nothing can be learned"):
        maker.fit(["", " "])
    assert_same(maker.transform(CORPUS), X)


@both
def test_every_kind_of_column_gives_the_same_rows(make):
    maker = make().fit(CORPUS)
    X, arrow = maker.transform(CORPUS), pa.array(CORPUS)
    frame = pd.DataFrame({"id": range(200), "text": CORPUS})
    table = pa.table({"id": range(200), "text": arrow})
    for column in (
        tuple(CORPUS),
        np.array(CORPUS),
        frame["text"],
        arrow,
        table["text"],
    ):
        assert_same(maker.transform(column), X)
        assert_same(make().fit(column).transform(column), X)
    assert_same(make().fit_transform(iter(CORPUS)), X)


def test_too_few_pieces_are_refused():
    with pytest.raises(ValueError, match="SentencePiece cannot learn from these 200 texts"):
        PieceFeatures(5).fit(CORPUS)


def test_the_sample_is_uniform():
    times = np.zeros(30)
    for seed in range(2000):
        sample = _reservoir(map(str, range(30)), 10, random.Random(seed))
        assert len(set(sample)) == 10
        times[[int(text) for text in sample]] += 1
    np.testing.assert_allclose(times / 2000, 1 / 3, atol=0.05)
    assert sorted(_reservoir(["a", "b", "c"], 10, random.Random(0))) == ["a", "b", "c"]


def test_words_on_reuters():
    texts = articles("reuters", 3000)
    ours = WordFeatures(10**6, min_documents=2).fit(texts)
    theirs = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(texts)
    assert ours.vocabulary_ == theirs.get_feature_names_out().tolist()
    theirs.idf_ = ours.idf_
    assert abs(ours.transform(texts) - theirs.transform(texts)).max() < 1e-6
