"""The order of equally near documents: the share of ten neighbours that have a label of the document.

For 500 documents of the docstrings of Python libraries (label: the subpackage) and of newsgroups (the group), with
codes of 64 bits learned from them: ties as they were added, by how certain the document's own bits are, and by words,
as `Collection.like` has them.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ammi import AMMI, Collection, DocumentHasher
from ammi.data import corpus_path, read_documents
from ammi.data.docstrings import docstring_records
from ammi.search import Entry, Hit
from ammi.search.neighbours import TIES
from timing import save

K, ASKED, MOST = 10, 500, 8000
ORDERS = ("as they were added", "by certain bits", "by words")


def records(name: str) -> list[dict[str, Any]]:
    """Texts with labels; of newsgroups a sample."""
    if name == "docstrings":
        return [{"text": one["text"], "labels": [one["label"]]} for one in docstring_records()]
    documents = list(read_documents(corpus_path(name)))
    rows = np.random.default_rng(0).permutation(len(documents))[:MOST]
    return [{"text": documents[row].text, "labels": documents[row].metadata["labels"]} for row in rows]


def orders(collection: Collection, own: Entry) -> Iterator[list[Hit]]:
    """The neighbours of a document in each of the orders."""
    near = [hit for hit in collection.store.search(own.code[None], TIES)[0] if hit.id != own.id]
    yield near
    p = collection.bit_probabilities([own.text or ""])[0]
    logits = np.log(np.maximum(p, 1e-9) / np.maximum(1 - p, 1e-9))
    codes = np.array(collection.store.codes_of(hit.id for hit in near))
    similarity = (2.0 * np.unpackbits(codes, axis=1, count=len(p)) - 1) @ logits
    yield [near[row] for row in np.lexsort((-similarity.round(6), [hit.distance for hit in near]))]
    yield collection.like(own.id, K)


def measure(name: str) -> dict[str, float]:
    """The share of neighbours with a label of the document, for each order."""
    documents = records(name)
    model = DocumentHasher(AMMI(64, random_state=0, verbose=False)).fit([one["text"] for one in documents])
    shares: dict[str, list[float]] = {order: [] for order in ORDERS}
    with tempfile.TemporaryDirectory() as folder, Collection.create(Path(folder) / name, model) as collection:
        collection.add(documents)
        for row in np.random.default_rng(1).permutation(len(documents))[:ASKED].tolist():
            own = collection.get(row)
            for order, hits in zip(ORDERS, orders(collection, own), strict=True):
                alike = [bool({*hit.metadata["labels"]} & {*own.metadata["labels"]}) for hit in hits[:K]]
                shares[order].append(float(np.mean(alike)))
    return {order: float(np.mean(each)) for order, each in shares.items()}


def main() -> None:
    found = {name: measure(name) for name in ("docstrings", "newsgroups")}
    table = Table("order of equally near documents", *found)
    for order in ORDERS:
        table.add_row(order, *(f"{found[name][order]:.3f}" for name in found))
    Console().print(table)
    save("neighbours", [{"collection": name, **shares} for name, shares in found.items()])


if __name__ == "__main__":
    main()
