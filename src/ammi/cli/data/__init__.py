"""`ammi data`: data sets by name, and how to make them."""

import typer

from ammi.cli.command import add_command
from ammi.cli.data import importing, listing, pairs

app = typer.Typer(no_args_is_help=True, help="Data sets: list those there are, make them from their distributions.")
for command in (listing.list_, importing.import_, pairs.pairs):
    add_command(app, command, command.__name__.rstrip("_"))
