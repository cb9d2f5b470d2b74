"""`ammi data pairs` as users type it."""

import sys
from pathlib import Path

import pytest

from ammi.data.pairs import read_pair_texts, read_pairs
from tests.cli.conftest import Run, notes, write
from tests.tuning.test_pair_sets import conversation, essays, newspaper


@pytest.fixture
def news(tmp_path) -> Path:
    return write(tmp_path / "news.jsonl", [{"id": d.id, "text": d.text, **d.metadata} for d in newspaper()])


def test_pairs_of_articles(ammi: Run, news, tmp_path):
    out = tmp_path / "pairs"
    made = ammi("data", "pairs", news, "--out", out, "--vocabulary", 200, "--days", 3, "--json").json
    assert (made["folder"], made["source"], made["days"], made["documents"]) == (str(out), str(news), 3, 60)
    assert made["pairs"] == {"train": 18, "cv": 6, "test": 6}
    assert read_pairs(out).train[0].shape == (18, made["words"])
    shown = ammi("data", "pairs", news, "--out", out, "--vocabulary", 200, "--held-out", 0.1)
    assert shown.code == 0
    assert [line.split()[-1] for line in shown.out.splitlines()[-3:]] == ["24", "3", "3"]
    assert f"The pairs that {out} held are replaced." in shown.err  # and not in silence
    assert f"Next: ammi fit {out}" in shown.err
    fitted = ammi("fit", out, "--out", tmp_path / "model", "--bits", 8, "--epochs", 1, "--json").json
    assert fitted["pairs"] == 24
    assert "matching_at_100" not in fitted  # 3 pairs tell nothing


def test_pairs_of_messages(ammi: Run, tmp_path):
    documents = [{"id": d.id, "text": d.text, **d.metadata} for d in conversation()]
    source = write(tmp_path / "letters.jsonl", documents)
    options = ("--out", tmp_path / "pairs", "--replies", "--vocabulary", 90)
    assert ammi("data", "pairs", source, *options, "--json").json["pairs"]["train"] == 12
    assert len(read_pair_texts(tmp_path / "pairs")["test"]) == 4
    refused = ammi("data", "pairs", source, *options, "--days", 3)
    assert refused.code == 2
    assert "replies and halves are found without dates" in refused.err
    refused = ammi("data", "pairs", source, *options, "--halves")
    assert refused.code == 2
    assert "choose one of the two" in refused.err


def test_halves_of_texts_of_several_sources(ammi: Run, tmp_path):
    texts = [{"id": d.id, "text": d.text} for d in essays(22)]
    sources = [write(tmp_path / f"{i}.jsonl", texts[start:end]) for i, (start, end) in enumerate(((0, 8), (8, 22)))]
    made = ammi("data", "pairs", *sources, "--out", tmp_path / "pairs", "--halves", "--vocabulary", 90, "--json").json
    assert made["source"] == f"{sources[0]} and {sources[1]}"
    assert made["documents"] == sum(made["pairs"].values()) == 22


def test_what_cannot_be_paired_is_refused_in_a_sentence(ammi: Run, news, tmp_path, monkeypatch):
    def refused(complaint: str, source: Path, *options: object) -> None:
        result = ammi("data", "pairs", source, "--out", tmp_path / "pairs", *options)
        assert result.code == 1
        assert result.err.startswith("ammi: ")
        assert complaint in result.err
        assert len(result.err.splitlines()) == 1
        assert not (tmp_path / "pairs").exists()

    undated = write(tmp_path / "notes.jsonl", notes())
    refused("none of 120 documents has a date in its column 'date': expected one such as", undated)
    refused("none of 120 documents answers another: expected the columns 'message_id'", undated, "--replies")
    refused("too few pairs were found to hold out 1% of them: 30", news, "--held-out", 0.01)
    refused("there is no file or folder", tmp_path / "nothing.jsonl")
    monkeypatch.setitem(sys.modules, "bm25s", None)
    refused("needs bm25s: pip install 'ammi[paper]'", news)
