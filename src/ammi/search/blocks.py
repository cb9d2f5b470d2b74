"""The codes of an embedded index: in blocks of BLOCK positions on the disk, and all of them as one array in memory."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.search.hamming import Codes
from ammi.search.store import Store

Positions = NDArray[np.int64]

BLOCK = 1024


class CodeTable(NamedTuple):
    """All codes in insertion order; row i, which lies in block b, has the position blocks[b] * BLOCK + slots[i].

    A slot takes two bytes where a position would take eight: memory belongs to the codes.
    """

    codes: Codes  # (n, ceil(m / 8))
    slots: NDArray[np.uint16]  # (n,)
    blocks: NDArray[np.int64]
    ends: NDArray[np.int64]  # the row at which each block ends

    def positions(self, rows: NDArray[np.int64] | None = None) -> Positions:
        """The position of each of these rows, or of all."""
        rows = np.arange(len(self.codes)) if rows is None else rows
        return self.blocks[np.searchsorted(self.ends, rows, side="right")] * BLOCK + self.slots[rows]

    def rows(self, positions: Positions) -> NDArray[np.int64]:
        """The rows of sorted positions, all of which are there; only their own blocks are looked at."""
        block = np.searchsorted(self.blocks, positions // BLOCK)  # (n,)
        starts, slots = np.append(0, self.ends)[block], positions % BLOCK
        rows = starts + slots  # right where nothing was deleted
        for b in np.unique(block[self.ends[block] - starts < BLOCK]).tolist():
            part, start = slice(*np.searchsorted(block, [b, b + 1])), self.ends[b - 1] if b else 0
            rows[part] = start + np.searchsorted(self.slots[start : self.ends[b]], slots[part])
        return rows


class Blocks:
    """The codes on the disk. Its methods are called while reading or writing."""

    def __init__(self, store: Store):
        self._store = store

    def count(self) -> int:
        ((n,),) = self._store.execute("SELECT COALESCE(SUM(LENGTH(slots)), 0) / 2 FROM blocks")
        return n

    def table(self) -> CodeTable:
        sizes = self._store.execute("SELECT block, LENGTH(slots) / 2 FROM blocks ORDER BY block").fetchall()
        blocks, counts = np.array(sizes, np.int64).reshape(-1, 2).T
        ends = np.cumsum(counts)
        slots = np.empty(counts.sum(), np.uint16)
        width = self._width()
        codes = np.empty((len(slots), width), np.uint8)
        contents = self._store.execute("SELECT slots, codes FROM blocks ORDER BY block")
        for end, count, (its_slots, its_codes) in zip(ends, counts, contents, strict=True):
            slots[end - count : end], codes[end - count : end] = _arrays(its_slots, its_codes, width)
        codes.flags.writeable = False
        return CodeTable(codes, slots, blocks, ends)

    def codes(self, positions: Positions) -> Codes:
        """The codes at sorted positions, all of which are there."""
        width = self._width()
        found = np.empty((len(positions), width), np.uint8)
        for block, part in by_block(positions):
            slots, codes = self._read(block, width)
            found[part] = codes[np.searchsorted(slots, positions[part] % BLOCK)]
        found.flags.writeable = False
        return found

    def append(self, positions: Positions, codes: Codes) -> None:
        """Add codes at sorted positions, which come after all others."""
        for block, part in by_block(positions):
            old_slots, old_codes = self._read(block, codes.shape[1])
            slots = np.concatenate([old_slots, (positions[part] % BLOCK).astype("<u2")])
            self._write(block, slots, np.concatenate([old_codes, codes[part]]))

    def remove(self, positions: Positions) -> None:
        """Take away the codes at sorted positions."""
        width = self._width()
        for block, part in by_block(positions):
            slots, codes = self._read(block, width)
            kept = ~np.isin(slots, positions[part] % BLOCK)
            self._write(block, slots[kept], codes[kept])

    def clear(self) -> None:
        self._store.execute("DELETE FROM blocks")

    def _width(self) -> int:
        return -(-self._store.codes_about()[0] // 8)

    def _read(self, block: int, width: int) -> tuple[NDArray[np.uint16], Codes]:
        row = self._store.execute("SELECT slots, codes FROM blocks WHERE block = ?", (block,)).fetchone()
        slots, codes = row or (b"", b"")
        return _arrays(slots, codes, width)

    def _write(self, block: int, slots: NDArray[np.uint16], codes: Codes) -> None:
        if len(slots):
            row = (block, slots.tobytes(), codes.tobytes())
            self._store.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?)", row)
        else:
            self._store.execute("DELETE FROM blocks WHERE block = ?", (block,))


def by_block(positions: Positions) -> Iterator[tuple[int, slice]]:
    """Each block that sorted positions fall in, and which of them do."""
    blocks, counts = np.unique(positions // BLOCK, return_counts=True)
    for block, count, end in zip(blocks.tolist(), counts, np.cumsum(counts), strict=True):
        yield block, slice(end - count, end)


def _arrays(slots: bytes, codes: bytes, width: int) -> tuple[NDArray[np.uint16], Codes]:
    return np.frombuffer(slots, "<u2"), np.frombuffer(codes, np.uint8).reshape(-1, width)
