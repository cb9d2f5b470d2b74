"""Experiments: each has its own file, a file that is there is not made again, and nothing half done is left."""

import json
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ammi.tuning.experiments import Experiment, Results, default_parameters
from ammi.tuning.locks import lock_for
from tests.tuning.small import small_task

parameters = st.dictionaries(st.sampled_from(["epochs", "batch_size", "hidden_layers"]), st.integers(0, 3))
experiments = st.builds(
    Experiment,
    st.sampled_from(["reuters", "ng20"]),
    st.sampled_from(["ammi", "dvq"]),
    st.integers(1, 3),
    parameters,
    st.integers(0, 2),
)


@given(experiments, experiments)
def test_a_path_tells_experiments_apart(one, other):
    in_full = [replace(experiment, parameters=experiment.effective_parameters) for experiment in (one, other)]
    assert (one.path == other.path) == (in_full[0] == in_full[1])


@given(experiments)
def test_saying_a_default_is_the_same_experiment(experiment):
    said = {name: value for name, value in default_parameters(experiment.method).items() if name != "n_bits"}
    assert replace(experiment, parameters={**said, **experiment.parameters}).path == experiment.path


@pytest.mark.parametrize(("parameter", "same"), [("neighbours", False), ("first_bits", False), ("n_jobs", True)])
def test_a_changed_default_is_another_experiment_where_it_decides_the_result(parameter, same, monkeypatch):
    experiment = Experiment("reuters", "ammi", 64, {"epochs": 2})
    changed = {**default_parameters("ammi"), parameter: 7}
    before = experiment.path
    monkeypatch.setattr("ammi.tuning.experiments.default_parameters", lambda method: changed)
    assert (experiment.path == before) == same


def test_a_result_keeps_what_was_done_and_where(tmp_path):
    results, experiment = Results(tmp_path), Experiment("small", "ammi", 8, {"epochs": 2}, seed=3)
    results.complete([experiment], lambda name: small_task())
    result = json.loads((tmp_path / experiment.path).read_text())
    assert (result["task"], result["method"], result["bits"], result["seed"]) == ("small", "ammi", 8, 3)
    assert result["parameters"] == experiment.effective_parameters
    assert result["epochs"] == 2
    assert 25 < result["test"] <= 100
    assert {"processor", "cores", "ammi", "date", "fit_s", "encode_s", "validation"} <= set(result)


def test_the_same_seed_gives_the_same_figures(tmp_path):
    experiment = Experiment("small", "ammi", 8, {"epochs": 2}, seed=1)
    for folder in ("one", "other"):
        Results(tmp_path / folder).complete([experiment], lambda name: small_task())
    one, other = (Results(tmp_path / folder).get(experiment) for folder in ("one", "other"))
    assert one is not None
    assert other is not None
    assert (one["test"], one["validation"]) == (other["test"], other["validation"])


def test_only_what_is_missing_is_done(tmp_path):
    results = Results(tmp_path)
    done: list[Experiment] = []
    first, second = Experiment("small", "lsh", 8), Experiment("small", "lsh", 16)
    results.complete([first], lambda name: small_task(), done.append)
    written = (tmp_path / first.path).stat().st_mtime_ns
    results.complete([first, second], lambda name: small_task(), done.append)
    assert done == [first, second]
    assert (tmp_path / first.path).stat().st_mtime_ns == written
    assert results.missing([first, second, Experiment("small", "lsh", 32)]) == [Experiment("small", "lsh", 32)]


def test_an_experiment_that_breaks_leaves_nothing(tmp_path):
    results = Results(tmp_path)

    def broken(name):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        results.complete([Experiment("small", "lsh", 8)], broken)
    assert not list(tmp_path.rglob("*.json"))


def test_an_experiment_that_another_process_is_at_is_waited_for(tmp_path):
    results = Results(tmp_path)
    done: list[Experiment] = []
    theirs, ours = Experiment("small", "lsh", 8), Experiment("small", "lsh", 16)
    with lock_for(tmp_path / theirs.path):
        worker = threading.Thread(
            target=results.complete, args=([theirs, ours], lambda name: small_task(), done.append)
        )
        worker.start()
        while not done:
            worker.join(0.05)
        assert worker.is_alive()
        assert done == [ours]
        assert results.get(ours)
    worker.join(300)
    assert done == [ours, theirs]
