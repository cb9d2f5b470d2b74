"""Make models, methods and feature makers of options and files; --set values are parsed by type annotations."""

import os
from collections.abc import Iterable
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

import ammi
from ammi.parts import is_part, part_from_json
from ammi.plain import from_json

if TYPE_CHECKING:
    from ammi.features import FeatureMaker
    from ammi.hashers import Hasher

NO, YES = {"false", "no", "0"}, {"true", "yes", "1"}

Parameters = dict[str, Any]  # a parameter of a method has any type


def load_model(folder: Path) -> "ammi.DocumentHasher":
    """Load the model in a folder; a hasher that was saved alone becomes a model of vectors."""
    model = ammi.load(folder)
    return model if isinstance(model, ammi.DocumentHasher) else ammi.DocumentHasher.of(model)


def read_config(path: Path) -> tuple[str, Parameters]:
    """Read method and parameters from a file {"method": "ammi", "parameters": {"n_bits": 64, ...}}.

    The `config.json` of a saved hasher is such a file.
    """
    try:
        config = from_json(path.read_bytes())
        parameters = dict(config["parameters"])
        parts = {name: part_from_json(value) for name, value in parameters.items() if is_part(value)}
        return config["method"].lower(), {**parameters, **parts}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f'{path} is not {{"method": NAME, "parameters": {{NAME: VALUE, ...}}}}: {error}') from error


def make_features(
    name: str, *, vocabulary: int | None = None, embedder: str | None = None, cache: Path | None = None
) -> "FeatureMaker":
    """Make the feature maker of this name; refuse options that it does not have."""
    kind = ammi.features.by_name(name)
    known = kind().get_params()
    if embedder is not None and Path(embedder).is_dir():
        embedder = os.path.abspath(embedder)  # later commands may run in another folder
    parameters: Parameters = {"verbose": False} if "verbose" in known else {}  # commands show their own progress
    for option, parameter, value in (
        ("vocabulary", "vocabulary_size", vocabulary),
        ("embedder", "model", embedder),
        ("cache", "cache", cache),
    ):
        if value is None:
            continue
        if parameter not in known:
            raise typer.BadParameter(f"the features {name!r} have no {option}.", param_hint=f"'--{option}'")
        parameters[parameter] = value
    return kind(**parameters)


def make_hasher(method: str, parameters: Parameters, assignments: Iterable[str]) -> "Hasher":
    """Make a hasher with these parameters, overridden by texts NAME=VALUE."""
    return ammi.hashers.by_name(method)(**checked_parameters(method, parameters, assignments))


def checked_parameters(method: str, parameters: Parameters, assignments: Iterable[str]) -> Parameters:
    """Add texts NAME=VALUE to parameters; refuse names that the method does not have."""
    kind = ammi.hashers.by_name(method)
    known = list(kind().get_params())
    hints = get_type_hints(kind.__init__)
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise ValueError(f"--set {assignment} has no value: write --set NAME=VALUE")
        parameters[name] = _parsed(name, value, hints.get(name, Any)) if name in known else value
    for name in parameters:
        if name not in known:
            raise ValueError(f"{method} has no parameter {name!r}: it has {', '.join(known) or 'none'}")
    return parameters


def _parsed(name: str, text: str, hint: object) -> object:
    """Parse a text as the annotated type, or as the first type of a union that accepts it."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for kind in kinds:
        try:
            return _value(text, kind)
        except ValueError:
            continue
    expected = " or ".join(filter(None, map(_name, kinds)))
    raise ValueError(f"--set {name}={text} has the wrong type: {name} is {expected}")


def _value(text: str, kind: object) -> object:
    if kind is NoneType and text.lower() == "none":
        return None
    if kind is bool and text.lower() in NO | YES:
        return text.lower() in YES
    if get_origin(kind) is Literal and text in get_args(kind):
        return text
    if kind is int or kind is float or kind is str:
        return kind(text)
    if kind is Any:
        try:
            return from_json(text)
        except ValueError:
            return text
    raise ValueError(text)


def _name(kind: object) -> str | None:
    """Name a type in words; None for a type that no text can have, such as a function."""
    words = {int: "a whole number", float: "a number", bool: "true or false", NoneType: "none", str: "a text"}
    if get_origin(kind) is Literal:
        return " or ".join(get_args(kind))
    return words.get(kind) if isinstance(kind, type) else None
