"""What a user sees while a command works: bars on a terminal, lines elsewhere, nothing with --quiet; and Ctrl-C."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ammi import Collection
from ammi.cli import progress
from tests.cli.conftest import AMMI, ENVIRONMENT, Location, Run, ThenCtrlC, notes, write


@pytest.fixture
def often(monkeypatch) -> None:
    """A line of progress every 20 ms."""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.02)


def test_where_there_is_no_terminal_a_line_comes_every_so_often(often, capfd):
    said = ""

    def has_said(pattern: str) -> bool:
        nonlocal said
        said += capfd.readouterr().err
        return re.search(pattern, said, re.MULTILINE) is not None

    with progress.counter("counting", 100) as advance:
        advance(40)
        wait_until(lambda: has_said(r"^counting:  40/100  [\d,]+/s  \d+ s  about \d+ s left\n"))
        advance(60)
    assert has_said(r"^counting:  100/100  [\d,]+/s  \d+ s\n\Z")
    with progress.counter("thinking"):
        wait_until(lambda: has_said(r"^thinking:  \d+ s\n"))


def test_what_is_over_soon_leaves_no_line(capfd):
    with progress.counter("counting", 100) as advance:
        advance(100)
    assert capfd.readouterr().err == ""


def test_a_training_is_shown_without_a_terminal(location: Location, ammi: Run, monkeypatch, tmp_path):
    """26 minutes of silence. On a fast machine, these 30 epochs take less than any interval: here each has a line."""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0)
    shown = ammi("fit", location.source, "--out", tmp_path / "model", "--epochs", 30)
    assert len(re.findall(r"AMMI \d+/30  H\(Z\) .* docs/s", shown.err)) > 1
    assert shown.out.startswith("model ")


@pytest.mark.parametrize("before", [True, False])
def test_quiet(before, often, location: Location, ammi: Run, tmp_path):
    fit = ("fit", location.source, "--out", tmp_path / "model", "--epochs", 5)
    build = ("index", "build", tmp_path / "index", location.source, "--model", tmp_path / "model")
    for command in (fit, build, ("evaluate", tmp_path / "index", "--labels", "subject", "-k", 500)):
        done = ammi("--quiet", *command) if before else ammi(*command, "--quiet")
        assert (done.code, done.err) == (0, "")
    assert "-k 500" in ammi("evaluate", tmp_path / "index", "--labels", "subject", "-k", 500).err
    refused = ammi("search", tmp_path / "nothing", "ship", "--quiet")
    assert (refused.code, refused.err.startswith("ammi: ")) == (1, True)


def on_a_terminal(*arguments: object) -> tuple[int, str]:
    """Run a command with a terminal of 80 columns for its standard error; the exit code, and what was shown there."""
    ours, theirs = pty.openpty()
    environment = {**ENVIRONMENT, "COLUMNS": "80", "TERM": "xterm"}
    command = [str(AMMI), *map(str, arguments)]
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(command, stderr=theirs, stdout=nowhere, stdin=nowhere, env=environment) as running:
        os.close(theirs)
        shown = b""
        try:
            while more := os.read(ours, 1 << 16):
                shown += more
        except OSError:  # how Linux says that the other end is closed
            pass
        os.close(ours)
    return running.returncode, shown.decode()


@pytest.mark.slow
def test_a_terminal_has_bars(location: Location, tmp_path):
    code, shown = on_a_terminal("fit", location.source, "--out", tmp_path / "model", "--epochs", 2)
    assert code == 0
    for words in ("neighbours", "120/120", "AMMI", "2/2", "docs/s", "making rows of them"):
        assert words in shown
    many = write(tmp_path / "many.jsonl", notes(20_000))
    code, shown = on_a_terminal("info", many)
    assert (code, "reading" in shown) == (0, True)
    assert on_a_terminal("info", many, "--quiet") == (0, "")


@contextmanager
def running(*arguments: object) -> Iterator[subprocess.Popen]:
    with subprocess.Popen(
        [AMMI, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as command:
        yield command


def feed(command: subprocess.Popen, lines: str) -> None:
    assert command.stdin is not None
    command.stdin.write(lines)
    command.stdin.flush()


def wait_until(ready: Callable[[], bool], seconds: float = 600) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def interrupted(command: subprocess.Popen) -> list[str]:
    """Press Ctrl-C; what is on standard error, where lines of progress may come before the last word."""
    command.send_signal(signal.SIGINT)
    _, err = command.communicate(timeout=240)
    assert command.returncode == 130, err
    assert "Traceback" not in err
    return err.splitlines()


def reads_its_input(command: subprocess.Popen) -> bool:
    """Whether a process waits in a read."""
    return "pipe" in Path(f"/proc/{command.pid}/wchan").read_text()


@pytest.mark.slow
def test_interrupted_it_keeps_what_was_added(location: Location, tmp_path):
    index = tmp_path / "index"
    shutil.copytree(location.index, index)
    lines = "".join(json.dumps({"id": i, "text": "a ship " * 20}) + "\n" for i in range(2500))
    with Collection.open(index) as collection, running("index", "add", index, "-") as adding:
        feed(adding, lines)
        wait_until(lambda: len(collection) == 2120)
        said = interrupted(adding)[-1]
        assert said == f"Stopped: 2,000 documents were added before this, and stay in {index}"
        assert len(collection) == 2120


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_interrupted_before_an_epoch_nothing_is_written(location: Location, ammi: Run, tmp_path):
    """There was no word."""
    stopped = ammi("fit", "-", "--out", tmp_path / "model", stdin=ThenCtrlC(b"a ship\n"))
    assert (stopped.code, stopped.err) == (130, f"Stopped: {tmp_path / 'model'} was not written\n")
    assert list(tmp_path.iterdir()) == []
    shutil.copytree(location.model, tmp_path / "model")
    stopped = ammi("fit", "-", "--out", tmp_path / "model", stdin=ThenCtrlC(b"a ship\n"))
    assert (stopped.code, stopped.err) == (130, f"Stopped: {tmp_path / 'model'} is as it was\n")
    assert files_of(tmp_path / "model") == files_of(location.model)


@pytest.mark.slow
def test_interrupted_after_an_epoch_the_best_one_is_written(location: Location, ammi: Run, tmp_path):
    model, board = tmp_path / "model", tmp_path / "board"
    options = ("--epochs", 100_000, "--set", "first_bits=0", "--tensorboard", board)
    with running("fit", location.source, "--out", model, *options) as fitting:
        wait_until(lambda: any(path.read_bytes().count(b"score") > 2 for path in board.glob("events*")))
        said = "\n".join(interrupted(fitting))
    assert re.search(r"^Stopped by hand after epoch \d+; the best one so far is kept", said, re.MULTILINE)
    assert len(ammi("encode", model, location.source).lines) == 120


def test_interrupted_anywhere_else_nothing_is_changed(location: Location, ammi: Run, tmp_path):
    with running("search", location.index) as waiting:
        feed(waiting, "note-1\n")
        wait_until(lambda: reads_its_input(waiting))
        assert interrupted(waiting)[-1] == "Stopped: nothing was changed."
    out = tmp_path / "codes.npz"
    for command, sentence in (
        (("encode", location.model, "-", "--out", out), f"Stopped: {out} was not written\n"),
        (("index", "delete", location.index, "-"), "Stopped: no document was deleted.\n"),
    ):
        stopped = ammi(*command, stdin=ThenCtrlC(b"note-1\n"))
        assert (stopped.code, stopped.err) == (130, sentence)
    assert list(tmp_path.iterdir()) == []
    with Collection.open(location.index) as collection:
        assert "note-1" in collection
