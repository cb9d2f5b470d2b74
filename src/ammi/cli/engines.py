"""Where a command does its work: in this process, or on a Ray cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated

import typer

from ammi.cli.screen import note


class Engine(StrEnum):
    """What does the work."""

    local = "local"
    ray = "ray"


EngineOption = Annotated[
    Engine,
    typer.Option("--engine", help="Work in this process, or with many workers on a Ray cluster (ammi\\[ray])."),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="With --engine ray: the cluster, which has to see the same files.",
        show_default="RAY_ADDRESS, or else a cluster of this machine's cores for as long as the command runs",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="With --engine ray: so many.", show_default="one for each core"),
]


def is_ray(engine: Engine, address: str | None, workers: int | None) -> bool:
    """Whether Ray does the work; what is of no use without it is refused."""
    for option, value in (("--address", address), ("--workers", workers)):
        if engine == Engine.local and value is not None:
            raise typer.BadParameter("it is for --engine ray alone.", param_hint=f"'{option}'")
    return engine == Engine.ray


@contextmanager
def cluster(address: str | None, workers: int | None) -> Iterator[int]:
    """The cluster, and how many workers to have on it."""
    from ammi.scale.cluster import on_ray

    with on_ray(address, workers) as n:
        yield n


def one_source(sources: list[str]) -> str:
    """The source of a command that works in this process."""
    if len(sources) > 1:
        raise typer.BadParameter("several are for --engine ray alone.", param_hint="'SOURCE'")
    return sources[0]


def note_skipped(skipped: list[str], shown: int = 5) -> None:
    """Say what workers skipped."""
    for problem in skipped[:shown]:
        note(f"skipped: {problem}")
    if len(skipped) > shown:
        note(f"{len(skipped):,} bad records were skipped")
