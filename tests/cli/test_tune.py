"""`ammi tune` as users type it: what it writes, that a kill loses nothing, and what it refuses."""

import io
import json
import sqlite3
import subprocess
import time
from contextlib import closing

import pytest
from rich.console import Console

from ammi.cli.progress import Screen
from tests.cli.conftest import AMMI, ENVIRONMENT, Run, notes, write

OPTIONS = ("--labels", "subject", "--bits", 8, "--set", "neighbours=0", "--set", "batch_size=16")


@pytest.fixture
def source(tmp_path):
    return write(tmp_path / "notes.jsonl", notes())


def trials(folder) -> list[dict]:
    return json.loads((folder / "trials.json").read_text())["trials"]


@pytest.mark.slow
def test_what_is_found_is_what_fit_takes(ammi: Run, source, tmp_path):
    out = tmp_path / "tuned"
    found = ammi("tune", "ammi", source, *OPTIONS, "--set", "epochs=2", "--trials", 3, "--out", out, "--json")
    assert found.code == 0
    assert found.json["parameters"].items() >= {"neighbours": 0, "batch_size": 16, "epochs": 2}.items()
    assert {path.name for path in out.iterdir()} >= {"best.json", "trials.json", "history.png", "study.db"}
    fitted = ammi("fit", source, "--config", out / "best.json", "--out", tmp_path / "model", "--json")
    assert fitted.json["bits"] == 8
    config = json.loads((tmp_path / "model" / "hasher" / "config.json").read_text())
    assert config["parameters"].items() >= found.json["parameters"].items()

    shown = ammi("tune", "ammi", source, *OPTIONS, "--set", "epochs=2", "--trials", 3, "--out", out)
    assert "The best of 3 trials" in shown.out
    assert "learning_rate" in shown.out
    assert f"ammi fit SOURCE --config {out / 'best.json'}" in " ".join(shown.err.split())


def test_progress_is_told_in_lines_where_there_is_no_terminal(ammi: Run, source, tmp_path):
    told = ammi("tune", "ammi", source, *OPTIONS, "--set", "epochs=1", "--trials", 2, "--out", tmp_path / "tuned")
    first, second, *_ = told.err.splitlines()
    assert first.startswith("notes ammi 8 bits: 1 of 2 trials, best ")
    assert second.startswith("notes ammi 8 bits: 2 of 2 trials, best ")


def test_progress_is_a_bar_on_a_terminal(monkeypatch):
    terminal = Console(file=io.StringIO(), force_terminal=True, width=100)
    monkeypatch.setattr("ammi.cli.screen.notes", terminal)
    with Screen().search("notes ammi 8 bits", 3, finished=1) as view:
        view.epoch(1, 4, 61.5)
        view.trial(2, 62.25)
    assert isinstance(terminal.file, io.StringIO)
    assert all(part in terminal.file.getvalue() for part in ("notes ammi 8 bits", "2/3", "best 62.25"))


@pytest.mark.slow
def test_a_killed_search_goes_on(ammi: Run, source, tmp_path):
    out = tmp_path / "tuned"
    arguments = ["tune", "ammi", source, *OPTIONS, "--set", "epochs=150", "--set", "patience=150", "--out", out]
    search = subprocess.Popen([AMMI, *map(str, arguments)], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    while not epochs_reported(out / "study.db"):
        assert search.poll() is None
        time.sleep(0.05)
    search.kill()
    search.wait()
    assert ammi(*arguments, "--trials", 2).code == 0
    first, second = trials(out)
    assert (first["trial"], second["trial"]) == (1, 2)  # 0 was killed
    assert first["parameters"]["learning_rate"] == 0.01  # and its parameters, the defaults, were tried again


def epochs_reported(database) -> int:
    try:
        with closing(sqlite3.connect(database)) as connection:
            return connection.execute("SELECT COUNT(*) FROM trial_intermediate_values").fetchone()[0]
    except sqlite3.OperationalError:  # it is not there yet
        return 0


def test_what_cannot_be_searched_is_refused_in_a_sentence(ammi: Run, source, tmp_path):
    out = ("--out", tmp_path / "tuned")
    assert "lsh has nothing to tune" in ammi("tune", "lsh", source, "--labels", "subject", *out).err
    assert "no method 'amni'" in ammi("tune", "amni", source, "--labels", "subject", *out).err
    assert "ammi has no parameter 'order_'" in ammi("tune", "ammi", source, "--set", "order_=1", *out).err
    assert "n_bits is no hyperparameter" in ammi("tune", "ammi", source, "--set", "n_bits=8", *out).err
    assert "documents need --labels COLUMN" in ammi("tune", "ammi", source, *out).err
    for option in ("--text", "--id", "--vector", "--format", "--on-error"):
        ignored = ammi("tune", "ammi", "reuters", option, "skip", *out)
        assert (ignored.code, f"Invalid value for '{option}': it is for documents" in ignored.err) == (2, True)
    refused = ammi("tune", "ammi", source, "--labels", "topic", *out)
    assert refused.code == 1
    assert "no document in" in refused.err
    assert not (tmp_path / "tuned").exists()
