"""Vectors as they are (U5): every form of rows, nothing copied or changed, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix, csr_array, csr_matrix
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from ammi.features import VectorFeatures, features_from_files

ROWS = np.random.default_rng(0).normal(size=(6, 4))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.array, csr_matrix, csr_array])
def test_rows_are_passed_on_uncopied(form, dtype):
    X = form(ROWS.astype(dtype))
    assert VectorFeatures().fit(X).transform(X) is X


@pytest.mark.parametrize(
    "rows",
    [
        ROWS.tolist(),
        tuple(map(tuple, ROWS)),
        list(ROWS),
        pd.DataFrame(ROWS),
        pd.DataFrame({"embedding": list(ROWS)})["embedding"],
        np.asfortranarray(ROWS),
    ],
    ids=["lists", "tuples", "arrays", "frame", "column", "fortran"],
)
def test_other_forms_become_arrays(rows):
    found = VectorFeatures().fit(rows).transform(rows)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, ROWS)


def test_whole_numbers_and_other_sparse_forms():
    maker = VectorFeatures().fit(ROWS)
    assert maker.transform(np.arange(8).reshape(2, 4)).dtype == np.float64
    found = maker.transform(coo_matrix(ROWS))
    assert isinstance(found, csr_matrix)
    np.testing.assert_array_equal(found.toarray(), ROWS)


@pytest.mark.parametrize("nothing", [[], (), np.empty((0, 4)), csr_matrix((0, 4))], ids=repr)
def test_no_rows_are_no_rows(nothing):
    maker = VectorFeatures().fit(ROWS)
    assert maker.transform(nothing).shape == (0, 4)
    with pytest.raises(ValueError, match=r"minimum of 1 is required|Reshape your data"):
        maker.fit(nothing)


def spoiled(value: float) -> np.ndarray:
    X = ROWS.copy()
    X[3, 2] = value
    return X


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        (spoiled(np.nan), r"^row 3 holds NaN, expected finite numbers: fill it or drop the row$"),
        (spoiled(-np.inf), r"^row 3 holds -inf, expected finite numbers"),
        (spoiled(np.inf).astype(np.float32), r"^row 3 holds inf, expected finite numbers"),
        (csr_matrix(spoiled(np.nan)), r"^row 3 holds NaN, expected finite numbers"),
        (pd.DataFrame(spoiled(np.nan)), r"^row 3 holds NaN"),
        ([[1, 2, 3, 4], [1, 2, 3]], r"^row 1 has 3 numbers, expected 4 as before: make them one width$"),
        (ROWS[:, :3], r"^X has 3 features, but VectorFeatures is expecting 4 features as input"),
        (csr_matrix(ROWS[:, :3]), r"^X has 3 features, but VectorFeatures is expecting 4 features as input"),
        (ROWS[0], r"^Reshape your data of shape \(4,\): expected a row for each document, \[vector\] for one$"),
        (ROWS[None], r"^Reshape your data of shape \(1, 6, 4\): "),
        (["a text"], r'^row 0 is \'a text\', expected numbers: use the features "words" for texts$'),
        (
            pd.DataFrame({"text": ["a text"], "year": [1987]}),
            r"^could not convert string to float: 'a text', expected numbers in every column: leave out those of text$",
        ),
    ],
)
def test_wrong_rows_are_refused(rows, complaint):
    maker = VectorFeatures().fit(ROWS)
    with pytest.raises(ValueError, match=complaint):
        maker.transform(rows)


def test_a_fit_that_fails_learns_nothing():
    maker = VectorFeatures()
    with pytest.raises(ValueError, match="row 3 holds NaN"):
        maker.fit(spoiled(np.nan))
    assert not hasattr(maker, "n_features_in_")


def test_set_output_and_names():
    frame = pd.DataFrame(ROWS, columns=["a", "b", "c", "d"], index=range(6, 12))
    maker = VectorFeatures().set_output(transform="pandas").fit(frame)
    pd.testing.assert_frame_equal(maker.transform(frame), frame)
    assert maker.get_feature_names_out().tolist() == ["a", "b", "c", "d"]
    assert VectorFeatures().fit(ROWS).get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3"]
    assert make_pipeline(VectorFeatures(), PCA(2)).set_output(transform="pandas").fit_transform(frame).shape == (6, 2)


def test_saved_and_loaded():
    frame = pd.DataFrame(ROWS, columns=["a", "b", "c", "d"])
    for rows, narrow in ((ROWS, ROWS[:, :2]), (frame, frame[["a", "b"]])):
        maker = VectorFeatures().fit(rows)
        loaded = features_from_files(maker.to_files())
        assert isinstance(loaded, VectorFeatures)
        np.testing.assert_array_equal(loaded.transform(rows), ROWS)
        assert loaded.fingerprint_ == maker.fingerprint_
        assert loaded.get_feature_names_out().tolist() == maker.get_feature_names_out().tolist()
        with pytest.raises(ValueError, match=r"is expecting 4 features|The feature names should match"):
            loaded.transform(narrow)
    assert loaded.describe() == {"units": "vectors", "columns": 4}
    assert VectorFeatures().fit(ROWS[:, :2]).fingerprint_ != maker.fingerprint_
