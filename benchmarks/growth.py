"""How a fit of AMMI with its defaults grows with documents, threads, vocabulary, bits and orders: time and memory.

Documents are drawn from real ones: a bag of words from the mixture of the words of two documents of ng20, weighted by
tf-idf and of unit length. Every size is run in a process of its own, which fits a small set before the clock starts.
Rows are kept in results/growth.json, and a row that is there is not run again.

    growth.py [--most DOCUMENTS]    run what is missing, of at most so many documents, and draw growth.png
"""

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_matrix, vstack
from sklearn.preprocessing import normalize

from ammi import AMMI
from ammi.data import benchmark
from ammi.training.progress import Advance, Silent
from ammi.tuning.machine import machine

BASE: dict[str, int] = {"documents": 10_000, "words": 10_000, "bits": 64, "order": 0, "prior_order": 3, "threads": 1}
SIZES: list[dict[str, int]] = [
    *({"documents": n, "threads": threads} for n in (10_000, 30_000, 100_000) for threads in (1, 2)),
    *({"words": words} for words in (5_000, 20_000, 40_000, 80_000)),
    *({"bits": bits} for bits in (16, 32, 128, 256)),
    *({"prior_order": r} for r in (1, 5, 7)),
    *({"documents": n, "threads": threads} for n in (300_000, 1_000_000) for threads in (2, 1)),
    *({"order": o, "prior_order": o + 2} for o in (1, 2)),  # by torch, the compiled steps are for order 0
]
PARTS = ("first graph", "first model", "second graph", "second model")
RESULTS = Path(__file__).parent / "results" / "growth.json"
_AT_ONCE = 50_000  # documents that are drawn

Row = dict[str, Any]


class Clock(Silent):
    """Notes when each part of a fit began, and when it last went on."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, list[tuple[float, float]]]] = []

    def part(self, name: str, total: int) -> Advance:
        times = [now()]
        self.parts.append((name, times))
        return lambda steps: times.append(now())

    def differences(self, end: tuple[float, float]) -> dict[str, tuple[float, float]]:
        """The time of each part, and of the processor: a graph as it was shown, a model from there to what follows."""
        first, second = [times for name, times in self.parts if name == "neighbours"]
        moments = [first[0], first[-1], second[0], second[-1], end]
        spans = itertools.pairwise(moments)
        return {name: (b[0] - a[0], b[1] - a[1]) for name, (a, b) in zip(PARTS, spans, strict=True)}


def now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def draw(n: int, n_words: int, seed: int = 0) -> csr_matrix:
    """n documents of tf-idf rows, from the words of two real documents each.

    A smaller vocabulary has the most frequent words; in a larger one each word has several forms, some more frequent.
    """
    real = benchmark("ng20").train.tocsr()
    found = np.bincount(real.indices, minlength=real.shape[1])
    real = real[:, np.argsort(-found, kind="stable")[:n_words]].tocsr()
    real = real[np.diff(real.indptr) > 0]
    n_forms = max(1, n_words // real.shape[1])
    idf = np.log(real.shape[0] / np.maximum(1, np.bincount(real.indices, minlength=real.shape[1])))
    counts = real.data / np.maximum(idf, 0.1)[real.indices]  # but for a factor for each document
    rng = np.random.default_rng(seed)
    blocks = []
    for start in range(0, n, _AT_ONCE):
        blocks.append(_draw_block(min(_AT_ONCE, n - start), real, counts, n_forms, rng))
    drawn = vstack(blocks, format="csr", dtype=np.float32)
    frequency = np.bincount(drawn.indices, minlength=drawn.shape[1])
    drawn.data *= np.log((1 + n) / (1 + frequency)).astype(np.float32)[drawn.indices]
    return normalize(drawn, copy=False)


def _draw_block(n: int, real: csr_matrix, counts: np.ndarray, n_forms: int, rng: np.random.Generator) -> csr_matrix:
    """The counts of n documents: as many words as the two have different ones in the mean, a third from the second."""
    ends = np.concatenate(([0.0], np.cumsum(counts, dtype=np.float64)))
    pair = rng.integers(real.shape[0], size=(n, 2))
    lengths = np.ceil(1.4 * np.diff(real.indptr)[pair].mean(1)).astype(np.int64)
    document = np.repeat(np.arange(n), lengths)
    source = pair[document, (rng.random(len(document)) < 1 / 3).astype(np.int64)]
    low, high = ends[real.indptr[source]], ends[real.indptr[source + 1]]
    location = np.searchsorted(ends, low + (high - low) * rng.random(len(document)), side="right") - 1
    location = np.clip(location, real.indptr[source], real.indptr[source + 1] - 1)
    form = (n_forms * rng.random(len(document)) ** 3).astype(np.int64)
    words = real.indices[location].astype(np.int64) * n_forms + form
    ones = np.ones(len(document), np.float32)
    return csr_matrix((ones, (document, words)), shape=(n, real.shape[1] * n_forms))


def measure(size: dict[str, int]) -> Row:
    """One row, in this process."""
    X = draw(size["documents"], size["words"])
    parameters: dict[str, Any] = {
        "order": size["order"],
        "prior_order": size["prior_order"],
        "random_state": 0,
        "verbose": False,
        "n_jobs": size["threads"],
    }
    AMMI(size["bits"], epochs=1, **parameters).fit(X[:500])
    Path("/proc/self/clear_refs").write_text("5")  # the peak of memory is counted from here
    before, hasher, clock = _memory("VmRSS"), AMMI(size["bits"], **parameters), Clock()
    start, load = now(), os.getloadavg()[0]
    hasher.fit(X, progress=clock)
    end = now()
    parts = clock.differences(end)
    epochs = [row["seconds"] for row in hasher.history_]
    return {
        **size,
        "words_per_document": X.nnz / X.shape[0],
        "epochs": len(epochs),
        **{name: {"seconds": seconds, "cpu_seconds": cpu} for name, (seconds, cpu) in parts.items()},
        "epoch": {"seconds": min(epochs), "mean_seconds": float(np.mean(epochs))},
        "fit": {"seconds": end[0] - start[0], "cpu_seconds": end[1] - start[1]},
        "documents_per_second": size["documents"] / min(epochs),
        "peak_gb": _memory("VmHWM"),
        "before_gb": before,
        "fingerprint": hasher.fingerprint_,  # the same on any number of threads
        "load": [load, os.getloadavg()[0]],
        **machine(),
    }


def _memory(name: str) -> float:
    match = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert match
    return int(match[1]) * 1024 / 1e9


def in_a_process(size: dict[str, int]) -> Row:
    command = [sys.executable, __file__, "--one", json.dumps(size)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def report(rows: list[Row]) -> None:
    sizes = list(BASE)
    table = Table(
        *sizes, *PARTS, "an epoch", "fit", "CPU of it", "documents/s", "peak GB", title="seconds, AMMI's defaults"
    )
    for row in rows:
        seconds = [f"{row[part]['seconds']:.2f}" for part in (*PARTS, "epoch", "fit")]
        cpu, rate, peak = (
            f"{row['fit']['cpu_seconds']:.2f}",
            f"{row['documents_per_second']:,.0f}",
            f"{row['peak_gb']:.2f}",
        )
        table.add_row(*(f"{row[key]:,}" for key in sizes), *seconds, cpu, rate, peak)
    Console(width=180).print(table)


def plot(rows: list[Row]) -> None:
    """Time on one thread and on two against documents, on logarithmic scales, with a line of slope 1."""
    alike = [row for row in rows if all(row[key] == BASE[key] for key in ("words", "bits", "order", "prior_order"))]
    rows = [row for row in alike if row["threads"] == 1]
    n = [row["documents"] for row in rows]
    figure = Figure(figsize=(6.5, 4.5), layout="constrained")
    axes = figure.subplots()
    for part in ("fit", *PARTS):
        strong = part == "fit"
        axes.loglog(
            n,
            [row[part]["seconds"] for row in rows],
            marker="o",
            markersize=4,
            color="black" if strong else None,
            linewidth=2 if strong else 1,
            label="whole fit, one thread" if strong else part,
        )
    two = [row for row in alike if row["threads"] == 2]
    axes.loglog(
        [row["documents"] for row in two],
        [row["fit"]["seconds"] for row in two],
        marker="s",
        markersize=4,
        color="tab:red",
        linewidth=2,
        label="whole fit, two threads",
    )
    first = rows[0]["fit"]["seconds"]
    axes.loglog(n, [first * one / n[0] for one in n], "--", color="tab:gray", label="slope 1")
    axes.set(xlabel="documents", ylabel="seconds")
    axes.set_title("AMMI's defaults, 10,000 words, 64 bits", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(RESULTS.with_suffix(".png"), dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", type=json.loads)
    parser.add_argument("--most", type=int, default=1_000_000)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure(asked.one)))
        return
    rows: list[Row] = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    rows = [row for row in rows if "threads" in row]  # others are from before fits had threads
    for size in (BASE | one for one in SIZES):
        if size["documents"] > asked.most or any(all(one[key] == size[key] for key in size) for one in rows):
            continue
        row = in_a_process(size)
        rows.append(row)
        rows.sort(key=lambda one: one["documents"])  # which keeps the others as they are
        new = RESULTS.with_suffix(".new")
        new.write_text(json.dumps(rows, indent=1) + "\n")
        new.replace(RESULTS)
        plot(rows)
        print(size, f"{row['fit']['seconds']:.1f} s", flush=True)
    report(rows)


if __name__ == "__main__":
    main()
