"""The search: what it draws, what it gives up, and that it goes on where it was."""

import inspect
import json

import numpy as np
import pytest

from ammi.experiments.plots import search_history, search_importance
from ammi.experiments.tasks import Task
from ammi.experiments.tuning import GRIDS, Search, Tuning
from ammi.hashers import by_name
from tests.experiments.test_tasks import small_task

SHORT = {"epochs": 1, "neighbours": 0}


def tuned(folder, trials: int, search: Search | None = None, task: Task | None = None, **options) -> Tuning:
    tuning = Tuning(search or Search("small", "ammi", 8, SHORT), task or small_task(), folder, **options)
    tuning.go_on(trials, lambda trial, epoch, score: None, lambda: None)
    return tuning


def drawn(tuning: Tuning) -> list[tuple[dict, float]]:
    return [(row["parameters"], row["validation"]) for row in tuning.rows()]


class Scripted(Task):
    """No learning: ten epochs whose scores rise with the learning rate."""

    documents = None

    def fingerprint(self):
        return "scripted"

    def fit(self, hasher, watch=lambda score: None):
        for epoch in range(10):
            watch(self.validation(hasher) + epoch / 100)

    def validation(self, hasher):
        return (hasher.learning_rate or 0) * 1000

    def test(self, hasher):
        raise AssertionError("a search does not look at the test part")


@pytest.mark.parametrize("method", sorted(GRIDS))
def test_a_grid_varies_what_the_method_has(method):
    known = inspect.signature(by_name(method)).parameters
    for name, values in GRIDS[method].items():
        assert name in known
        assert len(set(values)) == len(values) > 1


@pytest.mark.parametrize("method", ["bmsh", "dvq"])
def test_the_first_trial_is_the_defaults(method, tmp_path):
    (row,) = tuned(tmp_path, 1, Search("small", method, 8, {}), Scripted()).rows()
    defaults = inspect.signature(by_name(method)).parameters
    assert row["parameters"] == {name: defaults[name].default for name in GRIDS[method]}


def test_parameters_without_a_say_are_not_drawn(tmp_path):
    for row in tuned(tmp_path, 12, task=Scripted()).rows():
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


def test_hopeless_trials_are_given_up(tmp_path):
    tuning = tuned(tmp_path, 20, task=Scripted())
    given_up = [row for row in tuning.rows() if row["state"] == "pruned"]
    assert given_up
    assert all(len(row["scores"]) < 10 for row in given_up)
    best = max(row["parameters"]["learning_rate"] for row in tuning.rows())
    assert tuning.best_parameters()["learning_rate"] == best
    assert all(row["parameters"]["learning_rate"] < best for row in given_up)


def test_an_interrupted_trial_is_tried_again(tmp_path):
    class Interrupted(Scripted):
        def fit(self, hasher, watch=lambda score: None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tuned(tmp_path, 1, task=Interrupted())
    assert drawn(tuned(tmp_path, 3, task=Scripted())) == drawn(tuned(tmp_path / "calm", 3, task=Scripted()))


def test_a_study_of_other_parameters_is_refused(tmp_path):
    tuned(tmp_path, 1, task=Scripted())
    with pytest.raises(ValueError, match="is of another search, with other fixed: choose another --out"):
        tuned(tmp_path, 1, Search("small", "ammi", 8, {"neighbours": 5}), Scripted())
    with pytest.raises(ValueError, match="is of another search, with other data:"):
        tuned(tmp_path, 1)


def test_a_database_that_was_lost_is_made_again_from_the_trials(tmp_path):
    whole = tuned(tmp_path / "whole", 10, task=Scripted())
    tuned(tmp_path / "lost", 6, task=Scripted())
    (tmp_path / "lost" / "study.db").unlink()
    assert drawn(tuned(tmp_path / "lost", 10, task=Scripted())) == drawn(whole)


def test_a_trial_that_breaks_is_not_tried_for_ever(tmp_path):
    class Breaking(Scripted):
        def fit(self, hasher, watch=lambda score: None):
            if hasher.learning_rate == 0.01:
                raise RuntimeError("no memory")
            super().fit(hasher, watch)

    with pytest.raises(RuntimeError, match="no memory"):
        tuned(tmp_path, 3, task=Breaking())  # the defaults
    assert tuned(tmp_path, 1, task=Breaking()).rows()


def test_other_seeds_draw_other_trials(tmp_path):
    def after_the_first(seed: int) -> list:
        search = Search("small", "ammi", 8, SHORT, seed=seed)
        return drawn(tuned(tmp_path / str(seed), 4, search, Scripted()))[1:]

    assert not [trial for trial in after_the_first(0) if trial in after_the_first(1)]


def test_what_is_no_storage_is_refused(tmp_path):
    with pytest.raises(ValueError, match="nothing is no storage of Optuna"):
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


def test_the_plots_show_every_trial(tmp_path):
    tuning = tuned(tmp_path, 8, task=Scripted())
    (axes,) = search_history(tuning.rows()).axes
    shown = sum(np.size(line.get_xdata()) for line in axes.lines[1:])
    assert shown == 8
    figure = search_importance(tuning.study)
    assert figure
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert "learning_rate" in names
    tuning.plot()
    assert (tmp_path / "history.png").stat().st_size > 1000
