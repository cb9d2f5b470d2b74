"""The rooms of the house: who may import whom, and what importing ammi costs."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "ammi"

# Small modules at the top of the package that every room may import.
COMMON = {
    *("best_tree", "card", "digests", "displays", "files", "hub", "notebook", "parts", "plain", "plugins", "urls"),
    "version",
}
# room, or module at the top: the rooms it may import. Every room may import itself.
ALLOWED: dict[str, set[str]] = {
    "chain": set(),
    "nets": {"chain"},
    "features": set(),
    "data": set(),
    "search": {"features"},  # for what a word is
    "evaluate": {"search"},
    "training": {"chain", "nets", "evaluate"},
    "hashers": {"chain", "nets", "training", "evaluate", "features", "data"},
    "stored_model": {"hashers", "search"},
    "ingest": {"data", "hashers", "search", "stored_model"},
    "nearby": {"evaluate", "search"},
    "syncing": {"data", "search"},
    "quantised": {"features", "hashers", "search"},
    "any_collection": {"data", "ingest", "search", "syncing"},
    "remote": {"any_collection", "data", "ingest", "search"},
    "explore": {"any_collection", "features", "search"},
    "collection": {
        "any_collection",
        "data",
        "evaluate",
        "explore",
        "hashers",
        "ingest",
        "nearby",
        "stored_model",
        "remote",
        "search",
    },
    "langchain": {"collection", "data", "hashers", "search"},
    "web": {"collection", "data", "explore", "search"},
    "demo": {"collection", "data", "evaluate", "features", "hashers"},
    "tuning": {"collection", "data", "evaluate", "features", "hashers", "search", "training"},
    "scale": {"collection", "data", "hashers", "ingest", "search", "stored_model", "training", "tuning"},
    "cli": {
        "any_collection",
        "collection",
        "data",
        "demo",
        "explore",
        "features",
        "hashers",
        "ingest",
        "stored_model",
        "scale",
        "search",
        "syncing",
        "training",
        "tuning",
        "web",
    },
    "__init__": {"chain", "collection", "hashers", "quantised", "search"},
    "__main__": {"cli"},
}
WITHOUT_TORCH = {
    "features",
    "data",
    "search",
    "evaluate",
    "ingest",
    "nearby",
    "stored_model",
    "syncing",
    "any_collection",
    "collection",
    "remote",
    "explore",
    "langchain",
    "web",
    "demo",
    "tuning",
    "scale",
    "cli",
}
ONLY_IN_CLI = {"rich", "typer"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def imported_modules(path: Path) -> set[str]:
    """Every module that a file imports, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively; write the whole name"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_room_calls_another_the_wrong_way(path):
    room = room_of(path)
    imports = imported_modules(path)
    rooms = {name.split(".")[1] for name in imports if name.startswith("ammi.")} & (set(ALLOWED) | COMMON)
    assert rooms <= ALLOWED.get(room, set()) | COMMON | {room}
    packages = {name.split(".")[0] for name in imports}
    if room in WITHOUT_TORCH:
        assert "torch" not in packages
    if room != "cli":
        assert not ONLY_IN_CLI & packages


def test_no_two_rooms_import_each_other():
    TopologicalSorter(ALLOWED).prepare()


def test_functions_take_at_most_seven_parameters():
    """Commands aside, whose parameters are options, constructors, and `parameter`, which declares a field of one."""
    longer = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            is_command = room_of(path) == "cli" and not node.name.startswith("_")
            if len(set(names) - {"self", "cls"}) > 7 and not is_command and node.name not in ("__init__", "parameter"):
                longer.append(f"{path.relative_to(PACKAGE)}: {node.name}")
    assert longer == []


def test_few_values_have_any_type():
    names = [
        node
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name) and node.id == "Any"
    ]
    assert len(names) <= 300


def test_every_room_is_known():
    assert {room_of(path) for path in MODULES} == set(ALLOWED) | COMMON


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_importing_ammi_loads_nothing_heavy():
    heavy = {"torch", "sklearn", "scipy", "faiss", "numpy", "rich", "pandas", "numba"}
    assert run(f"import sys, ammi; print(sorted({heavy} & set(sys.modules)))") == "[]"


@pytest.mark.slow
def test_the_public_names_are_there_and_others_are_refused():
    """In a process of its own, in which nothing was imported yet."""
    program = """if True:
        import ammi
        print(set(ammi.__all__) <= set(dir(ammi)))
        try: ammi.nothing
        except AttributeError as error: print(error)
        print(ammi.hashers.by_name('sth').__name__)
        print(all(hasattr(ammi, name) for name in ammi.__all__))
    """
    listed, refused, room, there = run(program).splitlines()
    assert (listed, room, there) == ("True", "STH", "True")
    assert "no attribute 'nothing'" in refused
