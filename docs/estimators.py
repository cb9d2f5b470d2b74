"""Griffe extension: docstrings that reading the source does not show.

The decorator `estimator` makes the constructor and the docstring of a hasher when its module is imported. A method
without a docstring has that of the method it overrides.
"""

import inspect
from typing import Any

import griffe


class Estimators(griffe.Extension):
    """Complete the docstrings of the package."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Give a class that the decorator made its docstring and its constructor."""
        if not any(str(decorator.value) == "estimator" for decorator in cls.decorators):
            return
        made = griffe.dynamic_import(cls.path)
        cls.docstring = griffe.Docstring(inspect.getdoc(made) or "", parent=cls, parser=griffe.Parser.google)
        parameters = inspect.signature(made).parameters
        for name in parameters:
            cls.members.pop(name, None)  # a field that the docstring describes
        shown = griffe.Parameters(*map(_parameter, parameters.values()))
        cls.set_member("__init__", griffe.Function("__init__", parameters=shown))

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Let methods inherit docstrings, now that all bases are known."""
        for module in [pkg, *_modules(pkg)]:
            for cls in module.classes.values():
                if not cls.is_alias:
                    _inherit(cls)


def _modules(module: griffe.Module) -> list[griffe.Module]:
    inside = [child for child in module.modules.values() if not child.is_alias]
    return inside + [below for child in inside for below in _modules(child)]


def _inherit(cls: griffe.Class) -> None:
    for name, member in cls.members.items():
        if member.is_alias or member.docstring or name.startswith("_"):
            continue
        for base in cls.mro():
            if name in base.members and base.members[name].docstring:
                member.docstring = base.members[name].docstring
                break


def _parameter(parameter: inspect.Parameter) -> griffe.Parameter:
    keyword = parameter.kind is parameter.KEYWORD_ONLY
    kind = griffe.ParameterKind.keyword_only if keyword else griffe.ParameterKind.positional_or_keyword
    default = None if parameter.default is parameter.empty else repr(parameter.default)
    annotation = inspect.formatannotation(parameter.annotation)
    return griffe.Parameter(parameter.name, annotation=annotation, kind=kind, default=default)
