"""The application that the commands join, and what they share: the version, and errors of one sentence."""

import sys

import typer
from rich.console import Console

from ammi.cli import demo
from ammi.version import __version__

app = typer.Typer(
    help="Short binary codes for documents, learned by maximising mutual information.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo.demo)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ammi {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main() -> None:
    """Run the command line; what went wrong is said in one sentence, with exit code 1 (2 for wrong usage)."""
    try:
        app()
    except (ValueError, OSError, ImportError) as error:
        Console(stderr=True).print(f"[bold red]ammi:[/] {error}", highlight=False)
        sys.exit(1)
