"""A collection behind a server, as `Collection.open("http://...")` opens it."""

from ammi.remote.collection import NotRemoteError, RemoteCollection

__all__ = ["NotRemoteError", "RemoteCollection"]
