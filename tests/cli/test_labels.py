"""ammi classify, outliers, index delete --where, and the words that a model does not know."""

import csv
import io
import shutil

import pytest

from ammi import LSH, Collection, DocumentHasher
from tests.cli.conftest import Run, Terminal, notes, write


@pytest.fixture
def place(location, tmp_path):
    return shutil.copytree(location.index, tmp_path / "notes")


def test_classify_prints_a_table_csv_and_json(ammi: Run, place, tmp_path):
    known = {note["id"]: note["subject"] for note in notes(12)}
    table = tmp_path / "labels.csv"
    table.write_text("id,label\n" + "".join(f"{id},{label}\n" for id, label in known.items()))
    with Collection.open(place) as collection:
        found = collection.classify(known)
    shown = ammi("classify", place, table)
    assert str(found[0].id) in shown.out
    assert "108 documents" in shown.err
    assert "learned from 12" in shown.err
    assert shown.out.count("note-") == 20
    rows = list(csv.DictReader(io.StringIO(ammi("classify", place, table, "--csv").out)))
    assert [row["id"] for row in rows] == found.ids
    lines = ammi("classify", place, table, "--json", "--sure", "-n", 3).lines
    assert [line["id"] for line in lines] == found.ids[::-1][:3]
    assert set(lines[0]["probabilities"]) == {"sea", "sky", "field"}
    as_lines = write(tmp_path / "labels.jsonl", [{"id": id, "label": [label]} for id, label in known.items()])
    assert ammi("classify", place, as_lines, "--csv").out == ammi("classify", place, table, "--csv").out


def test_classify_by_a_key(ammi: Run, place):
    with Collection.open(place) as collection:
        collection.set_metadata(["note-0", "note-1", "note-2"], [{"topic": name} for name in ("sea", "sky", "field")])
    assert len(ammi("classify", place, "--key", "topic", "--json").lines) == 117


def test_classify_says_what_is_wrong(ammi: Run, place, tmp_path):
    assert ammi("classify", place).code == 2
    bad = tmp_path / "bad.csv"
    bad.write_text("id,subject\nnote-1,sea\n")
    assert "has no column 'label': expected id and label, and found id, subject" in ammi("classify", place, bad).err


def test_outliers_as_a_table_csv_and_json(ammi: Run, place):
    with Collection.open(place) as collection:
        found = collection.outliers(3)
    assert str(found[0].id) in ammi("outliers", place, "-k", 3).out
    assert [line["id"] for line in ammi("outliers", place, "-k", 3, "--json").lines] == [one.id for one in found]
    rows = list(csv.DictReader(io.StringIO(ammi("outliers", place, "-k", 3, "--csv").out)))
    assert [row["id"] for row in rows] == [one.id for one in found]


def test_delete_by_a_filter_asks_and_deletes(ammi: Run, place):
    where = ("--where", "year<1982", "--where", "subject=sea")
    refused = ammi("index", "delete", place, *where)
    assert refused.code == 2
    assert "--yes" in refused.err
    kept = ammi("index", "delete", place, *where, stdin=Terminal(b"n\n"))
    assert kept.code == 0
    assert "Delete 20 documents from" in kept.err
    assert "no document was deleted" in kept.err
    assert "note-0" in kept.err
    assert "and 15 more" in kept.err
    gone = ammi("index", "delete", place, *where, "--json", stdin=Terminal(b"y\n"))
    assert gone.json == {"location": str(place), "deleted": 20, "documents": 100}
    assert ammi("index", "delete", place, "--where", "subject=sea", "--yes", "--json").json["deleted"] == 20
    assert "0 deleted; 80 documents" in ammi("index", "delete", place, "--where", "subject=sea", "--yes").out
    assert "'sbject'" in ammi("index", "delete", place, "--where", "sbject=sea", "--yes").err


@pytest.mark.parametrize("arguments", [(), ("note-1", "--where", "year<1982"), ("note-1", "--yes")])
def test_delete_takes_ids_or_a_filter(ammi: Run, place, arguments):
    assert ammi("index", "delete", place, *arguments).code == 2


def test_unknown_words_are_reported_and_a_model_learned_anew_knows_them(ammi: Run, place, tmp_path):
    (before,) = ammi("info", place, "--json").json["unknown_words"].values()
    assert before["unknown"] == 0
    assert before["words"] > 500
    news = [{"id": f"new-{n}", "text": "gluon lepton boson of the ship"} for n in range(100)]
    ammi("index", "add", place, write(tmp_path / "news.jsonl", news))
    (after,) = ammi("info", place, "--json").json["unknown_words"].values()
    assert after == {"words": before["words"] + 600, "unknown": 300, "share": round(300 / (before["words"] + 600), 4)}
    shown = ammi("info", place)
    assert f"{after['share']:.1%}" in shown.out
    assert "rebuild" in shown.err
    done = ammi("index", "rebuild", place, "--learn", "--json")
    assert done.code == 0, done.err
    assert done.json["unknown_before"] == after["share"]
    assert done.json["unknown_after"] == 0
    assert done.json["model"] != done.json["old_model"]
    assert done.json["bits"] == 16
    counted = ammi("info", place, "--json").json["unknown_words"]
    assert [(when[:7], one["unknown"]) for when, one in counted.items()] == [("before ", 0)]
    assert ammi("index", "rebuild", place).code == 2


def test_a_collection_without_counts_shows_a_sample(ammi: Run, place):
    with Collection.open(place) as collection, collection.store._writing():
        collection.store._keep_word_counts(b"{}")
    assert list(ammi("info", place, "--json").json["unknown_words"]) == ["in a sample"]


def test_counts_are_copied_and_backed_up(place, tmp_path):
    with Collection.open(place) as collection:
        counts = collection.store.word_counts()
        assert sum(one.words for one in counts.values()) > 0
        collection.copy(tmp_path / "copy")
        collection.copy(tmp_path / "copy")  # goes on with an earlier copy, which has the counts
        collection.backup(tmp_path / "backup")
    Collection.restore(tmp_path / "backup", tmp_path / "restored")
    assert Collection.check(place) == []
    for copied in ("copy", "restored"):
        with Collection.open(tmp_path / copied) as found:
            assert found.store.word_counts() == counts


def test_vectors_are_learned_from_anew(ammi: Run, tmp_path):
    import numpy as np

    vectors = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)
    from ammi.hashers import ITQ

    for name, kept in (("kept", "float16"), ("gone", None)):
        with Collection.create(tmp_path / name, ITQ(8, random_state=0).fit(vectors[:30]), vectors=kept) as collection:
            collection.add(vectors)
    assert ammi("index", "rebuild", tmp_path / "kept", "--learn", "--json").json["unknown_after"] is None
    assert "keeps no vectors to learn from" in ammi("index", "rebuild", tmp_path / "gone", "--learn").err


def test_both_ways_of_counting_words_agree():
    texts = ["The pilot's 3 wings, und Größe", "naïve café 東京 タワー x", "", "wing"]
    model = DocumentHasher(LSH(8, random_state=0)).fit(texts[::3])
    from ammi.stored_model import StoredModel

    stored = StoredModel.of(model)
    assert stored.quick is not None
    assert stored.quick.count_words(texts) == model.count_words(texts)
