"""The report of whatever results there are."""

import random
import re
import shutil
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ammi.experiments.measured import read
from ammi.experiments.page import escaped, table, to_page
from ammi.experiments.paper import PAPER, TABLE_1, TABLE_2, Paper, Show, tuned
from ammi.experiments.report import write_report
from ammi.experiments.runs import Run, write_json

SCALE = replace(
    PAPER, sets=("reuters", "ng20"), bits=(16, 32), seeds=(0, 1), bound_orders=(0, 1, 3), prior_orders=(0, 1, 3)
)
MACHINE = {"processor": "a | b", "cores": 2, "python": "3.11", "ammi": "0.1", "date": "2020-01-01"}
ODD = "<script>alert(1)</script> | a & b *c* _d_ [e](f) `g` \\ $h$ # ! ~~i~~ &lt;"


class Reader(HTMLParser):
    """Checks that tags are closed in order, and keeps cells, tags and the addresses of images."""

    VOID = ("meta", "img", "br", "hr")

    def __init__(self, page: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.images: list[str] = []
        self.cells: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag == "img":
            self.images.append(dict(attrs)["src"] or "")
        if tag in ("td", "th"):
            self.cells.append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in self.VOID or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data


def no_bar(*_: Any) -> Any:
    raise AssertionError("a report runs nothing")


def paper_in(folder: Path) -> Paper:
    return Paper(folder, SCALE, Show(no_bar, no_bar))


def searched(paper: Paper) -> None:
    """Searches of which the best is known, the last trial of each given up."""
    for names, rows in ((SCALE.sets, TABLE_1), (SCALE.pair_sets, TABLE_2)):
        for name, method in product(names, tuned(rows)):
            states = ("complete", "complete", "pruned")
            cost = {"seconds": 1800.0, "cpu_seconds": None}
            trials = [{"trial": i, "state": one, "validation": 70.0 + i, **cost} for i, one in enumerate(states)]
            write_json(paper.search_folder(name, method) / "trials.json", {"trials": trials})
            write_json(
                paper.search_folder(name, method) / "best.json", {"parameters": {"n_bits": 64, "batch_size": 32}}
            )


def all_runs(paper: Paper) -> list[Run]:
    runs = [run for row in TABLE_1 for run in paper.table1_runs(row)]
    runs += [run for row in TABLE_2 for run in paper.table2_runs(row)]
    return runs + [run for line in paper.figure1_runs().values() for run in line]


def ran(paper: Paper, runs: list[Run]) -> None:
    """Results of runs: half an hour each, the older ones without processor time."""
    for place, run in enumerate(runs):
        score = 50 + len(run.path.name) + run.bits / 10 + run.seed
        result = {
            "test": score,
            "validation": score,
            "distinct": 90 - run.seed,
            "dimension": 128,
            "pairs": [200, 150, 150],
            "documents": 100,
            "fit_s": 1800.0,
        }
        write_json(
            paper.results.folder / run.path, {**result, **({"fit_cpu_s": 1800.0} if place % 2 else {}), **MACHINE}
        )


def drawn(paper: Paper) -> None:
    """Figure 1 (a) and table 3."""
    for order in SCALE.bound_orders:
        bound = {"order": order, "entropy": 9.0, "exact": 12.0 - order, "gradient": 12.01 - order}
        write_json(paper.bound_path(order), bound)
    for name in SCALE.pair_sets:
        article = {"title": ODD, "labels": ["a|b", "<c>"], "beginning": ODD * 2}
        walk = {"from": article, "steps": [{"distance": 5, **article}]}
        agreement = [{"distance": 5 * step, "pairs": 200, "shared": 50.0 - step} for step in range(4)]
        write_json(paper.drift_path(paper.drift_run(name)), {"walks": [walk], "agreement": agreement})


@pytest.fixture(scope="module")
def complete(tmp_path_factory) -> Paper:
    paper = paper_in(tmp_path_factory.mktemp("complete") / "with a space")
    searched(paper)
    ran(paper, all_runs(paper))
    drawn(paper)
    return paper


def links(markdown: Path) -> list[Path]:
    """The files that a Markdown file shows."""
    return [
        markdown.parent / unquote(link) for link in re.findall(r"(?m)^!\[[^]]*\]\(([^)]*)\)$", markdown.read_text())
    ]


def test_report_of_nothing(tmp_path):
    page = write_report(paper_in(tmp_path / "new"), tmp_path / "docs" / "paper.md")
    text = (tmp_path / "docs" / "paper.md").read_text()
    assert [part for part in ("table1", "figure1", "table2", "table3") if f"`ammi paper {part}`" not in text] == []
    assert text.count("○ not run yet**") == len(re.findall(r"(?m)^\| \*\*", text)) > 10
    assert Reader(page.read_text()).images == links(tmp_path / "docs" / "paper.md") == []


def test_report_of_everything(complete, tmp_path):
    markdown = tmp_path / "docs" / "paper.md"
    page = write_report(complete, markdown)
    text = markdown.read_text()
    assert page == complete.folder / "report.html"
    assert "not run yet" not in text
    pictures = links(markdown)
    assert sorted(path.name for path in pictures) == [
        "drift.png",
        "figure1a.png",
        "figure1b.png",
        *(f"matching-{name}.png" for name in sorted(SCALE.pair_sets)),
        *(f"precision-{name}.png" for name in sorted(SCALE.sets)),
    ]
    assert all(path.resolve().parent == (complete.folder / "figures").resolve() and path.exists() for path in pictures)
    html = Reader(page.read_text())
    assert len(html.images) == len(pictures)
    assert all(source.startswith("data:image/png;base64,") for source in html.images)
    assert html.tags["script"] == 0


def test_report_shows_odd_titles_as_they_are(complete, tmp_path):
    html = Reader(write_report(complete, tmp_path / "paper.md").read_text())
    assert html.cells.count(ODD) == 2 * len(SCALE.pair_sets)
    assert html.cells.count("a|b, <c>") == 2 * len(SCALE.pair_sets)


def test_figures_of_a_table(complete, tmp_path):
    write_report(complete, tmp_path / "paper.md")
    text = (tmp_path / "paper.md").read_text()
    measured = read(complete)
    assert len(measured.precision["BMSH", "ng20", 32]) == len(SCALE.seeds)
    own = measured.precision["LSH", "ng20", 16]
    assert re.search(rf"(?m)^\| LSH \| {own[0]:.2f} \(5\.97\) \|", text)
    mean, spread = sum(measured.precision["BMSH", "ng20", 32]) / 2, 0.5**0.5  # of two seeds one point apart
    assert f"{mean:.2f} ± {spread:.2f} (61.00)" in text.replace("*", "")
    assert "| AMMI, the published program | 76.62 | 81.40 |" in text


def test_costs_are_the_sum_of_all_files(complete, tmp_path):
    write_report(complete, tmp_path / "paper.md")
    text = (tmp_path / "paper.md").read_text()
    searches, runs = 3 * 2 * (len(tuned(TABLE_1)) + len(tuned(TABLE_2))), len({run.path for run in all_runs(complete)})
    assert f"{searches} trials in {searches / 2:.2f} hours and {runs} runs in {runs / 2:.2f} hours" in text
    assert "| ng20 | DVQ | 3 | 1 | 71.00 | 1 | 1.50 | batch\\_size 32 |" in text


@pytest.mark.parametrize("seed", range(4))
def test_report_of_some_of_the_results(complete, tmp_path, seed):
    paper, rng = paper_in(tmp_path / "part"), random.Random(seed)
    shutil.copytree(complete.folder, paper.folder)
    for path in sorted(paper.folder.rglob("*.json")):
        if rng.random() < (0.02, 0.1, 0.5, 0.9)[seed] and path.name not in ("best.json", "trials.json"):
            path.unlink()
    for folder in (paper.folder / "tuning").iterdir():
        if rng.random() < 0.2:
            shutil.rmtree(folder)
    page = write_report(paper, tmp_path / "paper.md")
    Reader(page.read_text())
    assert all(path.exists() for path in links(tmp_path / "paper.md"))
    assert "not run yet**" in (tmp_path / "paper.md").read_text()
    there, whole = read(paper), read(complete)
    assert there.precision.items() <= whole.precision.items()
    assert there.pairs.items() <= whole.pairs.items()


def test_report_changes_no_results(complete, tmp_path):
    before = {path: path.read_bytes() for path in complete.folder.rglob("*.json")}
    write_report(complete, tmp_path / "paper.md")
    assert {path: path.read_bytes() for path in complete.folder.rglob("*.json")} == before


@pytest.mark.parametrize(("module", "package"), [("markdown_it", "markdown-it-py"), ("matplotlib", "matplotlib")])
def test_what_is_not_installed_is_named(tmp_path, monkeypatch, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"{package}: pip install 'ammi\[paper\]'"):
        write_report(paper_in(tmp_path), tmp_path / "paper.md")
    assert list(tmp_path.iterdir()) == []


texts = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=30) | st.text(
    "\\`*_[]<>&|~#!$-=+.1 ", max_size=12
)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_escaped_texts_come_back_from_a_table(rows):
    cells = [[escaped(text) for text in row] for row in rows]
    page = Reader(to_page(table(("first", "second"), cells), Path(), "title"))
    assert page.cells == ["first", "second", *(" ".join(text.split()) for row in rows for text in row)]


@given(texts)
def test_escaped_text_is_plain_in_a_sentence(text):
    html = MarkdownIt("commonmark").render(f"Text: {escaped(text)}.")
    assert not re.search(r"<(?!/?p>)", html)
