"""The calls to a Milvus server that a store makes. Each reports an error in one sentence."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from ammi.search.checks import UncertainError
from ammi.search.hamming import Codes
from ammi.search.milvus.server import Address, lite_server

try:
    import grpc
    from pymilvus import DataType, MilvusClient, MilvusException
except ImportError as error:
    raise ImportError(
        f"a location of Milvus needs pymilvus, which cannot be imported ({error}): pip install 'ammi[milvus]'"
    ) from error

logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs a traceback for each error that it raises

FORMAT = 6  # of the collections; a new one for each change of their fields
_MOST_ROWS = 16_000  # of one answer; a server returns 16,384 at most, and milvus-lite silently drops the rest
_BATCH = 1000
_BATCH_LENGTH = 16 << 20  # characters; a server takes 64 MB in one call
_FOUND_AT_ONCE = 50_000  # rows, of all queries of one call
_CONNECT = 10.0
_RETRY = {"retry_times": 3}  # any call: upserts and deletions may be repeated
_OPTIONS = {"grpc.use_local_subchannel_pool": 1}  # a new connection must not share the state of a lost one
_LITE_OPTIONS = _OPTIONS | {"grpc.keepalive_time_ms": 2**31 - 1}  # milvus-lite closes a connection that pings it

Row = dict[str, Any]  # what a field holds depends on its name
_ARRAY = {"datatype": DataType.ARRAY, "max_capacity": 4096}


class Client:
    """A connection for any number of threads, to the Milvus collections of one collection of ammi."""

    def __init__(self, address: Address):
        self.address = address
        self._description = f"a collection of ammi, format {FORMAT}: {address.name}"  # of each collection
        self._closed = False
        self._lite = lite_server(address.file, address.location) if address.file else None
        uri, options = (self._lite.uri, _LITE_OPTIONS) if self._lite else (address.uri, _OPTIONS)
        about = {"token": address.token, "db_name": address.database, "grpc_options": options}
        self._client = self._call("connect", MilvusClient, uri, timeout=_CONNECT, dedicated=True, **about)

    def close(self) -> None:
        """Disconnect; a second call does nothing."""
        self._closed = True
        self._client.close()
        self._lite = None  # the server stops, unless another store uses it

    def _call(self, doing: str, method: Callable[..., Any], *arguments: object, **options: object) -> Any:
        if self._closed:
            raise ValueError(f"the collection in {self.address.location} was closed: open it again")
        try:
            return method(*arguments, **options)
        except (MilvusException, grpc.RpcError) as error:
            raise _explained(error, doing, self.address) from error

    def exists(self, name: str) -> bool:
        """Return whether a collection exists; refuse one that is not of this collection of ammi."""
        there = self._call("read", self._client.has_collection, name)
        if there and self._call("read", self._client.describe_collection, name)["description"] != self._description:
            owner = "belongs to another program, collection or version of ammi"
            raise ValueError(f"the collection {name!r} of {self.address.location} {owner}: choose another name or file")
        return there

    def create(self, name: str, n_bits: int) -> None:
        """Create an empty collection with the fields of `rows.Stored.row`, in place of one that exists."""
        schema = MilvusClient.create_schema(enable_dynamic_field=False, description=self._description)
        schema.add_field("key", DataType.VARCHAR, is_primary=True, max_length=512)
        schema.add_field("code", DataType.BINARY_VECTOR, dim=-(-n_bits // 8) * 8)
        for field in ("position", "checksum", "characters"):
            schema.add_field(field, DataType.INT64)
        for field in ("metadata", "content"):
            schema.add_field(field, DataType.VARCHAR, max_length=65_535)
        for field in ("tags", "words"):
            schema.add_field(field, element_type=DataType.INT64, **_ARRAY)
        schema.add_field("more", element_type=DataType.VARCHAR, max_length=65_535, **_ARRAY)
        index = MilvusClient.prepare_index_params()
        index.add_index("code", index_type="BIN_FLAT", metric_type="HAMMING")
        self.drop(name)
        self._call("write", self._client.create_collection, name, schema=schema, consistency_level="Strong")
        self._call("write", self._client.create_index, name, index, sync=False)  # to wait for it takes half a second
        self._call("write", self._client.load_collection, name)

    def drop(self, name: str) -> None:
        """Delete a collection, if it exists."""
        if self.exists(name):
            self._call("write", self._client.drop_collection, name)

    def upsert(self, name: str, rows: Iterable[Row]) -> None:
        """Write rows, in place of rows with the same keys, some at a time; an error says how many were written."""
        waiting, done = iter(rows), 0
        while batch := list(islice(waiting, _BATCH)):
            at_once = max(1, _BATCH_LENGTH // max(len(repr(row)) for row in batch))
            for start in range(0, len(batch), at_once):
                some = batch[start : start + at_once]
                self._call(f"write more than {done:,} rows", self._client.upsert, name, some, **_RETRY)
                done += len(some)

    def delete(self, name: str, keys: Sequence[str]) -> None:
        """Delete the rows with these keys."""
        for start in range(0, len(keys), _BATCH):
            self._call("write", self._client.delete, name, ids=list(keys[start : start + _BATCH]), **_RETRY)

    def get(self, name: str, keys: Sequence[str], fields: list[str]) -> list[Row]:
        """Return the rows with these keys, in any order; missing ones are left out."""
        found: list[Row] = []
        for start in range(0, len(keys), _BATCH):
            about = {"ids": list(keys[start : start + _BATCH]), "output_fields": ["key", *fields]}
            found += self._call("read", self._client.query, name, **about, **_RETRY)
        return found

    def count(self, name: str, condition: str = "") -> int:
        """Return the number of rows that meet a condition."""
        about = {"filter": condition, "output_fields": ["count(*)"]}
        return self._call("read", self._client.query, name, **about, **_RETRY)[0]["count(*)"]

    def scan(self, name: str, condition: str, fields: list[str]) -> Iterator[list[Row]]:
        """Yield all rows that meet a condition, in any order, some at a time."""
        about = {"filter": condition, "output_fields": ["key", *fields]}
        rows = self._call("read", self._client.query_iterator, name, _MOST_ROWS, **about)
        while block := self._call("read", rows.next):
            yield block

    def search(self, name: str, codes: Codes, limit: int, condition: str, fields: list[str]) -> Iterator[list[Row]]:
        """Yield the nearest rows of each code, with their `distance`; rows at the same distance in any order."""
        at_once = _FOUND_AT_ONCE // limit
        about = {"limit": limit, "filter": condition, "output_fields": ["key", *fields], **_RETRY}
        for start in range(0, len(codes), at_once):
            data = [code.tobytes() for code in codes[start : start + at_once]]
            for hits in self._call("read", self._client.search, name, data=data, **about):
                yield [{**hit["entity"], "distance": round(hit["distance"])} for hit in hits]


def _explained(error: Exception, doing: str, address: Address) -> Exception:
    cause = str(getattr(error, "message", "") or getattr(error, "details", str)() or error).strip()
    cause = cause.splitlines()[0].replace(address.token or "\0", "***")[:200] if cause else type(error).__name__
    where, lower = address.location, cause.lower()
    if "collection" in lower and "not found" in lower:
        return FileNotFoundError(f"{where} was deleted or rebuilt while it was in use: try again, or open it again")
    if any(word in lower for word in ("auth", "permission", "privilege")):
        advice = "give the right name and password in MILVUS_TOKEN, as NAME:PASSWORD"
        return PermissionError(f"the server of {where} refused the user ({cause}): {advice}")
    if isinstance(error, grpc.RpcError) or doing == "connect" or "connect" in lower or "unavailable" in lower:
        advice = "check the address and that the server runs, open it again, and repeat the call"
        kind = UncertainError if doing.startswith("write") else ConnectionError
        return kind(f"no connection to {where}, so that ammi failed to {doing} ({cause}): {advice}")
    return ValueError(f"the server of {where} refused to {doing} ({cause}): change that, or look at its log")
