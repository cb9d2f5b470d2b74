"""The picture of a run."""

import sys

import numpy as np
import pytest

from ammi.training.history import History, plot_history

HISTORY: History = [
    {"epoch": 1, "entropy": 3.0, "information": 1.0, "seconds": 0.1, "documents_per_second": 10.0, "score": 60.0},
    {"epoch": 2, "entropy": 4.0, "information": 2.0, "seconds": 0.1, "documents_per_second": 10.0, "score": 80.0},
    {"epoch": 3, "entropy": 5.0, "information": 3.0, "seconds": 0.1, "documents_per_second": 10.0, "score": 70.0},
]


def test_what_was_measured_is_above_and_the_score_below(tmp_path):
    figure = plot_history(HISTORY, 2)
    above, below = figure.axes
    assert [line.get_label() for line in above.lines] == ["entropy", "information"]
    np.testing.assert_array_equal(above.lines[1].get_ydata(), [1, 2, 3])
    np.testing.assert_array_equal(below.lines[0].get_ydata(), [60, 80, 70])
    assert below.lines[1].get_label() == "kept: epoch 2, 80.00"
    assert above.get_ylabel() == "bits"
    figure.savefig(tmp_path / "history.png")
    assert (tmp_path / "history.png").stat().st_size > 1000


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"plots need matplotlib: pip install 'ammi\[plots\]'"):
        plot_history(HISTORY, 2)
