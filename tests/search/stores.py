"""Every store there is, for the tests that all of them must pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from ammi.search import HammingIndex, Store
from ammi.search.locations import STORES, store_class
from ammi.search.wanted import WordStatistics
from examples.memory_store import MemoryStore
from tests.servers import postgres

STORES.register("memory", MemoryStore)


def store_of(scheme: str) -> type[Store]:
    """The store of a scheme; without its extra a class of that name, whose tests tests/conftest.py skips."""
    try:
        return STORES.get(scheme)
    except ImportError as error:
        name = STORES.own[scheme].partition(":")[2]
        return type(name, (Store,), {"__module__": f"ammi.search.{scheme}.missing", "missing": str(error)})


MilvusStore = store_of("milvus")
PostgresStore = store_of("postgresql")


def postgres_location(home: Path) -> str:
    """A schema of its own for each folder, on a server that is started once."""
    if hasattr(PostgresStore, "missing"):
        pytest.skip(PostgresStore.missing)
    return f"{postgres().url}#t{blake2b(str(home).encode(), digest_size=8).hexdigest()}"


def create_store(location: str | Path, *arguments: Any, **settings: Any) -> Store:
    """Create an empty store at a location, and open it."""
    return store_class(location).create(location, *arguments, **settings)


LOCATIONS: dict[type[Store], Callable[[Path], str]] = {
    HammingIndex: lambda home: str(home / "index"),
    MemoryStore: lambda home: f"memory:{home / 'index'}",
    MilvusStore: lambda home: f"milvus-lite:{home / 'index.db'}",
    PostgresStore: postgres_location,
}
EXAMPLES: dict[type[Store], int] = {
    MilvusStore: 5,
    PostgresStore: 8,
}  # of what goes on for long, on stores that are slow
every_store = pytest.mark.parametrize("store", LOCATIONS, ids=lambda store: store.__name__)


def with_examples(store: type[Store], **strategies: Any) -> Callable[[Callable[..., None]], None]:
    """Run a check with 25 examples, or fewer on a store that is slow."""

    def run(check: Callable[..., None]) -> None:
        settings(max_examples=min(25, EXAMPLES.get(store, 25)), deadline=None)(given(**strategies)(check))()

    return run


def word_statistics(index: Store, words: list[str]) -> WordStatistics:
    """What a store knows of words."""
    with index._reading():
        return index._word_statistics(words)


@contextmanager
def traced(index: HammingIndex) -> Iterator[list[tuple[str, Any]]]:
    """The statements that an embedded index executes inside of the block, and their values."""
    statements: list[tuple[str, Any]] = []

    def note(cursor: Any, statement: str, values: Any) -> bool:
        statements.append((statement, values))
        return True

    with index._database.held() as session:
        session.db.exec_trace = note
        try:
            yield statements
        finally:
            session.db.exec_trace = None
