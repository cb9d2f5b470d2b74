"""Shards: the files that many workers read and write, one at a time each."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ammi.data import BadRecordError, Document, read_documents
from ammi.data.reading import Needed

ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst")


@dataclass(frozen=True)
class Shard:
    """A file of documents, and a name for what is made of it that no other shard has."""

    path: Path
    name: str

    def digest(self) -> str:
        """What tells its content from any other."""
        with open(self.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class Reading:
    """How documents are read of shards: their columns, what the model reads, and whether bad records are skipped."""

    text: str | None = None
    id: str | None = None
    vector: str | None = None
    reads: str = "text"
    width: int | None = None
    skip: bool = False

    def documents(self, shard: Shard, skipped: list[str]) -> Iterator[Document]:
        """The documents of a shard; those without an id are called NAME:LINE, since other shards have the same lines.

        Bad records are added to `skipped`, or refused.
        """

        def complain(problem: BadRecordError) -> None:
            if not self.skip:
                raise problem
            skipped.append(str(problem))

        vector = self.vector or ("vector" if self.reads == "vector" else None)
        columns: dict[str, Any] = {"text": self.text, "id": self.id, "vector": vector}
        read = read_documents(shard.path, **columns, needed=Needed(self.reads, self.width), on_error=complain)
        for document in read:
            yield replace(document, id=f"{shard.name}:{document.id}", numbered=False) if document.numbered else document


def find_shards(sources: Sequence[str]) -> list[Shard]:
    """The shards of files and folders, those of a folder in the order of their names."""
    paths = [path for source in sources for path in _files(Path(source))]
    names: dict[str, Path] = {}
    for path in paths:
        name = path.name[: -len(_ending(path))]
        if name in names:
            raise ValueError(
                f"{names[name]} and {path} would both be called {name}: give the shards names that differ before their "
                "endings"
            )
        names[name] = path
    return [Shard(path.absolute(), name) for name, path in names.items()]


def _files(source: Path) -> Iterable[Path]:
    if not source.exists():
        raise FileNotFoundError(f"there is no file or folder {source}")
    if source.is_dir():
        found = sorted(path for path in source.iterdir() if _ending(path) and not path.name.startswith("."))
        if not found:
            raise ValueError(f"{source} holds no shards: --ray reads files ending in {', '.join(ENDINGS)}")
        return found
    if not _ending(source):
        raise ValueError(f"{source} is no shard: --ray reads files ending in {', '.join(ENDINGS)}")
    return [source]


def _ending(path: Path) -> str:
    return next((ending for ending in ENDINGS if path.name.lower().endswith(ending)), "")
