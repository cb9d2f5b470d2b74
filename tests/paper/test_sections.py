"""The report's tables: figures beside the published ones, the best in bold, and what is missing said."""

import re

import pytest

from reproduction.findings import Findings, read_findings
from reproduction.plan import PAPER, PARTS
from reproduction.sections import SECTIONS, FigureFiles, sets_section
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
    assert "| AMMI | 81.73 (81.73) | 84.46 (84.46) |" not in text
    assert "| AMMI | **81.73** (81.73) | **84.46** (84.46) |" in text
    pairs = section("table2", findings, tmp_path)
    assert "| AMMI | 128 | **153,123** (153,123) | **79.14** (79.14) |" in pairs  # the fewest codes, the best matching


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
