"""Finding documents by their codes: the embedded index, and the exact search under it."""

from ammi.search.hamming import nearest, within

__all__ = ["nearest", "within"]
