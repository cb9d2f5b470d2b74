"""`ammi search`, `drift` and `duplicates`: what they find, filtered or not, and what a search imports."""

import re
import shutil
import subprocess
import sys
import textwrap

import pytest

from ammi import Collection
from tests.cli.conftest import ENVIRONMENT, Location, Run, Terminal, notes, process, write


def ids(answer: dict) -> list:
    return [hit["id"] for hit in answer["hits"]]


def test_search_finds_by_text_and_by_document(location: Location, ammi: Run):
    answers = ammi("search", location.index, "ship harbour wave tide", "wheat barley soil", "-k", 5, "--json").lines
    assert [answer["query"] for answer in answers] == ["ship harbour wave tide", "wheat barley soil"]
    subjects = [{hit["metadata"]["subject"] for hit in answer["hits"]} for answer in answers]
    assert subjects == [{"sea"}, {"field"}]
    piped = ammi("search", location.index, "-k", 5, "--json", stdin="ship harbour wave tide\nwheat barley soil\n")
    assert piped.lines == answers
    with Collection.open(location.index) as collection:
        expected = collection.search("ship harbour wave tide", k=5)
        near = collection.within("ship harbour wave tide", 3)
        like = collection.like("note-7", k=3)
    assert answers[0]["hits"] == [hit.as_json() for hit in expected]
    (within,) = ammi("search", location.index, "ship harbour wave tide", "--radius", 3, "--json").lines
    assert within["hits"] == [hit.as_json() for hit in near]
    (found,) = ammi("search", location.index, "--like", "note-7", "-k", 3, "--json").lines
    assert (found["query"], found["hits"]) == ("like note-7", [hit.as_json() for hit in like])

    shown = ammi("search", location.index, "ship harbour", "-k", 2)
    assert shown.code == 0
    assert re.search(r"distance +id +text", shown.out)
    assert len(re.findall(r"note-\d+", shown.out)) == 2
    unknown = ammi("search", location.index, "zebra shpi of", "zebra", "-k", 1)
    assert "knows no word of 'zebra'" in unknown.err
    assert "no document has zebra" in unknown.err
    assert "searched for ship instead of shpi" in unknown.err


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        (["year=1981", "subject=sky"], lambda note: note["year"] == 1981 and note["subject"] == "sky"),
        (["year=1981", "year=1983"], lambda note: note["year"] in (1981, 1983)),
        (["year=1981,1983"], lambda note: note["year"] in (1981, 1983)),
        (["year>=1982", "subject!=sea"], lambda note: note["year"] >= 1982 and note["subject"] != "sea"),
        (["year<1981", "subject"], lambda note: note["year"] < 1981),
        (["!draft", "year=1980"], lambda note: note["year"] == 1980),
    ],
)
def test_search_keeps_to_a_filter(filters, kept, location: Location, ammi: Run):
    options = [word for spelled in filters for word in ("--where", spelled)]
    wanted = {note["id"] for note in notes() if kept(note)}
    assert wanted
    assert set(ids(ammi("search", location.index, "ship", "-k", 200, "--json", *options).json)) == wanted
    like = ammi("search", location.index, "--like", "note-7", "--radius", 16, "--json", *options).json
    assert set(ids(like)) == wanted - {"note-7"}


def test_a_filter_that_can_keep_nothing_is_said(location: Location, ammi: Run):
    unknown = ammi("search", location.index, "ship", "--where", "yaer=1987")
    assert unknown.code == 1
    assert "no document has the metadata key 'yaer' of the filter: the keys are subject, year" in unknown.err
    of_another_kind = ammi("search", location.index, "ship", "--where", "subject>=1987")
    assert of_another_kind.code == 0  # a number on a command line may be meant as a text
    for spelled in ("=1987", "<>", "!"):
        refused = ammi("search", location.index, "ship", "--where", spelled)
        assert refused.code == 2
        assert "write KEY=VALUE" in " ".join(refused.err.replace("│", "").split())


def test_numbers_are_ids_however_they_are_written(location: Location, ammi: Run, tmp_path):
    """17 of a JSON file and "17" of a table are one document."""
    index = tmp_path / "index"
    texts = ["a ship", "a wave", "a cloud"]
    lines = "".join(f'{{"id": {n}, "text": "{text}"}}\n' for n, text in enumerate(texts))
    table = "id,text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(texts))
    assert ammi("index", "build", index, "-", "--model", location.model, stdin=lines).code == 0
    again = ammi("index", "add", index, "-", "--format", "csv", "--json", stdin=table).json
    assert (again["replaced"], again["documents"]) == (3, 3)
    assert set(ids(ammi("search", index, "--like", 1, "--json").json)) == {"0", "2"}
    assert ammi("drift", index, 1).code == 0
    assert ammi("index", "delete", index, 0, "--json").json["documents"] == 2


LONG = " ".join(f"word{number}" for number in range(40))


def test_duplicates_are_those_that_the_collection_finds(location: Location, ammi: Run, tmp_path):
    index = shutil.copytree(location.index, tmp_path / "index")
    copied = {"id": "copy", "text": f"{LONG} and more", "subject": "x"}
    with Collection.open(index) as collection:
        collection.add([{**copied, "id": "original", "text": LONG}, copied])
        groups = collection.duplicates()
    assert ("copy", "original") in [(group.kept, id) for group in groups for id, _ in group.duplicates]
    found = ammi("duplicates", index, "--json").lines
    assert [group["kept"] for group in found] == [group.kept for group in groups]
    assert [[copy["id"] for copy in group["duplicates"]] for group in found] == [
        [id for id, _ in group.duplicates] for group in groups
    ]
    shown = ammi("duplicates", index)
    assert shown.out.count("kept") == len(groups)
    copies = sum(len(group.duplicates) for group in groups)
    assert f"{copies} of 122 documents are near-duplicates of {len(groups)} others" in shown.err
    assert "threshold is 7" in ammi("duplicates", index, "--threshold", 7).err
    asked = f"Delete these {copies} near-duplicates from {index}? [y/N] "
    for answer, code, said in (
        ("y\n", 2, "since standard input is no terminal: add --yes to delete without asking."),
        (Terminal(b"n\n"), 0, f"{asked}no document was deleted"),
        (Terminal(b"what?\n"), 0, f"{asked}no document was deleted"),
        (Terminal(b""), 130, f"{asked}Stopped: no document was deleted."),
    ):
        refused = ammi("duplicates", index, "--apply", stdin=answer)
        assert (refused.code, said in " ".join(refused.err.replace("│", "").split())) == (code, True), refused.err
        assert ammi("duplicates", index).out == shown.out
    applied = ammi("duplicates", index, "--apply", stdin=Terminal(b"y\n"))
    assert applied.out == shown.out
    assert f"{copies} deleted; {122 - copies} documents are left" in applied.err
    with Collection.open(index) as collection:
        collection.add([copied | {"id": "again"}])
    assert "\n1 deleted; " in ammi("duplicates", index, "--apply", "--yes").err
    assert ammi("duplicates", index, "--json").lines == []
    assert ammi("duplicates", index, "--yes").code == 2


def test_a_match_is_what_the_collection_finds(location: Location, ammi: Run, tmp_path):
    index = shutil.copytree(location.index, tmp_path / "index")
    with Collection.open(index) as collection:
        collection.add([{"id": "long", "text": LONG}])
        new = [{"id": 1, "body": f"wind, {LONG}"}, {"id": 2, "body": "wheat, barley"}]
        expected = list(collection.match(new, 2, text="body"))
    source = write(tmp_path / "new.jsonl", new)
    found = ammi("match", source, index, "--text", "body", "-k", 2, "--json")
    assert "1 of 2 documents have a near-duplicate in" in found.err
    copy, other = found.lines
    assert expected[0].duplicate is not None
    id, similarity = expected[0].duplicate
    assert copy["duplicate"] == {"id": id, "similarity": round(similarity, 4)}
    assert other["duplicate"] is None
    for line, match in zip(found.lines, expected, strict=True):
        assert line["id"] == match.id
        assert [(hit["id"], hit["score"]) for hit in line["nearest"]] == [(hit.id, hit.score) for hit in match.nearest]
    collection_of_new = tmp_path / "new"
    build = ("index", "build", collection_of_new, source, "--model", location.model, "--text", "body")
    assert ammi(*build).code == 0
    assert ammi("match", collection_of_new, index, "-k", 2, "--json").lines == found.lines
    header, first, second = ammi("match", source, index, "--text", "body", "--csv").out.splitlines()
    assert header == "id,similarity,score,match"
    assert first == f"1,{round(similarity, 4)},,{id}"
    assert second == f"2,,{round(expected[1].nearest[0].score, 4)},{expected[1].nearest[0].id}"
    shown = ammi("match", source, index, "--text", "body").out
    assert re.search(rf"^ *2 +[\d.]+ +{expected[1].nearest[0].id} ", shown, re.MULTILINE)
    assert ammi("match", collection_of_new, index, "--text", "body").code == 2
    assert ammi("match", source, index, "--csv", "--json").code == 2


def test_drift_starts_from_a_document_or_a_text(location: Location, ammi: Run):
    with Collection.open(location.index) as collection:
        expected = collection.drift("note-1", distances=[0, 2, 4])
        from_text = collection.drift(query="wheat soil")
    drifted = ammi("drift", location.index, "note-1", "--distances", "0,2,4", "--json").json
    assert drifted == {"start": "note-1", "steps": [step._asdict() for step in expected]}
    assert ammi("drift", location.index, "--text", "wheat soil", "--json").json["steps"] == [
        step._asdict() for step in from_text
    ]
    shown = ammi("drift", location.index, "note-1").out
    assert re.search(r"from +note-1 ", shown)


@pytest.mark.slow
def test_a_search_imports_no_more_than_it_needs(location: Location):
    """What learned the model takes seconds to import, and a search needs none of it."""
    code = """
        import atexit, sys
        heavy = {"torch", "sklearn", "scipy", "numba", "pandas", "pyarrow", "optuna", "matplotlib"}
        atexit.register(lambda: print(sorted(heavy & set(sys.modules)), file=sys.stderr))
        from ammi.cli import main
        sys.argv = ["ammi", "search", *sys.argv[1:]]
        main()
    """
    for what in (("ship harbour", "--where", "year>=1981"), ("--like", "note-3", "--radius", "4")):
        command = [sys.executable, "-c", textwrap.dedent(code), str(location.index), *what, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=ENVIRONMENT)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith('{"query"')
        assert done.stderr.strip() == "[]"


def test_a_place_is_all_that_a_search_needs(location: Location, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(location.index, moved)
    assert process("search", moved, "ship harbour", "--json", cwd=tmp_path).json["hits"]
