"""The paper's plots: what is drawn is what was found, and labels do not lie on each other."""

from statistics import mean

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from reproduction import plots
from reproduction.plan import PAPER
from tests.paper.made_up import as_published


def points(line: Line2D) -> list[tuple[float, float]]:
    x, y = (np.asarray(values, dtype=float).tolist() for values in (line.get_xdata(), line.get_ydata()))
    return list(zip(x, y, strict=True))


def label_heights(axes: Axes) -> dict[str, float]:
    return {text.get_text(): text.get_position()[1] for text in axes.texts if text.get_position()[0] == 1.035}


@pytest.mark.parametrize("name", PAPER.sets)
def test_every_method_has_its_line(name):
    findings = as_published()
    (axes,) = plots.precision_by_bits(findings, name).axes
    drawn = [points(line) for line in axes.lines]
    for row in {row for row, _, bits in findings.precision if bits}:
        assert findings.curve(row, name) in drawn
    heights = label_heights(axes)
    assert {"AMMI", "BMSH", "published program"} <= heights.keys()
    low, high = axes.get_ylim()
    assert np.diff(sorted(heights.values())).min() > 0.04 * (high - low)  # a line of text is lower


def test_the_bounds_and_the_entropy():
    findings = as_published()
    (axes,) = plots.bound_by_order(findings).axes
    drawn = [points(line) for line in axes.lines]
    assert drawn[0] == [(0, pytest.approx(9.0)), (1, pytest.approx(9.0))]  # the entropy, from side to side
    for kind in ("exact", "gradient"):
        means = [(order, mean(bound[kind] for bound in bounds)) for order, bounds in findings.bounds.items()]
        assert pytest.approx(np.array(means)) in [np.array(line) for line in drawn if len(line) == len(means)]


def test_precision_by_order_of_the_prior():
    findings = as_published()
    (axes,) = plots.precision_by_order(findings).axes
    drawn = [points(line) for line in axes.lines]
    for order in (0, 1):
        assert [(prior, mean(scores)) for prior, scores in findings.line(order).items()] in drawn
    assert label_heights(axes).keys() == {"AMMI, o = 0", "AMMI, o = 1", "BMMI"}


def test_matching_by_codes_leaves_out_what_has_no_codes():
    (axes,) = plots.matching_by_codes(as_published(), "reuters-pairs").axes
    assert sorted(str(line.get_label()) for line in axes.lines) == ["AMMI", "BMSH", "DVQ"]
    ammi = next(line for line in axes.lines if line.get_label() == "AMMI")
    assert points(ammi)[2] == (pytest.approx(100 * 153_125 / 208_808), 79.14)


def test_agreement_by_distance_has_small_points_where_there_are_few_pairs():
    findings = as_published()
    for drift in findings.drifts.values():
        drift["agreement"][-1]["pairs"] = 3
    (axes,) = plots.agreement_by_distance(findings, 100).axes
    assert len(axes.collections) == len(findings.drifts)
    for scatter in axes.collections:
        assert scatter.get_sizes().tolist() == [20] * 9 + [4]  # type: ignore[attr-defined]
