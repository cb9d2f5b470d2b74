"""Arguments and options that several commands have, with the same names and the same words everywhere."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

_DOCUMENTS = (
    "Documents: a file (.jsonl, .csv, .tsv, .txt, each also .gz or .zst; .parquet, .arrow, .feather), a folder of text "
    "files, a matrix of vectors (.npy, .npz), [bold]-[/] for a pipe, or the name of a data set "
    "([bold]ammi data list[/])."
)


def checked_seed(seed: int | None) -> int | None:
    """A seed that numpy takes."""
    if seed is None or 0 <= seed < 2**32:
        return seed
    raise typer.BadParameter(f"{seed} is not from 0 to {2**32 - 1}.")


class OnError(StrEnum):
    """What to do with a line that holds no document."""

    refuse = "refuse"
    skip = "skip"


Source = Annotated[str, typer.Argument(metavar="SOURCE", show_default=False, help=_DOCUMENTS)]
Sources = Annotated[list[str], typer.Argument(metavar="SOURCE", show_default=False, help=_DOCUMENTS)]
Location = Annotated[
    str, typer.Argument(metavar="PLACE", show_default=False, help="The folder of a collection, or its URL.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", show_default=False, help="The folder of a model.")]
TextColumn = Annotated[
    str | None, typer.Option("--text", metavar="COLUMN", help="The column of the texts.", show_default="text")
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="The column of the ids.", show_default="id, or else numbers"),
]
VectorColumn = Annotated[
    str | None,
    typer.Option(
        "--vector",
        metavar="COLUMN",
        help="The column of the vectors, for models that read them; of an .npz the array.",
        show_default="vector; of an .npz vectors, or its one matrix",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="jsonl, csv, tsv, txt, parquet, arrow, npy or npz: for a pipe, or a file with another ending.",
        show_default="what the ending or the first line of a pipe tells",
    ),
]
Broken = Annotated[
    OnError, typer.Option("--on-error", help="Stop at a line that cannot be read, or report and skip it.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]
