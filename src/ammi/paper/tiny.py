"""A tiny set of documents and articles that is on every machine, on which the whole of the paper runs in a minute."""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

from ammi.data import Document
from ammi.data.docstrings import docstring_records
from ammi.tuning.tasks import LabelledTask, documents_task

SIZE = 500


@cache
def _records() -> list[dict[str, Any]]:
    """Docstrings of scipy, of which both sets are made: reading them takes seconds."""
    return list(islice(docstring_records(("scipy",)), 4 * SIZE))


def tiny_task() -> LabelledTask:
    """Docstrings of scipy, labelled by their subpackage."""
    records = _records()[::4]
    return documents_task([record["text"] for record in records], [record["label"] for record in records])


def tiny_articles() -> Iterator[Document]:
    """Docstrings of scipy with what table 3 shows, for pairs of their halves."""
    for record in _records():
        yield Document(record["id"], record["text"], {"labels": [record["label"]], "title": record["id"]})
