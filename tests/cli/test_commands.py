"""All commands together: how they start, their help, their reference, and each of them on real documents."""

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ammi import Collection
from ammi.version import __version__
from tests.cli.conftest import AMMI, ENVIRONMENT, Location, Run, corpus, notes, process, write

DOCS = Path(__file__).parents[2] / "docs"


def test_version_and_help_are_quick_to_start():
    shown = process("--version")
    assert (shown.code, shown.out.strip()) == (0, f"ammi {__version__}")
    heavy = {"torch", "sklearn", "scipy", "faiss", "numpy", "numba"}
    code = f"import sys, ammi.cli.app; sys.exit(str({heavy} & set(sys.modules) or ''))"
    assert python("-c", code).stderr.strip() == ""


def python(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, env={**ENVIRONMENT, **more})


@pytest.mark.slow
def test_python_runs_it_as_a_module(location: Location):
    assert python("-m", "ammi", "--version").stdout.strip() == f"ammi {__version__}"
    refused = python("-m", "ammi", "search", "nowhere", "ship")
    assert (refused.returncode, refused.stderr.startswith("ammi: ")) == (1, True)


COMPLETE = """
import os, sys
from contextlib import suppress
from ammi.cli import main
lines, sys.argv = sys.argv[1:], ["ammi"]
for line in lines:
    os.environ |= {"_AMMI_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    with suppress(SystemExit):
        main()
    print(end=";")
"""


@pytest.mark.slow
def test_a_shell_completes_commands_options_and_names():
    lines = ("ammi dr", "ammi index re", "ammi search --r", "ammi fit --method bm", "ammi fit --features v")
    drift, rebuild, radius, methods, features = (
        words.split() for words in python("-c", COMPLETE, *lines).stdout.split(";")[:-1]
    )
    assert (drift, rebuild, features) == (["drift"], ["rebuild", "restore"], ["vectors"])
    assert "--radius" in radius
    assert methods == ["bmmi", "bmsh"]
    by_name = {**ENVIRONMENT, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # the tests' own shell may be any
    command = [str(AMMI), "--show-completion", "bash"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=240, env=by_name)
    assert "_AMMI_COMPLETE" in shown.stdout


@cache
def reference() -> str:
    """The command reference as `make docs` writes it."""
    script = DOCS / "command_reference.py"
    return subprocess.run([sys.executable, script], check=True, capture_output=True, text=True).stdout


def test_the_command_reference_is_up_to_date():
    assert (DOCS / "commands.md").read_text() == reference(), "run `make docs` and commit docs/commands.md"


def test_every_command_has_an_example_and_can_be_quiet():
    sections = re.findall(r"## `ammi (.+?)`\n(.*?)(?=\n## |\Z)", reference(), re.DOTALL)
    assert len(sections) > 15
    for name, text in sections:
        if name not in ("index", "data"):
            assert re.search(rf"Examples?\n\n.*ammi {name}", text, re.DOTALL), f"ammi {name} --help shows no example"
            assert "--quiet" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["reuters", "newsgroups", "tmc_small"])
def test_every_command_works_on_real_documents(name, ammi: Run, tmp_path):
    documents = corpus(name, 300)
    source, model, index = write(tmp_path / f"{name}.jsonl", documents), tmp_path / "model", tmp_path / "index"
    first = documents[0]["id"]
    fitted = ammi("fit", source, "--out", model, "--epochs", 2, "--labels", "labels", "--json")
    assert fitted.code == 0
    assert fitted.json["documents"] == 300
    assert 0 < fitted.json["precision_at_100"] <= 100
    built = ammi("index", "build", index, source, "--model", model, "--json")
    assert built.json == {"location": str(index), "added": 300, "replaced": 0, "skipped": 0, "documents": 300}

    (answer,) = ammi("search", index, documents[7]["text"], "-k", 300, "--json").lines
    by_id = {hit["id"]: hit for hit in answer["hits"]}
    assert by_id[documents[7]["id"]]["distance"] == answer["hits"][0]["distance"] == 0
    assert by_id[documents[7]["id"]]["text"] == documents[7]["text"]
    assert by_id[documents[7]["id"]]["metadata"]["labels"] == documents[7]["labels"]

    (like,) = ammi("search", index, "--like", first, "--radius", 20, "--json").lines
    assert first not in [hit["id"] for hit in like["hits"]]
    for group in ammi("duplicates", index, "--threshold", 0.9, "--json").lines:
        assert all(copy["similarity"] >= 0.9 for copy in group["duplicates"])
    drifted = ammi("drift", index, first, "--json").json
    assert drifted["start"] == str(first)
    distances = [step["distance"] for step in drifted["steps"]]
    assert distances == sorted(set(distances))
    assert len(distances) > 2
    measured = ammi("evaluate", index, "-k", 10, "--json").json
    assert measured["documents"] == sum(bool(document["labels"]) for document in documents)
    held_out = ammi("evaluate", index, source, "-k", 10, "--json").json
    assert held_out["precision"] > measured["precision"]  # there each document finds itself
    for path, kind in ((source, "documents"), (model, "model"), (index, "collection")):
        about = ammi("info", path, "--json").json
        assert about["kind"] == kind
        assert about.get("documents", 300) == 300


@pytest.mark.slow
def test_pipes_on_both_sides(location: Location, ammi: Run, tmp_path):
    """One line of a shell after another, as in the documentation."""
    lines = [document["text"] for document in notes(1500)]  # more than a pipe holds
    (tmp_path / "notes.txt").write_text("\n".join(lines))
    piped = ammi("index", "build", tmp_path / "index", "-", "--model", location.model, "--json", stdin="\n".join(lines))
    assert piped.json["documents"] == 1500
    script = """
    cat notes.txt | ammi encode $MODEL - | head -2
    printf 'ship harbour\\nwheat soil\\n' | ammi search index -k 1 --json
    ammi duplicates index --threshold 0.1 --json | head -1
    """
    environment = {**ENVIRONMENT, "MODEL": str(location.model), "PATH": f"{AMMI.parent}:{ENVIRONMENT['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240
    )
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
    code_1, code_2, ship, wheat, group = done.stdout.splitlines()
    assert [json.loads(code)["id"] for code in (code_1, code_2)] == [1, 2]
    assert json.loads(ship)["query"] == "ship harbour"
    assert json.loads(wheat)["hits"][0]["text"] in lines
    assert len(json.loads(group)["duplicates"]) > 1


def test_the_format_of_a_pipe_and_of_a_file_without_an_ending(location: Location, ammi: Run, tmp_path):
    table = 'id,text,year\n1,"a ship,\nin two lines",1987\n2,a wave,1988\n'
    plain = tmp_path / "table"
    plain.write_text(table)
    for source, stdin in ((plain, ""), ("-", table)):
        lines = ammi("encode", location.model, source, "--format", "csv", stdin=stdin).lines
        assert [line["id"] for line in lines] == ["1", "2"]
    assert [line["id"] for line in ammi("encode", location.model, "-", stdin=table).lines] == ["1", "2"]
    as_texts = ammi("encode", location.model, "-", "--format", "txt", stdin=table).lines
    assert len(as_texts) == 4
    about = ammi("info", plain, "--format", "csv", "--json").json
    assert (about["documents"], about["columns"]) == (2, "year")
    assert ammi("info", plain, "--json").json["documents"] == 1  # a file with another ending is one text
    assert "format is 'xls'" in ammi("info", plain, "--format", "xls").err


def test_encode_writes_what_index_adds(location: Location, ammi: Run, tmp_path):
    lines = ammi("encode", location.model, location.source).lines
    for name in ("codes.npz", "codes.jsonl", "codes.jsonl.gz"):
        assert ammi("encode", location.model, location.source, "--out", tmp_path / name).code == 0
        about = ammi("info", tmp_path / name, "--json").json
        assert about == {"kind": "codes", "documents": 120, "bits": 16, "fingerprint": lines[0]["model"]}
    with np.load(tmp_path / "codes.npz") as content:
        assert content["ids"].tolist() == [line["id"] for line in lines]
        assert [code.tobytes().hex() for code in content["codes"]] == [line["code"] for line in lines]
    with Collection.open(location.index) as collection:
        kept = [(entry.id, entry.code.tobytes().hex()) for entry in collection]
    assert kept == [(line["id"], line["code"]) for line in lines]
    index = tmp_path / "index"
    assert ammi("index", "build", index, tmp_path / "codes.npz").code == 0
    again = ammi("index", "add", index, tmp_path / "codes.jsonl", "--json").json
    assert (again["added"], again["replaced"], again["documents"]) == (0, 120, 120)
    assert len(ammi("search", index, "--like", "note-3", "--json").json["hits"]) == 10
    assert ammi("info", index, "--json").json["fingerprint"] == lines[0]["model"]
    for command in (("search", index, "ship"), ("index", "add", index, location.source)):
        refused = ammi(*command)
        assert refused.code == 1
        assert f"{index} was made from codes alone and has no model" in refused.err


def test_codes_do_not_replace_their_documents(location: Location, ammi: Run, tmp_path):
    source = tmp_path / "notes.jsonl"
    shutil.copy(location.source, source)
    link = tmp_path / "link.jsonl"
    link.symlink_to(source)
    for out in (source, link):
        refused = ammi("encode", location.model, source, "--out", out)
        assert refused.code == 1
        assert "which is read: name another location" in refused.err
    assert source.read_bytes() == location.source.read_bytes()


def test_evaluate_says_when_there_are_fewer_documents_than_k(location: Location, ammi: Run):
    measured = ammi("evaluate", location.index, "--labels", "subject", "-k", 500, "--json")
    assert measured.json["k"] == 119
    assert "-k 500 is more than the 119 labelled documents" in measured.err
    shown = ammi("evaluate", location.index, location.source, "--labels", "subject")
    assert shown.err == ""
    assert re.search(r"precision at 100 +\d", shown.out)
    assert "precision at 119" in ammi("evaluate", location.index, "--labels", "subject", "-k", 120).out
    refused = ammi("evaluate", location.index, "--labels", "subject", "--text", "body")
    assert (refused.code, "Invalid value for '--text': it is for QUERIES" in refused.err) == (2, True)


def test_info_of_pairs_and_of_collections(location: Location, ammi: Run):
    about = ammi("info", location.index, "--json").json
    assert about["keys"] == {"subject": 120, "year": 120}
    assert about["fingerprint"] == ammi("info", location.model, "--json").json["fingerprint"]
    shown = ammi("info", location.index).out
    assert re.search(r"keys +subject 120, year 120", shown)


def test_data_sets_by_name(location: Location, ammi: Run, tmp_path, monkeypatch):
    shutil.copy(location.source, tmp_path / "notes.jsonl")
    monkeypatch.setenv("AMMI_DATA", str(tmp_path))
    assert ammi("data", "list", "--json").json["name"] == "notes"
    assert re.search(r"notes +documents +notes\.jsonl", ammi("data", "list").out)
    assert len(ammi("encode", location.model, "notes").lines) == 120
    refused = ammi("encode", location.model, "newts")
    assert refused.code == 1
    assert "there is no file or folder newts, and no corpus is called 'newts': " in refused.err


def test_data_import(ammi: Run, tmp_path):
    (tmp_path / "sci.space").mkdir()
    (tmp_path / "sci.space" / "60151").write_text("Subject: orbit\nMessage-ID: <1@x>\n\nThe shuttle is up.\n")
    out = tmp_path / "space.jsonl.gz"
    assert ammi("data", "import", "newsgroups", tmp_path, "--out", out, "--json").json["documents"] == 1
    assert ammi("info", out, "--json").json["columns"].startswith("message_id, references")
    assert ammi("data", "import", "news", tmp_path).code == 2
