"""Parts by name: those of this package, and those that other packages announce as entry points.

A package adds a method, a feature maker, a network or a store with a line in its pyproject.toml, such as

    [project.entry-points."ammi.methods"]
    mine = "my_package.mine:Mine"
"""

import sys
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Registry(Generic[T]):
    """Parts of one kind, each imported when it is first asked for.

    Args:
        group: of the entry points, such as "ammi.methods".
        kind: what a part is called in messages.
        own: the parts of this package: name to "module:attribute".
    """

    def __init__(self, group: str, kind: str, own: Mapping[str, str]):
        self.group, self.kind, self.own = group, kind, own
        self._registered: dict[str, T] = {}

    @cached_property
    def _others(self) -> "dict[str, EntryPoint]":
        from importlib.metadata import entry_points  # takes longer than a search, which seldom needs it

        return {point.name: point for point in entry_points(group=self.group) if point.name not in self.own}

    def names(self) -> list[str]:
        """All there are, in order of the alphabet."""
        return sorted({*self.own, *self._registered, *self._others})

    def register(self, name: str, part: T) -> None:
        """Add a part for as long as this process lasts."""
        if name in self.own:
            raise ValueError(f"{name!r} is a {self.kind} of ammi itself: choose another name")
        self._registered[name] = part

    def get(self, name: str) -> T:
        """The part of this name."""
        if name in self.own:
            module, _, attribute = self.own[name].partition(":")
            return getattr(import_module(module), attribute)
        if name in self._registered:
            return self._registered[name]
        if name in self._others:
            try:
                return self._others[name].load()
            except Exception as error:  # whatever another package does when it is imported
                raise ImportError(
                    f"the {self.kind} {name!r} cannot be loaded from {self._others[name].value}: {error}"
                ) from error
        raise ValueError(f"no {self.kind} {name!r}: there are {', '.join(self.names())}")

    def name_of(self, part: Any) -> str | None:
        """The name of a part, or None; nothing is imported, since what there is comes from modules that are loaded."""
        for name, location in self.own.items():
            if _loaded(*location.split(":")) is part:
                return name
        for name, registered in self._registered.items():
            if registered is part:
                return name
        return next((name for name, point in self._others.items() if _loaded(point.module, point.attr) is part), None)


def _loaded(module: str, attribute: str) -> Any:
    """An attribute of a module, or None where that was not imported yet."""
    return getattr(sys.modules.get(module), attribute, None)
