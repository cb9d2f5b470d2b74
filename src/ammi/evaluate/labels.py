"""Labels as documents carry them, a name or a list of names each, as the 0/1 matrix that the measures take."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix


def label_matrix(labels: Iterable[Any]) -> csr_matrix:
    """Documents by labels (n, L), the labels in the order of their first use; None and [] are no label at all."""
    columns: dict[Any, int] = {}
    indices, ends = [], [0]
    for names in labels:
        for name in dict.fromkeys([] if names is None else names if isinstance(names, list) else [names]):
            indices.append(columns.setdefault(name, len(columns)))
        ends.append(len(indices))
    return csr_matrix((np.ones(len(indices), np.uint8), indices, ends), shape=(len(ends) - 1, len(columns)))
