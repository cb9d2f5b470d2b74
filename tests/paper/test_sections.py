"""The report's tables: figures beside the published ones, the best in bold, and what is missing said."""

import re

import pytest

from ammi.hashers.bmsh import LARGEST_LOGIT
from ammi.tuning.grids import GRIDS
from reproduction.deviations import ROWS, deviations_section
from reproduction.figures import FigureFiles
from reproduction.findings import Findings, read_findings
from reproduction.plan import PAPER, PARTS
from reproduction.sections import SECTIONS, sets_section
from tests.paper.made_up import SCALE, as_published


def section(part: str, findings: Findings, folder) -> str:
    return "\n\n".join(SECTIONS[part](findings, FigureFiles(folder / "figures", folder / "docs")))


def test_there_is_a_section_for_every_part():
    assert tuple(SECTIONS) == PARTS


def test_figures_of_a_table(complete, tmp_path):
    findings = read_findings(complete)
    text = section("table1", findings, tmp_path)
    assert len(findings.precision["BMSH", "ng20", 32]) == len(SCALE.seeds)
    own = findings.precision["LSH", "ng20", 16]
    assert re.search(rf"(?m)^\| LSH \| {own[0]:.2f} \(5\.97\) \|", text)
    mean, spread = sum(findings.precision["BMSH", "ng20", 32]) / 2, 0.5**0.5  # of two seeds one point apart
    assert f"{mean:.2f} ± {spread:.2f} (61.00)" in text.replace("*", "")
    assert "| AMMI, the published program | 76.62 | 81.40 |" in text


def test_the_best_is_in_bold(tmp_path):
    findings = as_published()
    text = section("table1", findings, tmp_path)
    assert "| AMMI | 81.73 ± 0.02 (81.73) | 84.46 ± 0.02 (84.46) |" not in text
    assert "| AMMI | **81.73 ± 0.02** (81.73) | **84.46 ± 0.02** (84.46) |" in text
    pairs = section("table2", findings, tmp_path)
    # The fewest codes, the best matching.
    assert "| AMMI | 128 | **153,125 ± 2** (153,123) | **79.14 ± 0.16** (79.14) |" in pairs


def test_a_figure_is_drawn_where_the_link_says(tmp_path):
    text = section("figure1", as_published(), tmp_path)
    links = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert links == ["../figures/figure1a.png", "../figures/figure1b.png"]
    (tmp_path / "docs").mkdir()
    assert all((tmp_path / "docs" / link).stat().st_size > 1000 for link in links)


@pytest.mark.parametrize("part", PARTS)
def test_what_was_not_run_is_said_only_where_something_is_missing(part, complete, tmp_path):
    assert f"`ammi paper {part}`" in section(part, Findings(PAPER), tmp_path)
    assert "ammi paper" not in section(part, read_findings(complete), tmp_path)


def test_every_point_of_figure_1_is_in_a_table_with_its_seeds_and_setting(tmp_path):
    text = section("figure1", as_published(), tmp_path)
    assert "| 3 | 9.00 ± 0.16 | 0.62 ± 0.00 | 0.62 ± 0.00 | seed 0: 0 layers; seed 1: 0 layers;" in text
    assert "| o = 0, r = 3 | 80.00 ± 0.16 | 79.80 | 79.90 | 80.00 | 80.10 | 80.20 | clip 1.0 |" in text
    assert "| BMMI | 79.00 ± 0.16 | 78.80 |" in text


def test_controls_compare_objectives_on_the_same_pairs(complete, tmp_path):
    findings = read_findings(complete)
    for name in SCALE.sets:
        findings.precision["AMMI, recipe", name, 16] = [80.0, 82.0]
        findings.precision["BMSH, recipe's pairs", name, 16] = [79.0, 80.0]
        findings.precision["BMSH", name, 16] = [70.0, 70.0]
    text = section("controls", findings, tmp_path)
    assert "| BMSH, recipe's pairs | 79.50 ± 0.71 | 79.50 ± 0.71 | 79.50 ± 0.71 |" in text
    assert re.search(r"\| BMSH \| \+9\.50 \[[-+.\d]+, [-+.\d]+\] \| 0\.\d+ \|", text)
    assert re.search(r"\| BMSH, recipe's pairs \| \+1\.50 \[[-+.\d]+, [-+.\d]+\] \| 0\.\d+ \|", text)


def test_unseen_sets_have_intervals_over_queries(complete, tmp_path):
    text = section("unseen", read_findings(complete), tmp_path)
    assert "News items, 4 classes: 1,000 documents and 3 queries." in text
    row = next(line for line in text.splitlines() if line.startswith("| ITQ |"))
    mean = r"23\.3 \[20\.0, [\d.]+\]"
    assert re.fullmatch(rf"\| ITQ \| 8 \| {mean} \| {mean} \| {mean} \| \+6\.7 \[\+0\.0, \+20\.0\] \|", row)


def test_sets_are_described_with_the_pairs_they_have():
    text = "\n\n".join(sets_section(as_published()))
    assert re.search(r"\| reuters-pairs \| Pairs of Reuters.* \| 200, 150, 150 \|", text)
    assert re.search(r"\| ng20 \| 20 Newsgroups.* \|  \|", text)


def test_a_set_of_which_only_words_were_compared_has_no_picture(tmp_path):
    findings = as_published()
    name = PAPER.pair_sets[-1]
    for row in ("BMSH", "DVQ", "AMMI"):
        del findings.pairs[row, name]
    text = section("table2", findings, tmp_path)
    assert f"### {name}" in text
    assert f"matching-{name}.png" not in text
    assert f"matching-{PAPER.pair_sets[0]}.png" in text


def test_deviations_are_one_table_with_the_ranges_that_are_searched():
    assert sum(line.startswith("| ") for line in "\n".join(deviations_section()).splitlines()) == len(ROWS) + 2
    here = {what: ours for what, _, ours, _ in ROWS}
    ammi, bmsh, dvq = (GRIDS[name] for name in ("ammi", "bmsh", "dvq"))
    assert all(f"{alpha}" in here["ranges of AMMI"] for alpha in ammi["init_range"])
    rates = [[rate for rate in grid["learning_rate"] if rate] for grid in (bmsh, dvq)]
    assert f"η from {max(map(max, rates))} to {min(rates[0])} (DVQ {min(rates[1])})" in here["ranges of BMSH and DVQ"]
    *dimensions, largest = dvq["dimension"]
    assert f"{', '.join(map(str, dimensions))} or {largest}," in here["DVQ's D"]
    assert f"cut at ±{LARGEST_LOGIT:g}" in here["BMSH's conditional prior (table 2)"]
