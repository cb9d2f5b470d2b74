"""The pages under docs/ and the README are true: examples, links, and a docstring for every public name."""

import doctest
import inspect
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ammi
from ammi import evaluate, features, hashers

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LOG.md")), *DOCS]
WITH_EXAMPLES = [path for path in DOCS if "```pycon" in path.read_text() and path.name != "markov-bits.md"]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_examples_are_shown_as_their_files_have_them(path):
    embedded = runpy.run_path(str(ROOT / "docs" / "embed.py"))["embedded"]
    assert embedded(path.read_text()) == path.read_text()


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_lead_somewhere(path):
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_example_is_in_the_docs():
    shown = " ".join(path.read_text() for path in PAGES)
    files = [path for path in (ROOT / "examples").rglob("*.py") if path.name != "__init__.py"]
    assert [str(path) for path in files if path.relative_to(ROOT).as_posix() not in shown] == []


def test_the_readme_and_the_changelog_stay_short():
    readme = (ROOT / "README.md").read_text().splitlines()
    assert len(readme) <= 120
    assert [line for line in readme if len(line) > 100 and not line.startswith(("|", "!["))] == []
    versions = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1:]
    assert [version.splitlines()[0] for version in versions if len(version.strip().splitlines()) > 40] == []


def test_contributing_names_every_room():
    tree = (ROOT / "CONTRIBUTING.md").read_text()
    rooms = [path.parent.name for path in (ROOT / "src" / "ammi").glob("*/__init__.py")]
    assert [room for room in rooms if f"{room}/" not in tree] == []


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=name)
def test_examples_give_what_the_page_shows(path, tmp_path, monkeypatch):
    """The blocks of a page are one session. tests/chain runs those of markov-bits.md."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```pycon\n(.*?)```", path.read_text(), flags=re.DOTALL)
    session = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, path.name, str(path), 0)
    complaints: list[str] = []
    doctest.DocTestRunner(verbose=False).run(session, out=complaints.append)
    assert not complaints, "".join(complaints)


def public_parts() -> Iterator[tuple[str, object]]:
    """Every public class and function, and the methods and properties that a class has from us."""
    for module in (ammi, hashers, features, evaluate):
        for public in module.__all__:
            part = getattr(module, public)
            if inspect.isfunction(part):
                yield f"{module.__name__}.{public}", part
            elif inspect.isclass(part):
                yield f"{module.__name__}.{public}", part
                ours = {member for base in part.__mro__ if base.__module__.startswith("ammi") for member in vars(base)}
                for member in sorted(member for member in ours if not member.startswith("_")):
                    defined = inspect.getattr_static(part, member)
                    if isinstance(defined, property):
                        yield f"{module.__name__}.{public}.{member}", defined
                    elif inspect.isroutine(getattr(part, member, None)):
                        yield f"{module.__name__}.{public}.{member}", getattr(part, member)


def test_every_public_name_has_a_docstring():
    assert [public for public, part in public_parts() if not inspect.getdoc(part)] == []


def test_every_public_name_is_in_the_reference():
    pages = "\n".join(path.read_text() for path in DOCS)
    shown = set(re.findall(r"^::: (\S+)$", pages, flags=re.MULTILINE))
    wanted = {f"ammi.{public}" for public in ammi.__all__ if public not in {"__version__", "ITQ", "LSH"}}
    wanted |= {f"ammi.hashers.{hashers.by_name(method).__name__}" for method in hashers.methods.own}
    wanted |= {f"ammi.features.{features.by_name(kind).__name__}" for kind in features.features.own}
    wanted |= {f"ammi.evaluate.{public}" for public in evaluate.__all__ if public[0].islower()}
    elsewhere = {"ammi.hashers.AMMI", "ammi.hashers.BMMI"}  # as ammi.AMMI and ammi.BMMI
    assert wanted - elsewhere - shown == set()


@pytest.mark.slow
def test_the_site_builds_strictly_and_asks_nobody(tmp_path):
    """A broken link or anchor is a warning, and with --strict an error; no page loads anything from a network."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(DOCS)
    loads = re.compile(r"""(?:<(?:script|img|iframe)[^>]* src=|<link[^>]* href=)["']?(?:https?:)?//[^"'\s>]*""")
    assert {found for page in pages for found in loads.findall(page.read_text())} == set()
