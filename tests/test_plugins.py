"""Parts by name: ammi's own, registered ones, and those that installed packages announce."""

import sys
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest

from ammi.plugins import Registry

GROUP = "ammi.test_parts"
OWN = {"fraction": "fractions:Fraction", "parser": "html.parser:HTMLParser"}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch) -> Iterator[None]:
    """A package on the path, as pip leaves it, with parts of our group."""
    (tmp_path / "other_parts.py").write_text("class Mine:\n    pass\n\n\nclass Late:\n    pass\n")
    (tmp_path / "broken_parts.py").write_text("raise RuntimeError('no such driver')\n")
    about = tmp_path / "other_parts-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other-parts\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        f"[{GROUP}]\nmine = other_parts:Mine\nabsent = other_parts:Absent\nbroken = broken_parts:Part\n"
        "fraction = other_parts:Mine\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for module in ("other_parts", "broken_parts"):
        sys.modules.pop(module, None)


def test_own_parts_are_imported_when_they_are_asked_for(monkeypatch):
    registry = Registry[type](GROUP, "part", OWN)
    monkeypatch.delitem(sys.modules, "html.parser", raising=False)
    assert registry.names() == ["fraction", "parser"]
    assert "html.parser" not in sys.modules
    assert registry.get("fraction") is Fraction
    assert registry.get("parser").__name__ == "HTMLParser"


def test_parts_of_other_packages(installed):
    registry = Registry[type](GROUP, "part", OWN)
    assert registry.names() == ["absent", "broken", "fraction", "mine", "parser"]
    assert "other_parts" not in sys.modules
    assert registry.get("mine") is import_module("other_parts").Mine
    assert registry.get("fraction") is Fraction  # no package takes the place of our own parts
    for name, why in (("broken", "no such driver"), ("absent", "Absent")):
        with pytest.raises(ImportError, match=rf"the part '{name}' cannot be loaded from \w+_parts:\w+: .*{why}"):
            registry.get(name)


def test_registered_parts():
    registry = Registry[type](GROUP, "part", OWN)
    registry.register("whole", int)
    assert registry.names() == ["fraction", "parser", "whole"]
    assert registry.get("whole") is int
    assert Registry[type](GROUP, "part", OWN).names() == ["fraction", "parser"]
    with pytest.raises(ValueError, match="'fraction' is a part of ammi itself: choose another name"):
        registry.register("fraction", int)


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=r"no part 'x': there are fraction, parser$"):
        Registry[type](GROUP, "part", OWN).get("x")


def test_a_name_is_found_without_importing_anything(installed, monkeypatch):
    registry = Registry[type](GROUP, "part", OWN)
    monkeypatch.delitem(sys.modules, "html.parser", raising=False)
    registry.register("whole", int)
    assert registry.name_of(Fraction) == "fraction"
    assert registry.name_of(int) == "whole"
    assert registry.name_of(str) is None
    assert {"html.parser", "other_parts", "broken_parts"}.isdisjoint(sys.modules)
    mine = import_module("other_parts").Mine
    assert registry.name_of(mine) == "mine"
    assert registry.name_of(import_module("other_parts").Late) is None
