"""Shared by all tests: markers, one thread a process, the benchmark data if present, a small collection with topics."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from scipy.sparse import csr_matrix

from ammi.data.registry import benchmark
from tests.hub_server import hub, running_hub  # noqa: F401  (fixtures)

# No deadline: on a busy machine everything takes long. The same examples each time: `make torture` draws new ones.
settings.register_profile("ammi", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("fast", deadline=None, derandomize=True, max_examples=20)  # of `make fast`
settings.load_profile("ammi")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So a shell starts what is to run in the background; the processes of the tests would ignore Ctrl-C as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).parents[2] / "shared" / "data"
if SHARED.is_dir():
    os.environ.setdefault("AMMI_DATA", str(SHARED))


# Tests that are nothing without an extra. Others skip what needs one, so that `.[test]` is enough for most rooms.
NEEDS = {"psycopg": "search/test_postgres.py", "pymilvus": "search/test_milvus.py", "ray": "scale", "fastapi": "web"}
collect_ignore = [tests for package, tests in NEEDS.items() if find_spec(package) is None]

SERVERS = ("tests/scale/", "tests/web/", "tests/search/test_milvus", "tests/search/test_postgres")
SLOW = ("tests/torture/",)
SERVER_FIXTURES = {"url"}  # of tests/cli/test_locations.py, a collection on PostgreSQL
SLOW_FIXTURES = {"minilm"}  # of tests/features/test_embeddings.py: the import of sentence-transformers takes seconds
SERVER_STORES = ("ammi.search.milvus.", "ammi.search.postgres")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no folder of which `-m` leaves out every test."""
    folder, wanted = f"{collection_path.parent.name}/{collection_path.name}/", config.option.markexpr
    return (folder in SERVERS and "not servers" in wanted) or (folder in SLOW and "not slow" in wanted) or None


def pytest_collection() -> None:
    """Use one thread. The process that starts others by `-n` collects nothing, and need not import torch."""
    import torch

    torch.set_num_threads(1)
    gc.disable()  # until all tests are imported


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their file, and by the stores among their parameters."""
    for item in items:
        stores = [value for value in _parameters(item) if _is_on_a_server(value)]
        fixtures = set(getattr(item, "fixturenames", ()))
        if stores or fixtures & SERVER_FIXTURES or item.nodeid.startswith(SERVERS):
            item.add_marker(pytest.mark.servers)
        for missing in {store.missing for store in stores if hasattr(store, "missing")}:
            item.add_marker(pytest.mark.skip(missing))
        if item.nodeid.startswith("tests/web/page/"):
            item.add_marker(pytest.mark.browser)
        if fixtures & SLOW_FIXTURES or item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)


def _parameters(item: pytest.Item) -> Iterator[object]:
    for value in item.callspec.params.values() if hasattr(item, "callspec") else ():
        yield from value if isinstance(value, tuple) else (value,)


def _is_on_a_server(parameter: object) -> bool:
    return isinstance(parameter, type) and parameter.__module__.startswith(SERVER_STORES)


def pytest_collection_finish() -> None:
    """Keep what was imported out of garbage collection, which would search all of it again and again."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    if "tests.servers" in sys.modules:
        sys.modules["tests.servers"].stop_servers()


@pytest.fixture(scope="session")
def reuters():
    """The fixed benchmark matrices of Reuters."""
    try:
        return benchmark("reuters")
    except FileNotFoundError as error:
        pytest.skip(f"needs the benchmark data: {error}")


def topics(n: int = 300, n_words: int = 120, n_topics: int = 4, seed: int = 0) -> tuple[csr_matrix, np.ndarray]:
    """Documents of a few topics: sparse rows of unit length, and the topic of each."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_topics, size=n)
    rate = np.where(np.arange(n_words) % n_topics == labels[:, None], 0.6, 0.03)
    counts = rng.poisson(rate).astype(np.float32)
    return csr_matrix(counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-6)), labels
