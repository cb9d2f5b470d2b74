"""Other views of the same documents: they help to find neighbours, and nothing else."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from ammi import AMMI, BMMI, DocumentHasher
from ammi.features import WordFeatures
from ammi.hashers import BMSH
from ammi.hashers.fitting import fit_held_out
from tests.conftest import topics
from tests.hashers.test_documents import written
from tests.training.made import kept_array

SMALL: dict[str, Any] = {"batch_size": 32, "learning_rate": 0.03, "epochs": 3, "random_state": 0, "verbose": False}


def view_of(labels: np.ndarray, seed: int = 0) -> np.ndarray:
    """Dense rows that tell the label."""
    return np.eye(labels.max() + 1)[labels] + np.random.default_rng(seed).normal(0, 0.1, (len(labels), 4))


def neighbours_of(hasher: AMMI | BMMI, X: Any, folder: Any, **more: Any) -> np.ndarray:
    """Those that a run was trained with, as its checkpoint keeps them."""
    hasher.set_params(checkpoint=folder).fit(X, **more)
    return kept_array(folder / "neighbours.pt")


@pytest.mark.parametrize(
    "hasher", [AMMI(8, neighbours=10, first_bits=0, **SMALL), BMMI(8, **SMALL)], ids=["AMMI", "BMMI"]
)
def test_neighbours_are_those_by_all_cosines(hasher, tmp_path):
    X, labels = topics()
    others = np.random.default_rng(0).permutation(labels)  # of which X tells nothing
    views = [view_of(others), csr_matrix(view_of(others, seed=1))]
    found = neighbours_of(hasher, X, tmp_path, views=views, validation=lambda hasher: 0.0)
    assert found.shape == (300, 10)
    assert share_of_label(found, others) > 0.9
    assert share_of_label(neighbours_of(hasher, X, tmp_path / "without"), others) < 0.4
    assert hasher.encode(X).shape == (300, 1)  # the encoder reads X alone


def share_of_label(found: np.ndarray, labels: np.ndarray) -> float:
    """How many neighbours have the label of their document."""
    return float((labels[found] == labels[:, None]).mean())


def test_views_help_beside_a_first_model_as_well(tmp_path):
    X, labels = topics()
    found = neighbours_of(AMMI(8, **SMALL), X, tmp_path, views=view_of(labels))
    assert found.shape == (300, 15)  # a twentieth of all
    assert share_of_label(found, labels) > 0.99
    assert kept_array(tmp_path / "first" / "neighbours.pt").shape == (300, 10)


def test_a_checkpoint_belongs_to_its_views(tmp_path):
    X, labels = topics()
    hasher = AMMI(8, checkpoint=tmp_path, **SMALL).fit(X, views=view_of(labels))
    again = AMMI(8, checkpoint=tmp_path, **SMALL).fit(X, views=[view_of(labels)])
    assert again.fingerprint_ == hasher.fingerprint_
    for other in (view_of(labels, seed=1), None, [view_of(labels)] * 2):
        with pytest.raises(ValueError, match=r"belongs to another run \(views differ\)"):
            AMMI(8, checkpoint=tmp_path, **SMALL).fit(X, views=other)


def test_views_that_do_not_fit_are_refused():
    X, labels = topics()
    view = view_of(labels)
    with pytest.raises(ValueError, match="view 2 has 299 rows for 300 documents: it goes row for row"):
        AMMI(8, **SMALL).fit(X, views=[view, view[:-1]])
    broken = view.copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match="view 1 contains NaN"):
        AMMI(8, **SMALL).fit(X, views=broken)
    with pytest.raises(ValueError, match="but AMMI with neighbours=0 looks for none: leave out `views`"):
        AMMI(8, neighbours=0, **SMALL).fit(X, views=view)
    with pytest.raises(ValueError, match="but related documents take the place of these: leave out `views`"):
        AMMI(8, **SMALL).fit(X, related=X, views=view)
    with pytest.raises(ValueError, match="but BMSH looks for none"):
        BMSH(8, epochs=1, verbose=False).fit(X, views=view)


def test_documents_have_views_as_rows_or_by_what_makes_them():
    texts, _ = written(200)
    rows = WordFeatures(10).fit(texts).transform(texts)

    def fitted(views: Any, documents: Any = texts) -> str:
        return DocumentHasher(AMMI(8, **SMALL)).fit(documents, views=views).fingerprint_

    expected = fitted([rows, rows])
    assert fitted([WordFeatures(10), lambda documents: rows]) == expected
    assert fitted(WordFeatures(10), iter(texts)) == fitted(rows)
    assert fitted(None) != expected


def test_of_held_out_documents_the_views_are_held_out_too():
    texts, labels = written(300)
    maker = WordFeatures(10)
    kept = [text for n, text in enumerate(texts) if n % 10 != 9]
    rows = maker.fit(kept).transform(texts)
    by_rows, by_maker = DocumentHasher(AMMI(8, **SMALL)), DocumentHasher(AMMI(8, **SMALL))
    assert fit_held_out(by_rows, texts, labels, views=rows) == fit_held_out(by_maker, texts, labels, views=[maker])
    assert by_rows.fingerprint_ == by_maker.fingerprint_
    with pytest.raises(ValueError, match="a view has 299 rows for 300 documents: it goes row for row"):
        fit_held_out(by_rows, texts, labels, views=rows[:-1])
