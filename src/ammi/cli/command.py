"""What every command has: the option --quiet, and one sentence and exit code 130 when Ctrl-C stops it."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from traceback import clear_frames
from typing import Annotated, Any

import typer

from ammi.cli.screen import notes, say_stopped

STOPPED = 130  # as a shell has it: 128 and the number of SIGINT
_begun = False

Quiet = Annotated[bool, typer.Option("--quiet", help="Show errors alone: no progress, no notes.")]


def add_command(app: typer.Typer, command: Callable[..., None], name: str | None = None) -> None:
    """Let a command join an application."""
    app.command(name)(_with_what_all_have(command))


@contextmanager
def if_stopped(kept: str | Callable[[], str]) -> Iterator[None]:
    """Let Ctrl-C inside say what there is afterwards; elsewhere it says that nothing was changed."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(str(stop) or (kept if isinstance(kept, str) else kept())) from None


def has_begun() -> bool:
    """Whether a command was called, which then has its own word for Ctrl-C."""
    return _begun


def _with_what_all_have(command: Callable[..., None]) -> Callable[..., None]:
    @wraps(command)
    def run(*, quiet: bool, **arguments: Any) -> None:
        global _begun
        _begun = True
        notes.quiet = notes.quiet or quiet
        try:
            command(**arguments)
        except KeyboardInterrupt as stop:
            clear_frames(stop.__traceback__)  # ends a progress bar that was left running
            say_stopped(str(stop) or "nothing was changed.")
            raise typer.Exit(STOPPED) from None

    signature = inspect.signature(command)
    quiet = inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Quiet)
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), quiet])  # type: ignore[attr-defined]
    run.__annotations__ = {**command.__annotations__, "quiet": Quiet}
    return run
