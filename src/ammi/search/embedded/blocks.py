"""The codes of an embedded store: in blocks of BLOCK positions on disk, and as one array in memory."""

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ammi.search.embedded.database import SqliteDatabase
from ammi.search.hamming import Codes

T = TypeVar("T", bound=np.generic)
Positions = NDArray[np.int64]
Slots = NDArray[np.uint16]

BLOCK = 1024


class _Room:
    """Arrays with spare rows at the end, so that appending need not copy all of them.

    Rows in use never change, because tables in other threads may share them.
    """

    def __init__(self, n: int, width: int):
        capacity = n + max(n // 4, BLOCK)
        self.codes = np.empty((capacity, width), np.uint8)
        self.slots = np.empty(capacity, np.uint16)
        self.used = 0

    def append(self, slots: Slots, codes: Codes) -> None:
        end = self.used + len(slots)
        self.slots[self.used : end], self.codes[self.used : end] = slots, codes
        self.used = end


class CodeTable(NamedTuple):
    """All codes in insertion order; row i of block b has the position blocks[b] * BLOCK + slots[i].

    A slot takes two bytes, a position would take eight.
    """

    codes: Codes  # (n, ceil(m / 8))
    slots: Slots  # (n,)
    blocks: NDArray[np.int64]
    ends: NDArray[np.int64]  # the row at which each block ends
    changes: NDArray[np.int64]  # the last change of each block
    change: int  # the last change of codes
    room: _Room  # the arrays of which codes and slots are views

    def positions(self, rows: NDArray[np.int64] | None = None) -> Positions:
        """Return the positions of these rows, by default of all."""
        rows = np.arange(len(self.codes)) if rows is None else rows
        return self.blocks[np.searchsorted(self.ends, rows, side="right")] * BLOCK + self.slots[rows]

    def rows(self, positions: Positions) -> NDArray[np.int64]:
        """Return the rows of sorted positions, all of which must exist; reads only the blocks they lie in."""
        block = np.searchsorted(self.blocks, positions // BLOCK)  # (n,)
        starts, slots = np.concatenate([[0], self.ends])[block], positions % BLOCK
        rows = starts + slots  # correct for blocks without deletions
        for b in {*block[self.ends[block] - starts < BLOCK].tolist()}:
            part, start = slice(*np.searchsorted(block, [b, b + 1])), self.ends[b - 1] if b else 0
            rows[part] = start + np.searchsorted(self.slots[start : self.ends[b]], slots[part])
        return rows


class Blocks:
    """The codes on disk. Call its methods inside `reading` or `writing`."""

    def __init__(self, database: SqliteDatabase):
        self._database = database

    def count(self) -> int:
        ((n,),) = self._database.execute("SELECT COALESCE(SUM(LENGTH(slots)), 0) / 2 FROM blocks")
        return n

    def table(self, known: CodeTable | None) -> CodeTable:
        """Return all codes; reads only the blocks that differ from a known table, which may be older or newer."""
        change = self._database.state.code_change
        if known is not None and known.change == change:
            return known
        width = self._width()
        if known is None or known.codes.shape[1] != width:
            known = _empty_table(width)
        if known.change < change:
            select = "SELECT block FROM blocks INDEXED BY changed_blocks WHERE change > ?"
            chosen = sorted(block for (block,) in self._database.execute(select, (known.change,)))
        else:  # the known table is newer than this snapshot
            chosen = known.blocks[known.changes > change].tolist()
        # The join keeps the order of the list; for ORDER BY, SQLite would copy all codes into a file and sort it.
        among = "FROM json_each(?) AS chosen LEFT JOIN blocks ON block = chosen.value"
        sizes = f"SELECT chosen.value, IFNULL(change, 0), IFNULL(LENGTH(slots), 0) / 2 {among}"
        fresh = np.array(self._database.execute(sizes, (json.dumps(chosen),)).fetchall(), np.int64).reshape(-1, 3)
        contents = self._database.execute(f"SELECT block, slots, codes {among}", (json.dumps(chosen),))
        return _updated(known, change, fresh, (self._arrays(width, *row) for row in contents))

    def at(self, positions: Positions) -> tuple[Positions, Codes]:
        """Return the positions, of these sorted ones, that have a code, and the codes."""
        width = self._width()
        there, found = [np.empty(0, np.int64)], [np.empty((0, width), np.uint8)]
        for block, part in by_block(positions):
            slots, codes = self._read(block, width)
            present = positions[part][np.isin(positions[part] % BLOCK, slots)]
            there.append(present)
            found.append(codes[np.searchsorted(slots, present % BLOCK)])
        all_codes = np.concatenate(found)
        all_codes.flags.writeable = False
        return np.concatenate(there), all_codes

    def append(self, positions: Positions, codes: Codes) -> None:
        """Add codes at sorted positions, which must be larger than all others."""
        for block, part in by_block(positions):
            old_slots, old_codes = self._read(block, codes.shape[1])
            slots = np.concatenate([old_slots, (positions[part] % BLOCK).astype("<u2")])
            self._write(block, slots, np.concatenate([old_codes, codes[part]]))

    def remove(self, positions: Positions) -> None:
        """Remove the codes at sorted positions."""
        width = self._width()
        for block, part in by_block(positions):
            slots, codes = self._read(block, width)
            kept = ~np.isin(slots, positions[part] % BLOCK)
            self._write(block, slots[kept], codes[kept])

    def replace(self, codes: Iterable[tuple[int, bytes]]) -> None:
        """Replace all codes by these pairs of position and code, sorted, perhaps of another width."""
        change = self._database.count_code_change()
        self._database.execute("UPDATE blocks SET change = ?, slots = x'', codes = x''", (change,))
        for block, rows in groupby(codes, lambda row: row[0] // BLOCK):
            positions, parts = zip(*rows, strict=True)
            slots = (np.array(positions) % BLOCK).astype("<u2")
            self._write(block, slots, np.frombuffer(b"".join(parts), np.uint8))

    def _width(self) -> int:
        return -(-self._database.state.n_bits // 8)

    def _read(self, block: int, width: int) -> tuple[Slots, Codes]:
        row = self._database.execute("SELECT block, slots, codes FROM blocks WHERE block = ?", (block,)).fetchone()
        return self._arrays(width, *(row or (block, None, None)))

    def _arrays(self, width: int, block: int, slots: bytes | None, codes: bytes | None) -> tuple[Slots, Codes]:
        found = np.frombuffer(slots or b"", "<u2"), np.frombuffer(codes or b"", np.uint8)
        if len(found[1]) != len(found[0]) * width:
            raise self._database.damaged(f"block {block} of the codes does not have one for each document")
        return found[0], found[1].reshape(-1, width)

    def _write(self, block: int, slots: Slots, codes: Codes) -> None:
        """Write a block. An empty block stays, so that other processes see that it changed."""
        row = (block, self._database.count_code_change(), slots.tobytes(), codes.tobytes())
        self._database.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?)", row)


def _empty_table(width: int) -> CodeTable:
    room, none = _Room(0, width), np.empty(0, np.int64)
    return CodeTable(_first(room.codes, 0), _first(room.slots, 0), none, none, none, -1, room)


def _updated(
    known: CodeTable, change: int, fresh: NDArray[np.int64], contents: Iterator[tuple[Slots, Codes]]
) -> CodeTable:
    """Return a known table with new blocks: `fresh` has rows (block, its change, its number of codes).

    Rows before the first new code stay where they are. The others are appended if there is room, else all are copied.
    """
    if not len(fresh):
        return known._replace(change=change)
    blocks = np.union1d(known.blocks, fresh[:, 0])
    table = np.zeros((len(blocks), 2), np.int64)  # change and number of codes
    table[np.searchsorted(blocks, known.blocks)] = np.stack([known.changes, np.diff(known.ends, prepend=0)], axis=1)
    table[np.searchsorted(blocks, fresh[:, 0])] = fresh[:, 1:]
    ends = np.cumsum(table[:, 1])
    n, edges = int(ends[-1]), np.append(0, known.ends)
    begins = edges[
        np.searchsorted(known.blocks, fresh[:, 0], side="left")
    ].tolist()  # of the new blocks, in the known table
    finishes = edges[np.searchsorted(known.blocks, fresh[:, 0], side="right")].tolist()
    slots, codes = next(contents)
    kept = begins[0] + _common(known, begins[0], finishes[0], slots, codes)
    room = known.room
    if kept < n and not (kept == len(known.codes) == room.used and n <= len(room.codes)):
        room = _Room(n, known.codes.shape[1])
        room.append(known.slots[:kept], known.codes[:kept])
    if kept < n:
        room.append(slots[kept - begins[0] :], codes[kept - begins[0] :])
        for finish, begin, (slots, codes) in zip(finishes[:-1], begins[1:], contents, strict=True):
            room.append(known.slots[finish:begin], known.codes[finish:begin])
            room.append(slots, codes)
        room.append(known.slots[finishes[-1] :], known.codes[finishes[-1] :])
    return CodeTable(_first(room.codes, n), _first(room.slots, n), blocks, ends, table[:, 0], change, room)


def _common(known: CodeTable, begin: int, finish: int, slots: Slots, codes: Codes) -> int:
    """Return how many codes the old and new block have in common, if one begins with all of the other; else 0."""
    n = min(finish - begin, len(slots))
    rows = slice(begin, begin + n)
    same = np.array_equal(known.slots[rows], slots[:n]) and np.array_equal(known.codes[rows], codes[:n])
    return n if same else 0


def _first(rows: NDArray[T], n: int) -> NDArray[T]:
    view = rows[:n]
    view.flags.writeable = False
    return view


def by_block(positions: Positions) -> Iterator[tuple[int, slice]]:
    """Yield each block of sorted positions, with the slice of the positions in it."""
    blocks, counts = np.unique(positions // BLOCK, return_counts=True)
    for block, count, end in zip(blocks.tolist(), counts, np.cumsum(counts), strict=True):
        yield block, slice(end - count, end)
