"""Every method at 16, 32, 64 and 128 bits on the benchmark sets: top-100 precision, training and encoding time.

Defaults everywhere; where a method trains in epochs, the epoch is chosen on the validation part. A run is one file in
results/hashers, and a run that is there is not run again, so that several of these may work side by side
(`python benchmarks/hashers.py [METHOD ...]`). The table and the plot are made from the files.
"""

import inspect
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ammi.data import benchmark
from ammi.evaluate import precision_at_k
from ammi.hashers import METHODS, by_name
from timing import machine

SETS = ("reuters", "ng20", "tmc_small")
BITS = (16, 32, 64, 128)
ORDER = ("bow", "lsh", "srbm", "sph", "itq", "sth", "vdsh", "nash", "gmsh", "dvq", "bmsh", "bmmi", "ammi")
RESULTS = Path(__file__).parent / "results" / "hashers"


def wanted(method: str) -> tuple[int, ...]:
    """BOW has a bit for each word, and BMMI visits all codes: 16 bits in the paper's table."""
    return {"bow": (0,), "bmmi": (16,)}.get(method, BITS)


def run(name: str, method: str, bits: int) -> dict[str, Any]:
    data = benchmark(name)
    known = inspect.signature(by_name(method)).parameters
    parameters = {"n_bits": bits, "random_state": 0, "verbose": False}
    hasher: Any = by_name(method)(**{key: value for key, value in parameters.items() if key in known})
    start = time.perf_counter()
    if "validation" in inspect.signature(hasher.fit).parameters:
        hasher.fit(data.train, data.train_labels, validation=(data.cv, data.cv_labels))
    else:
        hasher.fit(data.train)
    fitted = time.perf_counter()
    base = hasher.encode(data.train)
    encoded = time.perf_counter()
    return {
        "set": name,
        "method": method,
        "bits": bits,
        "test": precision_at_k(hasher.encode(data.test), data.test_labels, base, data.train_labels),
        "validation": precision_at_k(hasher.encode(data.cv), data.cv_labels, base, data.train_labels),
        "fit_s": fitted - start,
        "encode_s": encoded - fitted,
        "load": os.getloadavg()[0],
        **machine(),
    }


def missing(methods: list[str]) -> Iterator[tuple[Path, tuple[str, str, int]]]:
    for method in methods:
        for name in SETS:
            for bits in wanted(method):
                path = RESULTS / f"{name}-{method}-{bits}.json"
                if not path.exists():
                    yield path, (name, method, bits)


def results() -> dict[tuple[str, str, int], dict]:
    runs = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    return {(run["set"], run["method"], run["bits"]): run for run in runs}


def report(runs: dict[tuple[str, str, int], dict]) -> None:
    table = Table("method", title="Top-100 precision on test; seconds to fit ng20 at 64 bits")
    for name in SETS:
        for bits in BITS:
            table.add_column(f"{name} {bits}", justify="right")
    table.add_column("mean", justify="right")
    table.add_column("fit s", justify="right")
    for method in ORDER:
        cells = [runs.get((name, method, 0 if method == "bow" else bits)) for name in SETS for bits in BITS]
        values = [f"{cell['test']:.1f}" if cell else "" for cell in cells]
        present = [cell["test"] for cell in cells if cell]
        mean = f"{sum(present) / len(present):.2f}" if len(present) == len(cells) else ""
        timed = runs.get(("ng20", method, wanted(method)[-2 if len(wanted(method)) > 1 else 0]))
        table.add_row(method, *values, mean, f"{timed['fit_s']:.1f}" if timed else "")
    Console(width=170).print(table)


def plot(runs: dict[tuple[str, str, int], dict]) -> None:
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
    figure.savefig(RESULTS.parent / "hashers.png", dpi=110)


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
    RESULTS.mkdir(parents=True, exist_ok=True)
    methods = sys.argv[1:] or [method for method in ORDER if method in METHODS]
    for path, key in missing(methods):
        if path.exists():  # another one made it meanwhile
            continue
        result = run(*key)
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(result, indent=1) + "\n")
        new.replace(path)
        print(*key, f"{result['test']:.2f}", f"{result['fit_s']:.1f} s", flush=True)
    report(results())
    plot(results())


if __name__ == "__main__":
    main()
