"""Files and folders that are replaced in one step, and the checksums that tell whether they are intact.

A reader finds the old version or the new one, at any moment and after a loss of power. The new version is written
beside the old one under a hidden name and synced to the disk. Then a file is renamed over the old one, and a folder
is exchanged with it, for which Linux and macOS have a system call.

A writer that is killed leaves its hidden version behind, and the next writer of the same path removes it. A writer
that is alive holds a lock (flock) on it. Windows has no such locks, so there the leftovers stay.
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

Files = dict[str, bytes]  # the content of each file, by its path in a folder, such as "hasher/config.json"
AnyPath = str | os.PathLike[str]

CHECKSUMS = "SHA256SUMS"  # in the format of sha256sum, so that `sha256sum -c` checks it
DISK_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}

_UNFINISHED = "unfinished"
_AT_FDCWD, _EXCHANGE = -100, 2  # Linux; the flag has the same value on macOS
_TRIES = 100


@contextmanager
def replacing_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to write, which replaces the one at `path` when the block ends without an error."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for {path.name}: make it first")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    path = Path(os.path.realpath(path))  # a link stays one
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is a device, a pipe or a socket, which a file would replace: name a file")
    with _naming_full_disk(path), _beside(path, lambda new: new.touch(exist_ok=False)) as new:
        if path.exists():
            shutil.copymode(path, new)
        with open(new, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
        sync_folder(path.parent)


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to fill, which replaces the one at `folder` when the block ends without an error."""
    if folder.is_file():
        raise NotADirectoryError(f"{folder} is a file: name a folder")
    folder = Path(os.path.realpath(folder))  # a link stays one
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _naming_full_disk(folder), _beside(folder, Path.mkdir) as new:
        yield new
        sync_tree(new)
        if not os.path.lexists(folder):
            os.replace(new, folder)
        elif not _exchange(new, folder):
            # Some network file systems, and Windows, cannot exchange: for a moment there is no folder. A kill in
            # that moment leaves the old one under a name that no later writer removes.
            old = _hidden_name(folder, "old")
            os.replace(folder, old)
            os.replace(new, folder)
            _remove(old)
        sync_folder(folder.parent)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files as a folder, which replaces the one before it as a whole."""
    with replacing_folder(folder) as new:
        for name, content in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(content)


def read_folder(folder: Path) -> Files:
    """Return the files of a folder that its SHA256SUMS names, all of one version; name the file that is damaged."""
    for _ in range(_TRIES):
        version = _version(folder)
        try:
            files = _read(folder, [CHECKSUMS])
            return verified(files | _read(folder, parse_checksums(files, folder)), folder)
        except (OSError, ValueError):
            if version == _version(folder):  # otherwise it was replaced while it was read
                raise
    raise OSError(f"{folder} was replaced {_TRIES} times while it was read: try again")


def with_checksums(files: Mapping[str, bytes]) -> Files:
    """Return the files with one more, SHA256SUMS: the digest of each, and in its last line a digest of itself."""
    digests = {name: _digest(content) for name, content in files.items() if name != CHECKSUMS}
    return {**files, CHECKSUMS: checksums(digests)}


def checksums(digests: Mapping[str, str]) -> bytes:
    """Return the content of SHA256SUMS for the digest of each file."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    return f"{lines}# {_digest(lines.encode())}\n".encode()


def verified(files: Mapping[str, bytes], location: AnyPath) -> Files:
    """Return the files that SHA256SUMS names if each has its digest; `location` is for messages."""
    for name, digest in (digests := parse_checksums(files, location)).items():
        if name not in files:
            raise ValueError(_missing(name, location))
        if _digest(files[name]) != digest:
            raise ValueError(
                f"{Path(location, name)} is damaged or of another version, since {CHECKSUMS} has another digest of it: "
                f"write {location} again, or copy all of it again"
            )
    return {name: files[name] for name in (*digests, CHECKSUMS)}


def parse_checksums(files: Mapping[str, bytes], location: AnyPath) -> dict[str, str]:
    """Return the digest of each file that SHA256SUMS names."""
    if CHECKSUMS not in files:
        raise ValueError(_missing(CHECKSUMS, location))
    lines, _, last = files[CHECKSUMS].rpartition(b"# ")
    if last != f"{_digest(lines)}\n".encode():
        raise ValueError(f"{Path(location, CHECKSUMS)} is damaged: write {location} again, or copy all of it again")
    digests = {name: digest for digest, _, name in (line.partition("  ") for line in lines.decode().splitlines())}
    for name in digests:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise ValueError(f"{Path(location, CHECKSUMS)} names {name!r}, which lies outside of {location}: refused")
    return digests


def in_folder(name: str, files: Mapping[str, bytes]) -> Files:
    """Return files with paths that begin with the name of a folder."""
    return {f"{name}/{path}": content for path, content in files.items()}


def of_folder(name: str, files: Mapping[str, bytes]) -> Files:
    """Return the files in a folder, by their path in it: the inverse of `in_folder`."""
    return {path.removeprefix(f"{name}/"): files[path] for path in files if path.startswith(f"{name}/")}


def file_digest(path: Path) -> str:
    """Return the SHA-256 digest of a file, which may be larger than the memory."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache_folder() -> Path:
    """Return the folder of the cache, all of which can be made or fetched again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ammi")


def write_json(path: Path, value: object) -> None:
    """Write a JSON file, and make its folder if there is none."""
    write_text(path, json.dumps(value, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file, and make its folder if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing_file(path) as file:
        file.write(text.encode())


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; the error for a damaged one names it."""
    try:
        return from_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}): delete it, or bring back a copy") from error


def write_with_digest(path: Path, content: bytes) -> None:
    """Write a file that begins with the digest of its content."""
    with replacing_file(path) as file:
        file.write(_digest(content).encode() + b"\n")
        file.write(content)


def read_with_digest(path: Path) -> bytes:
    """Return what `write_with_digest` wrote; ValueError if it is damaged."""
    digest, _, content = path.read_bytes().partition(b"\n")
    if digest != _digest(content).encode():
        raise ValueError("its digest is not that of its content")
    return content


def check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be made or replaced, before the work whose result goes there is done."""
    if folder.is_mount():
        raise OSError(f"{folder} is a mount point, which cannot be replaced: name a folder in it")
    # Only an attempt tells: permissions say nothing of read-only disks, or of the superuser.
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    try:
        tempfile.TemporaryFile(dir=above).close()
    except OSError as error:
        raise OSError(f"{folder} cannot be written, for {error.strerror} in {above}: choose another folder") from error


def check_not_read(out: AnyPath, *sources: AnyPath | None) -> None:
    """Refuse to write over a source, by whatever name: the source itself, a part of it, or a folder around it."""
    if not os.path.exists(out):
        return
    for source in sources:
        if source == "-":
            is_same = _is_standard_input(out)
        else:
            is_same = source is not None and os.path.exists(source) and (_is_in(out, source) or _is_in(source, out))
        if is_same:
            raise ValueError(f"{out} would be written over {source}, which is read: name another location")


@contextmanager
def lock(path: Path, *, wait: bool) -> Iterator[bool]:
    """Lock a file or folder until the block, or the process, ends; yield whether it is locked."""
    try:
        handle = os.open(path, os.O_RDONLY) if fcntl else None
    except (FileNotFoundError, ValueError):  # no path has a character 0 or half a surrogate pair
        handle = None
    if handle is None:
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


def sync_tree(folder: Path) -> None:
    """Sync all files and folders in a folder to the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb+") as file:
                os.fsync(file.fileno())
        elif path.is_dir():
            sync_folder(path)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder to the disk, if the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(folder: Path, names: list[str] | dict[str, str]) -> Files:
    """Return the files of these names; `verified` complains of missing ones."""
    files = {}
    for name in names:
        with suppress(FileNotFoundError, NotADirectoryError):
            files[name] = (folder / name).read_bytes()
    return files


def _missing(name: str, location: AnyPath) -> str:
    return f"{Path(location, name)} is missing, so {location} is damaged: write it again, or copy all of it again"


def _version(folder: Path) -> tuple[int, int] | None:
    """Return inode and time of a folder, which differ from those of its replacement."""
    with suppress(OSError):
        found = folder.stat()
        return found.st_ino, found.st_mtime_ns
    return None


def _is_standard_input(path: AnyPath) -> bool:
    try:
        return os.path.samestat(os.fstat(0), os.stat(path))
    except OSError:  # standard input is closed
        return False


def _is_in(path: AnyPath, other: AnyPath) -> bool:
    """Return whether a path is another one, or inside of it."""
    return any(os.path.samefile(parent, other) for parent in (path, *Path(path).resolve().parents))


@contextmanager
def _beside(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """Make a hidden file or folder beside a path and lock it; at the end remove what is left under its name."""
    _remove_leftovers(path)
    while True:
        new = _hidden_name(path, _UNFINISHED)
        make(new)
        with lock(new, wait=True):
            if not new.exists():  # another process took it for a leftover before it was locked
                continue
            try:
                yield new
            finally:
                _remove(new)
            return


def _hidden_name(path: Path, ending: str) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.{ending}")


def _remove_leftovers(path: Path) -> None:
    """Remove what killed writers of a path left beside it."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.{8 * '[0-9a-f]'}.{_UNFINISHED}"):
        with lock(leftover, wait=False) as locked:
            if locked:
                _remove(leftover)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _exchange(a: Path, b: Path) -> bool:
    """Exchange two folders in one step; return False if the system cannot."""
    if os.name != "posix":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "renameat2"):  # Linux
        return libc.renameat2(_AT_FDCWD, bytes(a), _AT_FDCWD, bytes(b), _EXCHANGE) == 0
    if hasattr(libc, "renamex_np"):  # macOS
        return libc.renamex_np(bytes(a), bytes(b), _EXCHANGE) == 0
    return False


@contextmanager
def _naming_full_disk(path: Path) -> Iterator[None]:
    """Name the path in the error of a full disk, which often names none."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_FULL or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
