"""The collections of an index in Milvus, and what makes a change one step where there are no transactions.

NAME holds the records of changes, NAME_documents_G the documents, NAME_pieces what is too long for a row of those, and
the files, NAME_words the words of the texts. Rows are numbered as they are written, and a document that is altered is
written anew. The record of a change says how many rows there are and what the index is about, records beside it which
rows it removed; it is one row, and written last. So a reader who has read the newest record knows which rows count:
those below its number that no record removed. What a writer left who did not get so far is no row that counts, and the
next writer deletes it. Removed rows are deleted when nobody looks at them any more.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from secrets import token_hex
from threading import local
from typing import Any
from zlib import crc32

from ammi.search.checks import DamagedError, change_in_view
from ammi.search.milvus.client import PART, Client, DataType, Row
from ammi.search.milvus.state import FORMAT, Head, Shared, View
from ammi.search.milvus.turns import claimed
from ammi.search.store_methods import About

INDEX = "an index of ammi"  # what the collection of the records says that it is
PIECES = 1 << 20  # numbers for the pieces of a document, or of the files
NO_CODE = b"\0"  # Milvus wants a vector in every row
_RECORDS = 1 << 20  # numbers for the records of a change
_ROWS_IN_RECORD = 3000  # in 65,535 bytes
_GRACE = 600.0  # seconds for which those in other processes can read what was removed
_MOST_RECORDS, _MOST_REMOVED = 5000, 50_000  # that are kept so long
_LONGEST_VECTOR = 49_000  # bytes, in base64 65,340
_ABANDONED = 86_400.0  # seconds after which another process no longer makes a generation

TEXT, NUMBER, JSON = DataType.VARCHAR, DataType.INT64, DataType.JSON
DOCUMENT = {"position": NUMBER, "key": NUMBER, "id": TEXT, "metadata": TEXT, "text": TEXT, "pieces": NUMBER}
DOCUMENT |= {"characters": NUMBER, "checksum": NUMBER, "tags": JSON}


class Tables:
    """The collections. All threads use one."""

    def __init__(self, client: Client):
        """Not for callers, who have `create` and `open`."""
        self.client, self.location = client, client.address.location
        self.name = client.address.name
        self.closed = False
        self._uid: str | None = None
        self._known: View | None = None
        self._here: Any = local()
        self._shared: Shared = client.indexes.setdefault(self.name, Shared())
        self._alone = client.address.file is not None

    def create(self, text_index: bool, about: About) -> None:
        """Make the collections, without the record that makes them an index; what one cut short left is deleted."""
        self._check_vectors(about)
        names = self.client.names()
        if self.name in names:
            self._check_ours(self.name, INDEX)
            if self.has_records():
                raise FileExistsError(f"{self.location} holds an index: open it, or create the new one elsewhere")
        left = [name for name in names if name in (self.pieces, self.words) or self._generation(name) is not None]
        for name in left:
            self._check_ours(name, PART)
        for name in [*left, *({self.name} & {*names})]:
            self.client.drop(name)
        self.client.create(self.name, {"change": NUMBER, "content": TEXT}, INDEX)
        self.client.create(self.pieces, {"of": NUMBER, "piece": TEXT})
        if text_index:
            self.client.create(self.words, {"of": NUMBER, "position": NUMBER, "words": JSON})
        self.make_documents(0, about)

    def begin(self, head: Head) -> None:
        """Write the first record."""
        self._check_length(head)
        self.client.insert(self.name, [self._record(0, 0, replace(head, uid=token_hex()).spelled())])

    def open(self) -> None:
        """Look at what is there; FileNotFoundError where there is no index."""
        if self.name not in self.client.names():
            raise FileNotFoundError(f"there is no index in {self.location}: create it first")
        self._check_ours(self.name, INDEX)
        if not self.has_records():
            raise FileNotFoundError(f"the making of the index in {self.location} was cut short: create it again")
        self._uid = self.newest().head.uid

    def has_records(self) -> bool:
        return bool(self.client.count(self.name, "row >= 0"))

    def _check_ours(self, name: str, description: str) -> None:
        if self.client.description(name) != description:
            raise ValueError(
                f"the collection {name!r} of {self.location} belongs to another program or index: choose another name"
            )

    def _check_vectors(self, about: About) -> None:
        if about.vectors and about.vectors.n_bytes > _LONGEST_VECTOR:
            raise ValueError(
                f"vectors of {about.vectors.width} numbers as {about.vectors.kind} are too long for {self.location}, "
                f"which keeps {_LONGEST_VECTOR} bytes of each: keep none, or take another store"
            )

    def _generation(self, name: str) -> int | None:
        """That of a collection of documents; None of any other collection."""
        number = name.removeprefix(f"{self.name}_documents_")
        return int(number) if number != name and number.isdecimal() else None

    @property
    def pieces(self) -> str:
        return f"{self.name}_pieces"

    @property
    def words(self) -> str:
        return f"{self.name}_words"

    def documents(self, generation: int) -> str:
        return f"{self.name}_documents_{generation}"

    def make_documents(self, generation: int, about: About) -> None:
        self._check_vectors(about)
        vector = {"vector": TEXT} if about.vectors else {}
        self.client.create(self.documents(generation), DOCUMENT | vector, n_bits=-(-about.n_bits // 8) * 8)

    def drop_generation(self, generation: int) -> None:
        """Delete the documents and the files of a generation, if they are there."""
        self.client.drop(self.documents(generation))
        self.client.delete(self.pieces, f"of == {-1 - generation}")

    @property
    def making(self) -> set[int]:
        """The generations that this process has not finished yet."""
        return self._shared.making

    @contextmanager
    def reading(self) -> Iterator[View]:
        """One view of the index for as long as the block lasts, whatever others change meanwhile."""
        if view := getattr(self._here, "view", None):
            yield view
            return
        with self.pinned() as view:
            self._here.view = view
            try:
                yield view
            finally:
                self._here.view = None

    @contextmanager
    def pinned(self) -> Iterator[View]:
        """The newest view, whose rows nobody in this process deletes; any thread may use it."""
        with self._shared.lock:  # so that nobody deletes between a look and the pin
            view = self.newest()
            self._shared.pins[view.head.change] += 1
        try:
            yield view
        finally:
            with self._shared.lock:
                self._shared.pins[view.head.change] -= 1
                self._shared.pins += Counter()  # without those at 0

    def view(self) -> View:
        """That of the block in which this thread is."""
        return self._here.view

    def check_view(self, view: View) -> None:
        """Refuse what was read for so long that rows may be missing."""
        late = not self._alone and time.monotonic() - view.taken > _GRACE / 2
        if late and self.newest().head.last_removal > view.head.change:
            raise TimeoutError(f"the index in {self.location} changed too much while it was being read: read it again")

    @contextmanager
    def writing(self) -> Iterator[View]:
        """A change that is made when the block ends, and not at all when it fails."""
        view = getattr(self._here, "view", None)
        if view and view.newly is not None:
            yield view
            return
        if view:
            raise change_in_view(f"the index in {self.location}")
        self._check_open()
        claim = nullcontext(lambda: None) if self._alone else claimed(self.client, self.name, self._shared)
        with self._shared.turn, claim as check_claim:
            before = self.newest()
            if self._shared.untidy:
                self._tidy(before)
            view = replace(before, newly=[])
            self._here.view = view
            self._shared.untidy = True
            try:
                yield view
            except BaseException:
                if not self._alone:  # other processes cannot know that there is something to tidy up
                    self._tidy(before)
                    self._shared.untidy = False
                raise
            finally:
                self._here.view = None
            check_claim()
            self._commit(before, view)
            self._shared.untidy = False
            with suppress(OSError, ValueError):  # the change is made
                self._purge()

    def _commit(self, before: View, view: View) -> None:
        rows = view.newly or []
        if view.head == before.head and not rows:
            return
        change = before.head.change + 1
        if rows:
            view.head = replace(view.head, last_removal=change)
        old = tuple(one for one in view.head.old if one[0] not in self._shared.dropped)
        head = replace(view.head, change=change, purged=max(view.head.purged, self._shared.purged), old=old)
        self._check_length(head)
        lists = [rows[start : start + _ROWS_IN_RECORD] for start in range(0, len(rows), _ROWS_IN_RECORD)]
        contents = [json.dumps([time.time(), some], separators=(",", ":")) for some in lists]
        self.client.insert(self.name, [self._record(change, 1 + n, content) for n, content in enumerate(contents)])
        try:
            self.client.insert(self.name, [self._record(change, 0, head.spelled())])
        except ConnectionError as error:
            raise ConnectionError(
                f"the connection to {self.location} was lost while a change was being made final: look whether it is "
                "there, or make it again"
            ) from error

    def _check_length(self, head: Head) -> None:
        if len(head.spelled().encode()) > 65_000:
            raise ValueError(f"the names of the indexed keys and files are too long for {self.location}: take fewer")

    def _record(self, change: int, number: int, content: str) -> Row:
        return {"row": change * _RECORDS + number, "code": NO_CODE, "change": change, "content": content}

    def newest(self) -> View:
        """The index as it is now."""
        self._check_open()
        known = self._known
        since = known.head.change * _RECORDS if known else 0
        heads: list[Head] = []
        removed, times = (dict(known.removed), dict(known.times)) if known else ({}, {})
        rows = self.client.query(self.name, f"row >= {since}", ["row", "change", "content"])
        for row in rows:
            if row["row"] % _RECORDS == 0:
                heads.append(self._head(row["content"]))
        if not heads or (self._uid or heads[0].uid) != heads[0].uid:
            raise FileNotFoundError(
                f"the index in {self.location} was deleted or replaced after it was opened: open it again"
            )
        head = max(heads, key=lambda head: head.change)
        if known and known.head == head:
            return replace(known, taken=time.monotonic())
        lists: dict[int, list[int]] = {}
        for row in rows:
            if row["row"] % _RECORDS and (known is None or row["change"] > known.head.change):
                times[row["change"]], some = json.loads(row["content"])
                lists.setdefault(row["change"], []).extend(some)
        removed |= lists
        purged = max(head.purged, self._shared.purged)
        view = View(
            head,
            {change: some for change, some in removed.items() if purged < change <= head.change},
            {change: at for change, at in times.items() if purged < change <= head.change},
        )
        self._known = view
        return view

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError(f"the index in {self.location} was closed: open it again")

    def _head(self, content: str) -> Head:
        if content[:8] != f"{crc32(content[8:].encode()):08x}":
            raise self.damaged("the record of the last change is not as it was written")
        said = json.loads(content[8:])
        if said["format"] != FORMAT:
            raise ValueError(
                f"the index in {self.location} has format {said['format']}, and this ammi reads format {FORMAT}: upgrade "
                "ammi"
            )
        said |= {name: tuple(tuple(item) for item in said[name]) for name in ("files", "old")}
        return Head(**{**said, "keys": tuple(said["keys"]), "vectors": said["vectors"] and tuple(said["vectors"])})

    def _tidy(self, view: View) -> None:
        """Delete what writers left who did not finish."""
        head = view.head
        self.client.delete(self.name, f"row >= {(head.change + 1) * _RECORDS}")
        self.client.delete(self.documents(head.generation), f"row >= {head.rows}")
        self.client.delete(self.pieces, f"row >= {head.rows * PIECES}")
        if head.text_index:
            self.client.delete(self.words, f"of >= {head.rows}")
        known = {head.generation, *self._shared.making, *(generation for generation, _, _ in head.old)}
        for name in self.client.names():
            generation = self._generation(name)
            if generation is None or generation in known:
                continue
            if self._alone or generation < 1000 * (time.time() - _ABANDONED):
                self.drop_generation(generation)

    def _purge(self) -> None:
        """Delete what was removed, and old generations, as far as nobody looks at them."""
        with self._shared.lock:
            view = self.newest()
            oldest = min(self._shared.pins, default=view.head.change)
        head, now = view.head, time.time()
        self.client.delete(self.name, f"row == {(head.change - 1) * _RECORDS}")  # the record before
        many = len(view.removed) > _MOST_RECORDS or sum(map(len, view.removed.values())) > _MOST_REMOVED
        kept = (change for change in view.removed if not (self._alone or many or view.times[change] < now - _GRACE))
        first_kept = min([oldest + 1, *kept])
        if changes := [change for change in view.removed if change < first_kept]:
            self._delete_rows(head, sorted(row for change in changes for row in view.removed[change]))
            end = (max(changes) + 1) * _RECORDS
            self.client.delete(self.name, f"row >= 0 and row < {end} and row != {head.change * _RECORDS}")
            self._shared.purged = max(changes)
        for generation, change, since in (one for one in head.old if one[0] not in self._shared.dropped):
            if change <= oldest if self._alone else since < now - _GRACE:
                self.drop_generation(generation)
                self._shared.dropped.add(generation)

    def _delete_rows(self, head: Head, rows: list[int]) -> None:
        self.client.delete_rows(self.documents(head.generation), rows)
        for start in range(0, len(rows), _ROWS_IN_RECORD):
            some = rows[start : start + _ROWS_IN_RECORD]
            if head.text_index:
                self.client.delete(self.words, f"of in {some}")
            if long := [row["row"] for row in self.client.query(self.pieces, f"of in {some}", ["row"])]:
                self.client.delete_rows(self.pieces, long)

    def damaged(self, cause: str) -> DamagedError:
        return DamagedError(f"the index in {self.location} is damaged ({cause}): restore a copy")
