"""Every method with its defaults on the benchmark sets, at 16 to 128 bits: precision, training and encoding time.

Where a method trains in epochs, the epoch is chosen on the validation part. The experiments are those of `ammi paper`,
one file each in results/paper/runs; one that is there is not done again, and several of these may work side by side
(`python benchmarks/hashers.py [METHOD ...]`). The table and the plot are made from the files.
"""

import sys
from functools import cache
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ammi.tuning.experiments import Experiment, Results
from ammi.tuning.tasks import benchmark_task

SETS = ("reuters", "ng20", "tmc_small")
BITS = (16, 32, 64, 128)
ORDER = ("bow", "lsh", "srbm", "sph", "itq", "sth", "vdsh", "nash", "gmsh", "dvq", "bmsh", "bmmi", "ammi")
RESULTS = Results(Path(__file__).parents[1] / "results" / "paper" / "runs")
PLOT = Path(__file__).parent / "results" / "hashers.png"

Found = dict[tuple[str, str, int], dict[str, Any]]


def wanted(method: str) -> tuple[int, ...]:
    """BOW has a bit for each word, and BMMI visits all codes: 16 bits in the paper's table."""
    return {"bow": (0,), "bmmi": (16,)}.get(method, BITS)


def all_experiments(methods: list[str]) -> list[Experiment]:
    return [Experiment(name, method, bits) for method in methods for name in SETS for bits in wanted(method)]


def results() -> Found:
    experiments = all_experiments(list(ORDER))
    found = {(one.task, one.method, one.bits): RESULTS.get(one) for one in experiments}
    return {key: result for key, result in found.items() if result}


def report(runs: Found) -> None:
    table = Table("method", title="Top-100 precision on test; seconds to fit and to encode ng20 at 64 bits")
    for name in SETS:
        for bits in BITS:
            table.add_column(f"{name} {bits}", justify="right")
    table.add_column("mean", justify="right")
    table.add_column("fit s", justify="right")
    table.add_column("encode s", justify="right")
    for method in ORDER:
        cells = [runs.get((name, method, 0 if method == "bow" else bits)) for name in SETS for bits in BITS]
        values = [f"{cell['test']:.1f}" if cell else "" for cell in cells]
        present = [cell["test"] for cell in cells if cell]
        mean = f"{sum(present) / len(present):.2f}" if len(present) == len(cells) else ""
        timed = runs.get(("ng20", method, wanted(method)[-2 if len(wanted(method)) > 1 else 0]))
        times = (f"{timed['fit_s']:.1f}", f"{timed['encode_s']:.2f}") if timed else ()
        table.add_row(method, *values, mean, *times)
    Console(width=190).print(table)


def plot(runs: Found) -> None:
    """Precision against bits, one panel a set; AMMI stands out, the others are named at their right end."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    colours = dict(zip(ORDER, colormaps["tab20"].colors, strict=False))  # type: ignore[attr-defined]
    figure = Figure(figsize=(13, 5.5), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(SETS)), SETS, strict=True):
        ends = []
        for method in ORDER:
            points = [(bits, runs[name, method, bits]["test"]) for bits in BITS if (name, method, bits) in runs]
            if method == "bow" and (name, "bow", 0) in runs:
                points = [(bits, runs[name, "bow", 0]["test"]) for bits in BITS]
            if points:
                colour, width = ("black", 3) if method == "ammi" else (colours[method], 1.2)
                axes.plot(*zip(*points, strict=True), "o-", linewidth=width, markersize=4, color=colour)
            if len(points) == len(BITS):
                ends.append((points[-1][1], method, colour))
        label_ends(axes, ends)
        axes.set(title=name, xlabel="bits", xscale="log", xticks=BITS, xticklabels=BITS, xlim=(14, 230))
        axes.minorticks_off()
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("top-100 precision on test")
    figure.savefig(PLOT, dpi=110)


def label_ends(axes: Any, ends: list[tuple[float, str, Any]]) -> None:
    """The names of the lines at their right ends, moved apart where they would overlap."""
    low, high = axes.get_ylim()
    step, last = (high - low) / 24, -1e9
    axes.set_ylim(top=high + 4 * step)
    for height, method, colour in sorted(ends):
        last = max(height, last + step)
        weight = "bold" if method == "ammi" else "normal"
        axes.annotate(method, (128, height), (140, last), color=colour, va="center", weight=weight)


def main() -> None:
    experiments = all_experiments(sys.argv[1:] or list(ORDER))
    RESULTS.complete(experiments, cache(benchmark_task), lambda done: print(done.path, flush=True))
    report(results())
    plot(results())


if __name__ == "__main__":
    main()
