"""The index on disk: one SQLite file that holds documents and codes, so that every change is one transaction.

Documents stand in the order of their positions, which only grow and are never used again. Codes are kept apart from
them, in blocks of BLOCK positions: a million are read in a moment, and no text with them.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.search.hamming import Codes

Id = str | int
Positions = NDArray[np.int64]

FILE = "index.sqlite"
MAGIC = 0x616D6D69  # "ammi" in the header of the file, which tells it from the databases of other programs
FORMAT = 1
BLOCK = 1024
PATIENCE = 60  # seconds that a change waits for another process to finish its own
SCHEMA = (
    "CREATE TABLE about (n_bits INTEGER, fingerprint TEXT, model TEXT)",
    "CREATE TABLE state (change INTEGER, position INTEGER, number INTEGER)",
    "CREATE TABLE documents (position INTEGER PRIMARY KEY, id NOT NULL UNIQUE, metadata TEXT NOT NULL, text TEXT)",
    "CREATE TABLE blocks (block INTEGER PRIMARY KEY, slots BLOB NOT NULL, codes BLOB NOT NULL)",
)


class About(NamedTuple):
    """What an index is told when it is made."""

    n_bits: int
    fingerprint: str | None
    model: str | None


class State(NamedTuple):
    """How many changes were made, and the first position and the first number for an id that are still free."""

    change: int
    position: int
    number: int


class CodeTable(NamedTuple):
    """All codes in insertion order; row i, which lies in block b, has the position blocks[b] * BLOCK + slots[i].

    A slot takes two bytes where a position would take eight: memory belongs to the codes.
    """

    codes: Codes  # (n, ceil(m / 8))
    slots: NDArray[np.uint16]  # (n,)
    blocks: NDArray[np.int64]
    ends: NDArray[np.int64]  # the row at which each block ends

    def positions(self, rows: NDArray[np.int64]) -> Positions:
        return self.blocks[np.searchsorted(self.ends, rows, side="right")] * BLOCK + self.slots[rows]

    def rows(self, positions: Positions) -> NDArray[np.int64]:
        return np.searchsorted(self.positions(np.arange(len(self.codes))), positions)


class Store:
    """A connection to the file. Threads take turns on it; every process has its own."""

    about: About

    def __init__(self, folder: Path, mode: str):
        self.folder = folder
        self._turn = RLock()
        uri = f"{(folder / FILE).absolute().as_uri()}?mode={mode}"
        with self._explaining():
            self._db = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)

    @classmethod
    def create(cls, folder: Path, about: About) -> "Store":
        folder.mkdir(parents=True, exist_ok=True)
        store = cls(folder, "rwc")
        try:
            with store.reading():
                store._check_blank()
            with store._explaining():
                store._db.execute("PRAGMA journal_mode = WAL")  # readers do not wait for a writer, nor it for them
            with store.writing():
                store._check_blank()  # another process may have been faster
                for statement in SCHEMA:
                    store._db.execute(statement)
                store._db.execute("INSERT INTO about VALUES (?, ?, ?)", about)
                store._db.execute("INSERT INTO state VALUES (0, 0, 0)")
                store._db.execute(f"PRAGMA application_id = {MAGIC}")
                store._db.execute(f"PRAGMA user_version = {FORMAT}")
        finally:
            store.close()
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> "Store":
        if not (folder / FILE).is_file():
            raise FileNotFoundError(f"there is no index in {folder}: create it first")
        store = cls(folder, "rw")
        try:
            with store.reading():
                store._check_ours()
                store.about = About(*store._db.execute("SELECT * FROM about").fetchone())
            with store._explaining():
                store._db.execute("PRAGMA synchronous = FULL")  # a change is on the disk when its call returns
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        self._db.close()

    def reading(self) -> AbstractContextManager[None]:
        """One view of the index for as long as the block lasts, whatever other processes change meanwhile."""
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager[None]:
        """A change that is made when the block ends, and not at all when it fails."""
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._turn, self._explaining():
            self._db.execute(begin)
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                self._db.rollback()  # does nothing after the commit

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _explained(error, self.folder) from error

    def _is_blank(self) -> bool:
        return self._db.execute("SELECT 1 FROM sqlite_master").fetchone() is None

    def _check_blank(self) -> None:
        if not self._is_blank():
            raise FileExistsError(f"{self.folder} holds an index: open it, or create the new one elsewhere")

    def _check_ours(self) -> None:
        if self._is_blank():
            raise FileNotFoundError(f"the making of the index in {self.folder} was cut short: create it again")
        ((magic,),) = self._db.execute("PRAGMA application_id")
        if magic != MAGIC:
            raise ValueError(f"{self.folder / FILE} belongs to another program: name the folder of an ammi index")
        ((version,),) = self._db.execute("PRAGMA user_version")
        if version > FORMAT:
            raise ValueError(
                f"the index in {self.folder} has format {version}, and this ammi reads up to {FORMAT}: upgrade ammi"
            )

    # What follows is called while reading() or writing().

    def state(self) -> State:
        return State(*self._db.execute("SELECT * FROM state").fetchone())

    def count(self) -> int:
        ((n,),) = self._db.execute("SELECT COALESCE(SUM(LENGTH(slots)), 0) / 2 FROM blocks")
        return n

    def ids(self) -> list[Id]:
        return [id for (id,) in self._db.execute("SELECT id FROM documents ORDER BY position")]

    def find(self, ids: Iterable[Id]) -> list[int | None]:
        """The position of each id, or None where there is no such document."""
        rows = [self._db.execute("SELECT position FROM documents WHERE id = ?", (id,)).fetchone() for id in ids]
        return [row and row[0] for row in rows]

    def documents(self, positions: Positions) -> list[tuple[Id, str | None, dict[str, Any]]]:
        """The id, the text and the metadata of the document at each position."""
        rows = self._db.execute(
            "SELECT position, id, text, metadata FROM documents WHERE position IN (SELECT value FROM json_each(?))",
            (json.dumps(positions.tolist()),),
        ).fetchall()
        metadata = _parsed(row[3] for row in rows)
        at = {position: (id, text, meta) for (position, id, text, _), meta in zip(rows, metadata, strict=True)}
        return [at[position] for position in positions.tolist()]

    def matching(self, condition: Callable[[dict[str, Any]], bool]) -> Positions:
        """The positions of all documents whose metadata meets a condition, in order."""
        found = [np.empty(0, np.int64)]
        rows = self._db.execute("SELECT position, metadata FROM documents ORDER BY position")
        while chunk := rows.fetchmany(10_000):
            distinct = list({metadata for _, metadata in chunk})  # documents often share theirs
            good = {raw for raw, metadata in zip(distinct, _parsed(distinct), strict=True) if condition(metadata)}
            found.append(np.array([position for position, metadata in chunk if metadata in good], np.int64))
        return np.concatenate(found)

    def code_table(self) -> CodeTable:
        sizes = self._db.execute("SELECT block, LENGTH(slots) / 2 FROM blocks ORDER BY block").fetchall()
        blocks, counts = np.array(sizes, np.int64).reshape(-1, 2).T
        ends = np.cumsum(counts)
        slots = np.empty(counts.sum(), np.uint16)
        codes = np.empty((len(slots), self._width), np.uint8)
        contents = self._db.execute("SELECT slots, codes FROM blocks ORDER BY block")
        for end, count, content in zip(ends, counts, contents, strict=True):
            slots[end - count : end], codes[end - count : end] = self._arrays(*content)
        codes.flags.writeable = False
        return CodeTable(codes, slots, blocks, ends)

    def code(self, position: int) -> Codes:
        slots, codes = self._block(position // BLOCK)
        return codes[slots == position % BLOCK][0]

    def append(self, codes: Codes, documents: Sequence[tuple[Id, str, str | None]], number: int) -> None:
        """Put documents (id, metadata, text) at the end; number is the first that is free for an id from now on."""
        first = self.state().position
        positions = np.arange(first, first + len(codes))
        rows = ((position, *document) for position, document in zip(positions.tolist(), documents, strict=True))
        self._db.executemany("INSERT INTO documents VALUES (?, ?, ?, ?)", rows)
        for block, part in _by_block(positions):
            old_slots, old_codes = self._block(block)
            slots = np.concatenate([old_slots, (positions[part] % BLOCK).astype("<u2")])
            self._write_block(block, slots, np.concatenate([old_codes, codes[part]]))
        self._db.execute("UPDATE state SET change = change + 1, position = ?, number = ?", (first + len(codes), number))

    def remove(self, positions: Positions) -> None:
        """Take away the documents at sorted positions."""
        self._db.executemany("DELETE FROM documents WHERE position = ?", [(p,) for p in positions.tolist()])
        for block, part in _by_block(positions):
            slots, codes = self._block(block)
            kept = ~np.isin(slots, positions[part] % BLOCK)
            self._write_block(block, slots[kept], codes[kept])
        self._db.execute("UPDATE state SET change = change + 1")

    @property
    def _width(self) -> int:
        return -(-self.about.n_bits // 8)

    def _block(self, block: int) -> tuple[NDArray[np.uint16], Codes]:
        row = self._db.execute("SELECT slots, codes FROM blocks WHERE block = ?", (block,)).fetchone()
        return self._arrays(*(row or (b"", b"")))

    def _arrays(self, slots: bytes, codes: bytes) -> tuple[NDArray[np.uint16], Codes]:
        return np.frombuffer(slots, "<u2"), np.frombuffer(codes, np.uint8).reshape(-1, self._width)

    def _write_block(self, block: int, slots: NDArray[np.uint16], codes: Codes) -> None:
        if len(slots):
            row = (block, slots.tobytes(), codes.tobytes())
            self._db.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?)", row)
        else:
            self._db.execute("DELETE FROM blocks WHERE block = ?", (block,))


def _by_block(positions: Positions) -> Iterator[tuple[int, slice]]:
    """Each block that sorted positions fall in, and which of them do."""
    blocks, counts = np.unique(positions // BLOCK, return_counts=True)
    for block, count, end in zip(blocks.tolist(), counts, np.cumsum(counts), strict=True):
        yield block, slice(end - count, end)


def _parsed(metadata: Iterable[str]) -> list[dict[str, Any]]:
    return json.loads(f"[{','.join(metadata)}]")  # one call is three times as fast as one for each


def _explained(error: sqlite3.Error, folder: Path) -> Exception:
    """What went wrong with the file, in words that help; SQLite's own words tell the cases apart."""
    cause = str(error)
    if "full" in cause or "disk I/O" in cause:
        return OSError(
            f"the index in {folder} could not be written ({cause}) and is as it was: make space and try again"
        )
    if "locked" in cause:
        return TimeoutError(f"another process has been writing to the index in {folder} for {PATIENCE} s: try again")
    if "readonly" in cause or "unable to open" in cause:
        return PermissionError(f"the index in {folder} cannot be opened ({cause}): make the folder writable")
    if "closed" in cause:
        return ValueError(f"the index in {folder} was closed: open it again")
    if "too big" in cause:
        return ValueError(f"a text is too long for the index in {folder} ({cause}): SQLite takes a billion bytes")
    return ValueError(f"the index in {folder} is damaged ({cause}): build it again, or restore a copy of the folder")
