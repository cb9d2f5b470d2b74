"""Pictures of a search: every trial is in them, and what is drawn is what was measured."""

import sys

import numpy as np
import pytest
from matplotlib.lines import Line2D

from ammi.tuning.plots import new_axes, search_history, search_importance
from ammi.tuning.search import Search, Tuning
from tests.tuning.small import Scripted


def points(line: Line2D) -> dict[float, float]:
    x, y = (np.asarray(values, dtype=float).tolist() for values in (line.get_xdata(), line.get_ydata()))
    return dict(zip(x, y, strict=True))


@pytest.mark.slow
def test_the_history_shows_every_trial_and_the_best_so_far(finished):
    rows = finished.rows()
    best, finished, given_up = search_history(rows).axes[0].lines
    assert points(finished) == {row["trial"]: row["validation"] for row in rows if row["state"] == "complete"}
    assert points(given_up) == {row["trial"]: row["validation"] for row in rows if row["state"] == "pruned"}
    assert list(points(best).values()) == np.maximum.accumulate(list(points(finished).values())).tolist()


@pytest.mark.slow
def test_the_importance_names_what_matters_most(finished):
    figure = search_importance(finished.study)
    assert figure
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names[-1] == "learning_rate"  # on which alone the scores depend; the last bar is the highest


def test_there_is_no_importance_before_the_first_trial(tmp_path):
    with Tuning(Search("small", "ammi", 8, {}), Scripted(), tmp_path) as tuning:
        assert search_importance(tuning.study) is None


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"plots need matplotlib: pip install 'ammi\[plots\]'"):
        new_axes((1, 1))
