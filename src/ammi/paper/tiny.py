"""A tiny set of documents and articles that is on every machine, on which the whole of the paper runs in a minute."""

from collections.abc import Iterator
from itertools import islice

from ammi.data import Document
from ammi.data.docstrings import docstring_records
from ammi.tuning.tasks import LabelledTask, documents_task

SIZE = 1000


def tiny_task() -> LabelledTask:
    """Docstrings of scipy, labelled by their subpackage."""
    records = list(islice(docstring_records(("scipy",)), 0, None, 2))[:SIZE]
    return documents_task([record["text"] for record in records], [record["label"] for record in records])


def tiny_articles() -> Iterator[Document]:
    """Docstrings of scipy with what table 3 shows, for pairs of their halves."""
    for record in islice(docstring_records(("scipy",)), 2 * SIZE):
        yield Document(record["id"], record["text"], {"labels": [record["label"]], "title": record["id"]})
