"""Lines of progress on a real pseudo-terminal and in a file; and silence."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import pytest

from ammi.training.progress import AsPart, Lines, Silent, measured


def row(epoch: int) -> dict[str, float]:
    return {
        "epoch": epoch,
        "entropy": 7.25,
        "conditional_entropy": 1.0,
        "information": 6.25,
        "seconds": 1.0,
        "documents_per_second": 12345.6,
        "score": 80.0,
    }


SHOWN = "H(Z) 7.2  H(Z|Y) 1.0  I 6.2  valid 80.0  12,346 docs/s"


def test_what_an_epoch_measured_is_said_in_short():
    assert measured(row(1)) == SHOWN
    assert measured({"epoch": 1, "divergence": 3.0, "documents_per_second": 7.0}) == "divergence 3.0  7 docs/s"


@contextmanager
def terminal() -> Iterator[tuple[TextIO, int]]:
    """A stream that is a terminal, and the other end of it."""
    shown, stream = os.openpty()
    with os.fdopen(stream, "w") as file:
        yield file, shown
    os.close(shown)


def read(shown: int, n_lines: int) -> str:
    """What the terminal was sent, up to the end of this many lines."""
    found = b""
    while found.count(b"\n") < n_lines:
        found += os.read(shown, 10_000)
    return found.decode().replace("\r\n", "\n")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo-terminals")
def test_on_a_terminal_one_line_is_written_over():
    with terminal() as (stream, shown):
        with Lines("AMMI", stream) as lines:
            advance = lines.part("neighbours", 2000)
            advance(1000)
            advance(1000)
            lines.epoch(row(1), 40)
            lines.epoch(row(2), 40)
        assert read(shown, 1) == (
            "\rAMMI: neighbours 1,000 of 2,000\rAMMI: neighbours 2,000 of 2,000"
            f"\rAMMI 1/40  {SHOWN}\rAMMI 2/40  {SHOWN}\n"
        )


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo-terminals")
def test_a_shorter_line_covers_the_longer_one_and_a_sentence_has_its_own():
    with terminal() as (stream, shown):
        with Lines("AMMI", stream) as lines:
            advance = lines.part("a long name", 10)
            advance(5)
            lines.part("a", 1)(1)
            lines.say("Stopped.")
            lines.epoch(row(1), 40)
        first = "AMMI: a long name 5 of 10"
        assert read(shown, 3) == f"\r{first}\r{'AMMI: a 1 of 1'.ljust(len(first))}\nStopped.\n\rAMMI 1/40  {SHOWN}\n"


def test_in_a_file_there_is_a_line_every_so_often_and_one_at_the_end(tmp_path, monkeypatch):
    now = 0.0
    monkeypatch.setattr("ammi.training.progress.time.monotonic", lambda: now)
    with (tmp_path / "log").open("w+") as file:
        with Lines("AMMI", file, seconds_between=0.2) as lines:
            lines.epoch(row(1), 40)
            now = 0.25
            lines.epoch(row(2), 40)
            lines.epoch(row(3), 40)
            lines.epoch(row(4), 40)
        file.seek(0)
        assert file.read() == f"AMMI 2/40  {SHOWN}\nAMMI 4/40  {SHOWN}\n"


def test_a_run_that_is_short_still_shows_where_it_ended(tmp_path):
    with (tmp_path / "log").open("w+") as file:
        with Lines("AMMI", file) as lines:
            lines.part("neighbours", 10)(10)
            lines.epoch(row(1), 40)
        file.seek(0)
        assert file.read() == f"AMMI 1/40  {SHOWN}\n"


def test_a_sentence_is_said_at_once_and_ends_what_was_waiting(tmp_path):
    with (tmp_path / "log").open("w+") as file:
        with Lines("AMMI", file) as lines:
            lines.epoch(row(1), 40)
            lines.say("Stopped.")
        file.seek(0)
        assert file.read() == "Stopped.\n"


def test_it_goes_to_standard_error_unless_told_otherwise(capsys):
    with Lines("AMMI") as lines:
        lines.say("to be read")
    assert capsys.readouterr() == ("", "to be read\n")
    assert lines._stream is sys.stderr


def test_nothing_is_shown_in_silence(capsys):
    with Silent() as silent:
        silent.part("neighbours", 10)(10)
        silent.epoch(row(1), 40)
        silent.say("nothing")
    assert capsys.readouterr() == ("", "")


def test_a_run_that_is_part_of_another_one_is_a_part_of_what_is_shown():
    with io.StringIO() as stream:
        with Lines("AMMI", stream, seconds_between=0) as lines, AsPart(lines, "first model") as part:
            part.part("neighbours", 9)(9)
            part.epoch(row(1), 2)
            part.epoch(row(2), 2)
        shown = stream.getvalue().splitlines()
    assert shown == ["AMMI: neighbours 9 of 9", "AMMI: first model 1 of 2", "AMMI: first model 2 of 2"]
