"""The pages under docs/ and the README are true: examples as their files have them, links that lead somewhere."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_examples_are_shown_as_their_files_have_them(path):
    embedded = runpy.run_path(str(ROOT / "docs" / "embed.py"))["embedded"]
    assert embedded(path.read_text()) == path.read_text()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_example_is_in_the_docs():
    shown = " ".join(path.read_text() for path in PAGES)
    files = [path for path in (ROOT / "examples").rglob("*.py") if path.name != "__init__.py"]
    assert [str(path) for path in files if path.relative_to(ROOT).as_posix() not in shown] == []


def test_the_readme_names_every_room():
    tree = (ROOT / "README.md").read_text()
    rooms = [path.parent.name for path in (ROOT / "src" / "ammi").glob("*/__init__.py")]
    assert [room for room in rooms if f"{room}/" not in tree] == []
