"""Figures that others published: those typed here agree with the averages that were published beside them."""

from statistics import mean

import pytest

from reproduction import published


def test_published_figures_agree_with_the_published_averages():
    averages = {row: mean(sum(sets.values(), ())) for row, sets in published.TABLE_1.items() if row != "BMMI"}
    averages["BOW"] = mean(published.BOW.values())
    assert averages == pytest.approx(published.AVERAGES, abs=0.0051)
    assert mean(sum(published.PROGRAM.values(), ())) == pytest.approx(72.27, abs=0.005)


def test_every_line_has_every_width_of_every_set():
    for row, sets in published.TABLE_1.items():
        assert sets.keys() == published.BOW.keys() == published.PROGRAM.keys()
        widths = published.WIDTHS[:1] if row == "BMMI" else published.WIDTHS
        assert all(len(figures) == len(widths) for figures in sets.values())


def test_a_figure_by_its_line_set_and_width():
    assert published.precision("AMMI", "ng20", 64) == 63.98
    assert published.precision("BMMI", "ng20", 16) == 49.74
    assert published.program("reuters", 128) == 83.24
    for nothing in (("BMMI", "ng20", 32), ("BOW", "ng20", 16), ("AMMI", "trec", 64), ("AMMI", "ng20", 8)):
        assert published.precision(*nothing) is None
    assert published.program("trec", 16) is None
