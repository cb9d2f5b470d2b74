"""What the record of a change to an index in Milvus says, and the view of the index that follows from it."""

import json
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from threading import RLock
from zlib import crc32

from ammi.search.store_methods import About
from ammi.search.vectors import KeptVectors

FORMAT = 1


@dataclass(frozen=True)
class Head:
    """What the record of a change says."""

    uid: str
    n_bits: int
    fingerprint: str | None
    vectors: tuple[str, int] | None
    text_index: bool
    keys: tuple[str, ...] = ()
    files: tuple[tuple[str, int], ...] = ()  # names and bytes
    files_checksum: int = 0
    change: int = 0
    generation: int = 0  # of the documents, who have codes of one model
    rows: int = 0  # the first that is free
    positions: int = 0
    number: int = 0  # the first that never was an id
    count: int = 0
    texts: int = 0
    characters: int = 0
    last_removal: int = 0  # the last change that removed rows
    purged: int = 0  # the last change whose removed rows are deleted, as far as it is known
    old: tuple[tuple[int, int, float], ...] = ()  # generations to delete, since which change, and when that was
    format: int = FORMAT

    def about(self) -> About:
        vectors = None if self.vectors is None else KeptVectors(*self.vectors)
        return About(self.n_bits, self.fingerprint, vectors, self.text_index, self.number)

    def of(self, about: About) -> "Head":
        """The same of other codes."""
        vectors = None if about.vectors is None else (about.vectors.kind, about.vectors.width)
        return replace(self, n_bits=about.n_bits, fingerprint=about.fingerprint, vectors=vectors)

    def spelled(self) -> str:
        content = json.dumps(self.__dict__, ensure_ascii=False)
        return f"{crc32(content.encode()):08x}{content}"


@dataclass
class View:
    """The index after a change; a writer has one that it alters."""

    head: Head
    removed: dict[int, list[int]] = field(default_factory=dict)  # rows that count no more, by the change
    times: dict[int, float] = field(default_factory=dict)  # when that was
    newly: list[int] | None = None  # rows that a writer removes
    taken: float = field(default_factory=time.monotonic)

    def rows_gone(self) -> list[int]:
        return [row for rows in self.removed.values() for row in rows] + (self.newly or [])

    def condition(self, more: str | None = None, column: str = "row") -> str:
        """Of the rows that count; or of others that belong to them, and have their numbers in a column."""
        gone = self.rows_gone()
        parts = [f"{column} < {self.head.rows}", f"{column} not in {sorted(gone)}" if gone else None, more]
        return " and ".join(part for part in parts if part)


class Shared:
    """What all in this process know of an index."""

    def __init__(self) -> None:
        self.turn = RLock()  # of writers
        self.lock = RLock()  # a reader that is forgotten may end at any moment
        self.pins: Counter[int] = Counter()  # changes that somebody looks at
        self.untidy = True  # a writer may have left something
        self.purged = 0
        self.dropped: set[int] = set()  # generations that are deleted
        self.making: set[int] = set()  # generations that are not finished
