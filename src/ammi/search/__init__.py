"""Finding documents by their codes: the Index protocol and its engines, filters, and the exact search under them."""

from ammi.search.base import Index
from ammi.search.checks import DamagedError, OtherModelError
from ammi.search.documents import Entry, Hit, Hits, Id
from ammi.search.embedded.index import HammingIndex
from ammi.search.engine import Repaired
from ammi.search.hamming import nearest, within
from ammi.search.places import check_index, create_index, index_exists, is_served, open_index, repair_index
from ammi.search.vectors import KeptVectors

__all__ = [
    "DamagedError",
    "Entry",
    "HammingIndex",
    "Hit",
    "Hits",
    "Id",
    "Index",
    "KeptVectors",
    "OtherModelError",
    "Repaired",
    "check_index",
    "create_index",
    "index_exists",
    "is_served",
    "nearest",
    "open_index",
    "repair_index",
    "within",
]
