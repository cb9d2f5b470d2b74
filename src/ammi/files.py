"""Files and folders that appear whole or not at all: what is replaced is there until the new one takes its place."""

import ctypes
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of Linux


@contextmanager
def replacing_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which takes its place, or that of the one before it, when the block ends without an error."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for {path.name}: make it first")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with open(unfinished, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """An empty folder to fill, which takes its place, or that of the one before it, when the block ends well."""
    if folder.is_file():
        raise NotADirectoryError(f"{folder} is a file: name a folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as beside:
        new, old = Path(beside) / "new", Path(beside) / "old"
        new.mkdir()
        yield new
        if not folder.exists():
            os.replace(new, folder)
        elif not _exchange(new, folder):
            os.replace(folder, old)
            os.replace(new, folder)
            shutil.rmtree(old, ignore_errors=True)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file; the folder for it is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing_file(path) as file:
        file.write(json.dumps(value, indent=1).encode() + b"\n")


def _exchange(a: Path, b: Path) -> bool:
    """Let two folders change places in one step; False where the system has no call for that."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    return rename is not None and rename(_AT_FDCWD, bytes(a), _AT_FDCWD, bytes(b), _RENAME_EXCHANGE) == 0
