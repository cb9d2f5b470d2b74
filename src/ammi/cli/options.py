"""Arguments and options that several commands share."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ammi.search.filters import Where

DOCUMENTS = (
    "Documents: a table (.jsonl, .json, .csv, .tsv, .txt, each also .gz or .zst; .parquet, .arrow, .feather), a text, "
    "PDF, Office, mail or other file, a folder of such files, a matrix of vectors (.npy, .npz), a pattern in quotes "
    "('*.jsonl'), [bold]-[/] for standard input, or the name of a data set ([bold]ammi data list[/])."
)

COLUMN_TYPES = ("number", "date", "boolean", "text")


def argument(metavar: str, help: str) -> Any:
    """Declare an argument of a command."""
    return typer.Argument(metavar=metavar, show_default=False, help=help)


def checked_seed(seed: int | None) -> int | None:
    """Refuse a seed that numpy does not take."""
    if seed is None or 0 <= seed < 2**32:
        return seed
    raise typer.BadParameter(f"{seed} is not from 0 to {2**32 - 1}.")


class OnError(StrEnum):
    """What to do with a record that cannot be read."""

    refuse = "refuse"
    skip = "skip"


Sources = Annotated[list[str], argument("SOURCE", DOCUMENTS)]
Location = Annotated[str, argument("COLLECTION", "Folder or URL of a collection, also hf://OWNER/NAME.")]
Model = Annotated[Path, argument("MODEL", "Folder of a model, or hf://OWNER/NAME.")]
TextColumn = Annotated[
    str | None, typer.Option("--text", metavar="COLUMN", help="Column of the texts.", show_default="text")
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column of the ids.", show_default="id, or else the line number"),
]
VectorColumn = Annotated[
    str | None,
    typer.Option(
        "--vector",
        metavar="COLUMN",
        help="Column of the vectors, or name of the array in an .npz file.",
        show_default="vector; in an .npz file vectors, or its only matrix",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Format of standard input, or of a file with another extension: jsonl, csv, tsv, txt, parquet, arrow, "
        "npy or npz.",
        show_default="from the extension, or the first line",
    ),
]
SkipBad = Annotated[OnError, typer.Option("--on-error", help="Stop at a record that cannot be read, or skip it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="FILTER",
        help="Only documents with this metadata: KEY=VALUE, KEY=A,B (either), KEY!=VALUE, KEY>=VALUE (also <, <=, >), "
        "KEY (has it), !KEY (does not have it). May be repeated; all filters must hold.",
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Set a parameter of the method, such as batch_size=64. May be repeated."
    ),
]


@dataclass(frozen=True)
class TableOptions:
    """Whether to print a table as CSV or as JSON lines: a group of options."""

    as_csv: Annotated[bool, typer.Option("--csv", help="Print a table as CSV.")] = False
    as_json: AsJson = False

    def __post_init__(self) -> None:
        if self.as_csv and self.as_json:
            raise typer.BadParameter("choose one of --csv and --json.", param_hint="'--csv'")

    @property
    def is_piped(self) -> bool:
        """Whether another program reads the table."""
        return self.as_csv or self.as_json


@dataclass(frozen=True)
class ReadOptions:
    """How to read documents from a source: a group of options."""

    text: TextColumn = None
    id: IdColumn = None
    vector: VectorColumn = None
    format: Format = None
    on_error: SkipBad = OnError.refuse

    def given(self) -> dict[str, str | None]:
        """Return the options by name; None for those that were not given."""
        skip = None if self.on_error == OnError.refuse else self.on_error.value
        columns = {"--text": self.text, "--id": self.id, "--vector": self.vector}
        return {**columns, "--format": self.format, "--on-error": skip}


@dataclass(frozen=True)
class TypedOptions(ReadOptions):
    """How to read documents into a collection, where filters compare the values of columns."""

    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="KEY=TYPE",
            help="Type of a column of CSV or TSV: number, date, boolean or text. May be repeated.",
            show_default="inferred where no text is lost",
        ),
    ] = None

    def named_types(self) -> dict[str, str]:
        """Return the types that were given, by key."""
        pairs = [given.rpartition("=") for given in self.types or []]
        for key, equals, type in pairs:
            if not key or not equals or type not in COLUMN_TYPES:
                raise typer.BadParameter(
                    f"{key}{equals}{type} is no type of a column: write KEY=number, date, boolean or text.",
                    param_hint="'--type'",
                )
        return {key: type for key, _, type in pairs}


@dataclass(frozen=True)
class RayOptions:
    """Whether and where to work on a Ray cluster: a group of options."""

    enabled: Annotated[
        bool, typer.Option("--ray", help="Work with several workers on a Ray cluster (needs ammi\\[ray]).")
    ] = False
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="With --ray: address of the cluster, whose nodes must see the same files.",
            show_default="RAY_ADDRESS, or else a cluster on this machine that ends with the command",
        ),
    ] = None
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="With --ray: number of workers.", show_default="one per core")
    ] = None

    def __post_init__(self) -> None:
        if not self.enabled:
            refuse("it needs --ray", {"--address": self.address, "--workers": self.workers})


def read_filter(conditions: list[str] | None) -> "Where | None":
    """Return the filter that --where spells; None without any."""
    from ammi.search.filter_text import from_text

    try:
        return from_text(conditions or []) or None
    except ValueError as error:
        raise typer.BadParameter(f"{error}.", param_hint="'--where'") from None


def refuse(reason: str, options: Mapping[str, object]) -> None:
    """Refuse each of these options that was given, for a reason."""
    for option, value in options.items():
        if value is not None:
            raise typer.BadParameter(f"{reason}.", param_hint=f"'{option}'")


def check_can_ask(option: str) -> None:
    """Refuse an option that asks for confirmation if nobody can be asked."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise typer.BadParameter(
            "nobody can be asked, since standard input is no terminal: add --yes to delete without asking.",
            param_hint=f"'{option}'",
        )


def refuse_types(options: TypedOptions) -> None:
    """Refuse types of columns for a source that has no columns without types."""
    refuse("it is for columns of CSV and TSV", {"--type": options.types})
