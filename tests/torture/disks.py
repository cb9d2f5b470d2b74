"""Disks that are full, at every step of what is written: a sentence, and what was there is whole.

A disk in memory (tmpfs, which only root may mount) has room for what was there and some pages more, from none to
enough.
"""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ammi import Collection, load
from ammi.data import read_codes
from ammi.search import HammingIndex
from tests.torture import jobs, runs
from tests.torture.commands import FORK, run
from tests.torture.crashes import content_at
from tests.torture.outcome import Outcome

PAGE = 4096
_MOST = 2**16  # pages that are enough for anything here


class Work(NamedTuple):
    """What is there before, what is done on the disk, and what is there after it or where it was refused."""

    prepare: Callable[[Path], None]
    do: Callable[[Path], list[object] | None]  # a command to run, or None where it was done
    look: Callable[[Path], Any]


@contextmanager
def disk(location: Path, before: Path, pages: int) -> Iterator[None]:
    """A disk with a copy of `before`, and room for so many pages more."""
    location.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1g", "tmpfs", location], check=True)
    try:
        shutil.copytree(before, location, dirs_exist_ok=True)
        used = shutil.disk_usage(location).used
        subprocess.run(["mount", "-o", f"remount,size={used + pages * PAGE}", location], check=True)
        yield
    finally:
        subprocess.run(["umount", location], check=True)


def fill(folder: Path, tries: int, work: Work) -> Outcome:
    """Do the work with more and more room, in about so many steps."""
    outcome = Outcome()
    before, location = folder / "before", folder / "disk"
    before.mkdir()
    work.prepare(before)
    old = work.look(before)
    enough, ended = 8, ""
    while ended != "done":
        enough *= 2
        assert enough < _MOST, f"it does not end well with {enough // 2} pages: {ended}"
        with disk(location, before, enough):
            ended = _done(work, location)
            new = _looked(work.look, location)
    for room in range(0, enough, max(1, enough // tries)):
        with disk(location, before, room):
            ended = _done(work, location)
            subprocess.run(["mount", "-o", "remount,size=1g", location], check=True)
            found = _looked(work.look, location)
        if ended == "done":
            outcome.good("done") if found == new else outcome.bad(f"{room} pages: done, but {found!r:.300}")
        elif ended.startswith("refused") and found in (old, new):
            outcome.good("refused")
        else:
            outcome.bad(f"{room} pages: {ended:.300}, then {found!r:.300}")
    return outcome


def _looked(look: Callable[[Path], Any], location: Path) -> Any:
    try:
        return look(location)
    except Exception as error:
        return repr(error)


def _done(work: Work, location: Path) -> str:
    """How the work ended, in a process of its own."""
    receiving, sending = FORK.Pipe(duplex=False)
    process = FORK.Process(target=lambda: sending.send(_do(work, location)))
    process.start()
    sending.close()
    try:
        return receiving.recv()
    except EOFError:
        return "died"
    finally:
        process.join()


def _do(work: Work, location: Path) -> str:
    try:
        command = work.do(location)
    except (OSError, ValueError) as error:
        return f"refused: {error}"
    except Exception as error:
        return f"failed: {error!r}"
    if command is None:
        return "done"
    ended = run(command)
    return "done" if ended.code == 0 else f"refused: {ended.said}" if ended.cleanly else f"failed: {ended}"


def _change(location: Path) -> None:
    jobs.change_index(location / "index", 0, 1, lambda step: None)


def _index(folder: Path) -> None:
    HammingIndex.create(folder / "index", jobs.N_BITS, keys=["step"]).close()


def _documents_and_model(folder: Path) -> None:
    runs.documents(folder / "docs.jsonl")
    runs.model(0).save(folder / "model")
    runs.model(1).save(folder / "other")


def _collection(folder: Path) -> None:
    _documents_and_model(folder)
    run(["index", "build", folder / "index", folder / "docs.jsonl", "--model", folder / "model"])


def _codes(folder: Path) -> Any:
    file = folder / "codes.npz"
    return read_codes(file).codes.tobytes() if file.exists() else None


def _collection_content(folder: Path) -> Any:
    with Collection.open(folder / "index") as collection:
        return collection.fingerprint, [(one.id, one.code.tobytes(), one.text) for one in collection]


def _exported(folder: Path) -> Any:
    file = folder / "all.jsonl"
    return file.read_text() if file.exists() else None


def _fitted(folder: Path) -> Any:
    return load(folder / "fitted").fingerprint_ if (folder / "fitted").exists() else None


WORKS = {
    "change of an index": Work(_index, _change, lambda folder: content_at(folder / "index")),
    "save": Work(
        _documents_and_model,
        lambda location: runs.model(1).save(location / "model"),
        lambda folder: load(folder / "model").fingerprint_,
    ),
    "encode": Work(
        _documents_and_model,
        lambda location: ["encode", location / "model", location / "docs.jsonl", "--out", location / "codes.npz"],
        _codes,
    ),
    "build": Work(
        _collection,
        lambda location: ["index", "add", location / "index", location / "docs.jsonl"],
        lambda folder: len(_collection_content(folder)[1]),
    ),
    "rebuild": Work(
        _collection,
        lambda location: ["index", "rebuild", location / "index", "--model", location / "other"],
        _collection_content,
    ),
    "export": Work(
        _collection, lambda location: ["index", "export", location / "index", location / "all.jsonl"], _exported
    ),
    "fit with a checkpoint": Work(
        _documents_and_model,
        lambda location: [
            *("fit", location / "docs.jsonl", "--bits", 16, "--set", "epochs=3", "--seed", 0),
            *("--set", f"checkpoint={location / 'run'}", "--out", location / "fitted"),
        ],
        _fitted,
    ),
    "tune": Work(
        _documents_and_model,
        lambda location: [
            *("tune", "ammi", location / "docs.jsonl", "--labels", "labels", "--bits", 16, "--trials", 2),
            *("--set", "epochs=1", "--out", location / "tuned"),
        ],
        lambda folder: (folder / "tuned" / "best.json").exists(),
    ),
}
