"""The feature maker that docs/extending.md shows: it fits, saves, loads, is found by its name, and joins a pipeline."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import make_pipeline

from ammi.features import by_name, features, features_from_files
from ammi.features.quick import quick_rows
from examples.character_features import CharacterFeatures
from tests.features.made import CORPUS, assert_same

features.register("characters", CharacterFeatures)


def test_rows():
    X = CharacterFeatures().fit(CORPUS).transform(["abcabc", "", "ab", "ABC", "\ud800ßß"])
    assert X.shape == (5, 2**12)
    assert X.dtype == np.float32
    assert np.diff(X.indptr).tolist() == [3, 0, 0, 1, 1]
    np.testing.assert_allclose(sorted(X[0].data), np.array([1, 1, 2]) / np.sqrt(6), rtol=1e-6)
    np.testing.assert_allclose(X[3].toarray() @ X[0].toarray().T, 2 / np.sqrt(6), rtol=1e-6)
    assert CharacterFeatures().fit([]).transform([]).shape == (0, 2**12)


def test_it_is_saved_and_found_again_by_its_name():
    assert by_name("characters") is CharacterFeatures
    maker = CharacterFeatures(100).fit(CORPUS)
    loaded = features_from_files(maker.to_files())
    assert isinstance(loaded, CharacterFeatures)
    assert loaded.fingerprint_ == maker.fingerprint_ != CharacterFeatures(99).fit(CORPUS).fingerprint_
    assert loaded.describe() == {"units": "characters", "columns": 100}
    assert_same(loaded.transform(CORPUS), maker.transform(CORPUS))
    assert quick_rows(maker.to_files()) is None


def test_it_is_a_scikit_learn_estimator():
    maker = clone(CharacterFeatures()).set_params(columns=64).fit(CORPUS)
    assert_same(pickle.loads(pickle.dumps(maker)).transform(CORPUS), maker.transform(CORPUS))
    assert make_pipeline(CharacterFeatures(), TruncatedSVD(5)).fit_transform(CORPUS).shape == (200, 5)
    assert maker.get_feature_names_out()[:2].tolist() == ["characterfeatures0", "characterfeatures1"]
    assert "CharacterFeatures" in maker._repr_html_()


def test_what_is_refused():
    with pytest.raises(ValueError, match="columns is 0: expected a whole number from 1 up"):
        CharacterFeatures(0).fit(CORPUS)
    with pytest.raises(ValueError, match="texts is the single string 'text'"):
        CharacterFeatures().fit(CORPUS).transform("text")
