"""A collection that a server has: what `Collection.open("http://...")` opens."""

from ammi.remote.collection import RemoteCollection

__all__ = ["RemoteCollection"]
