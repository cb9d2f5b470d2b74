"""What the tests share: one thread a process, the benchmark data where it is, a small collection with topics."""

import gc
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import settings
from scipy.sparse import csr_matrix

from ammi.data.registry import benchmark

torch.set_num_threads(1)
settings.register_profile("ammi", deadline=None)  # on a busy machine everything takes long
settings.load_profile("ammi")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So a shell starts what is to run in the background; the processes of the tests would ignore Ctrl-C as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).parents[2] / "shared" / "data"
if SHARED.is_dir():
    os.environ.setdefault("AMMI_DATA", str(SHARED))


def pytest_collection_finish() -> None:
    """What was imported stays: else every search for garbage goes through all of it again."""
    gc.collect()
    gc.freeze()


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
