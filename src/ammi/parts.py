"""Parts of a hasher that users and other packages add: encoder networks, structures of bits, adversaries.

They are parameters of a hasher, and saved with it by name. A name comes from `register_part`, or from an entry point of
the group ammi.parts. A function is saved as its name and the arguments that functools.partial binds to it by keyword;
an object as the name of its class and the arguments of its constructor, each kept as an attribute of the same name.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from ammi.plain import plain
from ammi.plugins import Registry

P = TypeVar("P", bound=Callable[..., object])
Saved = dict[str, Any]  # JSON

parts: Registry[Callable[..., object]] = Registry(
    "ammi.parts",
    "part",
    {
        "Chain": "ammi.chain:Chain",
        "Tree": "ammi.chain:Tree",
        "ExactAdversary": "ammi.training.adversaries:ExactAdversary",
        "GradientAdversary": "ammi.training.adversaries:GradientAdversary",
        "Prior": "ammi.nets.prior:Prior",
        "SampledAdversary": "ammi.training.sampled:SampledAdversary",
    },
)


def register_part(part: P) -> P:
    """Register a function or a class by its own name, so that models with it can be saved and loaded. A decorator."""
    parts.register(part.__name__, part)
    return part


def arguments_of(value: object) -> dict[str, object]:
    """Return the arguments of an object's constructor, from its attributes of the same names."""
    kind, found = type(value), {}
    for name, declared in inspect.signature(kind).parameters.items():
        if declared.kind in (declared.VAR_POSITIONAL, declared.VAR_KEYWORD) or not hasattr(value, name):
            raise ValueError(
                f"{kind.__name__} does not keep the argument {name!r} of its constructor: let it be an attribute of "
                "that name"
            )
        found[name] = getattr(value, name)
    return found


def part_in_words(value: object) -> str:
    """Return an object as the call that makes it."""
    try:
        arguments = arguments_of(value)
    except ValueError:
        return f"{type(value).__name__}(...)"
    return f"{type(value).__name__}({', '.join(f'{name}={argument!r}' for name, argument in arguments.items())})"


def part_to_json(value: object) -> Saved:
    """Return a function, with what functools.partial binds to it, or an object, as JSON."""
    if not (isinstance(value, partial) or inspect.isroutine(value) or inspect.isclass(value)):
        name = _name(type(value))
        try:
            return {"object": name, "arguments": {key: _argument(item) for key, item in arguments_of(value).items()}}
        except ValueError as error:
            raise ValueError(f"the {name} of the model cannot be saved, since {error}") from error
    arguments: dict[str, Any] = {}
    while isinstance(value, partial):
        if value.args:
            raise ValueError(f"{value!r} has arguments without names: bind them by keyword to save the model")
        arguments = {**value.keywords, **arguments}
        value = value.func
    name = _name(value)
    try:
        return {"function": name, "arguments": {key: _argument(item) for key, item in arguments.items()}}
    except ValueError as error:
        raise ValueError(f"the arguments of {name!r} cannot be saved, since {error}: bind others") from error


def part_from_json(saved: Saved) -> Any:
    """Return the function or the object that `part_to_json` described."""
    name, arguments = saved.get("function", saved.get("object")), saved.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ValueError(f"{saved!r:.80} names no part: expected its name and its arguments")
    if name not in parts.names():
        raise ValueError(
            f"the model has the part {name!r}, which is not registered: import the module that registers it, or "
            "install the package that announces it"
        )
    part = parts.get(name)
    values = {key: _from_argument(item) for key, item in arguments.items()}
    if "function" in saved:
        return partial(part, **values) if values else part
    try:
        return part(**values)
    except TypeError as error:
        raise ValueError(f"the arguments {list(arguments)} are not those of {name!r}: {error}") from error


def is_part(saved: object) -> bool:
    """Return whether a JSON value comes from `part_to_json`."""
    return isinstance(saved, dict) and saved.keys() & {"function", "object"} != set() and "arguments" in saved


def _name(part: object) -> str:
    name = parts.name_of(part)  # type: ignore[arg-type]
    if name is None:
        raise ValueError(
            f"{getattr(part, '__name__', part)} has no name to be saved by: decorate it with ammi.parts.register_part, "
            "or announce it as an entry point of the group ammi.parts"
        )
    return name


def _argument(value: object) -> object:
    """Return an argument as JSON; it may be a part itself, such as the structure of an adversary."""
    return part_to_json(value) if parts.name_of(type(value)) else plain(value)


def _from_argument(value: object) -> object:
    if is_part(value):
        return part_from_json(value)  # type: ignore[arg-type]
    return tuple(value) if isinstance(value, list) else value
