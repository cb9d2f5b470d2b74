"""New codes for all documents of an index in Milvus: a new generation of them, to which one record changes over."""

import time
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ammi.search.milvus.files import put_files
from ammi.search.milvus.rows import BLOCK, Rows, Stored, entry
from ammi.search.milvus.state import View
from ammi.search.milvus.store import Tables
from ammi.search.store_methods import About, Encode


def recode(store: Tables, encode: Encode, about: About, files: dict[str, bytes]) -> None:
    """What `Tables.recode` promises; others write meanwhile, and what they write is encoded in the end."""
    generation = int(1000 * time.time())
    store.making.add(generation)
    is_written = False
    try:
        store.make_documents(generation, about)
        copy = _Copy(store, generation, encode, about)
        before = np.inf
        while True:
            with store.pinned() as view:
                late = view.head.rows - copy.seen
                if not late or late >= before:  # others may write as fast as documents are encoded
                    break
                copy.up_to(view)
            before = late
        with store.writing() as view:
            copy.up_to(view)
            copy.forget_removed(view)
            old = (view.head.generation, view.head.change + 1, time.time())
            head = put_files(store, view.head, generation, files).of(about)
            view.head = replace(head, generation=generation, old=(*head.old, old), last_removal=head.change + 1)
            is_written = True
    except BaseException:
        if not is_written:  # else the record may be there
            with suppress(OSError):  # what is left is deleted by a later writer
                store.drop_generation(generation)
        raise
    finally:
        store.making.discard(generation)


class _Copy:
    """Documents with new codes, at the rows and positions that they had."""

    def __init__(self, store: Tables, generation: int, encode: Encode, about: About):
        self._store, self._generation, self._encode, self._about = store, generation, encode, about
        self.seen = 0  # all rows below were copied
        self._copied: set[int] = set()

    def up_to(self, view: View) -> None:
        """Copy the rows that count and were not copied yet."""
        for block in Rows(self._store, view).blocks(f"row >= {self.seen}"):
            for start in range(0, len(block), BLOCK):
                self._copy(block[start : start + BLOCK], view)
        self.seen = view.head.rows

    def _copy(self, block: list[Stored], view: View) -> None:
        kept = view.head.about().vectors
        codes, vectors = self._encode([entry(one, kept) for one in block])
        new = Rows(self._store, replace(view, head=view.head.of(self._about)), self._generation)
        same = [one.vector for one in block] if self._about.vectors else None
        new.write_documents(
            [one.row for one in block],
            [one.position for one in block],
            [one.record for one in block],
            codes,
            same if vectors is None else vectors,
        )
        self._copied |= {one.row for one in block}

    def forget_removed(self, view: View) -> None:
        """Delete what was removed after it was copied."""
        there = {row["row"] for some in Rows(self._store, view).scan(["row", "position"]) for row in some}
        self._store.client.delete_rows(self._store.documents(self._generation), sorted(self._copied - there))
