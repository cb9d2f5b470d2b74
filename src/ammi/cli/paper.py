"""`ammi paper`: the paper's tables and figures, run and reported."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markdown import Markdown

from ammi.cli.screen import counter, note, results
from ammi.cli.tune import search_on

if TYPE_CHECKING:
    from ammi.experiments.paper import Paper


class Part(str, Enum):
    """What to do."""

    all = "all"
    table1 = "table1"
    figure1 = "figure1"
    table2 = "table2"
    table3 = "table3"
    report = "report"


RUN = (Part.table1, Part.figure1, Part.table2, Part.table3)


def paper(
    part: Annotated[Part, typer.Argument(help="One table or figure, the report, or all of them.")] = Part.all,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where results are kept.")] = Path("results", "paper"),
    quick: Annotated[
        bool, typer.Option("--quick", help="On a tiny set that is on every machine, in less than two minutes.")
    ] = False,
    pairs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The published Who-Did-What pairs, to have them in table 2 as well."),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the report's Markdown there.", show_default="report.md in FOLDER"),
    ] = None,
) -> None:
    """Reproduce the paper: run its tables and figures, and report which of its claims hold.

    [bold]table1[/]: top-100 precision of every method at 16 to 128 bits on three sets.
    [bold]figure1[/]: what the order of the prior does to the entropy's bound and to precision.
    [bold]table2[/]: predictive hashing of article pairs, distinct codes and top-100 matching.
    [bold]table3[/]: semantic drift, articles at growing distance from chosen ones.
    [bold]report[/]: a page with all of it beside the published figures. It only reads.

    A run is one JSON file, and what is there is not run again.
    After Ctrl-C or a kill the same command goes on.
    Several may work on one folder side by side.

    Data sets are looked for in the folder that AMMI_DATA names.

    [bold]Examples[/]

    ammi paper --quick --out quick
    ammi paper table1
    ammi paper report --markdown docs/paper.md
    """
    from ammi.experiments.paper import PAPER, QUICK, Paper, Show
    from ammi.experiments.report import write_part, write_report

    work = Paper(out, QUICK if quick else PAPER, Show(counter, search_on), pairs)
    for one in RUN if part is Part.all else {part} & set(RUN):
        _run(work, one)
        results.print(Markdown(write_part(work, one.value)))
        note(f"Figures are in {out / 'figures'}.")
    if part not in RUN:
        note(f"The report is in {write_report(work, markdown or out / 'report.md')}.")


def _run(work: "Paper", part: Part) -> None:
    try:
        getattr(work, part.value)()
    except KeyboardInterrupt:
        note(f"Stopped in {part.value}. What is finished is kept, and the same command goes on.")
        raise
