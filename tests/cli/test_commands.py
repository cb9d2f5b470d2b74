"""The commands as users type them: what they print, for people and for programs, and how they end."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ammi.cli.reference import reference
from ammi.search import HammingIndex
from ammi.version import __version__
from tests.cli.conftest import AMMI, ENVIRONMENT, Place, Run, corpus, notes, process, write

DOCS = Path(__file__).parents[2] / "docs"


def test_version_and_help_are_quick_to_start():
    shown = process("--version")
    assert (shown.code, shown.out.strip()) == (0, f"ammi {__version__}")
    heavy = {"torch", "sklearn", "scipy", "faiss", "numpy", "numba"}
    code = f"import sys, ammi.cli; sys.exit(str({heavy} & set(sys.modules) or ''))"
    assert process_python(code) == ""


def process_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60).stderr.strip()


def test_the_command_reference_is_up_to_date():
    assert (DOCS / "commands.md").read_text() == reference(), "run `make docs` and commit docs/commands.md"


def test_every_command_has_an_example():
    sections = re.findall(r"## `ammi (.+?)`\n(.*?)(?=\n## |\Z)", reference(), re.DOTALL)
    assert len(sections) > 10
    for name, text in sections:
        if name not in ("index", "data"):
            assert re.search(rf"Examples?\n\n.*ammi {name}", text), f"ammi {name} --help shows no example"


@pytest.mark.parametrize("name", ["reuters", "newsgroups", "tmc_small"])
def test_every_command_works_on_real_documents(name, ammi: Run, tmp_path):
    documents = corpus(name, 300)
    source, model, index = write(tmp_path / f"{name}.jsonl", documents), tmp_path / "model", tmp_path / "index"
    first = documents[0]["id"]
    fitted = ammi("fit", source, "--out", model, "--epochs", 2, "--labels", "labels", "--json")
    assert fitted.code == 0
    assert fitted.json["documents"] == 300
    assert 0 < fitted.json["precision at 100"] <= 100
    built = ammi("index", "build", index, source, "--model", model, "--json")
    assert built.json == {"index": str(index), "added": 300, "replaced": 0, "skipped": 0, "documents": 300}

    (answer,) = ammi("search", index, documents[7]["text"], "-k", 300, "--json").lines
    by_id = {hit["id"]: hit for hit in answer["hits"]}
    assert by_id[documents[7]["id"]]["distance"] == answer["hits"][0]["distance"] == 0
    assert by_id[documents[7]["id"]]["text"] == documents[7]["text"]
    assert by_id[documents[7]["id"]]["metadata"]["labels"] == documents[7]["labels"]

    (like,) = ammi("search", index, "--like", first, "--radius", 20, "--json").lines
    assert first not in [hit["id"] for hit in like["hits"]]
    for group in ammi("duplicates", index, "--radius", 2, "--json").lines:
        assert len(group["ids"]) > 1
    drifted = ammi("drift", index, first, "--json").json
    assert drifted["start"] == str(first)
    distances = [step["distance"] for step in drifted["steps"]]
    assert distances == sorted(set(distances))
    assert len(distances) > 2
    measured = ammi("evaluate", index, "-k", 10, "--json").json
    assert measured["documents"] == sum(bool(document["labels"]) for document in documents)
    held_out = ammi("evaluate", index, source, "-k", 10, "--json").json
    assert held_out["precision"] > measured["precision"]  # there each document finds itself
    for path, kind in ((source, "documents"), (model, "model"), (index, "index")):
        about = ammi("info", path, "--json").json
        assert about["kind"] == kind
        assert about.get("documents", 300) == 300


def test_pipes_on_both_sides(place: Place, tmp_path):
    """One line of a shell after another, as in the documentation."""
    lines = [document["text"] for document in notes(3000)]
    (tmp_path / "notes.txt").write_text("\n".join(lines))
    script = """
    cat notes.txt | ammi encode $MODEL - | head -2
    cat notes.txt | ammi index build index - --model $MODEL --json
    printf 'ship harbour\\nwheat soil\\n' | ammi search index -k 1 --json
    ammi duplicates index --radius 0 --json | head -1
    """
    import subprocess

    environment = {**ENVIRONMENT, "MODEL": str(place.model), "PATH": f"{AMMI.parent}:{ENVIRONMENT['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240
    )
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
    code_1, code_2, built, ship, wheat, group = done.stdout.splitlines()
    assert [json.loads(code)["id"] for code in (code_1, code_2)] == [1, 2]
    assert json.loads(built)["documents"] == 3000
    assert json.loads(ship)["query"] == "ship harbour"
    assert json.loads(wheat)["hits"][0]["text"] in lines
    assert len(json.loads(group)["ids"]) > 1


def test_search_finds_by_text_by_document_and_by_metadata(place: Place, ammi: Run):
    answers = ammi("search", place.index, "ship harbour wave tide", "wheat barley soil", "-k", 5, "--json").lines
    assert [answer["query"] for answer in answers] == ["ship harbour wave tide", "wheat barley soil"]
    subjects = [{hit["metadata"]["subject"] for hit in answer["hits"]} for answer in answers]
    assert subjects == [{"sea"}, {"field"}]
    piped = ammi("search", place.index, "-k", 5, "--json", stdin="ship harbour wave tide\nwheat barley soil\n")
    assert piped.lines == answers

    where = ("--where", "year=1981", "--where", "year=1983", "--where", "subject=sky")
    (filtered,) = ammi("search", place.index, "ship", "-k", 100, "--json", *where).lines
    wanted = {note["id"] for note in notes() if note["year"] in (1981, 1983) and note["subject"] == "sky"}
    assert {hit["id"] for hit in filtered["hits"]} == wanted

    (like,) = ammi("search", place.index, "--like", "note-7", "-k", 3, "--json").lines
    with HammingIndex.open(place.index) as index:
        (document,) = index.get(["note-7"])
        hits = [hit for hit in index.search(document.code[None], 4)[0] if hit.id != "note-7"]
    assert [(hit["id"], hit["distance"]) for hit in like["hits"]] == [(hit.id, hit.distance) for hit in hits[:3]]

    shown = ammi("search", place.index, "ship harbour", "-k", 2)
    assert shown.code == 0
    assert re.search(r"distance +id +text", shown.out)
    assert len(re.findall(r"note-\d+", shown.out)) == 2
    unknown = ammi("search", place.index, "zebra", "-k", 1)
    assert "knows no word of 'zebra'" in unknown.err


def test_encode_writes_what_index_adds(place: Place, ammi: Run, tmp_path):
    lines = ammi("encode", place.model, place.source).lines
    for name in ("codes.npz", "codes.jsonl", "codes.jsonl.gz"):
        assert ammi("encode", place.model, place.source, "--out", tmp_path / name).code == 0
        about = ammi("info", tmp_path / name, "--json").json
        assert about == {"kind": "codes", "documents": 120, "bits": 16, "fingerprint": lines[0]["model"]}
    with np.load(tmp_path / "codes.npz") as content:
        assert content["ids"].tolist() == [line["id"] for line in lines]
        assert [code.tobytes().hex() for code in content["codes"]] == [line["code"] for line in lines]
    with HammingIndex.open(place.index) as index:
        ids, codes = index.export()
    assert [(id, code.tobytes().hex()) for id, code in zip(ids, codes, strict=True)] == [
        (line["id"], line["code"]) for line in lines
    ]
    assert ammi("index", "build", tmp_path / "index", tmp_path / "codes.npz").code == 0
    again = ammi("index", "add", tmp_path / "index", tmp_path / "codes.jsonl", "--json").json
    assert (again["added"], again["replaced"], again["documents"]) == (120, 120, 120)
    no_model = ammi("search", tmp_path / "index", "ship")
    assert no_model.code == 1
    assert "knows no model" in no_model.err
    with_model = ammi("search", tmp_path / "index", "ship", "--model", place.model, "--json")
    assert len(with_model.json["hits"]) == 10


def test_index_grows_and_shrinks(place: Place, ammi: Run, tmp_path):
    index = tmp_path / "index"
    shutil.copytree(place.index, index)
    assert ammi("index", "add", index, "-", "--json", stdin="a ship\na wave\n").json["documents"] == 122
    assert ammi("index", "add", index, "-", "--json", stdin="a cloud\n").json["documents"] == 123
    assert [hit["text"] for hit in ammi("search", index, "--like", 0, "--radius", 16, "--json").json["hits"]]
    changed = write(tmp_path / "changed.jsonl", [{"id": "note-3", "text": "a farmer", "subject": "none"}])
    assert ammi("index", "add", index, changed, "--json").json["replaced"] == 1
    shown = ammi("index", "delete", index, "note-3", "0", "1")
    assert "3 deleted; 120 documents are left" in shown.out
    unknown = ammi("index", "delete", index, "note-4", "nothing")
    assert (unknown.code, "no document in" in unknown.err, "'nothing'" in unknown.err) == (1, True, True)
    piped = ammi("index", "delete", index, "-", "--json", stdin="note-4\nnote-5\n")
    assert piped.json == {"index": str(index), "deleted": 2, "documents": 118}


def test_codes_of_another_model_are_refused(place: Place, ammi: Run, tmp_path):
    other = ammi("fit", place.source, "--out", tmp_path / "other", "--bits", 16, "--method", "lsh", "--json").json
    codes = tmp_path / "codes.npz"
    assert ammi("encode", tmp_path / "other", place.source, "--out", codes).code == 0
    for command in (
        ("index", "add", place.index, codes),
        ("index", "add", place.index, place.source, "--model", tmp_path / "other"),
        ("search", place.index, "ship", "--model", tmp_path / "other"),
        ("index", "build", tmp_path / "index", codes, "--model", place.model),
    ):
        refused = ammi(*command)
        assert refused.code == 1
        assert other["fingerprint"] in refused.err
        assert len(refused.err.splitlines()) == 1
    with HammingIndex.open(place.index) as index:
        assert len(index) == 120
    assert not (tmp_path / "index").exists()


def test_fit_takes_settings_of_all_kinds(place: Place, ammi: Run, tmp_path):
    out = tmp_path / "model"
    settings = ("--set", "learning_rate=0.02", "--set", "related_order=none", "--set", "adversary=gradient")
    assert ammi("fit", place.source, "--out", out, "--bits", 8, "--epochs", 1, "--seed", 5, *settings).code == 0
    about = ammi("info", out, "--json").json
    wanted = {"bits": 8, "epochs": 1, "random_state": 5, "learning_rate": 0.02, "adversary": "gradient"}
    assert wanted.items() <= about.items()
    again = tmp_path / "again"
    config = out / "hasher" / "config.json"
    assert (
        ammi("fit", place.source, "--out", again, "--config", config, "--units", "pieces", "--vocabulary", 60).code == 0
    )
    assert wanted.items() <= ammi("info", again, "--json").json.items()
    same = tmp_path / "same"
    assert ammi("fit", place.source, "--out", same, "--config", config).code == 0
    assert ammi("info", same, "--json").json["fingerprint"] == about["fingerprint"]

    for assignment, words in (
        ("batch_size=many", "--set batch_size=many is no good: batch_size is a whole number"),
        ("adversary=none", "adversary is exact or gradient"),
        ("nothing=1", "ammi has no parameter 'nothing': it has adversary, "),
        ("batch_size", "write --set NAME=VALUE"),
    ):
        refused = ammi("fit", place.source, "--out", tmp_path / "no", "--set", assignment)
        assert refused.code == 1
        assert words in refused.err
    refused = ammi("fit", place.source, "--out", tmp_path / "no", "--method", "magic")
    assert "no method 'magic': there are ammi, bmmi" in refused.err
    refused = ammi("fit", place.source, "--out", place.source.parent)
    assert "is not a model: choose another folder" in refused.err
    assert not (tmp_path / "no").exists()


def test_data_sets_by_name(place: Place, ammi: Run, tmp_path, monkeypatch):
    shutil.copy(place.source, tmp_path / "notes.jsonl")
    monkeypatch.setenv("AMMI_DATA", str(tmp_path))
    assert ammi("data", "list", "--json").json["name"] == "notes"
    assert re.search(r"notes +documents +notes\.jsonl", ammi("data", "list").out)
    assert len(ammi("encode", place.model, "notes").lines) == 120
    refused = ammi("encode", place.model, "newts")
    assert refused.code == 1
    assert "there is no file or folder newts, and no corpus is called 'newts': those in" in refused.err


def test_data_import(ammi: Run, tmp_path):
    (tmp_path / "sci.space").mkdir()
    (tmp_path / "sci.space" / "60151").write_text("Subject: orbit\nMessage-ID: <1@x>\n\nThe shuttle is up.\n")
    out = tmp_path / "space.jsonl.gz"
    assert ammi("data", "import", "newsgroups", tmp_path, "--out", out, "--json").json["documents"] == 1
    assert ammi("info", out, "--json").json["columns"].startswith("message_id, references")
    assert ammi("data", "import", "news", tmp_path).code == 2
