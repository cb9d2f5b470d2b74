"""Parameters of estimators as dataclass fields: each declared once, with its range and documentation, then inherited.

A subclass declares its own, and changes the default of an inherited one by writing `epochs: int = 10`.
"""

import inspect
import math
import os
import textwrap
from dataclasses import Field, dataclass, field, fields
from functools import partial
from typing import Any, TypeVar, dataclass_transform

import numpy as np

_KEY = "parameter"
_WORDS: dict[type, str] = {
    bool: "True or False",
    np.bool_: "True or False",
    str: "a text",
    os.PathLike: "a path",
    np.random.RandomState: "a RandomState of numpy",
}
T = TypeVar("T")


@dataclass(frozen=True)
class Parameter:
    """The purpose of a parameter, and its allowed values."""

    about: str
    whole: bool
    least: float | None
    most: float | None
    above: float | None
    below: float | None
    choices: tuple[str, ...]
    types: tuple[type, ...]
    optional: bool

    def accepts(self, value: object) -> bool:
        """Return whether a value is allowed."""
        if value is None:
            return self.optional
        if self.types and isinstance(value, self.types):
            return True
        if self.choices:
            return isinstance(value, str) and value in self.choices
        if not self._is_number:
            return not self.types
        if isinstance(value, bool | np.bool_):
            return False
        if isinstance(value, int | np.integer):
            return self._inside(int(value))
        if self.whole or not isinstance(value, float | np.floating):
            return False
        return math.isfinite(value) and self._inside(float(value))

    @property
    def _is_number(self) -> bool:
        return self.whole or any(bound is not None for bound in (self.least, self.most, self.above, self.below))

    def _inside(self, value: int | float) -> bool:
        return (
            (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    @property
    def expected(self) -> str:
        """The allowed values, in words."""
        allowed = [repr(choice) for choice in self.choices] + ([self._range] if self._is_number else [])
        return " or ".join(
            dict.fromkeys(allowed + [_WORDS.get(kind, f"an object of {kind.__name__}") for kind in self.types])
        )

    @property
    def _range(self) -> str:
        kind = "a whole number " if self.whole else ""
        if self.least is not None:
            end = f"to below {self.below:g}" if self.below is not None else "up"
            end = f"to {self.most:.10g}" if self.most is not None else end
            return f"{kind}from {self.least:g} {end}"
        return f"{kind}above {self.above:g}" + ("" if self.most is None else f" and at most {self.most:g}")


def parameter(
    about: str,
    *,
    default: object,
    whole: bool = False,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] = (),
    types: tuple[type, ...] = (),
    optional: bool = False,
    positional: bool = False,
) -> Any:
    """Declare a parameter with its default and its allowed values: any, unless the arguments restrict them.

    Args:
        types: allow values of these types, beside numbers in the range if there is one.
        optional: allow None.
        positional: the constructor takes it without a keyword.
    """
    declared = Parameter(about, whole, least, most, above, below, choices, types, optional)
    return field(default=default, kw_only=not positional, metadata={_KEY: declared})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter,))
def estimator(cls: type[T]) -> type[T]:
    """Make a class an estimator whose constructor takes and stores its own and its inherited parameters."""
    inherited: dict[str, Field] = getattr(cls, "__dataclass_fields__", {})
    for name in inspect.get_annotations(cls):
        value = cls.__dict__.get(name)
        if name in inherited and not isinstance(value, Field):  # another default for an inherited parameter
            old = inherited[name]
            setattr(cls, name, field(default=value, kw_only=bool(old.kw_only), metadata=old.metadata))
    made = dataclass(kw_only=True, eq=False, repr=False)(cls)
    made.__doc__ = f"{inspect.cleandoc(cls.__doc__ or cls.__name__)}\n\nArgs:\n{_documented(made)}\n"
    return made


def check_parameters(estimator: object) -> None:
    """Raise a ValueError for a parameter whose value is not allowed."""
    for name, declared in declared_parameters(type(estimator)).items():
        value = getattr(estimator, name)
        if not declared.accepts(value):
            raise ValueError(f"{name} must be {declared.expected}, got {value!r:.80}")


def declared_parameters(cls: type) -> dict[str, Parameter]:
    """Return the parameters of an estimator by name."""
    return {declared.name: declared.metadata[_KEY] for declared in fields(cls) if _KEY in declared.metadata}


def in_words(value: object) -> str | int | float | None:
    """Return a parameter's value as a number or a text; a function becomes its name and the arguments bound to it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, partial):
        bound = [*map(repr, value.args), *(f"{name}={item!r}" for name, item in value.keywords.items())]
        return f"{in_words(value.func)}({', '.join(bound)})"
    if inspect.isroutine(value) or inspect.isclass(value):
        return f"{value.__module__}.{value.__qualname__}"
    return repr(value)


def _documented(cls: type) -> str:
    """Return a line for each parameter: the length of the codes, then the class's own, then the inherited ones."""
    declared = {found.name: found for found in fields(cls) if _KEY in found.metadata}
    own_first = [name for base in cls.__mro__ for name in inspect.get_annotations(base) if name in declared]
    names = dict.fromkeys([name for name in declared if not declared[name].kw_only] + own_first)
    return "\n".join(
        textwrap.fill(
            f"{name}: {declared[name].metadata[_KEY].about} Default: {declared[name].default!r}.",
            width=112,
            initial_indent="    ",
            subsequent_indent="        ",
        )
        for name in names
    )
