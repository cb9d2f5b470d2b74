"""The search: what it draws, what it gives up, and that it goes on where it was."""

import gc
import inspect
import json
import multiprocessing
import resource
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from ammi.hashers import by_name
from ammi.training.finite import NotFiniteError
from ammi.tuning.display import Display
from ammi.tuning.grids import GRIDS
from ammi.tuning.search import Search, Tuning
from ammi.tuning.tasks import Task
from tests.tuning.small import SHORT, Scripted, small_task

pytestmark = pytest.mark.slow  # each trial is written to the disk


def tuned(folder, trials: int, search: Search | None = None, task: Task | None = None, **options) -> Tuning:
    tuning = Tuning(search or Search("small", "ammi", 8, SHORT), task or small_task(), folder, **options)
    tuning.run_until(trials)
    return tuning


def drawn(tuning: Tuning) -> list[tuple[dict, float]]:
    return [(row["parameters"], row["validation"]) for row in tuning.rows()]


@pytest.mark.parametrize("method", ["bmsh", "dvq"])
def test_the_first_trial_is_the_defaults(method, tmp_path):
    (row,) = tuned(tmp_path, 1, Search("small", method, 8, {}), Scripted()).rows()
    defaults = inspect.signature(by_name(method)).parameters
    for name, value in row["parameters"].items():
        assert value == defaults[name].default or defaults[name].default not in GRIDS[method][name]


def test_parameters_without_a_say_are_not_drawn(finished):
    for row in finished.rows():
        chosen = row["parameters"]
        assert ("adversary_steps" in chosen) == (chosen["adversary"] == "gradient")
        assert chosen.keys().isdisjoint(SHORT)
        for name, value in chosen.items():
            assert value in GRIDS["ammi"][name]


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_a_search_that_goes_on_is_the_search_that_was_not_interrupted(sampler, tmp_path):
    search = Search("small", "ammi", 8, SHORT, sampler)
    whole = tuned(tmp_path / "whole", 4, search)
    tuned(tmp_path / "parts", 2, search)
    assert drawn(tuned(tmp_path / "parts", 4, search)) == drawn(whole)
    assert len({json.dumps(parameters) for parameters, _ in drawn(whole)}) > 1


def test_hopeless_trials_are_given_up(finished):
    given_up = [row for row in finished.rows() if row["state"] == "pruned"]
    assert given_up
    assert all(len(row["scores"]) < 10 for row in given_up)
    best = max(row["parameters"]["learning_rate"] for row in finished.rows())
    assert finished.best_parameters()["learning_rate"] == best
    assert all(row["parameters"]["learning_rate"] < best for row in given_up)


def test_an_interrupted_trial_is_tried_again(finished, tmp_path):
    class Interrupted(Scripted):
        def fit(self, hasher, watch=lambda score: None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tuned(tmp_path, 1, task=Interrupted())
    assert drawn(tuned(tmp_path, 3, task=Scripted())) == drawn(finished)[:3]


def test_a_study_of_other_parameters_is_refused(tmp_path):
    tuned(tmp_path, 1, task=Scripted())
    with pytest.raises(ValueError, match="is of another search, with other fixed: choose another --out"):
        tuned(tmp_path, 1, Search("small", "ammi", 8, {"neighbours": 5}), Scripted())
    with pytest.raises(ValueError, match="is of another search, with other data:"):
        tuned(tmp_path, 1)


def test_a_shared_study_of_other_parameters_is_refused(tmp_path):
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    tuned(tmp_path / "one", 1, task=Scripted(), storage=url)
    with pytest.raises(ValueError, match="the study 'small ammi 8' is of another search, with other fixed:"):
        tuned(tmp_path / "other", 1, Search("small", "ammi", 8, {"neighbours": 5}), Scripted(), storage=url)


def test_a_database_that_was_lost_is_made_again_from_the_trials(finished, tmp_path):
    tuned(tmp_path, 6, task=Scripted())
    (tmp_path / "study.db").unlink()
    (tmp_path / "best.json").unlink()
    assert drawn(tuned(tmp_path, 10, task=Scripted())) == drawn(finished)[:10]


def test_trials_of_other_data_do_not_make_a_lost_database_again(tmp_path):
    tuned(tmp_path, 2, task=Scripted()).close()
    (tmp_path / "study.db").unlink()
    with pytest.raises(ValueError, match=r"trials.json is of another search, with other data: choose another --out"):
        tuned(tmp_path, 2)
    assert not (tmp_path / "study.db").exists()


def test_a_trial_that_breaks_is_not_tried_for_ever(tmp_path):
    class Breaking(Scripted):
        def fit(self, hasher, watch=lambda score: None):
            if hasher.learning_rate == 0.01:
                raise RuntimeError("no memory")
            super().fit(hasher, watch)

    with pytest.raises(RuntimeError, match="no memory"):
        tuned(tmp_path, 3, task=Breaking())  # the defaults
    assert tuned(tmp_path, 1, task=Breaking()).rows()


class Diverging(Scripted):
    """A task on which high learning rates leave the finite."""

    def __init__(self, least: float):
        self.least = least

    def fit(self, hasher, watch=lambda score: None):
        if (hasher.learning_rate or 0) >= self.least:
            raise NotFiniteError("the entropy is nan", "in epoch 1")
        super().fit(hasher, watch)


def test_a_trial_that_diverges_is_the_worst_and_the_search_goes_on(tmp_path):
    recorder, search = Recorder(), Search("small", "ammi", 8, SHORT)
    with Tuning(search, Diverging(0.003), tmp_path) as tuning:
        tuning.run_until(8, recorder)
        rows = tuning.rows()
        diverged = [row for row in rows if row["state"] == "diverged"]
        assert {row["parameters"]["learning_rate"] >= 0.003 for row in diverged} == {True}
        assert {(row["validation"], *row["scores"]) for row in diverged} == {(0.0,)}
        told = [(trial, why) for what, trial, *why in recorder.told if what == "diverged"]
        assert [trial for trial, _ in told] == [row["trial"] for row in diverged]
        assert "training left the finite numbers in epoch 1" in told[0][1][0]
        assert tuning.best_parameters()["learning_rate"] < 0.003
        tuning.plot()
    (tmp_path / "study.db").unlink()
    with tuned(tmp_path, 8, search, Diverging(0.003)) as again:
        assert [{**row, "trial": 0} for row in again.rows()] == [{**row, "trial": 0} for row in rows]


def test_a_search_all_of_whose_trials_diverge_is_refused(tmp_path):
    with pytest.raises(
        ValueError, match="none of 3 trials of small ammi 8 bits has a score, because all left the finite"
    ):
        tuned(tmp_path, 3, task=Diverging(0.0))
    assert not (tmp_path / "best.json").exists()


def test_training_that_diverges_is_one_trial_of_a_search(tmp_path):
    task = small_task()
    task.train.data.fill(1e30)  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="none of 1 trials of small dvq 8 bits has a score"):
        tuned(tmp_path, 1, Search("small", "dvq", 8, {"epochs": 1}), task)


def test_other_seeds_draw_other_trials(finished, tmp_path):
    other = drawn(tuned(tmp_path, 4, Search("small", "ammi", 8, SHORT, seed=1), Scripted()))
    assert drawn(finished)[0] == other[0]  # the defaults
    assert not [trial for trial in drawn(finished)[1:4] if trial in other[1:]]


def test_what_is_no_storage_is_refused(tmp_path):
    with pytest.raises(ValueError, match="nothing is not an Optuna storage"):
        tuned(tmp_path, 1, task=Scripted(), storage="nothing")


def test_a_method_without_hyperparameters_is_refused():
    with pytest.raises(ValueError, match="n_bits is no hyperparameter"):
        Search("small", "ammi", 8, {"n_bits": 8}).check()
    with pytest.raises(ValueError, match="lsh has nothing to tune: methods to tune are ammi, bmmi"):
        Search("small", "lsh", 8, {}).check()


def test_two_searches_share_a_storage(tmp_path):
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    tuned(tmp_path / "one", 2, task=Scripted(), storage=url)
    other = Tuning(Search("small", "ammi", 8, SHORT), Scripted(), tmp_path / "other", url)
    assert len(other.finished) == 2


def test_the_files_say_what_was_found(tmp_path):
    tuning = tuned(tmp_path, 3)
    best = json.loads((tmp_path / "best.json").read_text())
    assert best["method"] == "ammi"
    assert best["parameters"] == {"n_bits": 8, **tuning.best_parameters()}
    trials = json.loads((tmp_path / "trials.json").read_text())
    assert trials["trials"] == tuning.rows()
    assert best["validation"] == max(row["validation"] for row in trials["trials"])


def test_the_plots_are_drawn(finished):
    finished.plot()
    assert all((finished.folder / name).stat().st_size > 1000 for name in ("history.png", "importance.png"))


def test_the_best_come_first_and_those_given_up_do_not_count(finished):
    scores = [row["validation"] for row in finished.best_rows(3)]
    complete = [row["validation"] for row in finished.rows() if row["state"] == "complete"]
    assert scores == sorted(complete, reverse=True)[:3]


class Recorder(Display):
    """A display that keeps what it is told."""

    def __init__(self):
        self.told: list[tuple] = []

    @contextmanager
    def search(self, title, trials, finished):
        self.told.append((title, trials, finished))
        yield self

    def epoch(self, trial, epoch, score):
        self.told.append(("epoch", trial, epoch, score))

    def diverged(self, trial, why):
        self.told.append(("diverged", trial, why))

    def trial(self, finished, best):
        self.told.append(("trial", finished, best))


def test_a_display_is_told_of_every_epoch_and_every_trial(tmp_path):
    recorder = Recorder()
    with Tuning(Search("small", "ammi", 8, SHORT), Scripted(), tmp_path) as tuning:
        tuning.run_until(1)
        tuning.run_until(2, recorder)
        first, second = tuning.rows()
    epochs = [("epoch", 1, epoch, score) for epoch, score in enumerate(second["scores"], 1)]
    best = max(first["validation"], second["validation"])
    assert recorder.told == [("small ammi 8 bits", 2, 1), *epochs, ("trial", 2, best)]


def open_databases(folder: Path) -> list[str]:
    return [file.path for file in psutil.Process().open_files() if file.path == str(folder / "study.db")]


@pytest.mark.parametrize("ending", ["with", "close", "forgotten", "refused"])
def test_nothing_is_left_open(tmp_path, ending):
    tuning: Tuning | None = tuned(tmp_path, 1, task=Scripted())
    assert tuning
    assert open_databases(tmp_path)
    if ending == "with":
        with tuning:
            pass
    elif ending == "close":
        tuning.close()
        tuning.close()
    elif ending == "refused":
        tuning.close()
        (tmp_path / "trials.json").unlink()
        with pytest.raises(ValueError, match="is of another search"):
            tuned(tmp_path, 1)
    tuning = None
    gc.collect()
    assert not open_databases(tmp_path)


@pytest.mark.parametrize("package", ["optuna", "psutil"])
def test_what_is_not_installed_is_named(tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"tuning needs {package}: pip install 'ammi\[tune\]'"):
        tuned(tmp_path, 1, task=Scripted())


def fill_a_full_disk(folder: Path, sizes: int) -> None:
    """A limit on the size of files is what a full disk is, but for the number of the error."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (sizes, sizes))
    with pytest.raises(OSError, match=r"the database of the study cannot be used \(.*\): make space|File too large"):
        tuned(folder, 9, task=Scripted())
    gc.collect()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12 warns of every fork
@pytest.mark.parametrize("more", [-140_000, 20])
def test_a_full_disk_is_said_and_loses_nothing_that_is_finished(more, tmp_path):
    """A traceback. Whatever is full first, the same command goes on once there is space."""
    done = drawn(tuned(tmp_path, 1, task=Scripted()))
    size = max(path.stat().st_size for path in tmp_path.iterdir()) + more
    full = multiprocessing.get_context("fork").Process(target=fill_a_full_disk, args=(tmp_path, size))
    full.start()
    full.join()
    assert full.exitcode == 0
    assert not list(tmp_path.glob(".*.unfinished"))
    rows = json.loads((tmp_path / "trials.json").read_text())["trials"]
    assert [(row["parameters"], row["validation"]) for row in rows][:1] == done
    assert drawn(tuned(tmp_path, len(rows) + 1, task=Scripted()))[:1] == done


def test_values_out_of_their_range_are_refused_before_anything_is_tried():
    for bits, fixed, told in (
        (10**9, {}, "n_bits must be a whole number from 1 to 65536"),
        (8, {"epochs": 0}, "epochs must be"),
        (8, {"device": "nonsense"}, "device is 'nonsense'"),
        (8, {"n_jobs": -1}, "n_jobs must be"),
    ):
        with pytest.raises(ValueError, match=told):
            Search("small", "ammi", bits, fixed).check()
    with pytest.raises(ValueError, match="random_state must be a whole number from 0"):
        Search("small", "ammi", 8, {}, seed=-1).check()


def test_damaged_trials_are_named(tmp_path):
    (tmp_path / "trials.json").write_text('{"trials": [')
    with pytest.raises(ValueError, match=r"trials\.json is damaged"):
        tuned(tmp_path, 1)
