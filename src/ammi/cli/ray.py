"""Options of the commands that can work on a Ray cluster, and what those commands share."""

from typing import Annotated

import typer

from ammi.cli.screen import note

Ray = Annotated[bool, typer.Option("--ray", help="Work with several workers on a Ray cluster (ammi\\[ray]).")]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="With --ray: address of the cluster, whose nodes must see the same files.",
        show_default="RAY_ADDRESS, or else a cluster on this machine that ends with the command",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, metavar="N", help="With --ray: number of workers.", show_default="one per core"),
]


def check_ray_options(ray: bool, address: str | None, workers: int | None) -> None:
    """Refuse --address and --workers without --ray."""
    for option, value in (("--address", address), ("--workers", workers)):
        if not ray and value is not None:
            raise typer.BadParameter("it needs --ray.", param_hint=f"'{option}'")


def check_no_format(format: str | None) -> None:
    """Refuse --format for shards, whose file names tell it."""
    if format is not None:
        raise typer.BadParameter("with --ray, the file name of a shard tells its format.", param_hint="'--format'")


def single_source(sources: list[str]) -> str:
    """Return the source of a command that works in this process, which reads only one."""
    if len(sources) > 1:
        raise typer.BadParameter("several sources need --ray.", param_hint="'SOURCE'")
    return sources[0]


def note_skipped(skipped: list[str], shown: int = 5) -> None:
    """Report the bad records that workers skipped."""
    for problem in skipped[:shown]:
        note(f"skipped: {problem}")
    if len(skipped) > shown:
        note(f"{len(skipped):,} bad records were skipped")
