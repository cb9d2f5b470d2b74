"""Check and repair of an embedded index: find what is damaged, and make a new file of everything that is intact.

Pages are held to their checksums first. The documents are then read without these, since every document has a checksum
of its own: of a damaged page all documents are kept that the damage did not hit.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from zlib import crc32

import apsw
import numpy as np

from ammi.files import lock, sync_folder, sync_tree
from ammi.search.checks import DamagedError
from ammi.search.documents import Id, Record, checksums, parsed
from ammi.search.embedded.acknowledged import FILE as ACKNOWLEDGED
from ammi.search.embedded.acknowledged import Acknowledged, AcknowledgedFile
from ammi.search.embedded.blocks import BLOCK
from ammi.search.embedded.connections import FILE, SqliteFile, connect, explaining, full
from ammi.search.embedded.database import FORMAT, STEPS, SqliteState, check_ours, check_schema, problem_with
from ammi.search.embedded.embedded_tables import EmbeddedTables
from ammi.search.embedded.pages import JOURNAL, readable_folder, wrong_pages
from ammi.search.embedded.store import HammingIndex
from ammi.search.embedded.word_index import TermMaker
from ammi.search.filters import kinds_by_key
from ammi.search.headings import searched_text
from ammi.search.languages import LONGEST, stems
from ammi.search.store_methods import About, Repaired
from ammi.search.vectors import KeptVectors, vector_checksum

Advance = Callable[[int], None]
NEW = ".repair"  # the folder in which the new file is made
_UNREADABLE = (apsw.Error, UnicodeDecodeError)


class Intact(NamedTuple):
    """A document that is as it was written."""

    position: int
    record: Record
    code: bytes
    vector: bytes | None


def find_damage(folder: Path, advance: Advance) -> list[str]:
    """List what is damaged, a sentence for each; `advance` gets how many documents were looked at."""
    with readable_folder(folder) as (location, lost):
        try:
            with Inspection(location) as inspection:
                for _ in inspection.documents(advance):
                    pass
                inspection.compare_tables()
                return lost + inspection.damage
        except DamagedError as error:  # nothing of it can be read
            return [*lost, str(error).replace(str(location), str(folder))]


def repair(folder: Path, advance: Advance) -> Repaired:
    """Replace a damaged file by a new one with all intact documents; write nothing if nothing is damaged."""
    home, intact = folder / NEW, 0

    def count(n_documents: int) -> None:
        nonlocal intact
        intact += n_documents
        advance(n_documents)

    with making(folder, home):
        if not find_damage(folder, count):
            return Repaired(intact, [], 0, [], None)
        try:
            with readable_folder(folder) as (location, lost), Inspection(location, alone=True) as inspection:
                inspection.damage[:0] = lost
                try:
                    kept, state = copy_intact(inspection, home)
                except OSError as error:
                    raise OSError(
                        f"{folder} is as it was, since its intact documents could not be copied "
                        f"({error.__cause__ or error}): make space and repair it again"
                    ) from error
                inspection.compare_tables()
                if not kept and (inspection.lost or inspection.unnamed):
                    raise DamagedError("no document is whole")
                read_back(folder, home, state)
                old = change_over(folder, home)
                return Repaired(kept, inspection.lost, inspection.unnamed, inspection.damage, old)
        except DamagedError as error:
            raise DamagedError(
                f"{folder} cannot be repaired ({error.__cause__ or error}): restore a copy of the "
                "folder, or build it again from the documents"
            ) from error


@contextmanager
def making(folder: Path, home: Path) -> Iterator[None]:
    """While a new file is made in `home`: repairs and restores take turns, and each finishes what a killed one left."""
    with lock(folder, wait=True):
        if _is_acknowledged(folder, home):
            _finish(folder, home)
        shutil.rmtree(home, ignore_errors=True)
        try:
            yield
        finally:
            if not _is_acknowledged(folder, home):  # or else the next one finishes the change over
                shutil.rmtree(home, ignore_errors=True)


class Copied(Protocol):
    """A file whose documents are taken over into a new one."""

    about: About | None
    keys: dict[str, int]
    files: dict[str, bytes]
    damage: list[str]

    def documents(self, advance: Advance) -> Iterator[list[Intact]]: ...


def copy_intact(inspection: Copied, home: Path, advance: Advance = lambda n_documents: None) -> tuple[int, SqliteState]:
    """Create a new store with the intact documents; return their number, and the final state of the store."""
    about = inspection.about
    if about is None:
        raise DamagedError("; ".join(inspection.damage))
    with HammingIndex.create(
        home,
        about.n_bits,
        fingerprint=about.fingerprint,
        keys=[*inspection.keys],
        files=inspection.files,
        text_index=about.words,
        vectors=about.vectors,
    ) as new:
        for block in inspection.documents(advance):
            codes = np.frombuffer(b"".join(document.code for document in block), np.uint8).reshape(len(block), -1)
            vectors = None
            if about.vectors:
                packed = b"".join(document.vector or b"" for document in block)
                vectors = np.frombuffer(packed, np.uint8).reshape(len(block), about.vectors.n_bytes)
            with new._writing():
                new._put(codes, [document.record for document in block], vectors)
        with new._writing():
            number = max(new._about().next_number, about.next_number)  # of deleted documents, too
            new._database.set_state(number=number)
        with new._reading():
            return new._count(), new._database.state


def read_back(folder: Path, home: Path, state: SqliteState) -> None:
    """Refuse a new file that is not complete without its journal, or not in the state in which it was left."""
    problem = f"its journal could not be written into {FILE}"  # SQLite does so on close, and is silent if it fails
    if not Path(f"{home / FILE}{JOURNAL}").exists():
        with Inspection(home) as new:
            for _ in new.documents():
                pass
            new.compare_tables()
        if not new.damage and new.state == state:
            return
        problem = "; ".join(new.damage) or "it is not in the state in which it was left"
    raise OSError(
        f"the new file could not be read back whole ({problem}), so {folder} is as it was: make space, or see to the "
        "disk, and try again"
    )


def change_over(folder: Path, home: Path, name: str = "damaged") -> str:
    """Let the new file take the place of the old one, which is kept; returns where.

    The file of acknowledged changes comes first: from then on the old file is refused, and the next repair would go on.
    """
    file, n = folder / FILE, 1
    while (old := folder / f"{FILE}.{name}-{n}").exists() and not old.samefile(file):  # that of a killed repair
        n += 1
    for kind in ("", JOURNAL):
        if (part := Path(f"{file}{kind}")).exists():
            Path(f"{old}{kind}").unlink(missing_ok=True)
            os.link(part, f"{old}{kind}")
    for name in (FILE, ACKNOWLEDGED):
        if (folder / name).exists():
            shutil.copymode(folder / name, home / name)
    sync_tree(home)
    sync_folder(folder)
    os.replace(home / ACKNOWLEDGED, folder / ACKNOWLEDGED)
    sync_folder(folder)
    _finish(folder, home)
    return str(old)


def _finish(folder: Path, home: Path) -> None:
    """Let a new file that is acknowledged take its place, without the journal of the old one."""
    for kind in (JOURNAL, "-shm"):
        Path(f"{folder / FILE}{kind}").unlink(missing_ok=True)
    sync_folder(folder)
    os.replace(home / FILE, folder / FILE)
    sync_folder(folder)


def _is_acknowledged(folder: Path, home: Path) -> bool:
    """Whether a killed repair has left a new file that the folder already calls its own."""
    try:
        acknowledged = AcknowledgedFile(folder).read()
        with closing(connect((home / FILE).absolute(), "mode=ro&immutable=1")) as db:  # on a full disk, too
            ((uid,),) = db.execute("SELECT uid FROM state")
    except (ValueError, apsw.Error):
        return False
    return acknowledged is not None and acknowledged.uid == uid


class Inspection:
    """Reads a file that may be damaged anywhere, and notes the damage."""

    def __init__(self, folder: Path, alone: bool = False, older: bool = False):
        self.damage: list[str] = []
        self.lost: list[Id] = []
        self.unnamed = 0
        self._folder, self._older = folder, older
        file = SqliteFile(folder)
        if alone and not file.writable:
            raise PermissionError(f"{folder} can only be read: make the folder writable to repair it")
        with explaining(folder):
            self._db = file.connect()
        try:
            if alone and self._db.readonly("main"):
                raise full(folder, "the disk is full")
            self._begin(alone)
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> "Inspection":
        return self

    def __exit__(self, *exception: object) -> None:
        self._db.close()

    def _begin(self, alone: bool) -> None:
        pages = wrong_pages(self._folder / FILE)
        self.damage += [f"page {page} of {FILE} does not have its checksum" for page in pages]
        self._verify(False)
        acknowledged = self._acknowledged()  # before the snapshot is taken, since others go on
        with explaining(self._folder):
            self._db.execute("BEGIN IMMEDIATE" if alone else "BEGIN")
            check_ours(self._db, self._folder, True, self._older)
            self.format = self._db.pragma("user_version")
            if not pages and self.format == FORMAT:  # or else the damage may be in the schema itself
                check_schema(self._db, self._folder)
        if not pages:
            found = self._read("PRAGMA integrity_check(100)", "the structure of the tables") or []
            self.damage += [f"the tables are not in order: {line}" for (line,) in found if line != "ok"]
        self.about = self._read_about()
        self._verify(True)  # the following has no checksum but that of its pages
        keys = self._read("SELECT name, key FROM indexed_keys ORDER BY key", "which keys are indexed")
        self.keys: dict[str, int] = dict(keys or [])
        files = self._read("SELECT name, content FROM files ORDER BY rowid", "the files, such as the model,")
        self.files: dict[str, bytes] = dict(files or [])
        if files is None:
            self.damage[-1] += ": once it is repaired, ammi index rebuild gives it a model again"
        states = self._states("the number of changes")
        self.state = states[0] if states else None
        if self.state and acknowledged and (problem := problem_with(self.state, acknowledged)):
            self.damage.append(problem)
        self._verify(False)
        has_words = self.about is not None and self.about.text_index and self.format == FORMAT
        self._tally = _Tally(self.keys, TermMaker(self._db) if has_words else None)

    def _read_about(self) -> About | None:
        """The settings, which are a part of the state with a checksum of its own."""
        for state in self._states("what codes it has"):
            if self.format != FORMAT or state.checksum == state.right_checksum():
                return state.about
        self.damage.append("what codes it has is not as it was written")
        return None

    def _states(self, what: str) -> list[SqliteState]:
        """Read the row of the state, and take it step by step from the format of the file to that of this version."""
        names = [name for _, name, *_ in self._read("PRAGMA table_info(state)", what) or []]
        rows = [dict(zip(names, row, strict=True)) for row in self._read("SELECT * FROM state", what) or []]
        for step in range(self.format, FORMAT):
            rows = [STEPS[step](row) for row in rows]
        return [SqliteState(**row) for row in rows if row.keys() == set(SqliteState.columns())]

    def documents(self, advance: Advance = lambda n_documents: None) -> Iterator[list[Intact]]:
        """Yield all intact documents, in blocks, in insertion order; the others are noted."""
        greatest = self._read("SELECT MAX(position) FROM documents", "the documents") or [(None,)]
        last = max(self.state.position if self.state else 0, (greatest[0][0] or -1) + 1)
        for first in range(0, last, BLOCK):
            if block := list(self._block(first)):
                self._tally.count(block)
                yield block
            advance(len(block))

    def compare_tables(self) -> None:
        """Note the tables that do not agree with the documents, if all of these are intact."""
        if self.lost or self.unnamed:
            return
        kinds = self._read("SELECT name, kinds, documents FROM key_kinds", "the counts of metadata keys")
        if kinds is not None and {(name, kind): n for name, kind, n in kinds} != self._tally.kinds:
            self.damage.append("the counts of metadata keys do not agree with the documents")
        values = self._read("SELECT key, value, position FROM key_values", "the values of indexed keys")
        if values is not None and _digest(values) != self._tally.values:
            self.damage.append("the values of indexed keys do not agree with the documents")
        if self.about and self.about.text_index:
            words = self._read("SELECT CAST(term AS BLOB), doc FROM word_counts", "the word index")
            totals = self.state and (self.state.texts, self.state.characters)
            if words is not None and (dict(words), totals) != (self._tally.words, self._tally.totals):
                self.damage.append("the word index does not agree with the texts")
            vocabulary = self._read("SELECT word, stem FROM vocabulary", "the vocabulary")
            if vocabulary is not None and not self._is_vocabulary(dict(vocabulary)):
                self.damage.append("the vocabulary does not agree with the texts")

    def _is_vocabulary(self, stem_of: dict[str, str]) -> bool:
        """Return whether all words of the texts are there, and every word has its stem; words may be left over."""
        there = {word for term in self._tally.words if len(word := term.decode(errors="replace")) <= LONGEST}
        words = [*stem_of]
        language = self.about.language if self.about else None
        return there <= stem_of.keys() and stems(language, words) == [*stem_of.values()]

    def _block(self, first: int) -> Iterator[Intact]:
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
            vector, vector_sum = vectors.get(position, (None, None))
            if code is None:
                self._lose(id, f"document {id!r} has no code")
            elif not _is_intact(id, text, metadata, code, checksum):
                self._lose(id, f"document {id!r} is not as it was written")
            elif kept and not _is_intact_vector(position, vector, vector_sum, kept):
                self._lose(id, f"the vector of document {id!r} is not as it was written")
            else:
                yield Intact(position, Record(id, text, parsed([metadata])[0], metadata), code, vector)

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

    def _verify(self, on: bool) -> None:
        """Whether the pages that are read from now on are held to their checksums."""
        self._db.execute(f"PRAGMA checksum_verification = {'ON' if on else 'OFF'}")

    def _acknowledged(self) -> Acknowledged | None:
        try:
            return AcknowledgedFile(self._folder).read()
        except ValueError as error:
            self.damage.append(str(error))
            return None


class _Tally:
    """What the tables beside the documents should hold."""

    def __init__(self, keys: dict[str, int], terms: TermMaker | None):
        self._keys, self._terms = keys, terms
        self.kinds: Counter[tuple[str, str]] = Counter()
        self.values = (0, 0)
        self.totals = (0, 0)  # texts and their characters
        self.words: Counter[bytes] = Counter()

    def count(self, block: list[Intact]) -> None:
        placed = [(document.position, document.record.metadata) for document in block]
        self.kinds.update(pair for _, metadata in placed for pair in kinds_by_key(metadata))
        self.values = _digest(EmbeddedTables.rows_of_keys(self._keys, placed), self.values)
        if self._terms:
            texts = [document.record.text for document in block if document.record.text is not None]
            self.totals = self.totals[0] + len(texts), self.totals[1] + sum(map(len, texts))
            for id, text, metadata, _ in (document.record for document in block):
                if text is not None:
                    self.words.update(self._terms(searched_text(id, text, metadata)))


def _digest(rows: Iterable[tuple[int, Any, int]], begin: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """The number of rows, and a checksum of them whatever their order."""
    n, total = begin
    for key, value, position in rows:
        plain = value + 0 if isinstance(value, float) else value  # -0.0 comes back as 0.0
        n, total = n + 1, total + crc32(f"{key} {plain!r} {position}".encode())
    return n, total


def _is_intact(id: object, text: object, metadata: object, code: bytes, checksum: object) -> bool:
    if not (isinstance(id, str | int) and isinstance(text, str | None) and isinstance(metadata, str)):
        return False
    return checksums([id], [text], [metadata], np.frombuffer(code, np.uint8)[None]) == [checksum]


def _is_intact_vector(position: int, vector: object, checksum: object, kept: KeptVectors) -> bool:
    if not isinstance(vector, bytes) or len(vector) != kept.n_bytes:
        return False
    return vector_checksum(position, vector) == checksum
