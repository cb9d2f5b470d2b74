"""`ammi paper`: run and report the paper's tables and figures."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.progress import Screen
from ammi.cli.screen import note, results
from ammi.files import check_not_read


class Part(StrEnum):
    """A table, a figure or another part of the report, the report itself, or everything."""

    all = "all"
    table1 = "table1"
    figure1 = "figure1"
    table2 = "table2"
    table3 = "table3"
    controls = "controls"
    unseen = "unseen"
    report = "report"


def paper(
    part: Annotated[Part, typer.Argument(help="A part of the report, the report itself, or everything.")] = Part.all,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the results.")] = Path("results", "paper"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Use a tiny set that exists on every machine: takes under two minutes.")
    ] = False,
    pairs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of the published Who-Did-What pairs, to add to table 2.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Markdown file of the report.", show_default="report.md in FOLDER"),
    ] = None,
) -> None:
    """Reproduce the paper: run its tables and figures, and report which of its claims hold.

    [bold]table1[/]: top-100 precision of every method at 16 to 128 bits on three sets.
    [bold]figure1[/]: effect of the prior's order on the entropy bound and on precision.
    [bold]table2[/]: predictive hashing of article pairs: distinct codes and top-100 matching.
    [bold]table3[/]: semantic drift: articles at growing distance from chosen ones.
    [bold]controls[/]: other objectives on the neighbours of this package's recipe.
    [bold]unseen[/]: codes and cosines on three labelled sets on which nothing was chosen.
    [bold]report[/]: a page with all results beside the published figures. It runs nothing.

    Each result is a JSON file, and is not computed again. After Ctrl-C, run the same command to continue.
    Several processes can work on one folder at the same time.
    Data sets are read from the folder that AMMI_DATA names.
    The command runs from a checkout of the repository: an installed package does not have the folder reproduction/.

    [bold]Examples[/]

    ammi paper --quick --out quick
    ammi paper table1
    ammi paper report --markdown docs/paper.md
    """
    from rich.markdown import Markdown

    _find_reproduction()
    from reproduction.folder import PaperFolder
    from reproduction.plan import PAPER, PARTS, QUICK
    from reproduction.report import write_part, write_report
    from reproduction.runner import Runner

    check_not_read(markdown or out / "report.md", pairs)
    folder = PaperFolder(out, QUICK if quick else PAPER, pairs)
    runner = Runner(folder, Screen())
    for wanted in PARTS if part is Part.all else {part.value} & set(PARTS):
        with if_stopped(f"{wanted} is not finished; run the same command to continue."):
            runner.run(wanted)
        results.print(Markdown(write_part(folder, wanted)))
        note(f"Figures are in {folder.figures}.")
    if part in (Part.all, Part.report):
        note(f"The report is in {write_report(folder, markdown or out / 'report.md')}.")


def _find_reproduction() -> None:
    """Make the package beside src/ importable, or fail if this is not a checkout."""
    checkout = Path(__file__).parents[3]
    if not (checkout / "reproduction" / "plan.py").exists():
        raise ValueError(
            "ammi paper needs the folder reproduction/, which is in a checkout of the repository and not in the "
            "installed package: clone the repository, and run `pip install -e '.[paper]'` there"
        )
    if str(checkout) not in sys.path:
        sys.path.append(str(checkout))
