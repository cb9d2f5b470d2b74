"""`ammi index …`: collections that are built, grow, shrink, change their model, and go to files and back."""

import gzip
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ammi import Collection
from ammi.search.embedded.connections import connect
from tests.cli.conftest import Location, Run, notes, write


@pytest.fixture
def index(location: Location, tmp_path) -> Path:
    """A collection of 120 notes to change."""
    shutil.copytree(location.index, tmp_path / "index")
    return tmp_path / "index"


def content(index: Path) -> list[tuple]:
    with Collection.open(index) as collection:
        return [(entry.id, entry.code.tobytes(), entry.text, entry.metadata) for entry in collection]


def test_it_grows_and_shrinks(index: Path, ammi: Run, tmp_path):
    assert ammi("index", "add", index, "-", "--json", stdin="a ship\na wave\n").json["documents"] == 122
    assert ammi("index", "add", index, "-", "--json", stdin="a cloud\n").json["documents"] == 123
    assert [hit["text"] for hit in ammi("search", index, "--like", 0, "--radius", 16, "--json").json["hits"]]
    changed = write(tmp_path / "changed.jsonl", [{"id": "note-3", "text": "a farmer", "subject": "none"}])
    assert ammi("index", "add", index, changed, "--json").json["replaced"] == 1
    shown = ammi("index", "delete", index, "note-3", "0", "1")
    assert "3 deleted; 120 documents are left" in shown.out
    unknown = ammi("index", "delete", index, "note-4", "nothing")
    assert (unknown.code, "no document has the id 'nothing'" in unknown.err) == (1, True)
    piped = ammi("index", "delete", index, "-", "--json", stdin="note-4\nnote-5\nnote-5\n")
    assert piped.json == {"location": str(index), "deleted": 2, "documents": 118}


def test_an_interrupted_addition_goes_on_without_adding_twice(index: Path, ammi: Run, tmp_path):
    lines = tmp_path / "lines.txt.gz"
    lines.write_bytes(gzip.compress(b"a ship\n\na wave\n"))
    assert ammi("index", "add", index, lines, "--json").json["added"] == 2
    assert [entry[0] for entry in content(index)[120:]] == ["lines:1", "lines:3"]
    before = content(index)
    lines.write_bytes(gzip.compress(b"a ship\n\na wave\na cloud\n"))
    assert ammi("index", "add", index, lines, "--json").json["added"] == 1
    assert ammi("index", "add", index, lines, "--json").json["added"] == 0
    assert (content(index)[:-1], content(index)[-1][0]) == (before, "lines:4")
    lines.write_bytes(gzip.compress(b"a farmer\n"))
    refused = ammi("index", "add", index, lines)
    assert (refused.code, "has another document 'lines:1', which has its id from the name" in refused.err) == (1, True)
    assert content(index)[:-1] == before


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz", "all.jsonl.zst", "all.parquet"])
def test_what_is_exported_comes_back(name, index: Path, location: Location, ammi: Run, tmp_path):
    ammi("index", "add", index, "-", stdin="a ship\n")
    ammi("index", "set", index, "note-1", "tags=[1, null]", "odd=")
    out, again = tmp_path / name, tmp_path / "again"
    assert ammi("index", "export", index, out, "--json").json == {"file": str(out), "documents": 121}
    assert ammi("index", "build", again, out, "--model", location.model, "--json").json["added"] == 121
    assert content(again) == content(index)
    assert "121 documents in" in ammi("index", "export", index, out).out
    wrong = ammi("index", "export", index, tmp_path / "all.xls")
    assert "no name for an export: expected the ending .jsonl, .csv or .tsv (also .gz, .zst), or .parquet" in wrong.err


@pytest.mark.parametrize("name", ["all.csv", "all.tsv.gz", "all.parquet", "all.jsonl"])
def test_metadata_are_columns_of_an_export(name, index: Path, location: Location, ammi: Run, tmp_path):
    ammi("index", "set", index, "note-1", "scores=[1, 2]", "odd=a")
    ammi("index", "set", index, "note-2", "scores=3")
    out, again = tmp_path / name, tmp_path / "again"
    assert ammi("index", "export", index, out, "--columns", "--json").json["documents"] == 120
    if name == "all.parquet":
        frame = pd.read_parquet(out)
        assert frame.groupby("subject").year.mean().to_dict()["sky"] > 1900
        assert frame.scores.dropna().tolist() == ["[1, 2]", "3"]  # a list in a column of numbers: all are JSON
        return
    assert ammi("index", "build", again, out, "--model", location.model, "--json").json["added"] == 120
    with Collection.open(index) as one, Collection.open(again) as other:
        for entry in one:
            same = other.get(entry.id)
            about = {key: value for key, value in same.metadata.items() if value not in (None, "")}
            if entry.id == "note-1" and name != "all.jsonl":
                assert about.pop("scores") == "[1, 2]"
                about["scores"] = [1, 2]
            assert (same.text, {key: str(about[key]) for key in sorted(about)}) == (
                entry.text,
                {key: str(entry.metadata[key]) for key in sorted(entry.metadata)},
            )


def test_a_new_model_takes_over(index: Path, location: Location, ammi: Run, tmp_path):
    """The stored texts are encoded anew."""
    other = tmp_path / "other"
    fitted = ammi("fit", location.source, "--out", other, "--bits", 24, "--method", "lsh", "--json").json
    old = ammi("info", index, "--json").json["fingerprint"]
    rebuilt = ammi("index", "rebuild", index, "--model", other, "--json")
    expected = {"documents": 120, "bits": 24, "model": fitted["fingerprint"]}
    expected |= {"unknown_before": 0, "unknown_after": 0}
    assert rebuilt.json == {"location": str(index), "old_model": old, **expected}
    assert f"keeps model {old} until all of its 120 documents are encoded" in rebuilt.err
    fresh = tmp_path / "fresh"
    assert ammi("index", "build", fresh, location.source, "--model", other).code == 0
    assert content(index) == content(fresh)
    assert ammi("search", index, "ship", "--json").json == ammi("search", fresh, "ship", "--json").json
    shown = ammi("index", "rebuild", index, "--model", location.model).out
    by_model = f"by model {old} instead of {fitted['fingerprint']}"
    assert f"120 documents in {index} now have codes of 16 bits, {by_model}" in re.sub(r"\s+", " ", shown)
    assert content(index) == content(location.index)

    ammi("encode", other, location.source, "--out", tmp_path / "codes.npz")
    ammi("index", "build", tmp_path / "codes", tmp_path / "codes.npz")
    refused = ammi("index", "rebuild", tmp_path / "codes", "--model", location.model)
    assert refused.code == 1
    assert "document 'note-0' has no text to encode anew" in refused.err


def test_a_collection_is_no_source(location: Location, ammi: Run, tmp_path):
    """Its files are no documents, and what to do instead is said."""
    for command in (
        ("index", "build", tmp_path / "new", location.index, "--model", location.model),
        ("index", "add", location.index, location.index),
        ("fit", location.index, "--out", tmp_path / "model"),
        ("encode", location.model, location.index),
    ):
        refused = ammi(*command)
        assert refused.code == 1
        assert f"{location.index} is a collection, not a source of documents" in refused.err
        assert "ammi index export" in refused.err
        assert "ammi index rebuild" in refused.err
    assert not (tmp_path / "new").exists()


def test_metadata_is_set(index: Path, ammi: Run):
    done = ammi("index", "set", index, "note-7", "year=1999", "lang=en", 'labels=["a", "b"]', "subject=null", "--json")
    expected = {"subject": None, "year": 1999, "lang": "en", "labels": ["a", "b"]}
    assert done.json == {"id": "note-7", "metadata": expected}
    (found,) = ammi("search", index, "--like", "note-1", "--where", "lang=en", "--json").json["hits"]
    assert found["metadata"] == expected
    shown = ammi("index", "set", index, "note-7", "title=a [bold]new[/] title").out
    assert re.search(r"year +1999 ", shown)
    assert "a [bold]new[/] title" in shown
    assert ammi("index", "set", index, "note-7", "year").code == 2
    assert ammi("index", "set", index, "note-7").code == 2
    assert "no document has the id 'note-x'" in ammi("index", "set", index, "note-x", "year=1").err


def test_keys_are_listed_and_made_fast(index: Path, location: Location, ammi: Run, tmp_path):
    ammi("index", "set", index, "note-7", "lang=en")
    counts = {"lang": 1, "subject": 120, "year": 120}
    assert ammi("index", "keys", index, "--json").json == {"keys": counts, "indexed_keys": []}
    made = ammi("index", "keys", index, "year", "lnag")
    assert "no document has the key 'lnag' yet" in made.err
    assert re.search(r"year +120 +indexed", made.out)
    assert re.search(r"lnag +0 +indexed", made.out)
    assert ammi("index", "keys", index, "--json").json["indexed_keys"] == ["year", "lnag"]
    keys = ("--key", "year", "--key", "subject")
    assert ammi("index", "build", tmp_path / "new", location.source, "--model", location.model, *keys).code == 0
    assert ammi("index", "keys", tmp_path / "new", "--json").json["indexed_keys"] == ["year", "subject"]
    assert ammi("search", tmp_path / "new", "ship", "--where", "year=1981", "--json").json["hits"]


def test_codes_of_another_model_are_refused(location: Location, ammi: Run, tmp_path):
    other = ammi("fit", location.source, "--out", tmp_path / "other", "--bits", 16, "--method", "lsh", "--json").json
    codes = tmp_path / "codes.npz"
    assert ammi("encode", tmp_path / "other", location.source, "--out", codes).code == 0
    for command in (
        ("index", "add", location.index, codes),
        ("index", "build", tmp_path / "index", codes, "--model", location.model),
    ):
        refused = ammi(*command)
        assert refused.code == 1
        assert other["fingerprint"] in refused.err
        assert len(refused.err.splitlines()) == 1
    with Collection.open(location.index) as collection:
        assert len(collection) == 120
    assert not (tmp_path / "index").exists()
    assert ammi("index", "build", tmp_path / "index", codes, "--model", tmp_path / "other").code == 0
    assert ammi("search", tmp_path / "index", "ship", "--json").json["hits"]


def test_vectors_are_documents_too(ammi: Run, tmp_path):
    """U5, from a column of a file."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((3, 8))
    records = [
        {"id": f"v{n}", "vector": (centres[n % 3] + rng.normal(0, 0.1, 8)).tolist(), "subject": n % 3}
        for n in range(90)
    ]
    source, model, index = write(tmp_path / "vectors.jsonl", records), tmp_path / "model", tmp_path / "index"
    fitted = ammi("fit", source, "--features", "vectors", "--method", "itq", "--bits", 8, "--out", model, "--json")
    assert fitted.json.items() >= {"units": "vectors", "columns": 8, "documents": 90}.items()
    trained = ("--features", "vectors", "--labels", "subject", "--epochs", 1, "--bits", 8, "--out", tmp_path / "ammi")
    assert ammi("fit", source, "--method", "ammi", *trained, "--json").json["documents"] == 90
    assert ammi("index", "build", index, source, "--model", model, "--json").json["documents"] == 90
    hits = ammi("search", index, "--like", "v4", "-k", 20, "--json").json["hits"]
    assert {hit["metadata"]["subject"] for hit in hits} == {1}
    assert len(ammi("encode", model, source).lines) == 90
    assert ammi("evaluate", index, source, "--labels", "subject", "-k", 5, "--json").json["precision"] > 90
    texts = write(tmp_path / "notes.jsonl", notes(3))
    for command in (("index", "add", index, texts), ("encode", model, texts)):
        refused = ammi(*command)
        assert refused.code == 1
        assert "has no column 'vector': the columns there are id, text, subject, year" in refused.err
    asked = ammi("search", index, "ship")
    assert (asked.code, asked.out) == (1, "")
    assert f"the query is a text, but the model of {index} reads vectors: search with --vector FILE, " in asked.err
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("an owl")
    asked = ammi("search", index, "--vector", tmp_path / "texts")
    assert asked.err.startswith(f"ammi: {tmp_path / 'texts'} has no vectors: expected a table with the column vector")


def test_vectors_are_kept_where_it_is_said(ammi: Run, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 8))
    rows[59] = rows[4] + 0.01
    source = write(tmp_path / "vectors.jsonl", [{"id": f"v{n}", "vector": row.tolist()} for n, row in enumerate(rows)])
    model, index, plain = tmp_path / "model", tmp_path / "index", tmp_path / "plain"
    assert ammi("fit", source, "--features", "vectors", "--method", "itq", "--bits", 8, "--out", model).code == 0
    assert ammi("index", "build", index, source, "--model", model, "--keep-vectors", "int8").code == 0
    assert ammi("index", "build", plain, source, "--model", model).code == 0
    about = ammi("info", index, "--json").json
    assert (about["vectors"], about["vector_bytes"]) == ("int8, 8 numbers each", 60 * 16)
    assert re.search(r"vectors +int8, 8 numbers each", ammi("info", index).out)
    hits = ammi("search", index, "--like", "v4", "-k", 3, "--json").json["hits"]
    cosines = rows @ rows[4] / np.linalg.norm(rows, axis=1) / np.linalg.norm(rows[4])
    assert [hit["id"] for hit in hits] == [f"v{n}" for n in np.argsort(-cosines)[1:4]]
    assert [hit["score"] for hit in hits] == pytest.approx(sorted(cosines)[-4:-1][::-1], abs=0.02)
    (group,) = ammi("duplicates", index, "--json").lines
    assert (group["kept"], [copy["id"] for copy in group["duplicates"]]) == ("v4", ["v59"])
    with Collection.open(index) as collection:
        before = np.stack([entry.vector for entry in collection if entry.vector is not None])
    out, again = tmp_path / "all.parquet", tmp_path / "again"
    assert ammi("index", "export", index, out).code == 0
    assert ammi("index", "build", again, out, "--model", model, "--keep-vectors", "int8").code == 0
    with Collection.open(again) as collection:
        np.testing.assert_array_equal(
            before, np.stack([entry.vector for entry in collection if entry.vector is not None])
        )


def test_vectors_that_cannot_be_kept_or_asked_for_are_said(location: Location, ammi: Run, tmp_path):
    refused = ammi(
        "index", "build", tmp_path / "new", location.source, "--model", location.model, "--keep-vectors", "int8"
    )
    assert refused.code == 1
    assert "make sparse rows, and vectors are kept of dense ones" in refused.err
    assert not (tmp_path / "new").exists()
    codes = tmp_path / "codes.npz"
    ammi("encode", location.model, location.source, "--out", codes)
    refused = ammi("index", "build", tmp_path / "new", codes, "--keep-vectors", "int8")
    assert refused.code == 2
    assert "a file of codes has no vectors to keep" in refused.err
    refused = ammi("search", location.index, "ship", "--rank", "vectors")
    assert refused.code == 1
    assert "keeps no vectors to rank by" in refused.err
    assert len(refused.err.splitlines()) == 1
    short = ammi("search", location.index, "ship", "--shortlist", 3)
    assert "shortlist is 3, but k is 10" in short.err
    assert len(ammi("search", location.index, "ship", "-k", 3, "--shortlist", 3, "--json").json["hits"]) == 3


def test_damage_is_found_and_the_rest_is_kept(index: Path, ammi: Run):
    whole = ammi("index", "check", index)
    assert (whole.code, whole.out) == (0, f"{index} is whole: 120 documents\n")
    before = content(index)
    file = index / "index.sqlite"
    db = connect(file, "mode=rw")
    db.execute("UPDATE texts SET text = 'another' WHERE position = 7")
    db.close()
    refused = ammi("search", index, "--like", "note-7")
    assert (refused.code, "document 'note-7' is not as it was written" in refused.err) == (1, True)
    found = ammi("index", "check", index)
    assert found.code == 3
    assert "document 'note-7' is not as it was written\n" in found.out
    assert f"{index} is damaged; 119 documents are whole: --repair keeps these" in found.out
    assert ammi("index", "check", index, "--json").json["documents"] == 119
    repaired = ammi("index", "check", index, "--repair")
    assert repaired.code == 0
    assert f"119 documents kept, 1 lost (note-7); the old file is {file}.damaged-1" in repaired.out
    assert content(index) == before[:7] + before[8:]
    again = ammi("index", "check", index, "--repair", "--json").json
    assert (again["damage"], again["kept"], again["lost"], again["old_file"]) == ([], 119, [], None)


def test_deleted_documents_give_their_space_back(index: Path, ammi: Run):
    ammi("index", "delete", index, "-", stdin="\n".join(f"note-{n}" for n in range(100)))
    assert " bytes, and takes " in ammi("index", "compact", index).out
    sizes = ammi("index", "compact", index, "--json").json
    assert sizes["bytes_before"] == sizes["bytes_after"] == (index / "index.sqlite").stat().st_size


def test_counts_tell_added_from_replaced(index: Path, ammi: Run, tmp_path):
    changed = write(tmp_path / "changed.jsonl", [{"id": "note-3", "text": "a farmer"}, {"id": "new", "text": "a ship"}])
    assert ammi("index", "add", index, changed).out.startswith("1 added, 1 replaced; 121 documents are in ")
    assert ammi("index", "add", index, changed, "--json").json["added"] == 0


def test_one_document_is_one(location: Location, ammi: Run, tmp_path):
    one = write(tmp_path / "one.jsonl", [{"id": "a", "text": "a ship"}])
    built = ammi("index", "build", tmp_path / "index", one, "--model", location.model)
    assert built.out.strip() == f"1 added; 1 document is in {tmp_path / 'index'}"


def test_several_sources_and_patterns(location: Location, ammi: Run, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.csv").write_bytes(b"sep=;\r\ntext;kind\r\na caf\xe9;x\r\n")
    (folder / "b.csv").write_text("text,kind\na wave,y\n")
    (folder / "c.json").write_text('[{"text": "a cloud"},\n {"text": "a ship"}]')
    (folder / "d.zip").write_bytes(b"PK")
    index = tmp_path / "index"
    built = ammi("index", "build", index, folder / "*.csv", folder / "c.json", "--model", location.model)
    assert built.out.startswith("4 added; 4 documents are in ")
    assert built.err.count("a.csv is no UTF-8, and is read as cp1252") == 1
    assert built.err.count("a.csv are separated by a semicolon") == 1
    assert [entry[0] for entry in content(index)] == ["a:3", "b:2", "c:1", "c:2"]
    added = ammi("index", "add", index, folder, folder / "c.json")
    assert added.out.startswith("4 added, 2 replaced, 1 skipped; 8 documents are in ")
    assert "d.zip is left out: it is an archive: unpack it to read its files" in added.err
    assert "1 skipped in 2 sources: 1 archives\n" in added.err
    absent = ammi("index", "add", index, tmp_path / "*.none")
    assert (absent.code, "there is no file or folder that matches" in absent.err) == (1, True)


def test_sync_builds_and_follows(location: Location, ammi: Run, tmp_path):
    folder, index = tmp_path / "files", tmp_path / "index"
    folder.mkdir()
    for n in range(30):
        (folder / f"{n}.txt").write_text(f"a ship on the sea and a wave in the wind of day {n % 7}")
    built = ammi("index", "sync", index, folder)
    assert built.out.startswith("30 added; 30 documents are in ")
    (folder / "0.txt").unlink()
    (folder / "1.txt").write_text("a cloud")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    synced = ammi("index", "sync", index, folder)
    assert synced.out.startswith("0 added, 1 replaced, 1 deleted, 28 unchanged, 1 skipped; 29 documents are in ")
    assert f"replaced {folder / '1.txt'}\ndeleted {folder / '0.txt'}\n" in synced.err
    (folder / "only.txt").write_text("a farmer")
    value = ammi("index", "sync", index, folder, "--json").json
    assert (value["added"], value["unchanged"], value["documents"]) == ([str(folder / "only.txt")], 29, 30)
    table = write(tmp_path / "rows.jsonl", [{"text": "a ship"}])
    assert "finds documents again by their ids" in ammi("index", "sync", index, table).err
