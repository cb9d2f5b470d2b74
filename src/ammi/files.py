"""Files and folders that appear whole or not at all, and seals that tell whether they are as they were written.

A reader finds the old one or the new one, at every moment and after a loss of power: what is new is written beside
the place under a hidden name, reaches the disk, and takes the place in one step. Two folders change places in one step
on Linux and macOS. Where the file system cannot do that, the old one is moved aside first, and `read_sealed` finds it
there, also if the writer was killed in between.

What a killed writer left is removed by the next one that writes the same path. Each holds a lock (flock) on what it
writes as long as it lives, so that it is left alone; where there are no such locks (Windows), leftovers stay.
"""

import ctypes
import errno
import glob
import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from ammi.plain import from_json

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SEAL = "SHA256SUMS"  # as sha256sum writes it, and with -c checks it
UNFINISHED, ASIDE = "unfinished", "aside"

DISK_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_AT_FDCWD, _EXCHANGE = -100, 2  # of Linux; macOS has the same number for it
_BYTES_OF_A_NAME = 4
_TRIES = 100


@contextmanager
def replacing_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which takes its place, or that of the one before it, when the block ends without an error."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for {path.name}: make it first")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    path = Path(os.path.realpath(path))  # a link stays one
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is a device, a pipe or a socket, which a file would replace: name a file")
    _remove_leftovers(path)
    with _naming(path), _beside(path, lambda new: new.touch(exist_ok=False)) as unfinished:
        if path.exists():
            shutil.copymode(path, unfinished)
        with open(unfinished, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
        sync_folder(path.parent)


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """An empty folder to fill, which takes its place, or that of the one before it, when the block ends well."""
    if folder.is_file():
        raise NotADirectoryError(f"{folder} is a file: name a folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(folder)
    with _naming(folder), _beside(folder, Path.mkdir) as new:
        yield new
        sync_tree(new)
        if not os.path.lexists(folder):
            os.replace(new, folder)
        elif not _exchange(new, folder):
            _put_aside(folder, new)
        sync_folder(folder.parent)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file; the folder for it is made if need be."""
    write_text(path, json.dumps(value, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file of text; the folder for it is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing_file(path) as file:
        file.write(text.encode())


def read_json(path: Path) -> Any:
    """What a JSON file holds; one that is damaged is named."""
    try:
        return from_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}): delete it, or bring back a copy") from error


def seal(folder: Path) -> None:
    """Write the digest of every file in a folder into one more file, whose last line is a digest of itself."""
    names = (name for name in _names(folder) if name != SEAL)
    lines = "".join(f"{_digest((folder / name).read_bytes())}  {name}\n" for name in names)
    (folder / SEAL).write_text(f"{lines}# {_digest(lines.encode())}\n")


def read_sealed(folder: Path) -> dict[str, bytes]:
    """The files of a sealed folder by their path in it, all of one version of it; what is damaged is named.

    Files that are not among those that were sealed are left out.
    """
    for _ in range(_TRIES):
        place = _place_of(folder)
        version = _version(place)
        try:
            names = _sealed_digests((place / SEAL).read_bytes(), place)
            return unsealed({name: (place / name).read_bytes() for name in (*names, SEAL)}, folder)
        except (OSError, ValueError) as error:
            if version == _version(place) and place == _place_of(folder):  # else it was replaced in the meantime
                if isinstance(error, FileNotFoundError):
                    raise ValueError(
                        f"{error.filename} is missing, so {folder} is damaged: write it again, or copy all of it again"
                    ) from error
                raise
    raise OSError(f"{folder} was replaced {_TRIES} times while it was read: try again")


def unsealed(files: Mapping[str, bytes], folder: str | Path) -> dict[str, bytes]:
    """Those of the files of a folder that were sealed, each as it was; the name of the folder is for messages."""
    if SEAL not in files:
        raise ValueError(f"there is no {SEAL} in {folder}, so it is damaged: write it again, or copy all of it again")
    found = {}
    for name, digest in _sealed_digests(files[SEAL], folder).items():
        if name not in files:
            raise ValueError(f"{name} is missing from {folder}: write it again, or copy all of it again")
        if _digest(files[name]) != digest:
            raise ValueError(
                f"{Path(folder, name)} is damaged or of another version, since it is not the one in {SEAL}: write "
                f"{folder} again, or copy all of it again"
            )
        found[name] = files[name]
    return found | {SEAL: files[SEAL]}


def write_sealed_file(path: Path, content: bytes) -> None:
    """Write a file with its digest before it."""
    with replacing_file(path) as file:
        file.write(_digest(content).encode() + b"\n")
        file.write(content)


def read_sealed_file(path: Path) -> bytes:
    """What was written with its digest; a ValueError where it is not as it was."""
    digest, _, content = path.read_bytes().partition(b"\n")
    if digest != _digest(content).encode():
        raise ValueError("its digest is not that of its content")
    return content


def check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be made or replaced, before the work that is to be written there is done."""
    # Only an attempt tells: permissions do not speak of disks that are read-only, or of the superuser.
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    try:
        tempfile.TemporaryFile(dir=above).close()
    except OSError as error:
        raise OSError(f"{folder} cannot be written, for {error.strerror} in {above}: choose another folder") from error


def check_not_read(out: str | os.PathLike[str], *read: str | os.PathLike[str] | None) -> None:
    """Refuse to write over what is read, by whatever name: the same, a part of it, or a folder that it is in."""
    if not os.path.exists(out):
        return
    for source in read:
        if source == "-":
            is_same = _is_input(out)
        else:
            is_same = source is not None and os.path.exists(source) and (_is_in(out, source) or _is_in(source, out))
        if is_same:
            raise ValueError(f"{out} would be written over {source}, which is read: name another location")


def _is_input(path: str | os.PathLike[str]) -> bool:
    """Whether a file is what standard input is read from."""
    try:
        return os.path.samestat(os.fstat(0), os.stat(path))
    except OSError:  # it is closed
        return False


def _is_in(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether a path is another one, or inside of it."""
    return any(os.path.samefile(one, other) for one in (path, *Path(path).resolve().parents))


def _names(folder: Path) -> list[str]:
    """The files in a folder, by their path in it."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _sealed_digests(content: bytes, folder: str | Path) -> dict[str, str]:
    """The digest of each file that a seal names."""
    lines, _, last = content.rpartition(b"# ")
    if last != f"{_digest(lines)}\n".encode():
        raise ValueError(f"{Path(folder, SEAL)} is damaged: write {folder} again, or copy all of it again")
    digests = {name: digest for digest, _, name in (line.partition("  ") for line in lines.decode().splitlines())}
    for name in digests:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise ValueError(f"{Path(folder, SEAL)} names {name!r}, which lies outside of {folder}: it is refused")
    return digests


@contextmanager
def _beside(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """What is made beside a path and locked, and removed at the end unless it has taken another name."""
    while True:
        new = path.with_name(f".{path.name}.{secrets.token_hex(_BYTES_OF_A_NAME)}.{UNFINISHED}")
        make(new)
        with lock(new, wait=True):
            if not new.exists():  # another process took it for a leftover before it was locked
                continue
            try:
                yield new
            finally:
                _remove(new)
            return


@contextmanager
def lock(path: Path, *, wait: bool) -> Iterator[bool]:
    """Whether a file or folder is locked for this process while the block runs, which ends with the process at last."""
    if fcntl is None:
        yield False
        return
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            locked = True
        except OSError:  # another process has it, or the file system has no locks
            locked = False
        yield locked
    finally:
        os.close(handle)


def _remove_leftovers(path: Path) -> None:
    """Remove what writers of a path that live no more have left beside it."""
    kinds = [UNFINISHED] + [ASIDE] * os.path.lexists(path)  # what was put aside is all there is where the path is not
    for kind in kinds:
        for left in _hidden(path, kind):
            with lock(left, wait=False) as locked:
                if locked:
                    _remove(left)


def _hidden(path: Path, kind: str) -> list[Path]:
    """What writers of a path have beside it."""
    return sorted(path.parent.glob(f".{glob.escape(path.name)}.{2 * _BYTES_OF_A_NAME * '[0-9a-f]'}.{kind}"))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _exchange(a: Path, b: Path) -> bool:
    """Let two folders change places in one step; False where the system has no call for that."""
    libc: Any = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    if hasattr(libc, "renameat2"):  # Linux
        return libc.renameat2(_AT_FDCWD, bytes(a), _AT_FDCWD, bytes(b), _EXCHANGE) == 0
    if hasattr(libc, "renamex_np"):  # macOS
        return libc.renamex_np(bytes(a), bytes(b), _EXCHANGE) == 0
    return False


def _put_aside(folder: Path, new: Path) -> None:
    """Let a new folder take the place of an old one in two steps, between which the old one has another name."""
    aside = new.with_suffix(f".{ASIDE}")
    os.replace(folder, aside)
    try:
        os.replace(new, folder)
    except BaseException:
        os.replace(aside, folder)
        raise
    _remove(aside)


def _place_of(folder: Path) -> Path:
    """Where a folder is: in its place, or where it was put aside and nothing has taken its place."""
    if not os.path.lexists(folder):
        for aside in _hidden(folder, ASIDE):
            return aside
    return folder


def _version(folder: Path) -> tuple[int, int] | None:
    """What tells a folder from the one that takes its place."""
    with suppress(OSError):
        found = folder.stat()
        return found.st_ino, found.st_mtime_ns
    return None


def sync_tree(folder: Path) -> None:
    """Let all of a folder reach the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb+") as file:
                os.fsync(file.fileno())
        elif path.is_dir():
            sync_folder(path)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Let the names in a folder reach the disk, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say what could not be written where the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_FULL or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
