"""Every engine there is, for the tests that all of them must pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from examples.memory_engine import MemoryIndex
from hypothesis import given, settings

from ammi.search import HammingIndex, Index
from ammi.search.milvus.index import MilvusIndex
from ammi.search.places import ENGINES
from ammi.search.postgres.index import PostgresIndex
from tests.servers import postgres

ENGINES.register("memory", MemoryIndex)


def postgres_place(home: Path) -> str:
    """A schema of its own for each folder, on a server that is started once."""
    return f"{postgres().url}#t{blake2b(str(home).encode(), digest_size=8).hexdigest()}"


PLACES: dict[type[Index], Callable[[Path], str]] = {
    HammingIndex: lambda home: str(home / "index"),
    MemoryIndex: lambda home: f"memory:{home / 'index'}",
    MilvusIndex: lambda home: f"milvus-lite:{home / 'index.db'}",
    PostgresIndex: postgres_place,
}
EXAMPLES: dict[type[Index], int] = {
    MilvusIndex: 5,
    PostgresIndex: 8,
}  # of what goes on for long, on engines that are slow
every_engine = pytest.mark.parametrize("engine", PLACES, ids=lambda engine: engine.__name__)


def with_examples(engine: type[Index], **strategies: Any) -> Callable[[Callable[..., None]], None]:
    """Run a check with 25 examples, or fewer on an engine that is slow."""

    def run(check: Callable[..., None]) -> None:
        settings(max_examples=min(25, EXAMPLES.get(engine, 25)), deadline=None)(given(**strategies)(check))()

    return run


@contextmanager
def traced(index: HammingIndex) -> Iterator[list[tuple[str, Any]]]:
    """The statements that an embedded index executes inside of the block, and their values."""
    statements: list[tuple[str, Any]] = []

    def note(cursor: Any, statement: str, values: Any) -> bool:
        statements.append((statement, values))
        return True

    with index._store.held() as session:
        session.db.exec_trace = note
        try:
            yield statements
        finally:
            session.db.exec_trace = None
