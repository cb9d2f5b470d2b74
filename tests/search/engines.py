"""Every engine there is, for the tests that all of them must pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from examples.memory_engine import MemoryIndex

from ammi.search import HammingIndex, Index
from ammi.search.places import ENGINES

ENGINES.register("memory", MemoryIndex)

PLACES: dict[type[Index], Callable[[Path], str]] = {
    HammingIndex: lambda home: str(home / "index"),
    MemoryIndex: lambda home: f"memory:{home / 'index'}",
}
every_engine = pytest.mark.parametrize("engine", PLACES, ids=lambda engine: engine.__name__)


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
