"""How the tests run commands: in this process, which saves the seconds that torch takes, or in one of their own."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ammi.cli import main
from ammi.data.registry import corpus_path

AMMI = Path(sys.executable).with_name("ammi")
ENVIRONMENT = {**os.environ, "COLUMNS": "100", "OMP_NUM_THREADS": "1"}


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Result]


class ThenCtrlC(io.RawIOBase):
    """Some input, after which whoever reads on is sent the signal of Ctrl-C."""

    def __init__(self, content: bytes):
        self.content = content

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.content:
            signal.raise_signal(signal.SIGINT)
        part, self.content = self.content[: len(buffer)], self.content[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


class Terminal(ThenCtrlC):
    """Lines typed at a terminal, and then Ctrl-C."""

    def isatty(self) -> bool:
        return True


def exit_code(*arguments: object, stdin: str | io.RawIOBase = "") -> int:
    """Run a command through the same function as the installed program."""
    piped = io.BytesIO(stdin.encode()) if isinstance(stdin, str) else io.BufferedReader(stdin)
    before = signal.getsignal(signal.SIGPIPE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "100")
        patch.setattr(sys, "argv", ["ammi", *map(str, arguments)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(piped, encoding="utf-8"))
        with pytest.raises(SystemExit) as ended:
            main()
    signal.signal(signal.SIGPIPE, before)
    return ended.value.code  # type: ignore[return-value]


@pytest.fixture
def ammi(capfd) -> Run:
    """Run a command in this process, and see what it wrote and its exit code."""

    def run(*arguments: object, stdin: str | io.RawIOBase = "") -> Result:
        capfd.readouterr()
        return Result(exit_code(*arguments, stdin=stdin), *capfd.readouterr())

    return run


def process(*arguments: object, stdin: str = "", **options: Any) -> Result:
    """Run a command as a process of its own."""
    command = [str(AMMI), *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=240, env=ENVIRONMENT, **options)
    return Result(done.returncode, done.stdout, done.stderr)


def write(path: Path, documents: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents))
    return path


def corpus(name: str, n: int) -> list[dict[str, Any]]:
    """Documents from all parts of a corpus of the data folder."""
    try:
        path = corpus_path(name)
    except (FileNotFoundError, ValueError) as error:
        pytest.skip(f"needs the corpus {name}: {error}")
    with gzip.open(path, "rt") as file:
        lines = file.readlines()
    return [json.loads(line) for line in lines[:: len(lines) // n][:n]]


SUBJECTS = {
    "sea": ["ship", "harbour", "sailor", "wave", "anchor", "tide"],
    "sky": ["cloud", "wing", "pilot", "wind", "runway", "altitude"],
    "field": ["wheat", "plough", "farmer", "harvest", "barley", "soil"],
}


def notes(n: int = 120) -> list[dict[str, Any]]:
    """Documents of three subjects, which number 7 and its like share out among them."""
    names = list(SUBJECTS)
    return [
        {
            "id": f"note-{i}",
            "text": " ".join(SUBJECTS[names[i % 3]][(i * step) % 6] for step in (1, 2, 3, 5, 7)) + " of the day",
            "subject": names[i % 3],
            "year": 1980 + i % 4,
        }
        for i in range(n)
    ]


@dataclass(frozen=True)
class Location:
    """A corpus, a model of it, and a collection of it."""

    source: Path
    model: Path
    index: Path


@pytest.fixture(scope="session")
def location(tmp_path_factory) -> Location:
    folder = tmp_path_factory.mktemp("location")
    made = Location(write(folder / "notes.jsonl", notes()), folder / "model", folder / "index")
    options = ("--bits", 16, "--set", "batch_size=16", "--set", "learning_rate=0.03", "--epochs", 20)
    assert exit_code("fit", made.source, "--out", made.model, *options) == 0
    assert exit_code("index", "build", made.index, made.source, "--model", made.model) == 0
    return made
