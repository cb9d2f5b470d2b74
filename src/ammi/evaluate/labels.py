"""Labels of documents, a name or a list of names each: as a 0/1 matrix, and the precision by them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ammi import displays
from ammi.evaluate.retrieval import leave_one_out_precision, precision_at_k
from ammi.search.hamming import Codes


class LabelledPrecision(NamedTuple):
    """A precision in percent, with the numbers of neighbours, labelled queries, labelled documents and labels.

    k is smaller than the k asked for if there are fewer documents.
    """

    precision: float
    k: int
    queries: int
    documents: int
    labels: int

    def _repr_html_(self) -> str:
        return displays.fields(self)


def labelled_precision(
    codes: Codes,
    labels: Sequence[object],
    k: int = 100,
    query_codes: Codes | None = None,
    query_labels: Sequence[object] = (),
) -> LabelledPrecision:
    """Return the precision at k of queries, or of each document among the others; only labelled documents count."""
    n_queries = 0 if query_codes is None else len(query_codes)
    if (len(codes), n_queries) != (len(labels), len(query_labels)):
        raise ValueError(
            f"{len(codes)} codes came with {len(labels)} labels, and {n_queries} of queries with {len(query_labels)}: "
            "pass labels for each"
        )
    targets = label_matrix([*labels, *query_labels])
    labelled = np.diff(targets.indptr) > 0
    (base, queries), n = np.split(labelled, [len(codes)]), len(codes)
    if query_codes is None:
        precision = leave_one_out_precision(codes[base], targets[:n][base], k)
        k = min(k, int(base.sum()) - 1)
        return LabelledPrecision(float(precision), k, int(base.sum()), int(base.sum()), targets.shape[1])
    precision = precision_at_k(query_codes[queries], targets[n:][queries], codes[base], targets[:n][base], k)
    k = min(k, int(base.sum()))
    return LabelledPrecision(float(precision), k, int(queries.sum()), int(base.sum()), targets.shape[1])


def label_matrix(labels: Iterable[object]) -> csr_matrix:
    """Return documents by labels (n, L), the labels in order of their first use; None and [] stand for no label."""
    columns: dict[tuple[bool, object], int] = {}
    indices, ends = [], [0]
    for names in labels:
        for name in dict.fromkeys(map(_label, [] if names is None else names if isinstance(names, list) else [names])):
            indices.append(columns.setdefault(name, len(columns)))
        ends.append(len(indices))
    return csr_matrix((np.ones(len(indices), np.uint8), indices, ends), shape=(len(ends) - 1, len(columns)))


def _label(name: object) -> tuple[bool, object]:
    """Return a key that differs for labels that differ: True is not 1."""
    if isinstance(name, str | int | float | np.generic) or name is None:
        return isinstance(name, bool | np.bool_), name
    raise ValueError(f"{name!r:.60} cannot be a label: a label is a text or a number, or a document has a list of them")
