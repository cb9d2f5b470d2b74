"""Turn functions into commands: options that all commands share, groups of options, and Ctrl-C."""

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from traceback import clear_frames
from typing import Annotated, get_type_hints

import typer

from ammi.cli.screen import notes, say_stopped

STOPPED = 130  # the exit code of shells: 128 and the number of SIGINT
_started = False

Quiet = Annotated[bool, typer.Option("--quiet", help="Show errors only: no progress, no notes.")]


def add_command(app: typer.Typer, command: Callable[..., None]) -> None:
    """Add a function to an application, under its name.

    A parameter whose type is a dataclass is a group of options: each of its fields becomes an option, and the function
    gets the dataclass.
    """
    app.command(command.__name__.rstrip("_"))(_wrapped(command))


@contextmanager
def if_stopped(outcome: str | Callable[[], str]) -> Iterator[None]:
    """After Ctrl-C inside the block, tell the user this outcome instead of "nothing was changed"."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(str(stop) or (outcome if isinstance(outcome, str) else outcome())) from None


def has_started() -> bool:
    """Tell whether a command was called; it then reports Ctrl-C itself."""
    return _started


def _wrapped(command: Callable[..., None]) -> Callable[..., None]:
    parameters = inspect.signature(command).parameters
    types: dict[str, type] = {name: parameter.annotation for name, parameter in parameters.items()}
    groups: dict[str, type] = {name: kind for name, kind in types.items() if is_dataclass(kind)}

    @wraps(command)
    def run(*, quiet: bool, **values: object) -> None:
        global _started
        _started = True
        notes.quiet = notes.quiet or quiet
        if notes.quiet or not notes.is_terminal:
            os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        try:
            command(**values)
        except KeyboardInterrupt as stop:
            clear_frames(stop.__traceback__)  # ends a progress bar that was left running
            say_stopped(str(stop) or "nothing was changed.")
            raise typer.Exit(STOPPED) from None

    options = [option for parameter in parameters.values() for option in _options(parameter)]
    options.append(_option("quiet", Quiet, False))
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _options(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """Yield a parameter of a command, or the fields of its group, as typer reads them."""
    group = parameter.annotation
    if not is_dataclass(group):
        yield _option(parameter.name, group, parameter.default)
        return
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield _option(field.name, hints[field.name], default)


def _option(name: str, annotation: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
