"""Runs: each has its own file, a file that is there is not made again, and nothing half done is left."""

import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ammi.experiments.runs import Results, Run, alone
from tests.experiments.test_tasks import small_task

parameters = st.dictionaries(st.sampled_from(["epochs", "batch_size", "C"]), st.integers(1, 3))
runs = st.builds(
    Run,
    st.sampled_from(["reuters", "ng20"]),
    st.sampled_from(["ammi", "dvq"]),
    st.integers(1, 3),
    parameters,
    st.integers(0, 2),
)


@given(runs, runs)
def test_a_path_tells_runs_apart(one, other):
    assert (one.path == other.path) == (one == other)


def test_a_run_keeps_what_was_run_and_where(tmp_path):
    results, run = Results(tmp_path), Run("small", "ammi", 8, {"epochs": 2}, seed=3)
    results.complete([run], lambda name: small_task(), lambda run: None)
    result = json.loads((tmp_path / run.path).read_text())
    assert (result["task"], result["method"], result["bits"], result["seed"]) == ("small", "ammi", 8, 3)
    assert (result["parameters"], result["epochs"]) == ({"epochs": 2}, 2)
    assert 25 < result["test"] <= 100
    assert {"processor", "cores", "ammi", "date", "fit_s", "encode_s", "validation"} <= set(result)


def test_the_same_seed_gives_the_same_figures(tmp_path):
    run = Run("small", "ammi", 8, {"epochs": 2}, seed=1)
    for folder in ("one", "other"):
        Results(tmp_path / folder).complete([run], lambda name: small_task(), lambda run: None)
    one, other = (Results(tmp_path / folder).get(run) for folder in ("one", "other"))
    assert one is not None
    assert other is not None
    assert (one["test"], one["validation"]) == (other["test"], other["validation"])


def test_only_what_is_missing_is_run(tmp_path):
    results = Results(tmp_path)
    done: list[Run] = []
    first, second = Run("small", "lsh", 8), Run("small", "lsh", 16)
    results.complete([first], lambda name: small_task(), done.append)
    written = (tmp_path / first.path).stat().st_mtime_ns
    results.complete([first, second], lambda name: small_task(), done.append)
    assert done == [first, second]
    assert (tmp_path / first.path).stat().st_mtime_ns == written
    assert results.missing([first, second, Run("small", "lsh", 32)]) == [Run("small", "lsh", 32)]


def test_a_run_that_breaks_leaves_nothing(tmp_path):
    results = Results(tmp_path)

    def broken(name):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        results.complete([Run("small", "lsh", 8)], broken, lambda run: None)
    assert not list(tmp_path.rglob("*.json"))


def test_a_run_that_another_process_is_at_is_waited_for(tmp_path):
    results = Results(tmp_path)
    done: list[Run] = []
    theirs, ours = Run("small", "lsh", 8), Run("small", "lsh", 16)
    with alone(tmp_path / theirs.path):
        worker = threading.Thread(
            target=results.complete, args=([theirs, ours], lambda name: small_task(), done.append)
        )
        worker.start()
        while not results.get(ours):
            worker.join(0.05)
        assert worker.is_alive()
        assert done == [ours]
    worker.join(30)
    assert done == [ours, theirs]
