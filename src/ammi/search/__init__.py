"""Finding documents by their codes: the Store protocol and its stores, filters, and the exact search under them."""

from ammi.search.checks import DamagedError, OtherModelError
from ammi.search.documents import Entry, Hit, Hits, Id, Why
from ammi.search.embedded.store import HammingIndex
from ammi.search.hamming import nearest, within
from ammi.search.locations import check_store, is_served, open_store, repair_store, store_exists
from ammi.search.store import Store
from ammi.search.store_methods import Repaired, Restored, Upgraded
from ammi.search.vectors import KeptVectors

__all__ = [
    "DamagedError",
    "Entry",
    "HammingIndex",
    "Hit",
    "Hits",
    "Id",
    "KeptVectors",
    "OtherModelError",
    "Repaired",
    "Restored",
    "Store",
    "Upgraded",
    "Why",
    "check_store",
    "is_served",
    "nearest",
    "open_store",
    "repair_store",
    "store_exists",
    "within",
]
