"""Finding documents by their codes: the embedded index, and the exact search under it."""

from ammi.search.groups import groups_within
from ammi.search.hamming import nearest, within
from ammi.search.index import Document, HammingIndex, Hit

__all__ = ["Document", "HammingIndex", "Hit", "groups_within", "nearest", "within"]
