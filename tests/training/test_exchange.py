"""Several workers learn what one alone learns from the same batches."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.training.workers import CASES, arrays, figures, learned

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Path:
    """A folder of what each of two processes learned together with the other."""
    folder = tmp_path_factory.mktemp("shared")
    command = [sys.executable, "-W", "error", "-m", "tests.training.workers", str(folder)]
    workers = [subprocess.Popen([*command, str(rank), "2"], cwd=ROOT) for rank in range(2)]
    assert [worker.wait(timeout=240) for worker in workers] == [0, 0]
    return folder


@pytest.mark.parametrize("name", CASES)
def test_two_workers_learn_what_one_learns_from_the_same_batches(name, shared):
    alone = learned(name)
    first, second = (np.load(shared / f"{name} {rank}.npz") for rank in range(2))
    for key, expected in arrays(alone).items():
        np.testing.assert_array_equal(first[key], second[key])
        # Adam makes whole steps of gradients that are nothing but rounding; an overparameterised network has many.
        of_adversary = key.startswith("adversary.network")
        np.testing.assert_allclose(first[key], expected, rtol=0, atol=1e-2 if of_adversary else 1e-3)
        assert of_adversary or np.median(np.abs(first[key] - expected)) < 1e-5
    np.testing.assert_allclose(first["history"], figures(alone), rtol=0, atol=1e-4)
