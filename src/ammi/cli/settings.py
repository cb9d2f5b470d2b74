"""Methods and features with their parameters, from the command line and from files, typed by their annotations."""

import os
from collections.abc import Iterable
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

from ammi.plain import from_json

if TYPE_CHECKING:
    from ammi.features import FeatureMaker
    from ammi.hashers import Hasher

NO, YES = {"false", "no", "0"}, {"true", "yes", "1"}


def read_config(path: Path) -> tuple[str, dict[str, Any]]:
    """The method and the parameters of a file {"method": "ammi", "parameters": {"n_bits": 64, ...}}.

    The `config.json` of a saved hasher is such a file.
    """
    try:
        config = from_json(path.read_bytes())
        return config["method"].lower(), dict(config["parameters"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f'{path} is not {{"method": NAME, "parameters": {{NAME: VALUE, ...}}}}: {error}') from error


def make_features(
    name: str, *, vocabulary: int | None = None, embedder: str | None = None, cache: Path | None = None
) -> "FeatureMaker":
    """The feature maker of this name, with what options say; those it has no use for are refused."""
    from ammi.features import by_name

    kind = by_name(name)
    known = kind().get_params()
    if embedder is not None and Path(embedder).is_dir():
        embedder = os.path.abspath(embedder)  # later commands may run in another folder
    parameters: dict[str, Any] = {"verbose": False} if "verbose" in known else {}  # commands show their own progress
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


def make_hasher(method: str, wanted: dict[str, Any], assignments: Iterable[str]) -> "Hasher":
    """A hasher of the method with the parameters wanted, and then those of texts NAME=VALUE."""
    from ammi.hashers import by_name

    return by_name(method)(**checked_parameters(method, wanted, assignments))


def checked_parameters(method: str, wanted: dict[str, Any], assignments: Iterable[str]) -> dict[str, Any]:
    """The parameters wanted and those of texts NAME=VALUE, all of which the method has."""
    from ammi.hashers import by_name

    kind = by_name(method)
    known = list(kind().get_params())
    hints = get_type_hints(kind.__init__)
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise ValueError(f"--set {assignment} sets nothing: write --set NAME=VALUE")
        wanted[name] = _typed(name, value, hints.get(name, Any)) if name in known else value
    for name in wanted:
        if name not in known:
            raise ValueError(f"{method} has no parameter {name!r}: it has {', '.join(known) or 'none'}")
    return wanted


def _typed(name: str, text: str, hint: Any) -> Any:
    """A text as a value of the type that the hint names, or of the first of several that takes it."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for kind in kinds:
        try:
            return _value(text, kind)
        except ValueError:
            continue
    expected = " or ".join(filter(None, map(_name, kinds)))
    raise ValueError(f"--set {name}={text} is no good: {name} is {expected}")


def _value(text: str, kind: Any) -> Any:
    if kind is NoneType and text.lower() == "none":
        return None
    if kind is bool and text.lower() in NO | YES:
        return text.lower() in YES
    if get_origin(kind) is Literal and text in get_args(kind):
        return text
    if kind in (int, float, str):
        return kind(text)
    if kind is Any:
        try:
            return from_json(text)
        except ValueError:
            return text
    raise ValueError(text)


def _name(kind: Any) -> str | None:
    """A kind of value in words; None for one that no text can be, such as a function."""
    words = {int: "a whole number", float: "a number", bool: "true or false", NoneType: "none", str: "a text"}
    return " or ".join(get_args(kind)) if get_origin(kind) is Literal else words.get(kind)
