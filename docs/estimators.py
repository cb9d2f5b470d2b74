"""Griffe extension: the parameters of hashers as their classes have them when they are imported.

The decorator `estimator` makes the constructor and the docstring of a hasher, which reading the source does not show.
"""

import inspect
from typing import Any

import griffe


class Estimators(griffe.Extension):
    """Replace docstring and constructor of every class that the decorator made."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        if not any(str(decorator.value) == "estimator" for decorator in cls.decorators):
            return
        made = griffe.dynamic_import(cls.path)
        cls.docstring = griffe.Docstring(inspect.getdoc(made) or "", parent=cls, parser=griffe.Parser.google)
        parameters = inspect.signature(made).parameters
        for name in parameters:
            cls.members.pop(name, None)  # a field that the docstring describes
        cls.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(*map(_shown, parameters.values()))))


def _shown(parameter: inspect.Parameter) -> griffe.Parameter:
    kind = griffe.ParameterKind.keyword_only if parameter.kind is parameter.KEYWORD_ONLY else griffe.ParameterKind.positional_or_keyword
    default = None if parameter.default is parameter.empty else repr(parameter.default)
    return griffe.Parameter(parameter.name, kind=kind, default=default)
