"""Odd input and things that go wrong: each ends with one sentence, the right exit code, and nothing half done."""

import io
import json
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ammi import LSH, Collection, DocumentHasher
from ammi.version import __version__
from tests.cli.conftest import AMMI, ENVIRONMENT, Location, Result, Run, notes, write

SCRIPTS = [
    "Съешь же ещё этих мягких французских булок",
    "いろはにほへと ちりぬるを",
    "我能吞下玻璃而不伤身体",
    "أنا قادر على أكل الزجاج و هذا لا يؤلمني",
    "मैं काँच खा सकता हूँ और मुझे उससे कोई चोट नहीं पहुंचती",
    "ฉันกินกระจกได้ แต่มันไม่ทำให้ฉันเจ็บ",
    "🚢 🌊 ⚓",
    "\x1b[31mred\x1b[0m \x07 [bold]not markup[/bold]",
    "",
]


def check_refused(result: Result, *words: str, code: int = 1) -> None:
    assert result.code == code
    for word in words:
        assert word in result.err
    assert "Traceback" not in result.err
    if code == 1:
        assert result.err.startswith("ammi: ")
        assert len(result.err.strip().splitlines()) == 1


def test_an_empty_file(location: Location, ammi: Run, tmp_path):
    empty, index = tmp_path / "empty.jsonl", tmp_path / "index"
    empty.touch()
    check_refused(ammi("fit", empty, "--out", tmp_path / "model"), "nothing can be learned from 0 texts")
    assert ammi("encode", location.model, empty) == (0, "", "")
    assert ammi("index", "build", index, empty, "--model", location.model, "--json").json["documents"] == 0
    assert ammi("search", index, "ship", "--json").json["hits"] == []
    assert ammi("search", index, "ship").code == 0
    assert ammi("duplicates", index).code == 0
    assert ammi("drift", index, "--text", "ship", "--json").json["steps"] == []
    check_refused(ammi("evaluate", index), f"no document in {index} has the key 'labels': the keys there are none")
    assert ammi("info", index, "--json").json["documents"] == 0
    assert ammi("info", empty, "--json").json["documents"] == 0
    assert not (tmp_path / "model").exists()


def test_a_language_is_refused_before_a_model_is_learned(location: Location, ammi: Run, tmp_path):
    refused = ammi("index", "build", tmp_path / "index", location.source, "--language", "klingon")
    check_refused(refused, "expected one of", "german")
    assert not (tmp_path / "index").exists()


def test_one_document(ammi: Run, tmp_path):
    source = write(tmp_path / "one.jsonl", [{"text": "a single document", "labels": "x"}])
    model, index = tmp_path / "model", tmp_path / "index"
    assert ammi("fit", source, "--out", model, "--epochs", 1).code == 0
    assert ammi("index", "build", index, source, "--model", model).code == 0
    (hit,) = ammi("search", index, "a single document", "--json").json["hits"]
    assert (hit["id"], hit["distance"], hit["text"]) == ("one:1", 0, "a single document")
    assert ammi("search", index, "--like", "one:1", "--json").json["hits"] == []
    assert ammi("duplicates", index, "--json").out == ""
    assert ammi("drift", index, "one:1", "--json").json["steps"] == []
    check_refused(ammi("evaluate", index), "two documents")
    check_refused(ammi("fit", source, "--out", model, "--labels", "labels"), "too few to hold out one in ten")


@pytest.mark.slow
@pytest.mark.parametrize("features", ["words", "pieces"])
def test_text_in_any_script_and_of_any_length(features, ammi: Run, tmp_path):
    large = " ".join(f"word{i % 5000}" for i in range(150_000))
    assert len(large) > 1_000_000
    texts = [*SCRIPTS, large]
    source = write(tmp_path / "texts.jsonl", [{"id": i, "text": text} for i, text in enumerate(texts)])
    model, index = tmp_path / "model", tmp_path / "index"
    fitted = ammi("fit", source, "--out", model, "--features", features, "--method", "lsh")
    assert fitted.code == 0
    assert ammi("index", "build", index, source, "--model", model).code == 0
    answers = ammi("search", index, *SCRIPTS[:6], "-k", 1, "--json").lines
    assert [answer["hits"][0]["text"] for answer in answers] == SCRIPTS[:6]
    shown = ammi("search", index, SCRIPTS[7], large, "-k", 20)
    assert shown.code == 0
    assert "\x1b" not in shown.out
    assert "[bold]not markup[/bold]" in shown.out
    assert SCRIPTS[0] in shown.out
    assert len(shown.out) < 20_000


def test_a_missing_column_is_named_with_those_there_are(location: Location, ammi: Run, tmp_path):
    for command in (
        ("fit", location.source, "--out", tmp_path / "model", "--text", "body"),
        ("encode", location.model, location.source, "--text", "body"),
        ("index", "build", tmp_path / "index", location.source, "--model", location.model, "--text", "body"),
    ):
        check_refused(ammi(*command), "has no column 'body': the columns there are id, text, subject, year")
    check_refused(ammi("encode", location.model, location.source, "--id", "key"), "has no column 'key'")
    topic = ("--labels", "topic")
    for refused in (ammi("fit", location.source, "--out", tmp_path / "model", *topic),):
        check_refused(refused, "has a column 'topic': the columns there are subject, year")
    for refused in (
        ammi("evaluate", location.index, *topic),
        ammi("evaluate", location.index, location.source, *topic),
    ):
        check_refused(refused, f"no document in {location.index} has the key 'topic': the keys there are subject, year")
    assert list(tmp_path.iterdir()) == []


def test_broken_lines_are_refused_or_reported(location: Location, ammi: Run, tmp_path):
    lines = [json.dumps(note) for note in notes(5)]
    broken = tmp_path / "broken.jsonl"
    broken.write_text("\n".join([*lines[:2], '{"id": 1, "text": ', *lines[2:], '{"id": 9, "text": 7}']) + "\n")
    check_refused(ammi("encode", location.model, broken), f"{broken} line 3 is not JSON")
    out, index = tmp_path / "model", tmp_path / "index"
    for command in (
        ("fit", broken, "--out", out, "--epochs", 1, "--json"),
        ("index", "build", index, broken, "--model", location.model, "--json"),
    ):
        check_refused(ammi(*command), "line 3")
        assert not out.exists()
        assert not index.exists()
        skipped = ammi(*command, "--on-error", "skip")
        assert skipped.code == 0
        assert skipped.json["skipped"] == 2
        assert f"skipped: {broken} line 3 is not JSON" in skipped.err
        assert f"skipped: {broken} line 7 has 7 for a text" in skipped.err
        assert skipped.err.count("skipped:") == 2
        shutil.rmtree(out, ignore_errors=True)
    assert ammi("info", broken, "--json").json["broken"] == 2


BAD_LINES = {
    "not JSON": ['{"id": 1, "text": ', "[" * 100_000],
    "no object": ['["a"]', "7"],
    "without a column": ['{"id": 1}', '{"text": "a"}'],
    "with a bad id": ['{"id": 1.5, "text": "a"}', f'{{"id": {2**64}, "text": "a"}}', '{"id": [1], "text": "a"}'],
    "with a bad text": ['{"id": 1, "text": null}', '{"id": 1, "text": NaN}'],
    "with bad metadata": [
        '{"id": 1, "text": "a", "x": 1e400}',
        f'{{"id": 1, "text": "a", "x": {"[" * 200}{"]" * 200}}}',
    ],
    "not UTF-8": ['{"id": 1, "text": "\\ud800"}', '{"id": 1, "text": "\udcff"}'],
}


def test_every_kind_of_bad_document_is_skipped_by_every_command_and_counted(location: Location, ammi: Run, tmp_path):
    lines = [line for lines in BAD_LINES.values() for line in lines]
    broken, index = tmp_path / "broken.jsonl", tmp_path / "index"
    good = [json.dumps(note) for note in notes(8)]
    mixed = [line for i, bad in enumerate(lines) for line in (bad, *good[i : i + 1])]
    broken.write_text("\n".join(mixed) + "\n", errors="surrogateescape")
    for command in (
        ("fit", broken, "--out", tmp_path / "model", "--method", "lsh", "--json"),
        ("encode", location.model, broken, "--out", tmp_path / "codes.npz"),
        ("index", "build", index, broken, "--model", location.model, "--json"),
        ("index", "add", index, broken, "--json"),
        ("evaluate", index, broken, "--labels", "subject", "--json"),
    ):
        check_refused(ammi(*command), f"{broken} line 1 is not JSON")
        skipped = ammi(*command, "--on-error", "skip")
        assert skipped.code == 0
        assert skipped.err.count("skipped:") == 5  # the first few are named
        (counted,) = (
            line for line in skipped.err.splitlines() if line.startswith(f"{len(lines)} skipped in {broken}: ")
        )
        for kind, found in BAD_LINES.items():
            assert f"{len(found)} {kind}" in counted
    with Collection.open(index) as collection:
        assert [entry.id for entry in collection] == [note["id"] for note in notes(8)]


def test_bad_vectors_are_skipped_too(ammi: Run, tmp_path):
    rows = [{"id": i, "vector": [i % 3, 1.0, i % 5]} for i in range(12)]
    good, index = write(tmp_path / "good.jsonl", rows), tmp_path / "index"
    assert ammi("fit", good, "--vector", "vector", "--out", tmp_path / "model", "--method", "lsh").code == 0
    wrong: list = [[1, 2], "x", [1, None, 2], [1e400, 1, 1], [[1, 2, 3]], None]
    bad = write(tmp_path / "bad.jsonl", [{"id": f"bad-{i}", "vector": vector} for i, vector in enumerate(wrong)] + rows)
    for command in (("index", "build", index), ("index", "add", index)):
        options = ("--model", tmp_path / "model") if command[1] == "build" else ()
        check_refused(ammi(*command, bad, *options), f"{bad} line 1 has a vector of 2 numbers: expected 3")
        skipped = ammi(*command, bad, *options, "--on-error", "skip", "--json")
        assert (skipped.code, skipped.json["skipped"], skipped.json["documents"]) == (0, len(wrong), 12)
        assert f"{len(wrong)} skipped in {bad}: {len(wrong)} with a bad vector" in skipped.err


@pytest.mark.parametrize("error", [KeyError("no such thing"), RecursionError("too deep"), TypeError("two\nlines")])
def test_a_fault_of_ammi_is_said_in_a_sentence_with_its_details_in_a_file(error, ammi: Run, tmp_path, monkeypatch):
    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr("ammi.cli.info._about", fail)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    fault = ammi("info", "any thing")
    assert fault.code == 70
    (line,) = fault.err.splitlines()
    (details,) = tmp_path.iterdir()
    assert line.startswith(f"ammi: this is a bug in ammi ({type(error).__name__}): please report it with ")
    assert line.endswith(f"the details in {details}")
    written = details.read_text()
    assert f"ammi {__version__}" in written
    assert "command: ammi info 'any thing'" in written
    assert "Traceback (most recent call last)" in written


def test_too_little_memory_and_errors_of_several_lines_are_a_sentence(ammi: Run, monkeypatch):
    for error, words in (
        (MemoryError(), "there is not enough memory: use a machine with more, or less data"),
        (MemoryError("8 GiB"), "there is not enough memory (8 GiB): use"),
        (ValueError("one\ntwo"), "one two"),
        (ValueError(), "ValueError without a message"),
    ):

        def fail(*arguments: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr("ammi.cli.info._about", fail)
        check_refused(ammi("info", "x"), words)


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_an_output_that_is_full_is_said_in_a_sentence(option):
    """Of its own process: the end of one flushes what was printed."""
    with open("/dev/full", "w") as full:
        done = subprocess.run([AMMI, option], stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    assert (done.returncode, done.stderr) == (
        1,
        "ammi: nothing was written (No space left on device): make space and try again\n",
    )


def test_lines_of_a_pipe_that_are_no_queries(location: Location, ammi: Run, monkeypatch):
    check_refused(
        ammi("search", location.index, stdin=io.BytesIO(b"ship\n\xff\n")), "standard input line 2 is not UTF-8"
    )
    monkeypatch.setattr("ammi.data.streams.LONGEST", 100)
    check_refused(ammi("index", "delete", location.index, "-", stdin="a" * 200), "standard input line 1 is longer than")


@pytest.mark.parametrize("brackets", [100_000, 900])
def test_deep_brackets_in_a_config(location: Location, ammi: Run, tmp_path, brackets):
    config = tmp_path / "config.json"
    config.write_text('{"method": ' + "[" * brackets)
    check_refused(ammi("fit", location.source, "--out", tmp_path / "m", "--config", config), f"{config} is not")


def test_wrong_usage(location: Location, ammi: Run):
    for command in (
        (),
        ("nonsense",),
        ("fit", location.source),
        ("fit", location.source, "--out", "m", "--seed", 2**32),
        ("fit", location.source, "--out", "m", "--seed", -1),
        ("search", location.index, "ship", "-k", 0),
        ("search", location.index, "ship", "--where", "="),
        ("search", location.index, "ship", "--nonsense"),
        ("index", "rebuild", location.index),
        ("drift", location.index),
        ("drift", location.index, "note-1", "--distances", "1,x"),
    ):
        shown = ammi(*command)
        assert shown.code == 2
        assert "Traceback" not in shown.err


def test_what_is_not_there(location: Location, ammi: Run, tmp_path):
    check_refused(ammi("search", tmp_path, "ship"), f"there is no collection in {tmp_path}")
    check_refused(ammi("encode", tmp_path, location.source), f"{tmp_path} is not a model of ammi")
    check_refused(ammi("encode", location.model, tmp_path / "no.jsonl"), "there is no file or folder")
    check_refused(ammi("index", "add", location.index, tmp_path / "no.npz"), "there is no file", "no.npz")
    nowhere = tmp_path / "nowhere" / "codes.npz"
    check_refused(
        ammi("encode", location.model, location.source, "--out", nowhere), f"there is no folder {nowhere.parent}"
    )
    check_refused(ammi("drift", location.index, "note-9999"), "no document has the id 'note-9999'")
    check_refused(ammi("search", location.index, "--like", "note-9999"), "no document has the id 'note-9999'")
    check_refused(ammi("index", "rebuild", location.index, "--model", tmp_path), "is not a model of ammi")
    check_refused(ammi("fit", location.source, "--out", tmp_path / "m", "--config", tmp_path / "c.json"), "c.json")
    for taken, words in ((location.index, "holds a collection: use ammi index add"), (location.model, "holds a model")):
        check_refused(ammi("index", "build", taken, location.source, "--model", location.model), f"{taken} {words}")
    others = tmp_path / "others"
    others.mkdir()
    (others / ".hidden").touch()
    write(others / "notes.jsonl", notes(3))
    build = ("index", "build", others, location.source, "--model", location.model)
    check_refused(ammi(*build), f"{others} holds other files: name a new or empty folder for the collection")
    (others / "notes.jsonl").unlink()
    assert ammi(*build).code == 0


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """As on a full disk, no file can grow."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_everything_whole(location: Location, ammi: Run, tmp_path):
    index, many = tmp_path / "index", write(tmp_path / "many.jsonl", notes(6000))
    shutil.copytree(location.index, index)
    with no_file_above(600_000):
        full = ammi("index", "add", index, many)
    assert full.code == 1
    assert "could not be written" in full.err
    assert "make space and try again" in full.err
    assert "documents were added before this, and stay in" in full.err
    assert "as it was" not in full.err
    assert "Traceback" not in full.err
    with Collection.open(index) as opened:
        n = len(opened)
    assert n % 1000 == 0
    assert 120 < n < 6000
    assert ammi("index", "add", index, many, "--json").json["documents"] == 6000

    with no_file_above(2000):
        fitted = ammi("fit", many, "--out", tmp_path / "model", "--method", "lsh")
        codes = ammi("encode", location.model, many, "--out", tmp_path / "codes.npz")
    check_refused(fitted, "make space and try again")
    check_refused(codes, "nothing was written", "make space and try again")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "many.jsonl"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device to write to")
def test_a_result_that_cannot_be_shown_is_told_from_a_change_that_was_not_made(tmp_path):
    write(tmp_path / "two.jsonl", [{"id": "a", "text": "one ship"}, {"id": "b", "text": "two ships"}])
    with Collection.create(tmp_path / "index", DocumentHasher(LSH(16)).fit(["one ship", "two ships"])) as created:
        created.add(tmp_path / "two.jsonl")
    with open("/dev/full", "w") as full:
        command = [AMMI, "index", "delete", tmp_path / "index", "a"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    assert done.returncode == 1
    assert "the result could not be printed (No space left on device), but the command did its work" in done.stderr
    with Collection.open(tmp_path / "index") as left:
        assert [entry.id for entry in left] == ["b"]
