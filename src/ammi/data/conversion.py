"""Texts of PDF, Office, HTML, e-mail and books, which processes of their own make (`converter.py`).

A broken or hostile file ends its process, or is ended after half a minute; the next file gets a new one.
"""

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from queue import Empty, Queue
from typing import Any, NamedTuple, TypeVar

from ammi.data.converter import MIME_TYPES, MOST_MEMORY, MOST_SECONDS

CONVERTED = {*MIME_TYPES, ".eml", ".mbox"}  # endings

_PROGRAM = Path(__file__).with_name("converter.py")
_MOST_PROCESSES = 4
_AHEAD = 4  # files that a process is told of before the first one is done
_PATIENCE = 90  # seconds beyond those of the processor, of which a busy machine gives less
# Nothing is fetched; if a library tried, it would reach no one.
_OFFLINE = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
T = TypeVar("T")


class Converted(NamedTuple):
    """A part of a file that has a text, or why the file ends here: its kind, for counting, and the reason."""

    text: str
    metadata: dict[str, Any]
    unread: tuple[str, str] | None = None


def convert(files: Iterable[tuple[T, Path]]) -> Generator[tuple[T, Iterator[Converted]], None, None]:
    """Yield each file's key and its parts, in order; parts must be read before the next file is.

    Several processes convert the next files meanwhile.
    """
    coming = iter(files)
    with _processes() as processes:
        waiting: deque[tuple[T, _Process]] = deque()

        def ask() -> None:
            for key, path in islice(coming, 1):
                process = min(processes, key=lambda one: len(one.asked))
                process.ask(path)
                waiting.append((key, process))

        for _ in range(_AHEAD * len(processes)):
            ask()
        while waiting:
            key, process = waiting.popleft()
            yield key, process.parts()
            ask()


@contextmanager
def _processes() -> "Iterator[list[_Process]]":
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    processes = [_Process() for _ in range(min(cores, _MOST_PROCESSES))]
    try:
        yield processes
    finally:
        for process in processes:
            process.stop()


class _Process:
    """A process that converts one file after the other; it is started when it is needed, and again after a crash."""

    def __init__(self) -> None:
        self.asked: deque[Path] = deque()
        self._running: subprocess.Popen[bytes] | None = None
        self._answers: Queue[bytes] = Queue(maxsize=64)  # b"" at the end

    def ask(self, path: Path) -> None:
        """Have a file converted after those before it."""
        self.asked.append(path)
        if self._running is None:
            self._start()
        else:
            self._send(path)

    def parts(self) -> Iterator[Converted]:
        """Yield the parts of the first file that was asked for."""
        while True:
            try:
                line = self._answers.get(timeout=MOST_SECONDS + _PATIENCE)
            except Empty:
                yield self._failed(f"it takes longer than {MOST_SECONDS} seconds")
                return
            if not line:
                yield self._failed(f"its reader failed, or wanted more than {MOST_MEMORY >> 30} GB of memory")
                return
            answer = json.loads(line)
            if (end := answer.get("end")) is not None:
                self.asked.popleft()
                if end:
                    yield Converted("", {}, (end[0], end[1]))
                return
            places = {key: answer[key] for key in ("page", "message") if key in answer}
            yield Converted(answer["text"], {**answer["metadata"], **places})

    def stop(self) -> None:
        """End the process."""
        if self._running is None:
            return
        self._running.kill()
        while self._answers.get():  # so that the thread that fills the queue ends
            pass
        self._running.wait()
        for pipe in (self._running.stdin, self._running.stdout):
            if pipe:
                pipe.close()
        self._running = None

    def _failed(self, reason: str) -> Converted:
        self.stop()
        self.asked.popleft()
        if self.asked:
            self._start()
        return Converted("", {}, ("not readable", reason))

    def _start(self) -> None:
        self._answers = Queue(maxsize=64)
        self._running = subprocess.Popen(
            [sys.executable, "-P", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_OFFLINE},
            start_new_session=True,  # Ctrl-C is for the process that reads
        )
        threading.Thread(target=_fill, args=(self._running.stdout, self._answers), daemon=True).start()
        for path in self.asked:
            self._send(path)

    def _send(self, path: Path) -> None:
        assert self._running is not None
        assert self._running.stdin is not None
        try:
            self._running.stdin.write(json.dumps([str(path), path.suffix.lower()]).encode() + b"\n")
            self._running.stdin.flush()
        except OSError:  # it has ended; `parts` finds out
            pass


def _fill(lines: Any, answers: "Queue[bytes]") -> None:
    for line in lines:
        answers.put(line)
    answers.put(b"")
