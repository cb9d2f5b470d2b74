"""The calls to a Milvus server that an index makes, each with an error in one sentence."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ammi.search.milvus.server import Address, LiteServer

try:
    import grpc
    from pymilvus import DataType, MilvusClient, MilvusException
except ImportError as error:
    raise ImportError(
        f"a location of Milvus needs pymilvus, which cannot be imported ({error}): pip install 'ammi[milvus]'"
    ) from error

logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it writes a traceback for what is raised as well

PART = "a part of an index of ammi"  # what a collection says that it is
MOST_ROWS = 16_000  # of one answer: a server gives 16,384 at most, and milvus-lite then cuts off the rest in silence
_BATCH = 1000
_BATCH_BYTES = 8 << 20  # a server takes 64 MB at once
_CONNECT = 10.0
_RETRIES = 3  # of what only reads; to insert twice could add twice
_OPTIONS = {"grpc.use_local_subchannel_pool": 1}  # a connection that was lost says nothing about a new one
_LITE_OPTIONS = _OPTIONS | {"grpc.keepalive_time_ms": 2**31 - 1}  # milvus-lite hangs up on who asks every 10 seconds

Row = dict[str, Any]


class Client:
    """A connection for any number of threads."""

    def __init__(self, address: Address):
        self.address = address
        self._lite = LiteServer.of(address.file, address.location) if address.file else None
        self.indexes: dict[str, Any] = self._lite.indexes if self._lite else {}  # what is known of each index
        uri = self._lite.uri if self._lite else address.uri
        try:
            with self.explaining("connect"):
                self._client = MilvusClient(
                    uri,
                    token=address.token,
                    db_name=address.database,
                    timeout=_CONNECT,
                    dedicated=True,
                    grpc_options=_LITE_OPTIONS if self._lite else _OPTIONS,
                )
        except BaseException:
            self._release()
            raise

    def close(self) -> None:
        self._client.close()
        self._release()

    def _release(self) -> None:
        if self._lite:
            self._lite.release()

    @contextmanager
    def explaining(self, doing: str) -> Iterator[None]:
        """Say what went wrong in words that help."""
        try:
            yield
        except (MilvusException, grpc.RpcError) as error:
            raise _explained(error, doing, self.address) from error

    def names(self) -> list[str]:
        """Of all collections."""
        with self.explaining("read"):
            return self._client.list_collections()

    def description(self, name: str) -> str:
        with self.explaining("read"):
            return self._client.describe_collection(name)["description"]

    def create(self, name: str, fields: dict[str, Any], description: str = PART, *, n_bits: int = 8) -> None:
        """Make a collection with the whole number `row` as its key, and codes of so many bits."""
        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False, description=description)
        schema.add_field("row", DataType.INT64, is_primary=True)
        schema.add_field("code", DataType.BINARY_VECTOR, dim=n_bits)
        for field, kind in fields.items():
            longest = {"max_length": 65_535} if kind == DataType.VARCHAR else {}
            schema.add_field(field, kind, **longest)
        index = MilvusClient.prepare_index_params()
        index.add_index("code", index_type="BIN_FLAT", metric_type="HAMMING")
        with self.explaining("write"):
            self._client.create_collection(name, schema=schema, consistency_level="Strong", num_shards=1)
            self._client.create_index(name, index, sync=False)  # to wait for it takes half a second
            self._client.load_collection(name)

    def drop(self, name: str) -> None:
        with self.explaining("write"):
            self._client.drop_collection(name)

    def insert(self, name: str, rows: Iterator[Row] | list[Row]) -> None:
        """Add rows, some at a time."""
        batch: list[Row] = []
        size = 0
        for row in rows:
            batch.append(row)
            size += sum(len(value) for value in row.values() if isinstance(value, str | bytes))
            if len(batch) == _BATCH or size >= _BATCH_BYTES:
                self._insert(name, batch)
                batch, size = [], 0
        if batch:
            self._insert(name, batch)

    def _insert(self, name: str, batch: list[Row]) -> None:
        with self.explaining("write"):
            done = self._client.insert(name, batch, retry_times=0)
        if done["insert_count"] != len(batch):
            raise OSError(f"{self.address.location} took {done['insert_count']} of {len(batch)} rows: try again")

    def delete(self, name: str, condition: str) -> None:
        with self.explaining("write"):
            self._client.delete(name, filter=condition, retry_times=_RETRIES)

    def delete_rows(self, name: str, rows: list[int]) -> None:
        for start in range(0, len(rows), 10 * _BATCH):
            self.delete(name, f"row in {rows[start : start + 10 * _BATCH]}")

    def query(self, name: str, condition: str, fields: list[str]) -> list[Row]:
        """Rows, MOST_ROWS at most; in no order."""
        return self._query(name, condition, fields, limit=MOST_ROWS)

    def count(self, name: str, condition: str) -> int:
        (found,) = self._query(name, condition, ["count(*)"])
        return found["count(*)"]

    def _query(self, name: str, condition: str, fields: list[str], **limit: int) -> list[Row]:
        with self.explaining("read"):
            found = self._client.query(
                name,
                filter=condition,
                output_fields=fields,
                consistency_level="Strong",
                retry_times=_RETRIES,
                **limit,
            )
        return list(found)

    def search(self, name: str, codes: list[bytes], limit: int, condition: str, fields: list[str]) -> list[list[Row]]:
        """For each code the nearest rows, each with its `distance`; equally far ones in no order."""
        with self.explaining("read"):
            found = self._client.search(
                name,
                data=codes,
                limit=limit,
                filter=condition,
                output_fields=fields,
                consistency_level="Strong",
                retry_times=_RETRIES,
            )
        return [[{**hit["entity"], "distance": round(hit["distance"])} for hit in hits] for hits in found]


def _explained(error: Exception, doing: str, address: Address) -> Exception:
    cause = str(getattr(error, "message", "") or getattr(error, "details", lambda: "")() or error).strip()
    cause = cause.splitlines()[0].replace(address.token or "\0", "***")[:200] if cause else type(error).__name__
    location, lower = address.location, cause.lower()
    if "not found" in lower and "collection" in lower:
        return FileNotFoundError(f"the index in {location} was deleted or replaced after it was opened: open it again")
    if "auth" in lower or "permission" in lower or "privilege" in lower:
        return PermissionError(
            f"the server of {location} refused the user ({cause}): give the right name and password in MILVUS_TOKEN, as "
            "NAME:PASSWORD"
        )
    if "database not found" in lower:
        return FileNotFoundError(f"{location} has no such database ({cause}): create it, or name another one")
    if doing == "connect":
        return ConnectionError(f"no connection to {location} ({cause}): check the address, and that the server runs")
    if isinstance(error, grpc.RpcError) or "connect" in lower or "unavailable" in lower:
        kept = ", and of what was being written nothing is kept" if doing == "write" else ""
        return ConnectionError(f"the connection to {location} was lost ({cause}){kept}: open it again when it is back")
    return ValueError(f"the server of {location} refused it ({cause}): look at its log")
