"""DocumentHasher: every kind of column, saving, what is refused."""

import json
import multiprocessing
import random
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ammi
from ammi.features import PieceFeatures, VectorFeatures, WordFeatures
from ammi.hashers import AMMI, BMMI, LSH, DocumentHasher
from tests.conftest import topics
from tests.damage import write_checksums

SUBJECTS = {
    "sea": ["ship", "harbour", "sailor", "wave", "anchor", "tide"],
    "sky": ["cloud", "wing", "pilot", "wind", "runway", "altitude"],
    "field": ["wheat", "plough", "farmer", "harvest", "barley", "soil"],
}


def written(n: int = 240, seed: int = 0) -> tuple[list[str], list[str]]:
    """Texts of a few subjects, and the subject of each."""
    rng = np.random.default_rng(seed)
    subjects = rng.choice(list(SUBJECTS), n).tolist()
    return [" ".join([*rng.choice(SUBJECTS[one], 8), "the", "of"]) for one in subjects], subjects


def small(method: type = AMMI, **parameters) -> DocumentHasher:
    settings = {"epochs": 4, "batch_size": 32, "random_state": 0, "verbose": False, **parameters}
    return DocumentHasher(method(12, **settings))


@pytest.fixture(scope="module")
def model() -> DocumentHasher:
    return small(epochs=15).fit(written()[0])


def test_documents_of_a_subject_have_codes_near_each_other(model):
    texts, subjects = written(seed=1)
    bits, same = model.transform(texts).astype(int), np.equal.outer(subjects, subjects)
    distances = np.abs(bits[:, None] - bits[None]).sum(-1)
    assert distances[same].mean() + 2 < distances[~same].mean()


def test_every_kind_of_column_gives_the_same_codes(model):
    texts, _ = written()
    bits, codes = model.transform(texts), model.encode(texts)
    assert np.array_equal(np.unpackbits(codes, axis=1, count=12), bits)
    arrow = pa.array(texts)
    columns = [
        iter(texts),
        tuple(texts),
        np.array(texts),
        pd.Series(texts, index=range(7, 247)),
        pd.Series(texts, dtype="string"),
        arrow,
        pa.chunked_array([arrow[:100], arrow[100:]]),
        arrow.dictionary_encode(),
    ]
    for column in columns:
        assert np.array_equal(model.encode(column), codes)


def test_fitted_from_any_column_it_is_the_same_model():
    texts, _ = written()
    expected = small().fit(texts).fingerprint_
    for column in (iter(texts), pd.Series(texts), pa.array(texts)):
        assert small().fit(column).fingerprint_ == expected
    assert small(random_state=1).fit(texts).fingerprint_ != expected
    assert small().fit([text.replace("ship", "boat") for text in texts]).fingerprint_ != expected


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(max_size=30), max_size=6))
def test_any_text_has_a_code_of_its_own_words(model, texts):
    codes = model.encode(texts)
    assert codes.shape == (len(texts), 2)
    for text, code in zip(texts, codes, strict=True):
        assert np.array_equal(model.encode([text])[0], code)


@pytest.mark.parametrize("features", [WordFeatures(50), PieceFeatures(50)], ids=lambda features: features.name)
def test_saved_and_loaded_it_is_the_same(features, tmp_path):
    texts, _ = written()
    fitted = DocumentHasher(BMMI(8, epochs=2, random_state=0, verbose=False), features).fit(texts)
    fitted.save(tmp_path / "model")
    fitted.save(tmp_path / "model")  # over itself
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]
    for loaded in (ammi.load(tmp_path / "model"), DocumentHasher.from_files(fitted.to_files())):
        assert isinstance(loaded, ammi.DocumentHasher)
        assert loaded.n_bits == 8
        assert loaded.fingerprint_ == fitted.fingerprint_
        assert np.array_equal(loaded.encode(texts), fitted.encode(texts))


def test_labels_of_held_out_texts_choose_the_epoch():
    texts, subjects = written()
    held_out, their_subjects = written(60, seed=2)
    fitted = small().fit(texts, np.array(subjects), validation=(held_out, np.array(their_subjects)))
    assert fitted.hasher_.history_[-1]["score"] > 50  # percent of the 100 nearest


def test_related_texts():
    texts, _ = written()
    others = [text.upper() for text in texts]
    fitted = small().fit(texts, related=others, validation=(texts[:40], others[:40]))
    assert fitted.hasher_.history_[-1]["score"] == 100  # a text and its capitals are the same words


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", r"single string 'one text': pass a list of strings, \[text\] for one"),
        (b"bytes", "single string"),
        (["a word", None], "text 1 is None: expected a string"),
        (pd.Series(["a word", float("nan")]), "text 1 is nan"),
        (pd.Series(["a word", pd.NA], dtype="string"), "text 1 is <NA>"),
        (pa.array(["a word", "another", None]), "text 2 is None"),
        ([7], "text 0 is 7"),
    ],
    ids=["str", "bytes", "None", "NaN", "NA", "Arrow null", "int"],
)
def test_what_is_no_text_is_refused(texts, message, model):
    for job in (small().fit, model.transform, model.encode):
        with pytest.raises(ValueError, match=message):
            job(texts)


def test_nothing_to_learn_from():
    with pytest.raises(ValueError, match="nothing can be learned from 0 texts"):
        small().fit([])
    with pytest.raises(ValueError, match="nothing can be learned from 2 texts"):
        small().fit(["", "..."])


def test_one_document_and_none(model):
    assert small().fit(["a single document"]).encode(["a single document", ""]).shape == (2, 2)
    assert model.transform([]).shape == (0, 12)
    assert model.encode([]).shape == (0, 2)


def test_what_was_not_fitted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="learned nothing yet"):
        small().encode(["a word"])
    with pytest.raises(ValueError, match="learned nothing yet"):
        small().save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_damaged_folders_are_refused(model, tmp_path):
    folder = tmp_path / "model"
    model.save(folder)
    config = folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "fingerprint": "0" * 16}))
    refused(folder, r"config\.json is damaged or of another version", "do not belong together")
    model.save(folder)
    small().fit(written(seed=5)[0]).hasher_.save(folder / "hasher")
    refused(folder, r"hasher/.* is damaged or of another version", "do not belong together")
    model.save(folder)
    part = folder / "features" / "features.json"
    part.write_text(part.read_text()[:-20])
    refused(folder, r"features/.* is damaged or of another version", r"model/features/features.json is damaged: save")
    model.save(folder)
    features = WordFeatures().fit(written(seed=5)[0])
    (folder / "features" / "features.json").write_bytes(features.to_files()["features.json"])
    refused(folder, "of another version", r"do not belong together|columns and the hasher reads")
    (folder / "features" / "features.json").unlink()
    refused(folder, r"features\.json is missing", r"features\.json is missing")


def refused(folder: Path, as_found: str, once_checked: str) -> None:
    """A model is refused for its checksums, and for what it says where somebody has written these again."""
    with pytest.raises(ValueError, match=as_found):
        ammi.load(folder)
    write_checksums(folder)
    with pytest.raises(ValueError, match=once_checked):
        ammi.load(folder)


def test_what_it_says_of_itself(model):
    assert (model.reads, model.n_bits) == ("text", 12)
    told = model.describe()
    assert told["units"] == "words"
    assert told["method"] == "AMMI"
    assert told["bits"] == 12
    assert told["fingerprint"] == model.fingerprint_
    assert model.knows("a ship at sea")
    assert not model.knows("nothing familiar")


def test_a_table_is_refused_with_help(model):
    """Of a DataFrame the names of its columns were encoded."""
    table = pd.DataFrame({"title": ["a word"], "text": ["a ship"]})
    for documents in (table, table[["text"]], pa.table({"text": ["a ship"]}), {"text": ["a ship"]}):
        for job in (small().fit, model.transform, model.encode):
            with pytest.raises(ValueError, match=r"of the columns .*: pass the one column .* such as df\['text'\]"):
                job(documents)
    assert np.array_equal(model.encode(table["text"]), model.encode(["a ship"]))


@pytest.mark.parametrize("sparse", [False, True])
def test_vectors(sparse, tmp_path):
    """A model of rows of numbers is fitted, saved and loaded as one of texts is."""
    X, _ = topics(200)
    X = X if sparse else X.toarray()
    hasher = AMMI(12, epochs=2, random_state=0, verbose=False)
    model = DocumentHasher(hasher, VectorFeatures()).fit(X)
    assert model.reads == "vector"
    assert model.n_features_in_ == 120
    assert np.array_equal(model.encode(X), hasher.fit(X).encode(X))
    model.save(tmp_path / "model")
    loaded = ammi.load(tmp_path / "model")
    assert isinstance(loaded, DocumentHasher)
    assert loaded.fingerprint_ == model.fingerprint_
    assert np.array_equal(loaded.encode(X), model.encode(X))
    if not sparse:
        assert np.array_equal(loaded.encode(X.tolist()[:3]), model.encode(X[:3]))
        assert np.array_equal(loaded.encode(pd.Series(list(X[:3]))), model.encode(X[:3]))
    assert loaded.encode(np.empty((0, 120))).shape == (0, 2)
    assert loaded.knows(X[0] if not sparse else X[0].toarray()[0])
    assert not loaded.knows(np.zeros(120))
    with pytest.raises(ValueError, match="119 features"):
        loaded.encode(X[:, :-1])


def test_a_hasher_that_is_fitted_becomes_a_model_of_vectors():
    X, _ = topics(100)
    hasher = LSH(12, random_state=0).fit(X)
    model = DocumentHasher.of(hasher)
    assert model.reads == "vector"
    assert model.hasher_ is hasher
    assert np.array_equal(model.encode(X), hasher.encode(X))


def test_parts_that_are_fitted_become_a_model(model, tmp_path):
    texts, _ = written()
    features = WordFeatures().fit(texts)
    hasher = LSH(12, random_state=0).fit(features.transform(texts))
    whole = DocumentHasher.of(hasher, features)
    assert np.array_equal(whole.encode(texts), hasher.encode(features.transform(texts)))
    assert whole.fingerprint_ == DocumentHasher(LSH(12, random_state=0)).fit(texts).fingerprint_
    whole.save(tmp_path / "model")
    assert ammi.load(tmp_path / "model").fingerprint_ == whole.fingerprint_


def test_parts_that_do_not_go_together_are_refused():
    texts, _ = written()
    hasher = LSH(12, random_state=0).fit(np.eye(5))
    with pytest.raises(ValueError, match="is not fitted yet"):
        DocumentHasher.of(LSH(12))
    with pytest.raises(ValueError, match="is not fitted yet"):
        DocumentHasher.of(hasher, WordFeatures())
    with pytest.raises(ValueError, match="rows of 20 columns and the hasher reads 5: pass those that it was fitted"):
        DocumentHasher.of(hasher, WordFeatures().fit(texts))


def test_a_model_as_files_is_the_same_one(model):
    texts, _ = written(20)
    files = model.to_files()
    assert sorted(files) == [
        "SHA256SUMS",
        "config.json",
        "features/features.json",
        "hasher/config.json",
        "hasher/weights.safetensors",
    ]
    loaded = DocumentHasher.from_files(files)
    assert np.array_equal(loaded.encode(texts), model.encode(texts))
    assert loaded.to_files() == files
    hasher = LSH(12, random_state=0).fit(np.eye(5))
    assert np.array_equal(LSH.from_files(hasher.to_files()).encode(np.eye(5)), hasher.encode(np.eye(5)))
    for kind, other in ((DocumentHasher, hasher.to_files()), (AMMI, hasher.to_files()), (LSH, files)):
        with pytest.raises(ValueError, match=f"not of {kind.__name__}: use its from_files"):
            kind.from_files(other)


def test_callbacks_and_functions_go_to_the_hasher():
    texts, _ = written(60)
    rows: list[dict[str, float]] = []
    fitted = small().fit(texts, validation=lambda hasher: hasher.history_[-1]["epoch"], callbacks=[rows.append])
    assert [row["score"] for row in rows] == [1, 2, 3, 4]
    assert fitted.hasher_.history_ == rows


def save_for_ever(folder: Path, models: list[DocumentHasher]) -> None:
    while True:
        for model in models:
            model.save(folder)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12 warns of every fork
def test_saves_that_are_killed_leave_a_model_to_every_reader(tmp_path):
    """Of 298 loads while models were saved, 75 failed."""
    models = [DocumentHasher(LSH(8, random_state=seed)).fit(written(30, seed)[0]) for seed in range(2)]
    known, loads, rng = {model.fingerprint_ for model in models}, 0, random.Random(0)
    models[0].save(tmp_path / "model")
    for _ in range(15):
        saving = multiprocessing.get_context("fork").Process(target=save_for_ever, args=(tmp_path / "model", models))
        saving.start()
        end = time.monotonic() + rng.uniform(0.01, 0.1)
        while time.monotonic() < end:
            assert ammi.load(tmp_path / "model").fingerprint_ in known
            loads += 1
        saving.kill()
        saving.join()
        assert ammi.load(tmp_path / "model").fingerprint_ in known
    assert loads > 15
    models[1].save(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
