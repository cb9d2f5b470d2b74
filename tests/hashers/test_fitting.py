"""Models that are fitted and measured at once: the same as by hand, with labels and with pairs."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import ammi
from ammi.data.pairs import ArticlePairs, write_pairs
from ammi.evaluate import matching_at_k, precision_at_k
from ammi.features import PieceFeatures, VectorFeatures, WordFeatures
from ammi.hashers import AMMI, LSH, VDSH, DocumentHasher
from ammi.hashers.fitting import fit_held_out, fit_pairs
from tests.hashers.test_documents import written


def small(**parameters) -> AMMI:
    return AMMI(8, epochs=3, batch_size=32, random_state=0, verbose=False, **parameters)


class ReadAnew:
    """Texts that are no list."""

    def __init__(self, texts: list[str]):
        self.texts, self.times = texts, 0

    def __iter__(self):
        self.times += 1
        return iter(self.texts)


@pytest.mark.parametrize("beside", [None, DocumentHasher(LSH(4, random_state=1))], ids=["one code", "two codes"])
def test_held_out_documents_are_measured_and_not_learned_from(beside):
    texts, labels = written(300)
    held_out = np.arange(300) % 10 == 9
    model = DocumentHasher(LSH(8, random_state=0), beside=beside)
    precision = fit_held_out(model, texts, labels)
    known = [text for text, out in zip(texts, held_out, strict=True) if not out]
    by_hand = DocumentHasher(LSH(8, random_state=0), beside=beside).fit(known)
    assert model.fingerprint_ == by_hand.fingerprint_
    codes, names = by_hand.encode(texts), np.array(labels)
    expected = precision_at_k(codes[held_out], names[held_out], codes[~held_out], names[~held_out])
    assert precision == pytest.approx(expected)


def test_the_precision_chooses_the_epoch():
    texts, labels = written(300)
    model, rows = DocumentHasher(small()), list[Mapping[str, float]]()
    precision = fit_held_out(model, texts, labels, callbacks=[rows.append])
    assert [row["epoch"] for row in rows] == [1, 2, 3]
    assert precision == pytest.approx(max(row["score"] for row in rows))


def test_documents_without_a_label_are_learned_from_and_not_counted():
    texts, labels = written(300)
    mixed: list = [None if n % 3 == 0 else [label] for n, label in enumerate(labels)]
    model = DocumentHasher(LSH(8, random_state=0))
    precision = fit_held_out(model, texts, mixed)
    held_out, labelled = np.arange(300) % 10 == 9, np.arange(300) % 3 > 0
    codes, names = model.encode(texts), np.array(labels)
    queries, base = held_out & labelled, ~held_out & labelled
    assert precision == pytest.approx(precision_at_k(codes[queries], names[queries], codes[base], names[base]))


def test_any_iterable_and_vectors_serve_as_documents():
    texts, labels = written(200)
    anew = ReadAnew(texts)
    models = [DocumentHasher(small()), DocumentHasher(small())]
    assert fit_held_out(models[0], anew, labels) == fit_held_out(models[1], texts, labels)
    assert models[0].fingerprint_ == models[1].fingerprint_
    assert anew.times == 3
    rows = list(WordFeatures().fit(texts).transform(texts).toarray())
    of_vectors = DocumentHasher(small(), VectorFeatures())
    assert fit_held_out(of_vectors, rows, labels) > 50
    assert of_vectors.reads == "vector"


@pytest.mark.parametrize("labels", [[None] * 30, ["a"] * 5, [None] * 9 + ["a"], []])
def test_too_few_labels_are_refused(labels):
    texts = ["a ship"] * len(labels)
    with pytest.raises(ValueError, match=r"of \d+ documents have labels: too few to hold out one in ten"):
        fit_held_out(DocumentHasher(LSH(8)), texts, labels)


def make_pairs(folder: Path, sizes: tuple[int, int, int]) -> ArticlePairs:
    texts = {}
    for seed, (split, n) in enumerate(zip(("train", "cv", "test"), sizes, strict=True)):
        first, second = written(n, seed)[0], written(n, seed)[0][::-1]
        texts[split] = [({"text": x}, {"text": y}) for x, y in zip(first, second, strict=True)]
    features = PieceFeatures(60).fit([document["text"] for pair in texts["train"] for document in pair])
    parts = [
        tuple(features.transform([pair[side]["text"] for pair in texts[split]]) for side in (0, 1)) for split in texts
    ]
    pairs = ArticlePairs(*parts)
    write_pairs(folder, pairs, texts, features, {"source": "a test"})
    return pairs


def test_a_model_of_pairs_is_that_of_its_hasher_and_its_features(tmp_path):
    pairs = make_pairs(tmp_path / "pairs", (200, 120, 120))
    hasher, rows = small(), list[Mapping[str, float]]()
    model, matching = fit_pairs(hasher, tmp_path / "pairs", callbacks=[rows.append])
    assert not hasattr(hasher, "objective_")
    X, Y = pairs.train
    by_hand = small().fit(Y, related=X, validation=pairs.cv[::-1])
    assert model.hasher_.fingerprint_ == by_hand.fingerprint_
    assert by_hand.predictive_
    assert [row["score"] for row in rows] == [row["score"] for row in by_hand.history_]
    X, Y = pairs.test
    assert matching == pytest.approx(matching_at_k(by_hand.encode(Y), by_hand.encode(X)))
    model.save(tmp_path / "model")
    loaded = ammi.load(tmp_path / "model")
    assert isinstance(loaded, DocumentHasher)
    np.testing.assert_array_equal(loaded.encode(["ship wave"]), model.encode(["ship wave"]))


@pytest.mark.parametrize("hasher", [LSH(8, random_state=0), VDSH(8, epochs=1, random_state=0, verbose=False)])
def test_methods_that_predict_nothing_learn_from_the_second_documents(hasher, tmp_path):
    make_pairs(tmp_path / "pairs", (150, 110, 110))
    model, matching = fit_pairs(hasher, tmp_path / "pairs")
    assert type(model.hasher_) is type(hasher)
    assert matching is not None
    assert 0 < matching <= 100


def test_few_pairs_neither_choose_an_epoch_nor_are_measured(tmp_path):
    """Among a hundred documents the related one is always one of the hundred nearest."""
    make_pairs(tmp_path / "pairs", (150, 100, 100))
    model, matching = fit_pairs(small(), tmp_path / "pairs")
    assert matching is None
    assert all(row["score"] != 100 for row in model.hasher_.history_)
