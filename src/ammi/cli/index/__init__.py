"""`ammi index`: documents into a collection, out of it, and all else that changes one."""

import typer

from ammi.cli.command import add_command
from ammi.cli.index import add, build, check, compact, copy, delete, export, keys, rebuild, setting

app = typer.Typer(
    no_args_is_help=True,
    help="Build a collection of documents and codes, change it, check it, copy it, write it out.",
)
for command in (
    build.build,
    add.add,
    delete.delete,
    rebuild.rebuild,
    export.export,
    copy.copy,
    setting.set_,
    keys.keys,
    check.check,
    compact.compact,
):
    add_command(app, command, command.__name__.rstrip("_"))
