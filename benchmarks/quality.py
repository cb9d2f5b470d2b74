"""Top-100 precision of AMMI on the benchmark sets: its defaults, each idea alone, and what others have published.

One set of hyperparameters for all sets and all numbers of bits. Each variant is run without any label, and the default
also with the epoch chosen on the validation part. The published programs' figures are with hyperparameters tuned for
each cell. Runs are kept in results/quality.json, and a run that is there is not run again.
"""

import itertools
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from ammi import AMMI
from ammi.data import benchmark
from ammi.data.mat import Benchmark
from ammi.evaluate import precision_at_k
from ammi.tuning.machine import machine

sys.path.insert(0, str(Path(__file__).parents[1]))
from reproduction.published import PROGRAM, TABLE_1

BITS = (16, 32, 64, 128)
SEEDS = (0, 1, 2)
SETS = ("reuters", "ng20", "tmc_small")
SNUH_PROGRAM = {"tmc_small": 75.58, "ng20": 64.07, "reuters": 84.09}  # the published program of SNUH (2021), 64 bits
LATER = {  # later methods, as published on their authors' own versions of the sets, which are close but not the same
    "SNUH": {
        "tmc_small": (72.5, 75.4, 76.6, 77.3),
        "ng20": (57.8, 63.9, 66.5, 67.3),
        "reuters": (83.2, 84.7, 85.6, 86.2),
    },
    "CorrSH": {
        "tmc_small": (72.4, 75.3, 76.1, 76.3),
        "ng20": (58.4, 61.8, 62.8, 63.6),
        "reuters": (82.1, 84.2, 84.7, 84.8),
    },
}
DEFAULT, CHOSEN = "default", "default, epoch chosen by labels"
ALONE = "documents alone (the paper's objective)"
BEFORE = {"reorder": 0, "first_bits": 0, "word_dropout": 0.0, "neighbours": 10}
VARIANTS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    CHOSEN: {},
    ALONE: {"neighbours": 0, "entropy_weight": 3.0},
    "without reordering the bits": {"reorder": 0},
    "without the first model": {"first_bits": 0, "neighbours": 10},
    "without word dropout": {"word_dropout": 0.0},
    "without all three": BEFORE,
    "only reordering": BEFORE | {"reorder": 10},
    "only the first model": BEFORE | {"first_bits": 128, "neighbours": 100},
    "only word dropout": BEFORE | {"word_dropout": 0.3},
    "r = 2": {"prior_order": 2},
    "r = 5": {"prior_order": 5},
    "order 1, r = 3": {"order": 1},
}
ONE_SEED = list(VARIANTS)[2:]
RESULTS = Path(__file__).parent / "results" / "quality.json"


def run(name: str, bits: int, variant: str, seed: int) -> dict[str, Any]:
    data = benchmark(name)
    hasher = AMMI(bits, random_state=seed, verbose=False, **VARIANTS[variant])
    start, cpu = time.perf_counter(), time.process_time()
    if variant == CHOSEN:
        hasher.fit(data.train, data.train_labels, validation=(data.cv, data.cv_labels))
    else:
        hasher.fit(data.train)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    base, asked = hasher.encode(data.train), (hasher.encode(data.test), data.test_labels)
    return {
        "set": name,
        "bits": bits,
        "variant": variant,
        "seed": seed,
        "validation": precision_at_k(hasher.encode(data.cv), data.cv_labels, base, data.train_labels),
        "test": precision_at_k(*asked, base, data.train_labels),
        "test_expected_ties": precision_at_k(*asked, base, data.train_labels, ties="expected"),
        "test_asymmetric": asymmetric_precision(hasher, data),
        "epochs": len(hasher.history_),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        **machine(),
    }


def asymmetric_precision(hasher: AMMI, data: Benchmark) -> float:
    """Where a query keeps its logits and documents have their bits, as `rank="asymmetric"` compares them."""
    probs = hasher.bit_probabilities(data.test).clip(1e-7, 1 - 1e-7)
    signs = 2 * hasher.transform(data.train).astype(np.float32) - 1
    near = np.argsort(-(np.log(probs / (1 - probs)) @ signs.T), axis=1, kind="stable")[:, :100]
    asked, base = (labels != 0 for labels in (data.test_labels, data.train_labels))
    return 100 * float(np.mean([(base[found] & one).any(1).mean() for found, one in zip(near, asked, strict=True)]))


def all_runs() -> list[tuple[str, int, str, int]]:
    """The default at every width with three seeds, and the other variants with one."""
    wanted = list(itertools.product(SETS, BITS, [DEFAULT, CHOSEN], SEEDS))
    return wanted + [(name, bits, variant, 0) for variant in ONE_SEED for name in SETS for bits in BITS]


Cells = dict[tuple[str, str, int], list[dict[str, Any]]]  # runs by variant, set and bits


def report(cells: Cells) -> None:
    table = Table(
        "", "", *(f"{bits} bits" for bits in BITS), title="Top-100 precision on test, mean ± spread of three seeds"
    )
    for name in SETS:
        for variant in (DEFAULT, CHOSEN):
            table.add_row(name, variant, *(spread(cells.get((variant, name, bits), []), "test") for bits in BITS))
        table.add_row("", "published program", *(f"{value:.2f}" for value in PROGRAM[name]))
    Console().print(table)
    table = Table("mean of the twelve cells", "validation", "test", "ties by chance", "asymmetric", "CPU s of a fit")
    for variant in VARIANTS:
        figures = ("validation", "test", "test_expected_ties", "test_asymmetric", "cpu_seconds")
        runs = [cells.get((variant, name, bits), []) for name, bits in itertools.product(SETS, BITS)]
        if all(runs):
            table.add_row(
                variant, *(f"{statistics.mean(mean(one, figure) for one in runs if one):.2f}" for figure in figures)
            )
    table.add_row("published program", "", f"{statistics.mean(itertools.chain(*PROGRAM.values())):.2f}")
    Console().print(table)


def mean(runs: list[dict[str, Any]], figure: str) -> float:
    return statistics.mean(one[figure] for one in runs)


def spread(runs: list[dict[str, Any]], figure: str) -> str:
    values = [one[figure] for one in runs]
    if len(values) < 2:
        return f"{values[0]:.2f}" if values else ""
    return f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}"


def plot(cells: Cells) -> None:
    """Precision by the number of bits, with published figures as marks."""
    figure = Figure(figsize=(11, 4), layout="constrained")
    for axes, name in zip(figure.subplots(1, 3), SETS, strict=True):
        for variant, colour in ((DEFAULT, "black"), (ALONE, "tab:blue")):
            points = [(bits, mean(runs, "test")) for bits in BITS if (runs := cells.get((variant, name, bits)))]
            if len(points) == len(BITS):
                axes.plot(*zip(*points, strict=True), color=colour, marker="o", markersize=3, label=f"ammi: {variant}")
        axes.plot(BITS, PROGRAM[name], "s", color="tab:red", label="published AMMI program, these matrices")
        axes.plot(64, SNUH_PROGRAM[name], "D", color="tab:green", label="published SNUH program, these matrices")
        for method, marker in (("SNUH", "^"), ("CorrSH", "v")):
            axes.plot(BITS, LATER[method][name], marker, color="tab:gray", label=f"{method}, its own matrices")
        axes.plot(BITS, TABLE_1["AMMI"][name], "x", color="tab:gray", label="AMMI, the paper's matrices")
        axes.set_xscale("log", base=2)
        axes.set_xticks(BITS, map(str, BITS))
        axes.set(title=name, xlabel="bits")
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("top-100 precision, test part")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    figure.savefig(RESULTS.with_suffix(".png"), dpi=130)


def main() -> None:
    runs = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    done = {(one["set"], one["bits"], one["variant"], one["seed"]) for one in runs}
    for key in all_runs():
        if key in done:
            continue
        runs.append(run(*key))
        new = RESULTS.with_suffix(".new")
        new.write_text(json.dumps(runs, indent=1) + "\n")
        new.replace(RESULTS)
        print(*key, f"{runs[-1]['test']:.2f}", flush=True)
    cells: Cells = {}
    for one in runs:
        cells.setdefault((one["variant"], one["set"], one["bits"]), []).append(one)
    report(cells)
    plot(cells)


if __name__ == "__main__":
    main()
