"""The application: its commands, version, exit codes, and errors of one sentence."""

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
    classify,
    data,
    demo,
    drift,
    duplicates,
    encode,
    evaluate,
    fit,
    index,
    info,
    information,
    match,
    mcp,
    outliers,
    paper,
    push,
    report,
    search,
    serve,
    topics,
    tune,
)
from ammi.cli.command import STOPPED, Quiet, add_command, has_started
from ammi.cli.screen import notes, say_error
from ammi.files import DISK_FULL
from ammi.urls import shown
from ammi.version import __version__

FAULT = 70  # EX_SOFTWARE of sysexits.h: an internal error

app = typer.Typer(
    help="Learn short binary codes for documents, and search with them.",
    epilog="To get started: [bold]ammi demo[/]. For completion by the Tab key: [bold]ammi --install-completion[/]. "
    "Exit codes: 1 error, 2 wrong usage, 3 damage found by ammi index check, 70 bug in ammi, 130 Ctrl-C.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for _command in (
    demo.demo,
    fit.fit,
    encode.encode,
    search.search,
    serve.serve,
    report.report,
    duplicates.duplicates,
    topics.topics,
    classify.classify,
    outliers.outliers,
    match.match,
    mcp.mcp,
    drift.drift,
    evaluate.evaluate,
    info.info,
    information.information,
    push.push,
    tune.tune,
    paper.paper,
):
    add_command(app, _command)
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
    """Run the command line. An error becomes one sentence and exit code 1; a bug in ammi leaves its details in a file.

    Commands raise ValueError, OSError, ImportError and MemoryError for what a user can mend; any other is a bug.
    """
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # so that `| head` ends the command silently
    try:
        app()
    except (ValueError, OSError, ImportError, MemoryError) as error:
        clear_frames(error.__traceback__)  # ends a progress bar that was left running
        say_error(_sentence(error))
        sys.exit(1)
    except Exception as error:
        details = _details(error)
        clear_frames(error.__traceback__)
        say_error(f"this is a bug in ammi ({type(error).__name__}): please report it with {details}")
        sys.exit(FAULT)
    except SystemExit as ended:
        if ended.code == STOPPED and not has_started():  # Ctrl-C while options were parsed
            raise KeyboardInterrupt from None
        raise


def _details(error: Exception) -> str:
    """Write the details of a bug to a file, and name it."""
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
        return f"its message: {error}"


def _without_secrets(arguments: list[str]) -> list[str]:
    """Return a command line without its tokens and passwords."""
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
        return f"there is not enough memory{asked}: use a machine with more, or less data (ammi fit --sample)"
    return " ".join(str(error).splitlines()) or f"{type(error).__name__} without a message"
