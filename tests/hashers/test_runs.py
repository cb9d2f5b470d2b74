"""A training run as a user has it: history, callbacks, validation functions, Ctrl-C, and runs that go on."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import nn

from ammi import AMMI, load
from ammi.features import VectorFeatures
from ammi.hashers import BMSH, DVQ, GMSH, NASH, SRBM, VDSH, DocumentHasher, TrainedHasher
from ammi.hashers.fitting import fit_held_out
from ammi.nets.encoder import Encoder, initialise
from ammi.training import neighbours
from ammi.training.callbacks import TensorBoard
from ammi.training.progress import Silent
from tests.conftest import topics
from tests.hashers.stopped import learned
from tests.training.test_callbacks import scalars

QUICK: dict[str, Any] = {"n_bits": 6, "batch_size": 32, "epochs": 4, "random_state": 0, "verbose": False}


def test_history_and_the_kept_epoch_are_saved_with_the_model(tmp_path):
    X, _ = topics(100)
    scores = iter([1.0, 5.0, 3.0, 4.0])
    hasher = AMMI(**QUICK).fit(X, validation=lambda _: next(scores))
    hasher.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, AMMI)
    assert loaded.history_ == hasher.history_
    assert [row["score"] for row in loaded.history_] == [1, 5, 3, 4]
    assert loaded.best_epoch_ == 2
    figure = loaded.plot_history()
    above, below = figure.axes
    assert [line.get_label() for line in above.lines] == ["entropy", "conditional entropy", "information"]
    np.testing.assert_array_equal(below.lines[0].get_ydata(), [1, 5, 3, 4])


def test_callbacks_are_called_with_the_figures_of_each_epoch(tmp_path):
    X, _ = topics(100)
    rows: list[Mapping[str, float]] = []
    hasher = AMMI(**QUICK).fit(X, callbacks=[rows.append, TensorBoard(tmp_path)])
    assert rows == hasher.history_
    assert len(rows) == 4
    assert {"epoch", "entropy", "conditional_entropy", "information", "score"} <= set(rows[0])
    read = scalars(tmp_path)
    assert set(read) == set(rows[0]) - {"epoch"}
    for name, values in read.items():
        assert values == [(row["epoch"], pytest.approx(row[name], rel=1e-6)) for row in rows]


def test_a_validation_function_sees_the_figures_of_the_epoch_and_its_codes():
    X, _ = topics(100)
    seen: list[dict[str, float]] = []

    def score(hasher: TrainedHasher) -> float:
        seen.append(dict(hasher.history_[-1]))
        assert hasher.encode(X).shape == (100, 1)
        return hasher.history_[-1]["information"]

    hasher = AMMI(**QUICK).fit(X, validation=score)
    assert [row["epoch"] for row in seen] == [1, 2, 3, 4]
    assert [{**row, "score": row["information"]} for row in seen] == hasher.history_


def test_a_validation_that_counts_as_empty_is_one_all_the_same():
    class Scores(list):
        def __call__(self, hasher: TrainedHasher) -> float:
            return 7.0

    hasher = AMMI(**{**QUICK, "epochs": 1}).fit(topics(100)[0], validation=Scores())
    assert hasher.history_[0]["score"] == 7


def test_ctrl_c_before_the_first_epoch_is_over_ends_the_fit():
    def stop(hasher: TrainedHasher) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        AMMI(**QUICK).fit(topics(100)[0], validation=stop)


def test_ctrl_c_later_keeps_the_best_epoch_so_far():
    X, _ = topics(100)

    def score(hasher: TrainedHasher, until: int) -> float:
        if len(hasher.history_) == until:
            raise KeyboardInterrupt
        return -len(hasher.history_)

    stopped = AMMI(first_bits=0, **QUICK).fit(X, validation=partial(score, until=3))
    assert stopped.interrupted_
    assert len(stopped.history_) == 2
    assert stopped.best_epoch_ == 1
    whole = AMMI(first_bits=0, **{**QUICK, "epochs": 1}).fit(X, validation=partial(score, until=9))
    assert not whole.interrupted_
    assert stopped.fingerprint_ == whole.fingerprint_


class Parts(Silent):
    """Notes what is done before the epochs."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def part(self, name: str, total: int) -> Any:
        self.names.append(name)
        return super().part(name, total)


@pytest.mark.parametrize("method", [AMMI, BMSH, DVQ, GMSH, NASH, SRBM, VDSH])
def test_a_run_that_was_stopped_goes_on_as_if_it_were_not(method, tmp_path):
    X, _ = topics(100)
    small = {**QUICK, "hidden_size": 16}
    scores = iter([1.0, 2.0])  # the third epoch finds none and stops the run
    first, second = Parts(), Parts()
    with pytest.raises(StopIteration):
        method(checkpoint=tmp_path, **small).fit(X, validation=lambda _: next(scores), progress=first)
    resumed = method(checkpoint=tmp_path, **small).fit(X, validation=lambda _: 101.0, progress=second)
    rising = iter([1.0, 2.0, 101.0, 101.0])
    unbroken = method(**small).fit(X, validation=lambda _: next(rising))
    assert resumed.best_epoch_ == unbroken.best_epoch_ == 3
    assert resumed.fingerprint_ == unbroken.fingerprint_
    assert first.names == {AMMI: ["neighbours", "first model", "neighbours"], SRBM: ["machines"]}.get(method, [])
    assert second.names == []  # it neither looks for neighbours nor pretrains a second time


@pytest.mark.parametrize(
    "more",
    [{"first_bits": 0}, {"neighbours": 0}, *({"adversary": name, "first_bits": 0} for name in ("gradient", "sampled"))],
)
def test_a_finished_run_goes_on_with_more_epochs(more, tmp_path):
    """To the bit as if it had had them from the start."""
    X, _ = topics(100)
    given = {**QUICK, **more}
    short = AMMI(checkpoint=tmp_path, **{**given, "epochs": 2}).fit(X)
    longer = AMMI(checkpoint=tmp_path, **given).fit(X)
    unbroken = AMMI(**given).fit(X)
    assert (len(short.history_), len(longer.history_)) == (2, 4)
    assert longer.history_[:2] == short.history_
    assert longer.fingerprint_ == unbroken.fingerprint_ != short.fingerprint_
    with pytest.raises(ValueError, match="the checkpoint has 4 epochs, more than the 3 that are wanted: ask for as"):
        AMMI(checkpoint=tmp_path, **{**given, "epochs": 3}).fit(X)


def test_a_run_that_patience_ended_goes_on_with_more_patience(tmp_path):
    X, _ = topics(100)
    given: dict[str, Any] = {**QUICK, "neighbours": 0, "checkpoint": tmp_path}

    def score(hasher: TrainedHasher) -> float:
        return [3.0, 2.0, 1.0, 4.0][len(hasher.history_) - 1]

    assert len(AMMI(patience=2, **given).fit(X, validation=score).history_) == 3
    assert len(AMMI(patience=2, **given).fit(X, validation=score).history_) == 3
    more = AMMI(patience=3, **given).fit(X, validation=score)
    assert (len(more.history_), more.best_epoch_) == (4, 4)


def test_what_a_run_that_goes_on_has_found_already_is_not_looked_for(tmp_path, monkeypatch):
    X, _ = topics(100)
    scores = iter([1.0])
    with pytest.raises(StopIteration):
        AMMI(checkpoint=tmp_path, **QUICK).fit(X, validation=lambda _: next(scores))
    monkeypatch.setattr(neighbours, "normalize", None)  # it would fail
    assert AMMI(checkpoint=tmp_path, **QUICK).fit(X, validation=lambda _: 3.0).best_epoch_ == 2


def one_score(hasher: TrainedHasher) -> float:
    return 1.0


def another_score(hasher: TrainedHasher) -> float:
    return 1.0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda X, y, new, new_y: (X, y, one_score), "labels, validation"),
        (lambda X, y, new, new_y: (X, y, (new[:-1], new_y[:-1])), "validation"),
        (lambda X, y, new, new_y: (X, y, (new, new_y[::-1])), "validation"),
        (lambda X, y, new, new_y: (X, y[::-1], (new, new_y)), "labels"),
        (lambda X, y, new, new_y: (X[::-1], y, (new, new_y)), "documents"),
        (lambda X, y, new, new_y: (X, y, None), "labels, validation"),
    ],
    ids=["a function", "other documents", "other labels", "labels of the training", "the training", "none"],
)
@pytest.mark.parametrize("names", [False, True], ids=["numbers", "names"])
def test_another_validation_is_another_run(change, told, names, tmp_path):
    """A checkpoint belongs to what chooses its epoch as well."""
    (X, y), (new, new_y) = topics(100), topics(60, seed=1)
    if names:
        y, new_y = (np.array(["sea", "sky", "field", "town"])[labels] for labels in (y, new_y))
    AMMI(checkpoint=tmp_path, **QUICK).fit(X, y, validation=(new, new_y))
    again = AMMI(checkpoint=tmp_path, **QUICK).fit(X.copy(), y.copy(), validation=(new.copy(), new_y.copy()))
    assert len(again.history_) == 4
    X, y, validation = change(X, y, new, new_y)
    with pytest.raises(ValueError, match=rf"belongs to another run \({told} differ\)"):
        AMMI(checkpoint=tmp_path, **QUICK).fit(X, y, validation=validation)


def test_another_function_is_another_validation(tmp_path):
    X, _ = topics(100)
    AMMI(checkpoint=tmp_path, **QUICK).fit(X, validation=one_score)
    with pytest.raises(ValueError, match=r"another run \(validation differ"):
        AMMI(checkpoint=tmp_path, **QUICK).fit(X, validation=another_score)


def counted(hasher: TrainedHasher, until: int) -> float:
    return float(until)


def test_other_arguments_and_other_held_out_labels_are_another_validation(tmp_path):
    X, y = topics(100)
    AMMI(checkpoint=tmp_path / "a", **QUICK).fit(X, validation=partial(counted, until=3))
    AMMI(checkpoint=tmp_path / "a", **QUICK).fit(X, validation=partial(counted, until=3))
    with pytest.raises(ValueError, match=r"another run \(validation differ"):
        AMMI(checkpoint=tmp_path / "a", **QUICK).fit(X, validation=partial(counted, until=4))
    for labels in (y, y):
        model = DocumentHasher(AMMI(checkpoint=tmp_path / "b", **QUICK), VectorFeatures())
        fit_held_out(model, X, labels.tolist())
    with pytest.raises(ValueError, match=r"another run \(validation differ"):
        fit_held_out(model, X, (y == 0).tolist())


def test_a_run_that_leaves_the_finite_keeps_the_last_good_epoch_and_says_so(tmp_path, capsys):
    X, _ = topics(200)
    hasher = AMMI(8, epochs=4, learning_rate=10.0, random_state=0).fit(X)
    assert hasher.diverged_ == len(hasher.history_) + 1 == 2
    assert "left the finite numbers in epoch 2" in capsys.readouterr().err
    hasher.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, AMMI)
    assert loaded.diverged_ == 2


def narrow(n_inputs: int, n_outputs: int, width: int = 5) -> nn.Module:
    network = Encoder(n_inputs, n_outputs, hidden_layers=1, hidden_size=width)
    initialise(network, 0.1)
    return network


def test_a_run_with_a_network_of_ones_own_goes_on_and_knows_its_arguments(tmp_path):
    X, _ = topics(100)
    scores = iter([1.0, 2.0])
    with pytest.raises(StopIteration):
        AMMI(encoder=partial(narrow, width=4), checkpoint=tmp_path, **QUICK).fit(X, validation=lambda _: next(scores))
    with pytest.raises(ValueError, match=r"another run \(encoder differ"):
        AMMI(encoder=partial(narrow, width=3), checkpoint=tmp_path, **QUICK).fit(X, validation=lambda _: 101.0)
    again = partial(narrow, width=4)  # another object, as in another process
    assert AMMI(encoder=again, checkpoint=tmp_path, **QUICK).fit(X, validation=lambda _: 101.0).best_epoch_ == 3


ROOT = Path(__file__).parents[2]


def start(folder: Path) -> subprocess.Popen:
    """The run of `learned`, slowly, in a process of its own."""
    code = "from tests.hashers.stopped import run_slowly; run_slowly()"
    command = [sys.executable, "-c", code, str(folder)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(path: Path, newer_than: float = 0.0) -> float:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if path.exists() and path.stat().st_mtime_ns > newer_than:
            return path.stat().st_mtime_ns
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written")


@pytest.mark.slow
def test_a_run_that_is_killed_and_stopped_by_hand_goes_on_to_the_same_codes(tmp_path):
    expected, folder = learned(tmp_path / "whole"), tmp_path / "stopped"
    killed = start(folder)
    wait_for(folder / "checkpoint.pt", wait_for(folder / "checkpoint.pt"))
    os.kill(killed.pid, signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    killed.communicate()

    interrupted, begun = start(folder), time.time_ns()
    wait_for(folder / "checkpoint.pt", begun)
    interrupted.send_signal(signal.SIGINT)  # as Ctrl-C does
    shown, progress = interrupted.communicate(timeout=600)
    assert interrupted.returncode == 0
    epochs, fingerprint = shown.split()
    assert 3 <= int(epochs) < 8
    assert len(fingerprint) == 16
    assert "the best one so far is kept" in " ".join(progress.split())

    for _ in range(2):  # the second time there is nothing left to do
        resumed = learned(folder)
        assert len(resumed.history_) == len(expected.history_) == 8
        assert resumed.fingerprint_ == expected.fingerprint_
