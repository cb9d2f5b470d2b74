"""Feature makers as files: nothing changes on the way, and what is damaged or of another format is refused."""

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.utils.validation import NotFittedError

from ammi.features import PieceFeatures, VectorFeatures, WordFeatures, features_from_files
from ammi.features.saved import digest
from tests.damage import flipped
from tests.features.made import CORPUS, assert_same, both


@both
def test_what_was_saved_is_loaded(make):
    maker = make().fit(CORPUS)
    files = maker.to_files()
    loaded = features_from_files(files)
    assert type(loaded) is type(maker)
    assert loaded.get_params() == maker.get_params()
    assert loaded.fingerprint_ == maker.fingerprint_
    assert loaded.vocabulary_ == maker.vocabulary_
    assert_same(loaded.transform(CORPUS), maker.transform(CORPUS))
    assert loaded.to_files() == files


def test_features_json_says_what_it_is():
    saved = json.loads(
        WordFeatures(np.int64(50), min_documents=2).fit(CORPUS).to_files()["features.json"]  # type: ignore[arg-type]
    )
    assert saved["format"] == 3
    assert saved["features"] == "words"
    assert saved["parameters"] == {"vocabulary_size": 50, "min_documents": 2}


def changed(**changes) -> dict[str, bytes]:
    """The files of features of words, with other values in features.json."""
    saved = json.loads(WordFeatures().fit(CORPUS).to_files()["features.json"])
    return {"features.json": json.dumps(saved | changes).encode()}


@pytest.mark.parametrize("later", [2, 4, None, "3"])
def test_another_format_is_refused(later):
    with pytest.raises(ValueError, match=rf"features\.json has format {later}, expected 3: use the ammi that wrote it"):
        features_from_files(changed(format=later))


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b"{}", b"[" * 100_000, b'{"format": 3}'], ids=len)
def test_what_is_no_features_json_is_refused(content):
    with pytest.raises(ValueError, match=r"features\.json (is damaged|says no format).*: "):
        features_from_files({"features.json": content})


def test_wrong_files_are_refused():
    with pytest.raises(ValueError, match=r"the model/features\.json is missing: save the features again"):
        features_from_files({"a": b""})
    with pytest.raises(ValueError, match="holds features of the kind 'words', not 'vectors': use features_from_files"):
        VectorFeatures.from_files(changed())
    with pytest.raises(ValueError, match="no kind of features 'sounds'"):
        features_from_files(changed(features="sounds"))


@pytest.mark.parametrize(
    "changes",
    [
        {"vocabulary": ["matrix"]},
        {"vocabulary": None},
        {"vocabulary": [1, 2]},
        {"vocabulary": ["\ud800"]},
        {"idf": [1.0]},
        {"idf": "x"},
        {"parameters": {"unknown": 1}},
        {"parameters": None},
        {"fingerprint": "0123456789abcdef"},
    ],
    ids=str,
)
def test_damage_is_found_and_said(changes):
    with pytest.raises(ValueError, match=r"the features in .* are damaged: save them again \("):
        features_from_files(changed(**changes))


def test_no_flipped_bit_of_the_pieces_goes_unseen():
    """Without checksums: the fingerprint covers the scores of the units, and not only their names."""
    files = PieceFeatures(60).fit(CORPUS).to_files()
    whole, rng = files["sentencepiece.model"], np.random.default_rng(0)
    for bit in rng.integers(8 * len(whole), size=40):
        with pytest.raises(ValueError, match="are damaged"):
            features_from_files({**files, "sentencepiece.model": flipped(whole, int(bit))})
    del files["sentencepiece.model"]
    with pytest.raises(ValueError, match=r"are damaged: .*sentencepiece\.model"):
        features_from_files(files)


def test_fingerprints_tell_apart_all_that_decides_a_row():
    makers = [
        WordFeatures().fit(CORPUS),
        WordFeatures().fit(CORPUS[:100]),
        WordFeatures(3).fit(CORPUS),
        PieceFeatures(60).fit(CORPUS),
        PieceFeatures(60, sample_size=50).fit(CORPUS),
        VectorFeatures().fit(np.ones((2, 4))),
    ]
    assert len({maker.fingerprint_ for maker in makers}) == len(makers)
    assert WordFeatures(100).fit(CORPUS).fingerprint_ == makers[0].fingerprint_
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")


@both
def test_what_is_not_fitted_is_not_saved(make):
    with pytest.raises(NotFittedError, match="learned nothing yet"):
        make().to_files()


@pytest.mark.slow
def test_the_rooms_names_cost_nothing_before_they_are_used():
    code = "import sys, ammi.features as f; f.features.names(); print('sklearn' in sys.modules, f.WordFeatures.name)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.split() == ["False", "words"]


def test_other_names_are_refused():
    import ammi.features

    with pytest.raises(AttributeError, match=r"module 'ammi.features' has no attribute 'Vectorizer'; it has"):
        ammi.features.Vectorizer  # noqa: B018
