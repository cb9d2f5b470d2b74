"""The report of whatever results there are."""

import random
import re
import shutil
import sys
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest

from reproduction.findings import read_findings
from reproduction.folder import PaperFolder
from reproduction.plan import PARTS
from reproduction.report import write_part, write_report
from tests.paper.html import Reader
from tests.paper.made_up import ODD, SCALE


def links(markdown: Path) -> list[Path]:
    """The files that a Markdown file shows."""
    return [
        markdown.parent / unquote(link) for link in re.findall(r"(?m)^!\[[^]]*\]\(([^)]*)\)$", markdown.read_text())
    ]


class Reported(NamedTuple):
    """A report of everything, and all results as they were before it was written."""

    page: Path
    markdown: Path
    results_before: dict[Path, bytes]


def results(folder: PaperFolder) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.folder.rglob("*.json")}


@pytest.fixture(scope="module")
def reported(complete, tmp_path_factory) -> Reported:
    before, markdown = results(complete), tmp_path_factory.mktemp("reported") / "docs" / "paper.md"
    return Reported(write_report(complete, markdown), markdown, before)


def test_report_of_nothing(tmp_path):
    page = write_report(PaperFolder(tmp_path / "new", SCALE), tmp_path / "docs" / "paper.md")
    text = (tmp_path / "docs" / "paper.md").read_text()
    assert [part for part in PARTS if f"`ammi paper {part}`" not in text] == []
    assert "## Where this differs from the paper and its programs" in text
    assert text.count("○ not run yet**") == len(re.findall(r"(?m)^\| \*\*", text)) > 10
    pictures = [path.name for path in links(tmp_path / "docs" / "paper.md")]
    assert pictures == ["information.png"]  # of a benchmark, which was run
    assert len(Reader(page.read_text()).images) == 1


@pytest.mark.slow
def test_report_of_everything(complete, reported):
    page, markdown, _ = reported
    text = markdown.read_text()
    assert page == complete.page
    assert "not run yet" not in text
    pictures = links(markdown)
    assert sorted(path.name for path in pictures) == [
        "drift.png",
        "figure1a.png",
        "figure1b.png",
        "information.png",
        *(f"matching-{name}.png" for name in sorted(SCALE.pair_sets)),
        *(f"precision-{name}.png" for name in sorted(SCALE.sets)),
    ]
    assert all(path.resolve().parent == complete.figures.resolve() and path.exists() for path in pictures)
    html = Reader(page.read_text())
    assert len(html.images) == len(pictures)
    assert all(source.startswith("data:image/png;base64,") for source in html.images)
    assert html.tags["script"] == 0


@pytest.mark.slow
def test_report_shows_odd_titles_as_they_are(reported):
    html = Reader(reported.page.read_text())
    assert html.cells.count(ODD) == 2 * len(SCALE.pair_sets)
    assert html.cells.count("a|b, <c>") == 2 * len(SCALE.pair_sets)


@pytest.mark.slow
def test_report_without_a_set_of_pairs(complete, tmp_path):
    folder, name = PaperFolder(tmp_path / "part", SCALE), SCALE.pair_sets[-1]
    shutil.copytree(complete.folder, folder.folder)
    for results in (
        folder.folder / "runs" / name,
        folder.folder / "drift" / name,
        *folder.folder.glob(f"tuning/{name}-*"),
    ):
        shutil.rmtree(results)
    write_report(folder, tmp_path / "paper.md")
    text = " ".join((tmp_path / "paper.md").read_text().split())
    assert text.count("○ not run yet** | In predictive hashing") == 2
    assert f"so far: {SCALE.pair_sets[0]}, AMMI and BMSH:" in text
    assert "What is missing was not run yet: `ammi paper table2`." in text
    assert f"Not run yet for {name}: `ammi paper table3`." in text
    assert f"### {name}" not in text


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_report_of_some_of_the_results(complete, tmp_path, seed):
    folder, rng = PaperFolder(tmp_path / "part", SCALE), random.Random(seed)
    shutil.copytree(complete.folder, folder.folder)
    for path in sorted(folder.folder.rglob("*.json")):
        if rng.random() < (0.02, 0.1, 0.5, 0.9)[seed] and path.name != "trials.json":
            path.unlink()
    for search in sorted((folder.folder / "tuning").iterdir()):
        if rng.random() < 0.2:
            shutil.rmtree(search)
    page = write_report(folder, tmp_path / "paper.md")
    Reader(page.read_text())
    assert all(path.exists() for path in links(tmp_path / "paper.md"))
    assert "not run yet**" in (tmp_path / "paper.md").read_text()
    there, whole = read_findings(folder), read_findings(complete)
    assert there.precision.items() <= whole.precision.items()
    assert there.pairs.items() <= whole.pairs.items()


def test_report_changes_no_results(complete, reported):
    assert results(complete) == reported.results_before


@pytest.mark.parametrize(("module", "package"), [("markdown_it", "markdown-it-py"), ("matplotlib", "matplotlib")])
def test_what_is_not_installed_is_named(tmp_path, monkeypatch, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"{package}: pip install 'ammi\[paper\]'"):
        write_report(PaperFolder(tmp_path, SCALE), tmp_path / "paper.md")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_parts_are_text_without_links_to_their_figures(complete, reported):
    report = reported.markdown.read_text()
    for part in PARTS:
        text = write_part(complete, part)
        assert text.startswith("## ")
        assert "![" not in text
        assert all(paragraph in report for paragraph in text.split("\n\n"))
