"""Documents as Python holds them: texts, dicts, vectors, tables of pandas and Arrow, and files of any kind."""

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ammi.data.documents import Document, DocumentMaker, Wanted, is_numbers, read_documents
from ammi.data.rows import ID, TEXT, VECTOR, BadRecordError, Row
from ammi.data.tables import batch_rows, frame_rows

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Item: TypeAlias = "str | Mapping[str, Any] | NDArray[np.floating] | list[float] | Document"
Incoming: TypeAlias = "Iterable[Item] | pd.DataFrame | pa.Table | pa.RecordBatch | pa.RecordBatchReader | PathLike[str]"


def documents_from(documents: Incoming, *, text: str = TEXT, id: str = ID, vector: str = VECTOR) -> Iterator[Document]:
    """The documents that a program hands over, one at a time.

    `documents` holds texts, dicts, vectors or `Document`s; or it is a pandas DataFrame, a table, a batch or a reader
    of batches of Arrow, or the path of a file that `read_documents` reads, such as one that `Collection.export` wrote.

    `text`, `id` and `vector` name the columns of tables and the keys of dicts. A document has a text, a vector or both;
    all have an id, or none, and then its number takes its place. All other columns are metadata. The index of a
    DataFrame is not used, unless it is called as the column of the ids is and there is no such column.
    """
    if isinstance(documents, str | bytes | Mapping):
        raise ValueError(f"documents is the single value {documents!r:.40}: pass a list, [document] for one")
    chosen = [None if name == usual else name for name, usual in ((text, TEXT), (id, ID), (vector, VECTOR))]
    if isinstance(documents, PathLike):
        return read_documents(Path(documents), text=chosen[0], id=chosen[1], vector=chosen[2])
    wanted = Wanted(text, id, vector, tuple(name for name in chosen if name))
    if (found := _table_documents(documents, wanted)) is not None:
        return found
    if not isinstance(documents, Iterable) or getattr(documents, "ndim", 1) == 0:
        raise ValueError(f"documents is {documents!r:.40} of type {type(documents).__name__}: pass a list of documents")
    return _documents(documents, wanted)


def _table_documents(documents: Any, wanted: Wanted) -> Iterator[Document] | None:
    """Those of a table of pandas or Arrow, neither of which is imported to see whether it is one."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(documents).__mro__}
    name = "the DataFrame" if "pandas.DataFrame" in kinds else "the Arrow table"
    if "pandas.DataFrame" in kinds:
        rows = frame_rows(name, documents, wanted.id)
    elif "pyarrow.Table" in kinds:
        rows = batch_rows(name, documents.to_batches())
    elif "pyarrow.RecordBatch" in kinds:
        rows = batch_rows(name, [documents])
    elif "pyarrow.RecordBatchReader" in kinds:
        rows = batch_rows(name, documents)
    else:
        return None
    document_of = DocumentMaker(name, wanted)
    return (document_of(row) for row in rows)


def _documents(documents: Iterable[Item], wanted: Wanted) -> Iterator[Document]:
    document_of = DocumentMaker("document 1", wanted)
    for number, item in enumerate(documents, 1):
        yield item if isinstance(item, Document) else document_of(_row(number, item, wanted))


def _row(number: int, item: Any, wanted: Wanted) -> Row:
    place = f"document {number}"
    value = item.as_py() if hasattr(item, "as_py") else item  # Arrow's scalars
    if isinstance(value, Mapping):
        return Row(place, number, dict(value), own_columns=True)
    if is_numbers(value):
        return Row(place, number, {wanted.vector: value})
    if isinstance(value, str):
        return Row(place, number, {wanted.text: value})
    raise BadRecordError(
        f"{place} is {value!r:.40} of type {type(value).__name__}: expected a text, a dict, a vector or a Document, "
        "so fill or drop missing ones first"
    )
