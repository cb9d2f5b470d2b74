"""Every engine there is, for the tests that all of them must pass."""

from collections.abc import Callable
from pathlib import Path

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
