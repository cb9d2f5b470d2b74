"""`ammi paper`: the paper's tables and figures, run and reported."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.screen import note, results
from ammi.cli.tune import Screen
from ammi.files import check_not_read


class Part(StrEnum):
    """What to do."""

    all = "all"
    table1 = "table1"
    figure1 = "figure1"
    table2 = "table2"
    table3 = "table3"
    report = "report"


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
    from rich.markdown import Markdown

    from ammi.paper.folder import PaperFolder
    from ammi.paper.plan import PAPER, PARTS, QUICK
    from ammi.paper.report import write_part, write_report
    from ammi.paper.runner import Runner

    check_not_read(markdown or out / "report.md", pairs)
    folder = PaperFolder(out, QUICK if quick else PAPER, pairs)
    runner = Runner(folder, Screen())
    for wanted in PARTS if part is Part.all else {part.value} & set(PARTS):
        with if_stopped(f"{wanted} is not finished. What is done is kept, and the same command goes on."):
            runner.run(wanted)
        results.print(Markdown(write_part(folder, wanted)))
        note(f"Figures are in {folder.figures}.")
    if part in (Part.all, Part.report):
        note(f"The report is in {write_report(folder, markdown or out / 'report.md')}.")
