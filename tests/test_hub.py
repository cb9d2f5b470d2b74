"""Models and collections on the Hub: by the real client, from a real server of this machine, and what it refuses."""

import json
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import ammi
from ammi.card import measured
from ammi.evaluate import LabelledPrecision
from ammi.features import EmbeddingFeatures
from ammi.files import with_checksums
from ammi.hashers import DocumentHasher, by_name, methods
from tests.hub_server import READ_TOKEN, Hub, Repository

hub_constants = pytest.importorskip("huggingface_hub.constants")

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>' to upload:DeprecationWarning")  # of the client

TEXTS = ["wheat and corn harvest", "corn exports rise", "bank raises loan rate", "loan debt at the bank"] * 10


def embed(texts: list[str]) -> np.ndarray:
    """A function as an embedder: lengths of texts."""
    return np.array([[len(text), len(text.split())] for text in texts], np.float32)


@pytest.fixture(scope="module")
def model() -> DocumentHasher:
    return DocumentHasher(ammi.LSH(64, random_state=0)).fit(TEXTS)


@pytest.fixture(scope="module")
def made(tmp_path_factory, model) -> Path:
    """A collection in a folder."""
    folder = tmp_path_factory.mktemp("made") / "articles"
    with ammi.Collection.create(folder, model, keys=["topic"]) as collection:
        collection.add([{"text": text, "topic": n // 2 % 2} for n, text in enumerate(TEXTS)])
    return folder


SMALL = {"ammi": {"epochs": 1}, "bmmi": {"n_bits": 4, "epochs": 1}}


@pytest.mark.parametrize("method", ["ammi", "bmmi", "itq", "lsh", "sth"])
def test_a_hasher_comes_back_with_its_codes(hub, method):
    assert method in methods.names()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8)).astype(np.float32)
    parameters = {"n_bits": 8, "random_state": 0, **SMALL.get(method, {})}
    hasher = by_name(method)(**parameters).fit(X)
    address = hasher.push_to_hub("me/codes")
    assert address == f"{hub.endpoint}/models/me/codes/commit/{hub.repositories['models/me/codes'].main}"
    found = ammi.load("hf://me/codes")
    assert type(found) is type(hasher)
    assert np.array_equal(found.encode(X), hasher.encode(X))


def test_a_model_of_texts_replaces_the_one_before_it_in_one_commit(hub, model):
    beside = DocumentHasher(ammi.LSH(8, random_state=0), beside=DocumentHasher(ammi.LSH(8, random_state=1))).fit(TEXTS)
    beside.push_to_hub("me/words")
    assert ammi.load("hf://me/words").fingerprint_ == beside.fingerprint_
    before = hub.repositories["models/me/words"].main
    hub.files("models/me/words")["LICENSE"] = b"of the owner"
    model.push_to_hub("me/words")
    wanted = {*model.to_files(), "README.md", ".gitattributes", "LICENSE"}
    assert set(hub.files("models/me/words")) == wanted
    assert len(hub.repositories["models/me/words"].commits) == 3
    assert ammi.load("hf://me/words").fingerprint_ == model.fingerprint_
    assert ammi.load(Path("hf://me/words")).fingerprint_ == model.fingerprint_  # of the command line
    assert ammi.load(f"hf://me/words@{before}").fingerprint_ == beside.fingerprint_
    hub.repositories["models/me/words"].tags["v1"] = before
    assert ammi.load("hf://me/words@v1").fingerprint_ == beside.fingerprint_


def test_large_files_go_by_lfs(hub):
    X = np.random.default_rng(0).standard_normal((50, 400)).astype(np.float32)
    hasher = ammi.LSH(64, random_state=0).fit(X)
    hasher.push_to_hub("me/large")
    assert any(request.startswith("PUT /lfs/") for request in hub.requests)
    assert ammi.load("hf://me/large").fingerprint_ == hasher.fingerprint_


def test_what_was_fetched_once_needs_no_network(hub, model, monkeypatch):
    model.push_to_hub("me/words")
    ammi.load("hf://me/words")
    n = len(hub.requests)
    monkeypatch.setattr(hub_constants, "HF_HUB_OFFLINE", True)
    assert ammi.load("hf://me/words").fingerprint_ == model.fingerprint_
    assert len(hub.requests) == n
    with pytest.raises(ConnectionError, match=r"the Hub cannot be reached .*me/other was not fetched before"):
        ammi.load("hf://me/other")


def test_a_collection_opens_as_a_copy_that_can_only_be_read(hub, made, tmp_path):
    with ammi.Collection.open(made) as collection:
        collection.push_to_hub("me/articles", licence="mit")
        wanted = [(entry.id, entry.text, entry.metadata) for entry in collection]
        hits = [hit.id for hit in collection.search("corn harvest", k=5)]
    assert set(hub.files("datasets/me/articles")) == {".gitattributes", "README.md", "SHA256SUMS", "collection.backup"}
    with ammi.Collection.open("hf://me/articles") as collection:
        assert [(entry.id, entry.text, entry.metadata) for entry in collection] == wanted
        assert [hit.id for hit in collection.search("corn harvest", k=5)] == hits
        assert Path(collection.location).is_relative_to(tmp_path / "cache" / "ammi" / "hub" / "me")
        with pytest.raises(PermissionError, match=r"can only be read: .*change a copy"):
            collection.add(["one more"])
        collection.copy(tmp_path / "mine")
    with ammi.Collection.open(tmp_path / "mine") as collection:
        assert len(collection.add(["one more"])) == 1
    n = len(hub.requests)
    with ammi.Collection.open("hf://me/articles") as collection:
        assert len(collection) == len(wanted)
    assert not any("collection.backup" in request for request in hub.requests[n:])


def test_a_collection_that_several_open_at_once_is_fetched_once(hub, made):
    with ammi.Collection.open(made) as collection:
        collection.push_to_hub("me/articles")

    def count(_: int) -> int:
        with ammi.Collection.open("hf://me/articles") as opened:
            return len(opened)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(count, range(4))) == 4 * [len(TEXTS)]
    assert sum(request.startswith("GET") and "collection.backup" in request for request in hub.requests) == 1


def test_a_collection_takes_its_model_from_the_hub(hub, model, tmp_path):
    model.push_to_hub("me/words")
    with ammi.Collection.create(tmp_path / "notes", "hf://me/words") as collection:
        assert collection.fingerprint == model.fingerprint_


def front_and_text(hub: Hub, name: str) -> tuple[dict[str, object], str]:
    _, front, text = hub.files(name)["README.md"].decode().split("---\n", 2)
    lines = [line.partition(": ") for line in front.splitlines()]
    return {key: json.loads(value) for key, _, value in lines}, text


def test_a_card_has_what_was_measured_and_nothing_else(hub, model, made):
    model.push_to_hub("me/words")
    front, text = front_and_text(hub, "models/me/words")
    assert front == {
        "tags": ["ammi", "binary-codes", "hashing"],
        "library_name": "ammi",
        "pipeline_tag": "feature-extraction",
    }
    assert "Measured" not in text
    assert "precision" not in text
    assert f"| fingerprint | {model.fingerprint_} |" in text
    assert "| bytes a document | 8 |" in text
    with ammi.Collection.open(made) as collection:
        figures = collection.evaluate("topic", k=5)
        collection.push_to_hub("me/articles", licence="mit", figures=figures, datasets=["ag_news"])
    front, text = front_and_text(hub, "datasets/me/articles")
    assert (front["license"], front["datasets"]) == ("mit", ["ag_news"])
    assert f"| precision at 5 | {figures.precision:.2f} % |\n| queries | 40 |" in text
    assert "| documents | 40 |" in text
    assert 'Collection.open("hf://me/articles")' in text


def test_figures_are_numbers_and_texts():
    assert measured(LabelledPrecision(37.4912, 100, 40, 30, 3)) == {
        "precision at 100": "37.49 %",
        "queries": 40,
        "documents": 30,
        "labels": 3,
    }
    assert measured({"nDCG@10": np.float64(0.4), "data": "reuters"}) == {"nDCG@10": 0.4, "data": "reuters"}
    for bad in ({}, {"ndcg": None}, {"ndcg": float("nan")}, {"ndcg": [0.3]}):
        with pytest.raises(ValueError, match=r"the figure 'ndcg' is|there are no figures"):
            measured(bad)


def test_cells_of_a_card_cannot_break_out(hub, model):
    model.push_to_hub("me/words", figures={"a | b": "<script>\n| x", "data": "x"}, licence='mit"\nmalicious: true')
    front, text = front_and_text(hub, "models/me/words")
    assert front["license"] == 'mit"\nmalicious: true'
    assert "malicious" not in front
    assert "| a \\| b | &lt;script> \\| x |" in text


def test_an_embedder_of_this_machine_is_not_pushed(hub, tmp_path):
    features = EmbeddingFeatures(embed, cache=tmp_path / "embedded", verbose=False)
    model = DocumentHasher(ammi.LSH(8, random_state=0), features).fit(TEXTS)
    model.push_to_hub("me/embedded")
    saved = hub.files("models/me/embedded")["features/features.json"].decode()
    assert str(tmp_path) not in saved
    assert ammi.load("hf://me/embedded").fingerprint_ == model.fingerprint_
    assert model.features_.cache is not None
    model.features_.model = str(tmp_path)
    with pytest.raises(ValueError, match="which others do not have"):
        model.push_to_hub("me/embedded")


REFUSED = {
    "the Hub has no model me/none that you may read": "hf://me/none",
    "me/words has no revision 'gone'": "hf://me/words@gone",
    "names no repository: write hf://OWNER/NAME": "hf://words",
    "me/empty is not a model of ammi": "hf://me/empty",
    "me/gated is for those whom its owner lets in": "hf://me/gated",
    "names 'evil.py', which is no file of a model": "hf://me/evil",
    "lies outside of me/outside": "hf://me/outside",
    "config.json is damaged or of another version": "hf://me/damaged",
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_models_that_are_refused(hub, model, sentence, tmp_path):
    model.push_to_hub("me/words")
    files = model.to_files()
    for name, content in {
        "empty": {},
        "evil": with_checksums(files | {"evil.py": b"import os"}),
        "outside": with_checksums(files | {"../../evil.py": b"import os"}),
        "damaged": files | {"config.json": files["config.json"] + b" "},
        "gated": files,
    }.items():
        hub.repositories[f"models/me/{name}"] = repository = Repository(gated=name == "gated")
        repository.commit(content)
    with pytest.raises((ValueError, OSError), match=sentence):
        ammi.load(REFUSED[sentence])
    assert not any("evil" in path.name for path in (tmp_path / "hub").rglob("*.py"))


def test_a_function_of_a_fetched_model_is_called_only_if_it_is_allowed(hub, monkeypatch):
    from ammi.features import embedders

    model = DocumentHasher(ammi.LSH(8, random_state=0), EmbeddingFeatures(embed, verbose=False)).fit(TEXTS)
    model.push_to_hub("me/function")
    monkeypatch.setattr(embedders, "_passed", set())
    with pytest.raises(ValueError, match=r"the function tests\.test_hub:embed, which is not called unless"):
        ammi.load("hf://me/function").encode(TEXTS)


def test_a_collection_whose_file_is_damaged_or_another_is_refused(hub, made, tmp_path):
    with ammi.Collection.open(made) as collection:
        collection.push_to_hub("me/articles")
    files = hub.files("datasets/me/articles")
    files["collection.backup"] = files["collection.backup"][:-1] + b"?"
    with pytest.raises(ValueError, match=r"collection\.backup of me/articles is damaged"):
        ammi.Collection.open("hf://me/articles")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    hub.repositories["datasets/me/model"] = Repository()
    hub.repositories["datasets/me/model"].commit(with_checksums({"config.json": b"{}"}))
    with pytest.raises(ValueError, match="me/model is no collection of ammi"):
        ammi.Collection.open("hf://me/model")
    for refused in (ammi.Collection.check, ammi.Collection.repair, ammi.Collection.upgrade):
        with pytest.raises(ValueError, match="can only be opened: write there with ammi push"):
            refused("hf://me/articles")


def test_pushes_that_are_refused(hub, model, monkeypatch):
    with pytest.raises(ValueError, match="names a revision"):
        model.push_to_hub("me/words@main")
    for name in ("words", "a/b/c", "me/wor ds"):
        with pytest.raises(ValueError, match="names no repository"):
            model.push_to_hub(name)
    with pytest.raises(ValueError, match="cannot be the name"):
        model.push_to_hub("me/words..")
    model.push_to_hub("me/words")
    with pytest.raises(ValueError, match="me/words is there and is public, so nothing was pushed"):
        model.push_to_hub("me/words", private=True)
    hub.repositories["models/me/bert"] = Repository()
    hub.repositories["models/me/bert"].commit({"config.json": b"{}", "README.md": b""})
    with pytest.raises(ValueError, match=r"me/bert holds config\.json and no model of ammi"):
        model.push_to_hub("me/bert")
    for token in (READ_TOKEN, None):
        if token is None:
            monkeypatch.delenv("HF_TOKEN")
        else:
            monkeypatch.setenv("HF_TOKEN", token)
        with pytest.raises(PermissionError, match="the Hub does not let you write to me/new: log in"):
            model.push_to_hub("me/new")
    assert "models/me/new" not in hub.repositories


def test_a_private_model_is_for_those_with_a_token(hub, model, monkeypatch):
    model.push_to_hub("me/secret", private=True)
    assert ammi.load("hf://me/secret").fingerprint_ == model.fingerprint_
    shutil.rmtree(hub_constants.HF_HUB_CACHE)
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(FileNotFoundError, match="if it is private, log in"):
        ammi.load("hf://me/secret")


def test_without_a_network_the_hub_cannot_be_reached(hub, model, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setattr(hub_constants, "ENDPOINT", f"http://127.0.0.1:{port}")
    with pytest.raises(ConnectionError, match="the Hub cannot be reached at http://127"):
        model.push_to_hub("me/words")
