"""What is damaged in the file of an embedded index, and a new file of all that is whole.

Pages are held to their checksums first. The documents are then read without these, since every document has a checksum
of its own: of a damaged page all are kept that the damage did not meet.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zlib import crc32

import apsw
import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import words_of
from ammi.files import lock, sync_folder, sync_tree
from ammi.search.checks import DamagedError
from ammi.search.documents import Id, Record, checksums, parsed
from ammi.search.embedded.acknowledged import FILE as ACKNOWLEDGED
from ammi.search.embedded.acknowledged import AcknowledgedFile
from ammi.search.embedded.blocks import BLOCK
from ammi.search.embedded.connections import CHECKSUM_BYTES, FILE, Connections, connect, explaining
from ammi.search.embedded.database import State, about_checksum, check_ours, problem_with
from ammi.search.embedded.keys import rows_of_keys
from ammi.search.embedded.store import HammingIndex
from ammi.search.filters import kinds_by_key
from ammi.search.store_methods import About, Repaired
from ammi.search.vectors import VECTOR_KINDS, KeptVectors, vector_checksum

Advance = Callable[[int], None]
_NEW = ".repair"  # where the new file is made
_JOURNAL = "-wal"
_MAGIC = b"SQLite format 3\0"
_MOST_TIMES = 1000  # as many pages as there are that a file may say to have lost
_PAGES_AT_ONCE = 4096
_UNREADABLE = (apsw.Error, UnicodeDecodeError)


class Whole(NamedTuple):
    """A document that is as it was written."""

    record: Record
    code: bytes
    vector: bytes | None


def find_damage(folder: Path, advance: Advance) -> list[str]:
    """What is damaged, a sentence for each; `advance` is told how many documents were looked at."""
    with _readable(folder) as (location, lost):
        try:
            with _Inspection(location) as inspection:
                for _ in inspection.documents(advance):
                    pass
                inspection.compare_tables()
                return lost + inspection.damage
        except DamagedError as error:  # nothing of it can be read
            return [*lost, str(error).replace(str(location), str(folder))]


def repair(folder: Path, advance: Advance) -> Repaired:
    """Put all documents that are whole into a new file, in the place of the old one, if anything is damaged.

    Repairs take turns, and each begins with what a killed one left: its new file takes its location, or is removed.
    """
    home = folder / _NEW
    with lock(folder, wait=True):
        if _is_acknowledged(folder, home):
            _finish(folder, home)
        try:
            shutil.rmtree(home, ignore_errors=True)
            with _readable(folder) as (location, lost), _Inspection(location, alone=True) as inspection:
                inspection.damage[:0] = lost
                kept = _copy(inspection, home, advance)
                inspection.compare_tables()
                if not kept and (inspection.lost or inspection.unnamed):
                    raise DamagedError("no document is whole")
                old = _change_over(folder, home) if inspection.damage else None
                return Repaired(kept, inspection.lost, inspection.unnamed, inspection.damage, old)
        except DamagedError as error:
            raise DamagedError(
                f"the index in {folder} cannot be repaired ({error.__cause__ or error}): restore a copy of the folder, "
                "or build it again from the documents"
            ) from error
        finally:
            shutil.rmtree(home, ignore_errors=True)


def _copy(inspection: "_Inspection", home: Path, advance: Advance) -> int:
    about, kept = inspection.about, 0
    if about is None:
        raise DamagedError("; ".join(inspection.damage))
    with HammingIndex.create(
        home,
        about.n_bits,
        fingerprint=about.fingerprint,
        keys=[*inspection.keys],
        files=inspection.files,
        text_index=inspection.has_words,
        vectors=about.vectors,
    ) as new:
        for block in inspection.documents(advance):
            codes = np.frombuffer(b"".join(one.code for one in block), np.uint8).reshape(len(block), -1)
            vectors = None
            if about.vectors:
                packed = b"".join(one.vector or b"" for one in block)
                vectors = np.frombuffer(packed, np.uint8).reshape(len(block), about.vectors.n_bytes)
            with new._writing():
                new._put(codes, [one.record for one in block], vectors)
            kept += len(block)
        if inspection.state:
            with new._writing():
                new._store.use_numbers_before(inspection.state.number)
    return kept


def _change_over(folder: Path, home: Path) -> str:
    """Let a new file take the place of the old, which is kept; returns where.

    What was acknowledged comes first: from then on the old file is refused, and whoever repairs next would go on.
    """
    file, n = folder / FILE, 1
    while (old := folder / f"{FILE}.damaged-{n}").exists() and not old.samefile(file):  # that of a killed repair
        n += 1
    for kind in ("", _JOURNAL):
        if (part := Path(f"{file}{kind}")).exists():
            Path(f"{old}{kind}").unlink(missing_ok=True)
            os.link(part, f"{old}{kind}")
    for name in (FILE, ACKNOWLEDGED):
        if (folder / name).exists():
            shutil.copymode(folder / name, home / name)
    sync_tree(home)
    sync_folder(folder)
    os.replace(AcknowledgedFile(home).path, AcknowledgedFile(folder).path)
    sync_folder(folder)
    _finish(folder, home)
    return str(old)


def _finish(folder: Path, home: Path) -> None:
    """Let a new file that is acknowledged take its location, without the journal of the old one."""
    for kind in (_JOURNAL, "-shm"):
        Path(f"{folder / FILE}{kind}").unlink(missing_ok=True)
    sync_folder(folder)
    os.replace(home / FILE, folder / FILE)
    sync_folder(folder)


def _is_acknowledged(folder: Path, home: Path) -> bool:
    """Whether a killed repair has left a new file that the folder says it has."""
    try:
        acknowledged = AcknowledgedFile(folder).read()
        with closing(connect((home / FILE).absolute(), "mode=rw")) as db:
            ((uid,),) = db.execute("SELECT uid FROM state")
    except (ValueError, apsw.Error):
        return False
    return acknowledged is not None and acknowledged.uid == uid


@contextmanager
def _readable(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """Where SQLite reads what is there of an index, and what is not: a copy with its first bytes and its length put
    right, where these are lost."""
    file = folder / FILE
    size, pages, lost = _measured(file) if file.is_file() else (0, 0, [])
    if not lost:
        yield folder, []
        return
    with TemporaryDirectory(prefix="ammi-repair-") as copy:
        for name in (FILE, f"{FILE}{_JOURNAL}", ACKNOWLEDGED):
            if (folder / name).exists():
                shutil.copyfile(folder / name, Path(copy, name))
        with open(Path(copy, FILE), "r+b") as mended:
            mended.write(_MAGIC)
            mended.truncate(size * pages)
        yield Path(copy), lost


def _measured(file: Path) -> tuple[int, int, list[str]]:
    """The bytes of a page, the number of pages there should be, and what is missing of them."""
    with open(file, "rb") as opened:
        size = _page_size(opened.read(100))
        opened.seek(0)
        first = opened.read(size)
    if not size or len(first) < size:
        return 0, 0, []
    whole = _MAGIC + first[len(_MAGIC) :]
    there, pages = file.stat().st_size // size, int.from_bytes(first[28:32], "big")
    if pages > _MOST_TIMES * there or len(_wrong_of(whole, size)):
        return 0, 0, []  # what it says of itself is not to be trusted
    lost = [] if first == whole else [f"the first bytes of {FILE} are not those of a database"]
    if there < pages:
        lost.append(f"of {pages:,} pages of {FILE} the last {pages - there:,} are missing")
    return size, max(pages, there), lost


class _Inspection:
    """A look at a file that may be damaged anywhere."""

    def __init__(self, folder: Path, alone: bool = False):
        self.folder = folder
        self.damage: list[str] = []
        self.lost: list[Id] = []
        self.unnamed = 0
        if not (folder / FILE).is_file():
            raise FileNotFoundError(f"there is no index in {folder}: create it first")
        connections = Connections(folder)
        if alone and not connections.writable:
            raise PermissionError(f"the index in {folder} can only be read: make the folder writable to repair it")
        with explaining(folder):
            self._db = connections.connect()
        try:
            self._begin(alone)
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> "_Inspection":
        return self

    def __exit__(self, *exception: object) -> None:
        self._db.close()

    def _begin(self, alone: bool) -> None:
        pages = _wrong_pages(self.folder / FILE)
        self.damage += [f"page {page} of {FILE} does not have its checksum" for page in pages]
        self._verify(False)
        with explaining(self.folder):
            check_ours(self._db, self.folder, True)
            self._db.execute("BEGIN IMMEDIATE" if alone else "BEGIN")
        if not pages:
            found = self._read("PRAGMA integrity_check(100)", "the structure of the tables") or []
            self.damage += [f"the tables are not in order: {line}" for (line,) in found if line != "ok"]
        self.about = self._read_about()
        self._verify(True)  # what follows has no checksum but that of its pages
        keys = self._read("SELECT name, key FROM indexed_keys ORDER BY key", "which keys are indexed")
        self.keys: dict[str, int] = dict(keys or [])
        files = self._read("SELECT name, content FROM files ORDER BY rowid", "the files, such as the model,")
        self.files: dict[str, bytes] = dict(files or [])
        if files is None:
            self.damage[-1] += ": once it is repaired, ammi index rebuild gives it a model again"
        self.has_words = self._has("words")
        state = self._read("SELECT * FROM state", "the number of changes")
        self.state = State(*state[0]) if state else None
        self._compare_acknowledged()
        self._verify(False)
        self._tally = _Tally(self.keys, self.has_words)

    def _read_about(self) -> About | None:
        rows = self._read("SELECT n_bits, fingerprint, checksum FROM about", "what codes it has") or []
        kept: list[Any] | None = []
        if self._has("kept_vectors"):
            kept = self._read("SELECT kind, width FROM kept_vectors WHERE width > 0", "how vectors are kept")
            if not kept or kept[0][0] not in VECTOR_KINDS:
                self.damage.append("how vectors are kept is not as it was written")
                return None
        for n_bits, fingerprint, checksum in rows:
            if about_checksum(n_bits, fingerprint) == checksum:
                return About(n_bits, fingerprint, KeptVectors(*kept[0]) if kept else None)
        self.damage.append("what codes it has is not as it was written")
        return None

    def documents(self, advance: Advance) -> Iterator[list[Whole]]:
        """All documents that are whole, in blocks, in insertion order; the others are noted."""
        greatest = self._read("SELECT MAX(position) FROM documents", "the documents") or [(None,)]
        last = max(self.state.position if self.state else 0, (greatest[0][0] or -1) + 1)
        for first in range(0, last, BLOCK):
            if block := list(self._block(first)):
                self._tally.count(block)
                yield [whole for _, whole in block]
            advance(len(block))

    def compare_tables(self) -> None:
        """Note the tables that do not agree with the documents, where all of these are whole."""
        if self.lost or self.unnamed:
            return
        kinds = self._read("SELECT name, kinds, documents FROM key_kinds", "the counts of metadata keys")
        if kinds is not None and {(name, kind): n for name, kind, n in kinds} != self._tally.kinds:
            self.damage.append("the counts of metadata keys do not agree with the documents")
        values = self._read("SELECT key, value, position FROM key_values", "the values of indexed keys")
        if values is not None and _digest(values) != self._tally.values:
            self.damage.append("the values of indexed keys do not agree with the documents")
        if self.has_words:
            totals = self._read("SELECT texts, characters FROM text_totals", "the number of texts")
            words = self._read("SELECT term, doc FROM word_counts WHERE LENGTH(term) > 1", "the word index")
            if words is not None and (dict(words), totals) != (self._tally.words, [self._tally.totals]):
                self.damage.append("the word index does not agree with the texts")

    def _block(self, first: int) -> Iterator[tuple[int, Whole]]:
        """The whole documents of a block, and their positions."""
        rows = {row[0]: row[1:] for row in self._rows("documents", "id, id_is_text, metadata, checksum", first)}
        texts = dict(self._rows("texts", "text", first))
        kept = self.about and self.about.vectors
        vectors = {row[0]: row[1:] for row in self._rows("vectors", "vector, checksum", first)} if kept else {}
        codes = self._codes(first)
        for position in sorted({*rows, *texts, *codes}):
            if position not in rows:
                self.unnamed += 1
                self.damage.append(f"the document at position {position} is missing")
                continue
            key, is_text, metadata, checksum = rows[position]
            id, text, code = str(key) if is_text else key, texts.get(position), codes.get(position)
            vector, written = vectors.get(position, (None, None))
            if code is None:
                self._lose(id, f"document {id!r} has no code")
            elif not _is_whole(id, text, metadata, code, checksum):
                self._lose(id, f"document {id!r} is not as it was written")
            elif kept and not _is_whole_vector(position, vector, written, kept):
                self._lose(id, f"the vector of document {id!r} is not as it was written")
            else:
                yield position, Whole(Record(id, text, parsed([metadata])[0], metadata), code, vector)

    def _codes(self, first: int) -> dict[int, bytes]:
        try:
            select = "SELECT slots, codes FROM blocks WHERE block = ?"
            rows: list[Any] = self._db.execute(select, (first // BLOCK,)).fetchall()
            slots, codes = (np.frombuffer(part, kind) for part, kind in zip(rows[0], ("<u2", "u1"), strict=True))
        except IndexError:
            return {}
        except (*_UNREADABLE, ValueError, TypeError) as error:
            self.damage.append(f"block {first // BLOCK} of the codes cannot be read ({error})")
            return {}
        width = -(-self.about.n_bits // 8) if self.about else 1
        return {first + slot: codes[n * width : (n + 1) * width].tobytes() for n, slot in enumerate(slots.tolist())}

    def _rows(self, table: str, columns: str, first: int, last: int | None = None) -> list[Any]:
        """The rows of a block, or of a part of it; those that cannot be read are left out."""
        last = first + BLOCK if last is None else last
        select = f"SELECT position, {columns} FROM {table} WHERE position >= ? AND position < ?"
        try:
            return self._db.execute(select, (first, last)).fetchall()
        except _UNREADABLE:
            middle = (first + last) // 2
            if middle == first:
                return []
            return self._rows(table, columns, first, middle) + self._rows(table, columns, middle, last)

    def _lose(self, id: Id, why: str) -> None:
        self.lost.append(id)
        self.damage.append(why)

    def _read(self, statement: str, what: str) -> list[Any] | None:
        try:
            return self._db.execute(statement).fetchall()
        except _UNREADABLE as error:
            self.damage.append(f"{what} cannot be read ({error})")
            return None

    def _has(self, table: str) -> bool:
        return bool(self._read(f"SELECT 1 FROM sqlite_master WHERE name = '{table}'", "the list of tables"))

    def _verify(self, on: bool) -> None:
        """Whether the pages that are read from now on are held to their checksums."""
        self._db.execute(f"PRAGMA checksum_verification = {'ON' if on else 'OFF'}")

    def _compare_acknowledged(self) -> None:
        try:
            acknowledged = AcknowledgedFile(self.folder).read()
        except ValueError as error:
            self.damage.append(str(error))
            return
        if self.state and acknowledged and (problem := problem_with(self.state, acknowledged)):
            self.damage.append(problem)


class _Tally:
    """What the tables beside the documents should hold."""

    def __init__(self, keys: dict[str, int], has_words: bool):
        self._keys, self._has_words = keys, has_words
        self.kinds: Counter[tuple[str, str]] = Counter()
        self.values = (0, 0)
        self.totals = (0, 0)  # texts and their characters
        self.words: Counter[str] = Counter()

    def count(self, block: list[tuple[int, Whole]]) -> None:
        placed = [(position, whole.record.metadata) for position, whole in block]
        self.kinds.update(pair for _, metadata in placed for pair in kinds_by_key(metadata))
        self.values = _digest(rows_of_keys(self._keys, placed), self.values)
        if self._has_words:
            texts = [whole.record.text for _, whole in block if whole.record.text is not None]
            self.totals = self.totals[0] + len(texts), self.totals[1] + sum(map(len, texts))
            for text in texts:
                self.words.update(set(words_of(text)))


def _digest(rows: Iterable[tuple[int, Any, int]], begin: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """The number of rows, and a sum that no two sets of them have in common, whatever their order."""
    n, total = begin
    for key, value, position in rows:
        plain = value + 0 if isinstance(value, float) else value  # -0.0 comes back as 0.0
        n, total = n + 1, total + crc32(f"{key} {plain!r} {position}".encode())
    return n, total


def _is_whole(id: Any, text: Any, metadata: Any, code: bytes, checksum: Any) -> bool:
    if not (isinstance(id, str | int) and isinstance(text, str | None) and isinstance(metadata, str)):
        return False
    return checksums([id], [text], [metadata], np.frombuffer(code, np.uint8)[None]) == [checksum]


def _is_whole_vector(position: int, vector: Any, checksum: Any, kept: KeptVectors) -> bool:
    is_one = isinstance(vector, bytes) and len(vector) == kept.n_bytes
    return is_one and vector_checksum(position, vector) == checksum


def _page_size(header: bytes) -> int:
    """What the first 100 bytes say of it; 0 where that cannot be."""
    size = int.from_bytes(header[16:18], "big")
    return size if size >= 512 and not size & (size - 1) and header[20] == CHECKSUM_BYTES else 0


def _wrong_of(content: bytes, size: int) -> NDArray[np.intp]:
    """Which pages do not have their checksums: s and t of the words w of a page, s += w_2i + t, t += w_2i+1 + s."""
    pages = np.frombuffer(content[: len(content) // size * size], "<u4").reshape(-1, size // 4)
    words = np.ascontiguousarray(pages[:, : -CHECKSUM_BYTES // 4].T)
    s, t = np.zeros((2, len(pages)), np.uint32)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        s += even + t
        t += odd + s
    return np.flatnonzero((s != pages[:, -2]) | (t != pages[:, -1]))


def _wrong_pages(file: Path) -> list[int]:
    """The pages of a file that do not have their checksums."""
    wrong: list[int] = []
    with open(file, "rb") as opened:
        size = _page_size(opened.read(100))
        if not size:
            return [1]
        opened.seek(0)
        first = 1
        while content := opened.read(size * _PAGES_AT_ONCE):
            wrong += (first + _wrong_of(content, size)).tolist()
            first += len(content) // size
            if len(content) % size:
                wrong.append(first)
    return wrong
