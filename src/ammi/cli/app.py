"""The application that the commands join, and what they share: the version, exit codes, errors of one sentence."""

import re
import shlex
import signal
import sys
from itertools import pairwise
from tempfile import NamedTemporaryFile
from traceback import clear_frames, format_exception
from typing import Annotated

import typer

from ammi.cli import (
    data,
    demo,
    drift,
    duplicates,
    encode,
    evaluate,
    fit,
    index,
    info,
    paper,
    report,
    search,
    serve,
    tune,
)
from ammi.cli.command import STOPPED, Quiet, add_command, has_begun
from ammi.cli.screen import notes, say_error
from ammi.files import DISK_FULL
from ammi.urls import shown
from ammi.version import __version__

FAULT = 70  # as sysexits.h has it: an internal error

app = typer.Typer(
    help="Short binary codes for documents, learned by maximising mutual information.",
    epilog="A first look: [bold]ammi demo[/]. The Tab key completes commands and options after [bold]ammi "
    "--install-completion[/]. Errors end with exit code 1, wrong usage with 2, damage that ammi index check finds "
    "with 3, a fault of ammi itself with 70, Ctrl-C with 130.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for command in (
    demo.demo,
    fit.fit,
    encode.encode,
    search.search,
    serve.serve,
    report.report,
    duplicates.duplicates,
    drift.drift,
    evaluate.evaluate,
    info.info,
    tune.tune,
    paper.paper,
):
    add_command(app, command)
app.add_typer(index.app, name="index")
app.add_typer(data.app, name="data")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ammi {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    notes.quiet = quiet


def run() -> None:
    """Run the command line; what went wrong is said in one sentence, with exit code 1 (2 for wrong usage).

    What is none of the errors that a command may end with is a fault of ammi: its details go to a file.
    """
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends the command as it ends any other
    try:
        app()
    except (ValueError, OSError, ImportError, MemoryError) as error:
        clear_frames(error.__traceback__)  # ends a progress bar that was left running
        say_error(_sentence(error))
        sys.exit(1)
    except Exception as error:
        details = _details(error)
        clear_frames(error.__traceback__)
        say_error(f"this is a fault of ammi, not of yours ({type(error).__name__}): please report it with {details}")
        sys.exit(FAULT)
    except SystemExit as ended:
        if ended.code == STOPPED and not has_begun():  # while options were read
            raise KeyboardInterrupt from None
        raise


def _details(error: Exception) -> str:
    """Write what a report of a fault needs to a file, and name it."""
    lines = [
        f"ammi {__version__}, Python {sys.version} on {sys.platform}",
        f"command: {shlex.join(_without_secrets(sys.argv))}",
        "",
    ]
    try:
        with NamedTemporaryFile("w", prefix="ammi-fault-", suffix=".txt", delete=False, errors="replace") as file:
            file.write("\n".join(lines) + "\n" + "".join(format_exception(error)))
        return f"the details in {file.name}"
    except OSError:
        return f"what it says: {error}"


def _without_secrets(arguments: list[str]) -> list[str]:
    """A command line whose tokens and passwords are left out."""
    return [
        "TOKEN" if before == "--token" else re.sub("^--token=.*", "--token=TOKEN", shown(argument), flags=re.DOTALL)
        for before, argument in pairwise(["", *arguments])
    ]


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        return f"nothing was written ({error.strerror}): make space and try again"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        asked = f" ({error})" if str(error) else ""
        return f"there is not enough memory{asked}: use a machine with more, or fewer data"
    return " ".join(str(error).splitlines()) or f"{type(error).__name__}, and nothing more is known"
