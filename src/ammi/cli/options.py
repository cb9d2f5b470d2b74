"""Arguments and options that several commands have, with the same names and the same words everywhere."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class OnError(str, Enum):
    """What to do with a line that holds no document."""

    refuse = "refuse"
    skip = "skip"


Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        show_default=False,
        help="Documents: a file (.jsonl, .csv, .tsv, .txt, each also .gz or .zst; .parquet), a folder of text files, "
        "[bold]-[/] for a pipe, or the name of a data set ([bold]ammi data list[/]).",
    ),
]
Index = Annotated[Path, typer.Argument(metavar="INDEX", show_default=False, help="The folder of an index.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", show_default=False, help="The folder of a model.")]
OtherModel = Annotated[
    Path | None,
    typer.Option("--model", metavar="MODEL", help="The folder of the model, where it is not where the index says."),
]
TextColumn = Annotated[
    str | None, typer.Option("--text", metavar="COLUMN", help="The column of the texts.", show_default="text")
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="The column of the ids.", show_default="id, or else numbers"),
]
Broken = Annotated[
    OnError, typer.Option("--on-error", help="Stop at a line that cannot be read, or report and skip it.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]
