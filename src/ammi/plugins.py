"""Parts by name: ammi's own, and those that other packages announce as entry points.

A package adds a method, a feature maker, a network or a store with a line in its pyproject.toml, such as

    [project.entry-points."ammi.methods"]
    mine = "my_package.mine:Mine"
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Registry(Generic[T]):
    """Parts of one kind, each imported when it is first used.

    Args:
        group: the group of entry points, such as "ammi.methods".
        kind: the word for a part in messages.
        own: ammi's parts: name to "module:attribute".
    """

    def __init__(self, group: str, kind: str, own: Mapping[str, str]):
        self.group, self.kind, self.own = group, kind, own
        self._registered: dict[str, T] = {}

    @cached_property
    def _others(self) -> "dict[str, EntryPoint]":
        from importlib.metadata import entry_points  # slower than a search, which seldom needs it

        return {point.name: point for point in entry_points(group=self.group) if point.name not in self.own}

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted({*self.own, *self._registered, *self._others})

    def register(self, name: str, part: T) -> None:
        """Add a part, until the process ends."""
        if name in self.own:
            raise ValueError(f"{name!r} is a {self.kind} of ammi itself: choose another name")
        self._registered[name] = part

    def get(self, name: str) -> T:
        """Return the part with this name."""
        if name in self.own:
            module, attribute = self.own[name].split(":")
            return getattr(import_module(module), attribute)
        if name in self._registered:
            return self._registered[name]
        if name in self._others:
            try:
                return self._others[name].load()
            except Exception as error:  # importing another package can raise anything
                raise ImportError(
                    f"the {self.kind} {name!r} cannot be loaded from {self._others[name].value}: {error}"
                ) from error
        raise ValueError(f"no {self.kind} {name!r}: there are {', '.join(self.names())}")

    def name_of(self, part: T) -> str | None:
        """Return the name of a part, or None. Nothing is imported: a part that exists comes from a loaded module."""
        parts: dict[str, object] = {name: _loaded(*where.split(":")) for name, where in self.own.items()}
        parts |= self._registered
        parts |= {name: _loaded(point.module, point.attr) for name, point in self._others.items()}
        return next((name for name, found in parts.items() if found is part), None)


def lazy_names(package: str, public: Iterable[str], homes: Iterable[str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package whose names are imported when they are first used.

    Args:
        package: the package's `__name__`.
        public: its `__all__`, for the message about a name that it does not have.
        homes: where the names are: "module:name" of each.
    """
    modules = {name: module for module, name in (home.split(":") for home in homes)}

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it has {', '.join(public)}")
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)  # so that the next use is a plain lookup
        return value

    return get


def _loaded(module: str, attribute: str) -> object:
    """Return an attribute of a module, or None if the module was not imported yet."""
    return getattr(sys.modules.get(module), attribute, None)
