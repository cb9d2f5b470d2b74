"""Quick codes: from a model's files alone, the same bytes as those of the model itself, without what learned it."""

import json
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.features import PieceFeatures, VectorFeatures, WordFeatures
from ammi.features.base import FeatureMaker
from ammi.hashers import AMMI, BMMI, BMSH, BOW, DVQ, GMSH, ITQ, LSH, NASH, SRBM, STH, VDSH, DocumentHasher, Hasher, SpH
from ammi.hashers.quick import QuickCodes, quick_codes
from ammi.stored_model import StoredModel
from tests.damage import flipped
from tests.features.made import CORPUS, any_text, articles
from tests.hashers.test_documents import SUBJECTS, written

TRAINED: dict[str, Any] = {"epochs": 2, "random_state": 0, "verbose": False}
LINEAR: dict[str, Hasher] = {
    "ammi": AMMI(20, **TRAINED),
    "bmmi": BMMI(12, **TRAINED),
    "bmsh": BMSH(20, encoder=0, components=5, **TRAINED),
    "itq": ITQ(20, random_state=0),
    "lsh": LSH(100, random_state=0),
    "nash": NASH(20, encoder=0, **TRAINED),
    "sth": STH(20, random_state=0, verbose=False),
}
OTHERS: dict[str, Hasher] = {
    "ammi of order 1": AMMI(8, order=1, **TRAINED),
    "ammi with a layer": AMMI(8, encoder=1, hidden_size=12, **TRAINED),
    "bmsh": BMSH(8, components=5, hidden_size=12, **TRAINED),
    "bow": BOW(),
    "dvq": DVQ(8, **TRAINED),
    "gmsh": GMSH(8, encoder=0, **TRAINED),
    "sph": SpH(8, random_state=0),
    "srbm": SRBM(8, hidden_layers=0, **TRAINED),
    "vdsh": VDSH(8, encoder=0, **TRAINED),
}
TEXTS = written(150)[0] + CORPUS[:100]
MAKERS: dict[str, FeatureMaker] = {"words": WordFeatures(300), "pieces": PieceFeatures(200)}
every = pytest.mark.parametrize("method", LINEAR)
both = pytest.mark.parametrize("features", MAKERS)

words = st.sampled_from([word for subject in SUBJECTS.values() for word in subject] + ["the", "größe", "한국어"])
texts = st.lists(any_text | st.lists(words, max_size=40).map(" ".join), max_size=5)


@cache
def fitted(method: str, features: str) -> tuple[DocumentHasher, QuickCodes]:
    model = DocumentHasher(LINEAR[method], MAKERS[features]).fit(TEXTS)
    quick = quick_codes(model.to_files())
    assert quick is not None
    return model, quick


@pytest.mark.slow
@every
@both
@settings(deadline=None, max_examples=15)
@given(texts=texts)
def test_codes_are_the_same_bytes(method, features, texts):
    model, quick = fitted(method, features)
    codes = quick.encode(texts)
    assert codes.dtype == np.uint8
    np.testing.assert_array_equal(codes, model.encode(texts))
    assert [quick.knows(text) for text in texts] == [model.knows(text) for text in texts]


@every
@both
def test_it_says_of_itself_what_the_model_does(method, features):
    model, quick = fitted(method, features)
    assert (quick.n_bits, quick.fingerprint_) == (model.n_bits, model.fingerprint_)
    assert quick.encode([]).shape == model.encode([]).shape
    np.testing.assert_array_equal(quick.encode(TEXTS), model.encode(TEXTS))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hasher", "features"),
    [(AMMI(64, **TRAINED), WordFeatures(5000)), (ITQ(64, random_state=0), PieceFeatures(500, sample_size=200))],
    ids=["ammi-words", "itq-pieces"],
)
def test_also_of_real_articles(hasher, features):
    documents = articles("reuters", 500)
    model = DocumentHasher(hasher, features).fit(documents[:400])
    quick = quick_codes(model.to_files())
    assert quick is not None
    np.testing.assert_array_equal(quick.encode(documents), model.encode(documents))


@pytest.mark.parametrize("method", OTHERS)
def test_where_bits_are_no_sides_of_hyperplanes_the_whole_model_is_needed(method):
    model = DocumentHasher(OTHERS[method]).fit(TEXTS)
    assert quick_codes(model.to_files()) is None


def test_vectors_and_hashers_alone_need_the_whole_model():
    X = np.random.default_rng(0).normal(size=(30, 5))
    assert quick_codes(DocumentHasher(LSH(8), VectorFeatures()).fit(X).to_files()) is None
    assert quick_codes(LSH(8).fit(X).to_files()) is None


FILES = [
    "SHA256SUMS",
    "config.json",
    "features/features.json",
    "features/sentencepiece.model",
    "hasher/config.json",
    "hasher/weights.safetensors",
]


@cache
def saved_files() -> dict[str, bytes]:
    return fitted("lsh", "pieces")[0].to_files()


@pytest.mark.parametrize("file", FILES)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_no_flipped_bit_of_any_file_goes_unseen(file, data):
    files = saved_files()
    assert sorted(files) == FILES
    damaged = {**files, file: flipped(files[file], data.draw(st.integers(0, 8 * len(files[file]) - 1)))}
    for read in (StoredModel, DocumentHasher.from_files):
        with pytest.raises(ValueError, match=rf"{file} is damaged.* write .* again, or copy all of it again$"):
            read(damaged)


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_is_cut_short_or_missing_is_named(file):
    files = {**saved_files()}
    for rest in (b"", files[file][:-3], files[file][: len(files[file]) // 2]):
        with pytest.raises(ValueError, match=f"{file} is damaged"):
            StoredModel({**files, file: rest})
    del files[file]
    with pytest.raises(ValueError, match=f"{file} is missing"):
        StoredModel(files)


def changed(files: dict[str, bytes], file: str, **values: Any) -> dict[str, bytes]:
    return {**files, file: json.dumps({**json.loads(files[file]), **values}).encode()}


def test_parts_of_another_model_are_refused():
    files = fitted("ammi", "words")[0].to_files()
    other = fitted("nash", "words")[0].to_files()
    for part in ("hasher/weights.safetensors", "hasher/config.json"):
        with pytest.raises(ValueError, match=r"do not belong together|does not belong"):
            quick_codes({**files, part: other[part]})
    for file, values in (
        ("config.json", {"fingerprint": "0" * 16}),
        ("config.json", {"n_bits": 19}),
        ("hasher/config.json", {"parameters": {"n_bits": 19}}),
        ("hasher/config.json", {"method": "BMMI"}),
        ("hasher/config.json", {"hyperplanes": ["nothing", "here", True]}),
        ("hasher/config.json", {"hyperplanes": 7}),
        ("hasher/config.json", {"parameters": {}}),
    ):
        with pytest.raises(ValueError, match=r"do not belong together|does not belong"):
            quick_codes(changed(files, file, **values))


@both
def test_nothing_heavy_is_imported(features, tmp_path):
    """The imports of what learned a model took nearly all the time of a search."""
    model, _ = fitted("ammi", features)
    model.save(tmp_path / "model")
    program = """if True:
        import sys
        from pathlib import Path
        from ammi.files import read_folder
        from ammi.hashers.quick import quick_codes
        codes = quick_codes(read_folder(Path(sys.argv[1]))).encode(["the ship", "größe"])
        heavy = {"torch", "sklearn", "scipy", "numba", "pandas", "faiss", "importlib.metadata"}
        print(codes.tobytes().hex(), sorted(heavy & set(sys.modules)))
    """
    shown = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "model"], capture_output=True, text=True, check=True
    ).stdout
    assert shown.split(" ", 1) == [model.encode(["the ship", "größe"]).tobytes().hex(), "[]\n"]
