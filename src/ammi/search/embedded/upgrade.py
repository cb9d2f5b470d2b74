"""Convert a collection of an earlier format: the same documents and files in a new file of this format.

Formats 1 to 3, of ammi 0.1.0 and of early builds of 0.2.0, have tables of other columns. What they hold is taken as it
is, since their documents have no checksums, or none of this kind.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from ammi.plain import as_json
from ammi.search.checks import DamagedError
from ammi.search.documents import Record, parsed
from ammi.search.embedded.blocks import BLOCK
from ammi.search.embedded.connections import SqliteFile, damaged, explaining
from ammi.search.embedded.damage import (
    NEW,
    Advance,
    Inspection,
    Intact,
    change_over,
    copy_intact,
    making,
    read_back,
)
from ammi.search.embedded.database import FORMAT, OLDEST, check_ours
from ammi.search.store_methods import About, Upgraded
from ammi.search.vectors import KeptVectors


def upgrade(folder: Path, advance: Advance) -> Upgraded:
    """Replace a file of an earlier format by one of this format with the same documents and files.

    Words, counts and keys are made anew from the documents, which must all be intact.
    """
    home = folder / NEW
    with making(folder, home), _read(folder) as old:
        if old.format == FORMAT:
            return Upgraded(FORMAT, FORMAT, sum(map(len, old.documents(advance))), None)
        kept, state = copy_intact(old, home, advance)
        if old.damage:
            raise DamagedError(f"{folder} cannot be converted, since it is damaged ({'; '.join(old.damage)})")
        read_back(folder, home, state)
        return Upgraded(old.format, FORMAT, kept, change_over(folder, home, "before"))


def _read(folder: Path) -> "_Oldest | Inspection":
    with explaining(folder), closing(SqliteFile(folder).connect()) as db:
        is_oldest = db.pragma("user_version") in OLDEST
    return _Oldest(folder) if is_oldest else Inspection(folder, alone=True, older=True)


class _Oldest:
    """Reads a file of formats 1 to 3, which nobody else writes meanwhile."""

    def __init__(self, folder: Path):
        self._folder, self._db = folder, SqliteFile(folder).connect()
        try:
            with explaining(folder):
                self._db.execute("BEGIN IMMEDIATE")
                check_ours(self._db, folder, True, True)
                self.format = self._db.pragma("user_version")
                found = [str(line) for (line,) in self._db.execute("PRAGMA integrity_check(20)").fetchall()]
                self.damage = [line for line in found if line != "ok"]
                self._tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master")}
                about, state = self._first("about", "n_bits", "fingerprint"), self._first("state", "number")
                kept = self._first("kept_vectors")
                vectors = KeptVectors(kept["kind"], kept["width"]) if kept else None
                has_words = self.format < 3 or "words" in self._tables
                settings = about["n_bits"], about["fingerprint"], vectors, has_words, None, state["number"]
                self.about: About | None = About(*settings)
                self.keys: dict[str, int] = self._pairs("indexed_keys", "name, key", "key")
                self.files: dict[str, bytes] = self._pairs("files", "name, content", "rowid")
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> "_Oldest":
        return self

    def __exit__(self, *exception: object) -> None:
        self._db.close()

    def _first(self, table: str, *needed: str) -> dict[str, Any]:
        """Return the row of a table that has one, by column; nothing if there is no such table."""
        found: dict[str, Any] = {}
        if table in self._tables:
            names = [name for _, name, *_ in self._db.execute(f"PRAGMA table_info({table})")]
            found = dict(zip(names, next(self._db.execute(f"SELECT * FROM {table}"), ()), strict=False))
        if not found.keys() >= {*needed}:
            raise damaged(self._folder, f"its table {table} is not whole")
        return found

    def _pairs(self, table: str, columns: str, order: str) -> dict[str, Any]:
        if table not in self._tables:
            return {}
        rows: Any = self._db.execute(f"SELECT {columns} FROM {table} ORDER BY {order}")
        return dict(rows.fetchall())

    def documents(self, advance: Advance) -> Iterator[list[Intact]]:
        """Yield all documents, in blocks, in insertion order."""
        assert self.about
        width = -(-self.about.n_bits // 8)
        with explaining(self._folder):
            blocks: Any = self._db.execute("SELECT block, slots, codes FROM blocks ORDER BY block").fetchall()
            for block, slots, codes in blocks:
                try:
                    positions = (np.frombuffer(slots, "<u2") + block * BLOCK).tolist()
                    code_at = {position: codes[n * width : (n + 1) * width] for n, position in enumerate(positions)}
                    found = list(self._block(block * BLOCK, code_at))
                except (KeyError, TypeError, ValueError) as error:
                    raise damaged(self._folder, f"block {block} of its documents: {error}") from error
                yield found
                advance(len(found))

    def _block(self, first: int, code_at: dict[int, bytes]) -> Iterator[Intact]:
        is_text = "typeof(id) = 'text'" if self.format == 1 else "id_is_text"
        beside = "".join(f" LEFT JOIN {name} USING (position)" for name in ("texts", "vectors") if name in self._tables)
        rows: Any = self._db.execute(
            f"SELECT position, id, {is_text}, text, metadata, {'vector' if 'vectors' in self._tables else 'NULL'} "
            f"FROM documents{beside} WHERE position >= {first} AND position < {first + BLOCK} ORDER BY position"
        )
        for position, key, was_text, text, metadata, vector in rows.fetchall():
            (read,) = parsed([metadata])
            record = Record(str(key) if was_text else key, text, read, as_json(read))
            yield Intact(position, record, code_at[position], vector)
