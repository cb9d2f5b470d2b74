"""Disks that are full, at every step of what is written: a sentence, and what was there is whole.

A disk in memory (tmpfs, which only root may mount) has room for what was there and some pages more, from none to
enough.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from ammi import Collection, load
from ammi.data import read_codes
from ammi.search import HammingIndex, check_store, repair_store
from ammi.search.copying import backup_store, copy_store, restore_store
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
    tempfile.tempdir = str(location)  # where a repair puts a copy of a file whose header is damaged
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


def _damaged_index(folder: Path) -> None:
    """An index of which one document is not as it was written."""
    _index(folder)
    jobs.change_index(folder / "index", 0, 12, lambda step: None)
    with HammingIndex.open(folder / "index") as index, index._writing():
        (first,) = index._database.execute("SELECT MIN(position) FROM texts").fetchone()
        index._database.execute("UPDATE texts SET text = text || '.' WHERE position = ?", (first,))


def _cut_index(folder: Path) -> None:
    """A damaged index, of whose file the last page is missing."""
    _damaged_index(folder)
    file = folder / "index" / "index.sqlite"
    os.truncate(file, file.stat().st_size - PAGE)


def _repair(location: Path) -> None:
    repair_store(location / "index")


def _intact(folder: Path) -> Any:
    """What another repair finds intact: as much as there was, unless the first one lost something."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder / "index", Path(copy, "index"))
        repair_store(Path(copy, "index"))
        assert check_store(Path(copy, "index")) == []
        return content_at(Path(copy, "index"))


def _half_empty_index(folder: Path) -> None:
    _index(folder)
    jobs.change_index(folder / "index", 0, 12, lambda step: None)
    with HammingIndex.open(folder / "index") as index:
        index.delete(list(index)[::2])


def _compact(location: Path) -> None:
    with HammingIndex.open(location / "index") as index:
        index.compact()


def _check(location: Path) -> None:
    if damage := check_store(location / "index"):
        raise AssertionError(f"a sound index is called damaged: {damage}")


def _read(location: Path) -> None:
    """Read all, which must succeed on any disk."""
    try:
        with HammingIndex.open(location / "index") as index:
            assert len(list(index)) == len(index) == sum(map(len, index.entries()))
            index.search(next(index.entries())[0].code[None], where={"step": {">=": 0}})
    except OSError as error:
        raise AssertionError(f"it could not be read: {error}") from error


def _whole_index(folder: Path) -> Any:
    assert check_store(folder / "index") == []
    return content_at(folder / "index")


def _copy(location: Path) -> None:
    with HammingIndex.open(location / "index") as index:
        copy_store(index, location / "copy")


def _copied(folder: Path) -> Any:
    """The source, and whether all of it was copied; what was copied is the beginning of it."""
    source, copied = content_at(folder / "index"), []
    with suppress(FileNotFoundError):  # nothing was begun
        copied = content_at(folder / "copy")
    assert copied == source[: len(copied)]
    return source, copied == source


def _back_up(location: Path) -> None:
    with HammingIndex.open(location / "index") as index:
        backup_store(index, location / "backup")


def _backed_up(folder: Path) -> Any:
    """The source, and whether there is a backup, which is whole."""
    if not (folder / "backup").exists():
        return content_at(folder / "index"), False
    with tempfile.TemporaryDirectory() as copy:
        restore_store(folder / "backup", Path(copy, "index"))
        assert content_at(Path(copy, "index")) == content_at(folder / "index")
    return content_at(folder / "index"), True


def _index_and_backup(folder: Path) -> None:
    _half_empty_index(folder)
    _back_up(folder)
    jobs.change_index(folder / "index", 12, 13, lambda step: None)


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
    "repair": Work(_damaged_index, _repair, _intact),
    "repair of a file cut short": Work(_cut_index, _repair, _intact),
    "compact": Work(_half_empty_index, _compact, _whole_index),
    "check": Work(_half_empty_index, _check, _whole_index),
    "read": Work(_half_empty_index, _read, _whole_index),
    "copy": Work(_half_empty_index, _copy, _copied),
    "backup": Work(_half_empty_index, _back_up, _backed_up),
    "restore": Work(
        _index_and_backup,
        lambda location: ["index", "restore", location / "backup", location / "index"],
        _whole_index,
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
