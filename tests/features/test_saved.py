"""Feature makers as folders: nothing changes on the way, and what is damaged or of another format is refused."""

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.utils.validation import NotFittedError

from ammi.features import PieceFeatures, VectorFeatures, WordFeatures, load_features
from ammi.features.saved import digest
from ammi.files import seal
from tests.features.made import CORPUS, assert_same, both


@both
def test_what_was_saved_is_loaded(make, tmp_path):
    maker = make().fit(CORPUS)
    maker.save(tmp_path / "new" / "folder")
    loaded = load_features(tmp_path / "new" / "folder")
    assert type(loaded) is type(maker)
    assert loaded.get_params() == maker.get_params()
    assert loaded.fingerprint_ == maker.fingerprint_
    assert loaded.vocabulary_ == maker.vocabulary_
    assert_same(loaded.transform(CORPUS), maker.transform(CORPUS))
    loaded.save(tmp_path / "again")
    assert_same_files(tmp_path / "again", tmp_path / "new" / "folder")


def assert_same_files(a, b):
    assert sorted(path.name for path in a.iterdir()) == sorted(path.name for path in b.iterdir())
    for path in a.iterdir():
        assert path.read_bytes() == (b / path.name).read_bytes()


def test_features_json_says_what_it_is(tmp_path):
    WordFeatures(np.int64(50), min_documents=2).fit(CORPUS).save(tmp_path)  # type: ignore[arg-type]
    saved = json.loads((tmp_path / "features.json").read_text())
    assert saved["format"] == 3
    assert saved["features"] == "words"
    assert saved["parameters"] == {"vocabulary_size": 50, "min_documents": 2}


def change(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    seal(path.parent)


@pytest.mark.parametrize("later", [2, 4, None, "3"])
def test_another_format_is_refused(tmp_path, later):
    WordFeatures().fit(CORPUS).save(tmp_path)
    change(tmp_path / "features.json", format=later)
    with pytest.raises(ValueError, match=rf"features\.json has format {later}, expected 3: use the ammi that wrote it"):
        load_features(tmp_path)


def test_a_vectoriser_of_version_1_is_refused(tmp_path):
    (tmp_path / "vectorizer.json").write_text('{"format": 1, "kind": "words"}')
    with pytest.raises(ValueError, match=r"vectorizer\.json has format 1, expected 3 in features\.json: fit and save"):
        load_features(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b"{}", b"[" * 100_000, b'{"format": 3}'], ids=len)
def test_what_is_no_features_json_is_refused(tmp_path, content):
    (tmp_path / "features.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"features\.json (is damaged|says no format).*: "):
        load_features(tmp_path)


def test_wrong_folders_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no features\.json in .*: name a folder"):
        load_features(tmp_path)
    WordFeatures().fit(CORPUS).save(tmp_path)
    with pytest.raises(ValueError, match="holds features of the kind 'words', not 'vectors': use load_features"):
        VectorFeatures.load(tmp_path)
    change(tmp_path / "features.json", features="sounds")
    with pytest.raises(ValueError, match="no kind of features 'sounds'"):
        load_features(tmp_path)


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
def test_damage_is_found_and_said(tmp_path, changes):
    WordFeatures().fit(CORPUS).save(tmp_path)
    change(tmp_path / "features.json", **changes)
    with pytest.raises(ValueError, match=r"the features in .* are damaged: save them again \("):
        load_features(tmp_path)


def test_no_flipped_bit_of_the_pieces_goes_unseen(tmp_path):
    """A4: the fingerprint was of the vocabulary alone, and a model with other scores gave other codes under it."""
    maker = PieceFeatures(60).fit(CORPUS)
    maker.save(tmp_path)
    path, rng = tmp_path / "sentencepiece.model", np.random.default_rng(0)
    whole = path.read_bytes()
    for place in rng.integers(8 * len(whole), size=40):
        spoiled = bytearray(whole)
        spoiled[place // 8] ^= 1 << place % 8
        path.write_bytes(spoiled)
        with pytest.raises(ValueError, match=r"sentencepiece\.model is damaged"):
            load_features(tmp_path)
        seal(tmp_path)  # as whoever changed it on purpose would
        with pytest.raises(ValueError, match="are damaged"):
            load_features(tmp_path)
    path.unlink()
    with pytest.raises(ValueError, match=r"sentencepiece\.model is missing"):
        load_features(tmp_path)


def test_features_of_an_older_ammi_are_refused(tmp_path):
    WordFeatures().fit(CORPUS).save(tmp_path)
    change(tmp_path / "features.json", format=2)
    (tmp_path / "SHA256SUMS").unlink()
    with pytest.raises(ValueError, match=r"features\.json has format 2, expected 3: use the ammi that wrote it"):
        load_features(tmp_path)


def test_what_are_no_features_is_not_replaced(tmp_path):
    (tmp_path / "letter.txt").write_text("kept")
    with pytest.raises(ValueError, match="is there and does not hold features: choose another folder"):
        WordFeatures().fit(CORPUS).save(tmp_path)
    assert (tmp_path / "letter.txt").read_text() == "kept"


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
def test_what_is_not_fitted_is_not_saved(make, tmp_path):
    with pytest.raises(NotFittedError, match="learned nothing yet"):
        make().save(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_rooms_names_cost_nothing_before_they_are_used():
    code = "import sys, ammi.features as f; f.features.names(); print('sklearn' in sys.modules, f.WordFeatures.name)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.split() == ["False", "words"]


def test_other_names_are_refused():
    import ammi.features

    with pytest.raises(AttributeError, match=r"module 'ammi.features' has no attribute 'Vectorizer'; it has"):
        ammi.features.Vectorizer  # noqa: B018
