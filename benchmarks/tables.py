"""Counts and tables of a served collection: the first answer after a change, and further ones, in seconds.

The collection holds the messages of newsgroups with their metadata, several times for the larger one. The first answer
reads the metadata of all documents. Memory is what they take more, in megabytes.
"""

import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from ammi import LSH, Collection, DocumentHasher
from ammi.data import corpus_path, read_documents
from ammi.web.served import Served
from ammi.web.settings import Settings
from ammi.web.table_routes import facets_of, table_of
from ammi.web.table_schemas import FacetsRequest, TableRequest
from timing import save, seconds

SIZES = (19_466, 100_000)
HOCKEY = {"labels": "rec.sport.hockey"}


def messages(n: int) -> Any:
    """Yield n messages, each time around with other ids."""
    documents = list(read_documents(corpus_path("newsgroups")))
    named = (
        {"id": f"{one.id}-{around}", "text": (one.text or "")[:300], **one.metadata}
        for around in range(1 + n // len(documents))
        for one in documents
    )
    return islice(named, n)


def main() -> None:
    model = DocumentHasher(LSH(64, random_state=0)).fit([one["text"] for one in messages(4000)])
    rows: list[dict[str, Any]] = []
    for n in SIZES:
        with TemporaryDirectory() as folder, Collection.create(Path(folder, "news"), model) as collection:
            collection.add(messages(n))
            served, memory = Served(collection, Settings()), psutil.Process().memory_info().rss
            start = time.perf_counter()
            facets_of(served, FacetsRequest())
            row: dict[str, Any] = {"documents": n, "first": time.perf_counter() - start}
            row["memory"] = (psutil.Process().memory_info().rss - memory) / 1e6
            row["filter"] = seconds(lambda: served.tables.facets(FacetsRequest(where=HOCKEY)))  # noqa: B023
            row["search"] = seconds(lambda: served.tables.facets(FacetsRequest(text="hockey playoffs")))  # noqa: B023
            row["sorted page"] = seconds(lambda: table_of(served, TableRequest(sort="-date", offset=5000)))  # noqa: B023
            rows.append(row)
    save("tables", rows)
    table = Table(*rows[0])
    for row in rows:
        table.add_row(*(f"{value:,.3g}" if isinstance(value, float) else f"{value:,}" for value in row.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
