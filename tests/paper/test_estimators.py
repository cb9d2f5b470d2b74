"""The section on estimators shows what the benchmark measured, and what is true of its bounds."""

from ammi.files import read_json
from reproduction.estimators import RESULTS, estimator_rows, estimators_section, plot_estimators
from reproduction.figures import FigureFiles


def test_the_section_has_a_row_for_each_channel(tmp_path):
    text = "\n\n".join(estimators_section(FigureFiles(tmp_path / "figures", tmp_path / "docs")))
    assert "## Estimators of information" in text
    assert "(../figures/information.png)" in text
    channels = {one["channel"] for one in read_json(RESULTS)}
    assert len(channels) == 18
    assert all(f"\n| {name} |" in text for name in channels)


def test_no_section_without_results(monkeypatch, tmp_path):
    monkeypatch.setattr("reproduction.estimators.RESULTS", tmp_path / "none.json")
    assert estimators_section(FigureFiles(tmp_path, tmp_path)) == []


def test_means_and_spreads_over_seeds():
    run = {"channel": "a", "truth": 1.0, "codes": None, "at_most": 2.0, "difference": 3.0, "info_nce": 1, "nwj": 1}
    head, row = estimator_rows([{**run, "at_least": 1.0}, {**run, "at_least": 2.0}])
    assert row[head.index("AMMI, at least")] == "1.50 ± 0.71"
    assert row[head.index("I(X,Z) of the codes")] == ""


def test_measured_bounds_hold():
    """The exact information of the codes is between both bounds, up to the sampling of 4,096 pairs."""
    for one in read_json(RESULTS):
        if one["codes"] is not None:
            assert one["at_least"] - 0.1 <= one["codes"] <= min(one["truth"], one["at_most"] + 0.1) + 1e-6


def test_the_plot_has_a_panel_for_each_kind_of_channel():
    assert len(plot_estimators(read_json(RESULTS)).axes) == 4
