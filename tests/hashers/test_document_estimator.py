"""DocumentHasher is a scikit-learn estimator, of texts and of vectors."""

import pickle
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from ammi.features import PieceFeatures, VectorFeatures, WordFeatures
from ammi.hashers import AMMI, ITQ, LSH, DocumentHasher
from tests.hashers.test_documents import small, written

TEXTS, SUBJECTS = written(120)
WITHOUT_DATA = [
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_tags_renamed,
    estimator_checks.check_valid_tag_types,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    estimator_checks.check_mixin_order,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_set_params,
]


@parametrize_with_checks(
    [
        DocumentHasher(LSH(8, random_state=0), VectorFeatures()),
        DocumentHasher(AMMI(8, epochs=1, random_state=0, verbose=False), VectorFeatures()),
    ]
)
def test_scikit_learns_checks_of_a_model_of_vectors(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", WITHOUT_DATA, ids=lambda check: check.__name__)
@pytest.mark.parametrize("model", [DocumentHasher(), small()], ids=["default", "small"])
def test_scikit_learns_checks_that_need_no_data(model, check):
    check("DocumentHasher", model)


def test_tags_are_those_of_its_features():
    assert get_tags(DocumentHasher()).input_tags.string
    assert get_tags(DocumentHasher(features=PieceFeatures())).input_tags.string
    of_vectors = get_tags(DocumentHasher(features=VectorFeatures())).input_tags
    assert of_vectors.two_d_array
    assert of_vectors.sparse
    assert not of_vectors.string


def test_parameters_of_its_parts_are_got_and_set():
    model = DocumentHasher(AMMI(12), WordFeatures(50))
    assert model.get_params()["hasher__n_bits"] == 12
    assert model.get_params()["features__vocabulary_size"] == 50
    assert model.set_params(hasher__n_bits=24, features__min_documents=2) is model
    assert model.hasher is not None
    assert model.hasher.n_bits == 24
    assert clone(model).get_params()["features__min_documents"] == 2
    assert DocumentHasher().get_params() == {"hasher": None, "features": None, "beside": None}
    assert model.set_params(hasher=LSH(8)).get_params()["hasher__n_bits"] == 8


def test_fit_leaves_its_parts_as_they_were_and_learns_in_clones():
    model = DocumentHasher(LSH(8, random_state=0), WordFeatures(50))
    before = deepcopy(model.get_params(deep=False))
    model.fit(TEXTS)
    for name, part in (("hasher", before["hasher"]), ("features", before["features"])):
        assert vars(getattr(model, name)) == vars(part)
    with pytest.raises(NotFittedError):
        check_is_fitted(model.hasher)
    check_is_fitted(model.hasher_)
    assert model.hasher_.n_bits == 8


def test_a_clone_has_learned_nothing():
    model = small().fit(TEXTS)
    with pytest.raises(NotFittedError, match="this DocumentHasher has learned nothing yet: call fit first"):
        clone(model).encode(TEXTS)
    assert clone(model).fit(TEXTS).fingerprint_ == model.fingerprint_


@pytest.mark.parametrize("features", [None, PieceFeatures(60), VectorFeatures()], ids=["words", "pieces", "vectors"])
def test_pickled_and_copied_it_is_the_same(features):
    documents = np.random.default_rng(0).normal(size=(50, 6)) if isinstance(features, VectorFeatures) else TEXTS
    model = DocumentHasher(ITQ(8, random_state=0), features).fit(documents)
    for copy in (pickle.loads(pickle.dumps(model)), deepcopy(model)):
        assert copy.fingerprint_ == model.fingerprint_
        assert np.array_equal(copy.encode(documents), model.encode(documents))


def test_a_grid_of_parameters_is_searched():
    grid = GridSearchCV(
        small(), {"hasher__n_bits": [4, 8], "hasher__order": [0, 1]}, cv=2, error_score="raise", refit=True
    )
    grid.fit(TEXTS)
    assert grid.best_params_["hasher__n_bits"] == 8  # twice the bits hold more information
    assert grid.best_estimator_.encode(TEXTS).shape == (120, 1)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()


def test_only_hashers_with_a_score_have_one():
    assert small().fit(TEXTS).score(TEXTS) > 0
    model = DocumentHasher(LSH(8)).fit(TEXTS)
    assert not hasattr(model, "score")
    with pytest.raises(AttributeError) as told:
        model.score(TEXTS)
    assert "LSH has no score: measure codes with ammi.evaluate" in str(told.value.__cause__)


def test_its_two_parts_are_a_pipeline_as_well():
    settings: dict[str, Any] = {"epochs": 2, "random_state": 0, "verbose": False}
    pipeline = make_pipeline(WordFeatures(), AMMI(12, **settings))
    bits = pipeline.fit(TEXTS).transform(TEXTS)
    assert np.array_equal(bits, DocumentHasher(AMMI(12, **settings)).fit(TEXTS).transform(TEXTS))
    assert np.array_equal(bits, pipeline.fit_transform(TEXTS))
    grid = GridSearchCV(pipeline, {"ammi__n_bits": [4, 8], "wordfeatures__vocabulary_size": [10, 20]}, cv=2)
    assert grid.fit(TEXTS).best_params_["ammi__n_bits"] == 8


def test_codes_as_a_data_frame():
    texts = pd.Series(TEXTS, index=[f"row {i}" for i in range(120)])
    model = small().set_output(transform="pandas").fit(texts)
    table = model.transform(texts)
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == [f"documenthasher{i}" for i in range(12)]
    assert np.array_equal(table.to_numpy(), small().fit(TEXTS).transform(TEXTS))
    assert model.encode(texts).shape == (120, 2)  # packed codes are no columns
    frame = AMMI(8, epochs=1, verbose=False).set_output(transform="pandas").fit_transform(np.eye(20))
    assert list(frame.columns) == [f"ammi{i}" for i in range(8)]


def test_names_of_the_columns_of_vectors():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=["a", "b", "c"])
    model = DocumentHasher(LSH(8, random_state=0), VectorFeatures()).fit(table)
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.encode(table.rename(columns={"a": "z"}))
    assert not hasattr(small().fit(TEXTS), "n_features_in_")


def test_a_picture_in_notebooks():
    shown = small()._repr_html_()
    assert "DocumentHasher" in shown
    assert "AMMI" in shown
    assert "learning_rate" in shown
    assert small().fit(TEXTS)._repr_html_()


def test_documents_are_nothing_to_route():
    with config_context(enable_metadata_routing=True):
        grid = GridSearchCV(small(), {"hasher__n_bits": [4]}, cv=2, error_score="raise").fit(TEXTS)
    assert grid.best_estimator_.n_bits == 4
    assert "documents" not in str(DocumentHasher()._get_metadata_request())
