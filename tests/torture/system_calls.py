"""What a program's system calls leave on the disk when it is killed, or the power is lost, between any two of them.

strace writes down each call that changes a file. From that record the files are made as they would be had the program
ended after the n-th call: with all that was written until then (a kill), or with a part of what was written and not
yet synced (a power loss). A sync of a file makes its content last, and one of a folder the names in it.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

_CHANGING = (
    "openat,creat,write,pwrite64,writev,pwritev,lseek,ftruncate,truncate,fsync,fdatasync,rename,renameat,renameat2,"
    "link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fallocate,copy_file_range,sendfile"
)
_LINE = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+)(?:<([^>]*)>)?[^)]*$", re.DOTALL)
_TEXT = re.compile(r'(?:(?:AT_FDCWD|\d+)<((?:\\x[0-9a-f]{2})*)>, )?"((?:\\x[0-9a-f]{2})*)"')  # in a folder, or not
_HANDLE = re.compile(r"^(\d+)<((?:\\x[0-9a-f]{2})*)>")


@dataclass(frozen=True)
class Call:
    """A change of a file: its name, the paths it concerns, and for a write where and what."""

    name: str
    paths: tuple[Path, ...]
    start: int = 0
    data: bytes = b""


@dataclass
class _Open:
    path: Path
    position: int = 0


def record(command: Sequence[str], folder: Path) -> list[Call]:
    """Run a command, and list what it did in a folder, and the lines it said, in order."""
    with tempfile.NamedTemporaryFile("r") as log:
        strace = ["strace", "-f", "-y", "-xx", "-s", "100000000", "--seccomp-bpf", "-e", f"trace={_CHANGING}"]
        subprocess.run([*strace, "-o", log.name, *command], check=True, stdout=subprocess.PIPE)
        return list(_parsed(_whole_lines(log), folder.resolve()))


def _whole_lines(lines: Iterator[str]) -> Iterator[str]:
    """Calls that were interrupted by another thread's, put together."""
    begun: dict[str, str] = {}
    for line in lines:
        thread = line.split(maxsplit=1)[0]
        if line.endswith("<unfinished ...>\n"):
            begun[thread] = line.removesuffix("<unfinished ...>\n")
        elif " resumed>" in line:
            yield begun.pop(thread, "") + line.split(" resumed>", 1)[1]
        else:
            yield line


def _parsed(lines: Iterator[str], folder: Path) -> Iterator[Call]:
    open_files: dict[str, _Open] = {}
    for line in lines:
        match = _LINE.match(line)
        if not match or int(match[4]) < 0:
            continue
        _, name, arguments, result, _ = match.groups()
        handle, texts = _HANDLE.match(arguments), _TEXT.findall(arguments)
        paths = () if "write" in name else tuple(Path(_text(inside)) / _text(path) for inside, path in texts)
        if name in ("openat", "creat"):
            open_files[result] = _Open(paths[0])
            if "O_CREAT" in arguments and folder in paths[0].parents:
                yield Call("create", paths)
                if "O_TRUNC" in arguments:
                    yield Call("truncate", paths)
        elif name in ("write", "pwrite64"):
            assert handle
            path = Path(_text(handle[2]))
            if handle[1] == "1":
                yield Call("say", (), data=_bytes(texts[0][1]))
            elif folder in path.parents:
                file = open_files.setdefault(handle[1], _Open(path))
                start = int(arguments.rsplit(", ", 1)[1]) if name == "pwrite64" else file.position
                if name == "write":
                    file.position += int(result)
                yield Call("write", (path,), start, _bytes(texts[0][1])[: int(result)])
        elif name == "lseek":
            assert handle
            if handle[1] in open_files:
                open_files[handle[1]].position = int(result)
        elif name in ("fsync", "fdatasync", "ftruncate"):
            assert handle
            path = Path(_text(handle[2]))
            if path == folder or folder in path.parents:
                length = int(arguments.rsplit(", ", 1)[1]) if name == "ftruncate" else 0
                yield Call("truncate" if name == "ftruncate" else "sync", (path,), length)
        elif name.removesuffix("2").removesuffix("at") in ("rename", "link", "unlink", "mkdir", "rmdir"):
            if any(folder in path.parents for path in paths):
                exchanged = "RENAME_EXCHANGE" in arguments
                yield Call("exchange" if exchanged else name.removesuffix("2").removesuffix("at"), paths)
        else:
            raise NotImplementedError(f"{name} is not understood here: {line[:200]}")


def _bytes(spelled: str) -> bytes:
    return bytes.fromhex(spelled.replace("\\x", ""))


def _text(spelled: str) -> str:
    return _bytes(spelled).decode()


@dataclass
class _File:
    """A file's content as it was last synced, and what was done to it since."""

    synced: bytes = b""
    since: list[Call] = field(default_factory=list)

    def sync(self) -> None:
        self.synced, self.since = self.content([True] * len(self.since)), []

    def content(self, kept: Sequence[bool]) -> bytes:
        content = bytearray(self.synced)
        for call, is_there in zip(self.since, kept, strict=True):
            if is_there and call.name == "truncate":
                content[:] = content[: call.start].ljust(call.start, b"\0")
            elif is_there:
                content[:] = content.ljust(call.start, b"\0")
                content[call.start : call.start + len(call.data)] = call.data
        return bytes(content)


Names = dict[Path, _File]


class Disk:
    """The files of a folder after some calls; names last once a folder was synced."""

    def __init__(self, folder: Path, before: Path):
        """As the folder was `before`, a copy of it."""
        self.folder = folder.resolve()
        files = [path for path in sorted(before.rglob("*")) if path.is_file()]
        names = {self.folder / path.relative_to(before): _File(path.read_bytes()) for path in files}
        self._names: list[Names] = [names]  # as they were last synced, and after each change since

    def apply(self, call: Call) -> None:
        names = self._names[-1]
        match call.name, call.paths:
            case "write" | "truncate", (path,) if path in names:
                names[path].since.append(call)
            case "sync", (path,) if path in names:
                names[path].sync()
            case "sync", _:
                self._names = [names]
            case "create", (path,) if path not in names:
                self._names.append({**names, path: _File()})
            case "unlink", (path,):
                self._names.append({other: file for other, file in names.items() if other != path})
            case "link", (old, new):
                self._names.append({**names, new: names[old]})
            case "rename", (old, new):
                stay = {path: file for path, file in names.items() if path != new and new not in path.parents}
                self._names.append({_moved(path, {old: new}): file for path, file in stay.items()})
            case "exchange", (one, other):
                self._names.append({_moved(path, {one: other, other: one}): file for path, file in names.items()})

    def write(self, location: Path, rng: np.random.Generator | None) -> None:
        """Make the files in a location: all that was written, or what a power loss might have left of it."""
        shutil.rmtree(location, ignore_errors=True)
        location.mkdir()
        names = self._names[-1 if rng is None else rng.integers(len(self._names))]
        for path, file in names.items():
            kept = [True] * len(file.since) if rng is None else _survivors(file.since, rng)
            target = location / path.relative_to(self.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.content(kept))


def _survivors(calls: Sequence[Call], rng: np.random.Generator) -> list[bool]:
    """Which unsynced writes reached the disk: none, or some in no order."""
    return (rng.random(len(calls)) < rng.choice([0.0, 0.5, 0.9])).tolist()


def _moved(path: Path, to: dict[Path, Path]) -> Path:
    for old, new in to.items():
        if path == old or old in path.parents:
            return new / path.relative_to(old)
    return path
