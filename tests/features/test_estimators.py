"""Every feature maker is a scikit-learn estimator (U4).

The rows of VectorFeatures pass the whole suite. Its data are matrices, so that on texts it would run nothing at all:
what of it needs no data is called here for the makers of terms, and the rest is tested on texts.
"""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from ammi.features import FeatureMaker, PieceFeatures, VectorFeatures, WordFeatures, by_name, features
from tests.features.made import CORPUS, assert_same, both

LABELS = ["matrix" in text[:60] for text in CORPUS]
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


@parametrize_with_checks([VectorFeatures()])
def test_scikit_learns_checks_of_vectors(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", WITHOUT_DATA, ids=lambda check: check.__name__)
@both
def test_scikit_learns_checks_that_need_no_data(make, check):
    check(type(make()).__name__, make())


@both
def test_tags_say_that_texts_are_read(make):
    tags = get_tags(make())
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert tags.requires_fit


@both
def test_fitting_changes_no_parameter_and_forgets_what_was_learned_before(make):
    maker = make()
    before = deepcopy(maker.get_params())
    assert maker.fit(CORPUS[:50], LABELS[:50]) is maker
    X = maker.fit(CORPUS).transform(CORPUS)
    assert maker.get_params() == before
    assert_same(make().fit(CORPUS).transform(CORPUS), X)
    learned = deepcopy({name: value for name, value in vars(maker).items() if name != "_processor"})
    maker.transform(CORPUS)
    np.testing.assert_equal({name: value for name, value in vars(maker).items() if name != "_processor"}, learned)


@both
def test_a_row_depends_on_its_text_alone(make):
    maker = make().fit(CORPUS)
    X, order = maker.transform(CORPUS), np.random.default_rng(0).permutation(len(CORPUS))
    assert_same(maker.transform([CORPUS[i] for i in order]), X[order])
    for i in range(10):
        assert_same(maker.transform([CORPUS[i]]), X[i])


@both
def test_clones_and_pickles(make):
    maker = make().fit(CORPUS)
    copy = pickle.loads(pickle.dumps(maker))
    assert copy.fingerprint_ == maker.fingerprint_
    assert_same(copy.transform(CORPUS), maker.transform(CORPUS))
    assert_same(deepcopy(maker).transform(CORPUS), maker.transform(CORPUS))
    cloned = clone(maker)
    assert cloned.get_params() == maker.get_params()
    with pytest.raises(NotFittedError, match="has learned nothing yet: call fit first"):
        cloned.transform(CORPUS)


@pytest.mark.parametrize("maker", [WordFeatures(), PieceFeatures(), VectorFeatures()], ids=lambda maker: maker.name)
@pytest.mark.parametrize(
    "use",
    [
        lambda maker, folder: maker.describe(),
        lambda maker, folder: maker.fingerprint_,
        lambda maker, folder: maker.to_files(),
        lambda maker, folder: maker.get_feature_names_out(),
    ],
    ids=["describe", "fingerprint", "files", "names"],
)
def test_what_is_not_fitted_says_so(maker, use, tmp_path):
    with pytest.raises(NotFittedError):
        check_is_fitted(maker)
    with pytest.raises(NotFittedError):
        use(maker, tmp_path)


@both
def test_names_of_the_columns(make):
    maker = make().fit(CORPUS)
    names = maker.get_feature_names_out()
    assert names.dtype == object
    assert names.tolist() == maker.vocabulary_
    assert len(names) == maker.n_features_ == maker.transform(CORPUS).shape[1]
    assert maker.describe() == {"units": maker.name, "vocabulary": maker.n_features_}


@both
def test_in_a_pipeline_and_a_grid(make):
    pipeline = make_pipeline(make(), TruncatedSVD(5, random_state=0))
    assert pipeline.fit_transform(CORPUS).shape == (200, 5)
    step = pipeline.steps[0][0]
    grid = GridSearchCV(
        make_pipeline(make(), LogisticRegression()), {f"{step}__vocabulary_size": [40, 80]}, cv=2, error_score="raise"
    )
    grid.fit(CORPUS, LABELS)
    assert grid.best_params_[f"{step}__vocabulary_size"] in (40, 80)
    assert grid.best_estimator_.predict(CORPUS).shape == (200,)


@both
def test_documents_are_nothing_to_route(make):
    with config_context(enable_metadata_routing=True):
        assert make_pipeline(make(), LogisticRegression()).fit(CORPUS, LABELS).predict(CORPUS[:3]).shape == (3,)
    assert not hasattr(make(), "set_fit_request")


@both
def test_sparse_rows_offer_no_set_output(make):
    assert not hasattr(make(), "set_output")


@pytest.mark.parametrize("name", ["words", "pieces", "vectors"])
def test_registry_and_picture(name):
    maker = by_name(name)()
    assert isinstance(maker, FeatureMaker)
    assert maker.name == name
    assert type(maker).__name__ in maker._repr_html_()


def test_unknown_kinds_are_refused():
    assert {"pieces", "vectors", "words"} <= set(features.names())
    with pytest.raises(ValueError, match=r"no kind of features 'sounds': there are .*pieces, vectors, words"):
        by_name("sounds")
