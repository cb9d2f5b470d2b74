"""Shards: files of documents that workers read one at a time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ammi.data import BadRecordError, Document, read_documents
from ammi.data.reading import Needed

ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst")


@dataclass(frozen=True)
class Shard:
    """A file of documents, with a name that no other shard has."""

    path: Path
    name: str


@dataclass(frozen=True)
class Reading:
    """How to read shards: the columns, the part that the model reads, and whether to skip bad records."""

    text: str | None = None
    id: str | None = None
    vector: str | None = None
    reads: str = "text"
    width: int | None = None
    skip: bool = False

    def documents(self, shard: Shard, skipped: list[str]) -> Iterator[Document]:
        """Yield the documents of a shard; those without an id are called SHARD:LINE, unique over all shards.

        A bad record is appended to `skipped`, or raised.
        """

        def complain(problem: BadRecordError) -> None:
            if not self.skip:
                raise problem
            skipped.append(str(problem))

        for document in read_documents(
            shard.path,
            text=self.text,
            id=self.id,
            vector=self.vector or ("vector" if self.reads == "vector" else None),
            needed=Needed(self.reads, self.width),
            on_error=complain,
        ):
            yield replace(document, id=f"{shard.name}:{document.id}", numbered=False) if document.numbered else document


def find_shards(sources: Sequence[str]) -> list[Shard]:
    """Return the shards in files and folders; those of a folder are sorted by name."""
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
