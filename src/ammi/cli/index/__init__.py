"""`ammi index`: build, change, check and copy collections."""

import typer

from ammi.cli.command import add_command
from ammi.cli.index import backups, build, changes, sync, upkeep

app = typer.Typer(no_args_is_help=True, help="Build, change, sync, check, copy and export collections.")
for _command in (
    build.build,
    changes.add,
    sync.sync,
    changes.delete,
    changes.rebuild,
    upkeep.export,
    upkeep.copy,
    backups.backup,
    backups.restore,
    backups.upgrade,
    changes.set_,
    changes.keys,
    upkeep.check,
    upkeep.compact,
):
    add_command(app, _command)
