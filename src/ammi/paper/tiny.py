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
    """Both halves of docstrings as articles of one day, which the search for pairs has to bring together again."""
    for record in _records():
        words = record["text"].split()
        half = len(words) // 2
        for part, text in (("first", words[:half]), ("second", words[half:])):
            about = {"date": "2020-01-01", "labels": [record["label"]], "title": f"{record['id']}, {part} half"}
            yield Document(f"{record['id']} {part}", " ".join(text), about)
