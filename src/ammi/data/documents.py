"""A document, checked when it is made, and the blocks in which many of them are encoded and written."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ammi.data.codes import KnownCode
from ammi.data.rows import listed
from ammi.plain import Id, Metadata, checked_id, checked_metadata, checked_text, short

BLOCK_DOCUMENTS = 1000
BLOCK_BYTES = 1 << 23  # of texts, in characters, and vectors in a block

Vector = NDArray[np.floating]  # (d,)


@dataclass(frozen=True, slots=True)
class Document:
    """A text, a vector, or both; `metadata` holds the columns that are neither these nor the id.

    The values are checked and converted to JSON's here and nowhere else. A caller that passes `json`, the metadata as
    JSON, has checked them already.
    """

    id: Id
    text: str | None
    metadata: Metadata
    numbered: bool = field(default=False, compare=False)  # the id is only the number of the line
    # Arrays are not compared, since comparing them gives an array.
    vector: Vector | None = field(default=None, compare=False)
    code: KnownCode | None = field(default=None, compare=False)  # of a document that a collection exported
    json: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.json:
            return
        name = f"document {self.id!r:.60}"
        metadata, json = checked_metadata(self.metadata, name)
        checked = {
            "id": checked_id(self.id, name),
            "text": checked_text(self.text, name),
            "metadata": metadata,
            "vector": None if self.vector is None else checked_vector(self.vector, name),
            "json": json,
        }
        for attribute, value in checked.items():
            object.__setattr__(self, attribute, value)


def is_numbers(value: object) -> bool:
    """Return whether a value can be a vector: an array of numbers, or a list that begins with one."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiu"
    if not isinstance(value, list | tuple) or not value:
        return False
    return isinstance(value[0], int | float | np.number) and not isinstance(value[0], bool)


def checked_vector(value: object, name: str) -> Vector:
    """Return a copy of the numbers of a vector: a row of a table's column would keep the whole table in memory."""
    try:
        if not is_numbers(value):
            raise TypeError
        vector = np.array(value, None if getattr(value, "dtype", np.dtype(int)).kind == "f" else np.float64)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(f"{name} has {short(value)} for a vector: expected a list of numbers") from None
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise ValueError(f"{name} has {short(value)} for a vector: expected one row of finite numbers")
    return vector


def blocks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield documents in lists that are short enough to be encoded and written at once."""
    block: list[Document] = []
    size = 0
    for document in documents:
        block.append(document)
        size += len(document.text or "") + (0 if document.vector is None else document.vector.nbytes)
        if len(block) == BLOCK_DOCUMENTS or size > BLOCK_BYTES:
            yield block
            block, size = [], 0
    if block:
        yield block


def content_of(document: Document, reads: str) -> Any:
    """Return the part of a document that a model reads: its "text" or its "vector"."""
    content = document.text if reads == "text" else document.vector
    if content is None:
        raise ValueError(f"document {document.id!r} has no {reads}, which the model reads")
    return content


def label_column(metadata: Iterable[Mapping[str, object]], column: str, where: str) -> list[object]:
    """Return the labels of documents; a column that no document has is refused, and the message lists the others."""
    labels, columns = [], dict[str, None]()
    for keys in metadata:
        labels.append(keys.get(column))
        columns |= dict.fromkeys(keys)
    if column not in columns:
        raise ValueError(f"no document in {where} has a column {column!r}: the columns there are {listed(columns)}")
    return labels
