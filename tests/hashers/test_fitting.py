"""Models that are fitted and measured at once: what is held out, what chooses the epoch, what is measured."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ammi.data.pairs import ArticlePairs, write_pairs
from ammi.evaluate import matching_at_k, precision_at_k
from ammi.features import VectorFeatures, WordFeatures
from ammi.hashers import AMMI, LSH, DocumentHasher, Hasher, TrainedHasher
from ammi.hashers.fitting import fit_held_out, fit_pairs
from tests.conftest import topics
from tests.hashers.test_documents import small, written

TEXTS, SUBJECTS = written(400)
TENTH = np.arange(400) % 10 == 9
QUICK: dict[str, Any] = {"epochs": 3, "batch_size": 32, "random_state": 0, "verbose": False}


@pytest.mark.parametrize("model", [small(), DocumentHasher(LSH(12, random_state=0))], ids=["ammi", "lsh"])
def test_the_precision_of_one_in_ten_among_the_others(model):
    precision = fit_held_out(model, TEXTS, SUBJECTS)
    codes, names = model.encode(TEXTS), np.array(SUBJECTS)
    expected = precision_at_k(codes[TENTH], names[TENTH], codes[~TENTH], names[~TENTH], k=100)
    assert precision == pytest.approx(expected)
    nine = [text for text, tenth in zip(TEXTS, TENTH, strict=True) if not tenth]
    assert model.features_.fingerprint_ == WordFeatures().fit(nine).fingerprint_  # nothing is learned from the tenth
    if isinstance(model.hasher_, TrainedHasher):
        assert precision == max(row["score"] for row in model.hasher_.history_)


def test_documents_without_a_label_are_learned_from_and_not_counted():
    names = [None if i % 3 == 0 else subject for i, subject in enumerate(SUBJECTS)]
    model = small()
    precision = fit_held_out(model, TEXTS, names)
    labelled = np.arange(400) % 3 != 0
    codes, subjects = model.encode(TEXTS), np.array(SUBJECTS)
    queries, base = labelled & TENTH, labelled & ~TENTH
    assert precision == pytest.approx(precision_at_k(codes[queries], subjects[queries], codes[base], subjects[base]))
    nine = [text for text, tenth in zip(TEXTS, TENTH, strict=True) if not tenth]
    assert model.features_.fingerprint_ == WordFeatures().fit(nine).fingerprint_


class Reread:
    """Texts that are read anew each time they are gone through, as those of a file are."""

    def __iter__(self):
        return iter(TEXTS)


def test_texts_of_a_file_and_vectors_as_well():
    model, again = small(), small()
    assert fit_held_out(model, TEXTS, SUBJECTS) == fit_held_out(again, Reread(), SUBJECTS)
    assert again.fingerprint_ == model.fingerprint_
    X, labels = topics()
    of_vectors = DocumentHasher(AMMI(16, **QUICK), VectorFeatures())
    assert fit_held_out(of_vectors, list(X.toarray()), labels.tolist()) > 40  # chance is 25


def test_too_few_labels_are_refused():
    with pytest.raises(ValueError, match="1 of 400 documents have labels: too few to hold out one in ten"):
        fit_held_out(small(), TEXTS, ["sea"] + [None] * 399)


def written_pairs(folder: Path, n_held_out: int) -> ArticlePairs:
    """Pairs of texts of one subject each, as `ammi data pairs` writes them."""
    sizes = {"train": 300, "cv": n_held_out, "test": n_held_out}
    texts = {
        split: list(zip(written(n, seed=i)[0], [text.upper() for text in written(n, seed=i)[0]], strict=True))
        for i, (split, n) in enumerate(sizes.items())
    }
    features = WordFeatures().fit([text for pair in texts["train"] for text in pair])
    sides = {
        name: tuple(features.transform(side) for side in zip(*pairs, strict=True)) for name, pairs in texts.items()
    }
    pairs = ArticlePairs(**sides)
    records = {
        split: [({"id": f"{i} a", "text": x}, {"id": f"{i} b", "text": y}) for i, (x, y) in enumerate(part)]
        for split, part in texts.items()
    }
    write_pairs(folder, pairs, records, features, {"source": "here"})
    return pairs


@pytest.mark.parametrize("hasher", [AMMI(12, **QUICK), LSH(12, random_state=0)], ids=["ammi", "lsh"])
def test_pairs_are_fitted_to_and_matched(hasher, tmp_path):
    pairs = written_pairs(tmp_path / "pairs", n_held_out=120)
    model, matching = fit_pairs(hasher, tmp_path / "pairs")
    fitted: Hasher = model.hasher_
    related, documents = pairs.test
    assert matching == matching_at_k(fitted.encode(documents), fitted.encode(related), 100)
    assert model.encode(["ship harbour"]).shape == (1, 2)
    assert not hasattr(hasher, "n_features_in_")  # a clone was fitted
    if isinstance(fitted, TrainedHasher):
        assert fitted.predictive_
        related, documents = pairs.cv
        assert max(row["score"] for row in fitted.history_) == matching_at_k(
            fitted.encode(documents), fitted.encode(related), 100
        )


def test_pairs_too_few_to_measure_are_not_measured(tmp_path):
    written_pairs(tmp_path / "pairs", n_held_out=100)  # all of them are among the hundred nearest
    model, matching = fit_pairs(AMMI(12, **QUICK), tmp_path / "pairs")
    assert matching is None
    assert model.n_bits == 12
