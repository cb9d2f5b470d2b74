"""A corpus that is on every machine: the docstrings of Python's standard library and of installed packages.

They are read from the source with `ast`; nothing is imported and nothing is run.
"""

import ast
import gc
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

STANDARD_LIBRARY = "python"
PACKAGES = (STANDARD_LIBRARY, "numpy", "scipy", "sklearn", "torch")
FEWEST_WORDS = 8  # fewer say nothing of their own: "Return a string."
NOT_DOCUMENTATION = {"test", "tests", "testing", "conftest", "site-packages", "dist-packages", "idlelib", "lib2to3"}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def docstring_records(packages: Iterable[str] = PACKAGES) -> Iterator[dict[str, str]]:
    """Yield the docstrings of all public modules, classes and functions: id, text, kind, package, label.

    The id is the name as users write it, without the private modules that it is defined in (`scipy.linalg.inv`); the
    label is the subpackage (`scipy.linalg`), or the module of the standard library. Of the same text, and of the same
    name, the first counts.
    """
    names, texts = set(), set()
    for package in packages:
        for path, module in _modules(package):
            for kind, name, text in _docstrings(_parsed(path), module):
                if len(text.split()) >= FEWEST_WORDS and name not in names and text not in texts:
                    names.add(name)
                    texts.add(text)
                    depth = 1 if package == STANDARD_LIBRARY else 2
                    label = ".".join(module.split(".")[:depth])
                    yield {"id": name, "text": text, "kind": kind, "package": package, "label": label}


def _modules(package: str) -> Iterator[tuple[Path, str]]:
    """Yield the source files of a package, and the public part of each one's name."""
    folder, prefix = _home(package)
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        private_folder = any(part.startswith("_") for part in parts[:-1])
        module = ".".join([*prefix, *(part for part in parts if not part.startswith("_"))])
        if module and not private_folder and NOT_DOCUMENTATION.isdisjoint(parts):
            yield path, module


def _home(package: str) -> tuple[Path, list[str]]:
    if package == STANDARD_LIBRARY:
        return Path(sysconfig.get_path("stdlib")), []
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"the package {package} is not installed: install it, or leave it out")
    return Path(spec.submodule_search_locations[0]), [package]


def _parsed(path: Path) -> ast.Module:
    collected = gc.isenabled()
    gc.disable()  # a tree has no cycles, and looking for some takes as long as parsing
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes that a newer Python frowns upon
            return ast.parse(path.read_bytes(), path.name)
    finally:
        if collected:
            gc.enable()


def _docstrings(node: ast.Module | Definition, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and text of a docstring and of those inside it, except inside functions, which is private."""
    if text := ast.get_docstring(node):
        kind = {ast.Module: "module", ast.ClassDef: "class"}.get(type(node), "function")
        yield kind, name, text
    if isinstance(node, ast.Module | ast.ClassDef):
        for child in _definitions(node):
            if not child.name.startswith("_"):
                yield from _docstrings(child, f"{name}.{child.name}")


def _definitions(node: ast.AST) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield child
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _definitions(child)
