"""What the results of the paper's experiments say so far, as plain figures that claims, tables and plots share."""

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from statistics import mean, stdev
from typing import Any, NamedTuple

from ammi.experiments.paper import TABLE_1, TABLE_2, Paper, Row, Scale
from ammi.experiments.runs import Run

PAIR_KEYS = ("test", "distinct", "documents", "dimension", "pairs")


class PairScore(NamedTuple):
    """A run of table 2."""

    matching: float  # percent
    distinct: int
    documents: int
    dimension: int  # bits of a code
    pairs: list[int]  # for training, validation and test


@dataclass(frozen=True)
class Measured:
    """Figures by what they are of. One whose runs are not all done is not there."""

    scale: Scale
    precision: dict[tuple[str, str, int], list[float]] = field(default_factory=dict)  # row, set, bits: one a seed
    orders: dict[tuple[str, int, int], float] = field(default_factory=dict)  # method, o, r: validation precision
    bounds: dict[int, dict[str, Any]] = field(default_factory=dict)  # by r: entropy, exact and gradient, in bits
    pairs: dict[tuple[str, str], list[PairScore]] = field(default_factory=dict)  # row, set: one a seed
    drifts: dict[str, dict[str, Any]] = field(default_factory=dict)  # by pair set: walks and agreement

    def average(self, row: str, names: Iterable[str] | None = None) -> float | None:
        """The mean precision of a line over widths and sets, where all of them are there."""
        widths = (0,) if row == "BOW" else self.scale.bits
        cells = [self.precision.get((row, name, bits)) for name in names or self.scale.sets for bits in widths]
        return mean(mean(scores) for scores in cells if scores) if all(cells) else None

    def curve(self, row: str, name: str) -> list[tuple[int, float]]:
        """The mean precision of a line on a set at each width that is there."""
        return [
            (bits, mean(self.precision[row, name, bits]))
            for bits in self.scale.bits
            if (row, name, bits) in self.precision
        ]

    def line(self, order: int) -> dict[int, float]:
        """AMMI's validation precision by the order of the prior, for an encoder of some order."""
        return {r: score for (method, o, r), score in sorted(self.orders.items()) if (method, o) == ("ammi", order)}


def spread(scores: list[float]) -> float:
    """The standard deviation over seeds, 0 where there is one seed."""
    return stdev(scores) if len(scores) > 1 else 0.0


def read(paper: Paper) -> Measured:
    """All that is in the folder of the experiments; each set alone, for a search may be done on one and not another."""
    scale, measured = paper.scale, Measured(paper.scale)
    for name in scale.sets:
        alone = Paper(paper.folder, replace(scale, sets=(name,)), paper.show)
        for row in TABLE_1:
            for bits, results in _by_width(alone, alone.table1_runs, row):
                measured.precision[row.name, name, bits] = [result["test"] for result in results]
    for name in scale.pair_sets:
        alone = Paper(paper.folder, replace(scale, pair_sets=(name,)), paper.show)
        for row in TABLE_2:
            for _, results in _by_width(alone, alone.table2_runs, row):
                scores = [PairScore(*(one[key] for key in PAIR_KEYS)) for one in results]
                measured.pairs[row.name, name] = scores
        with suppress(FileNotFoundError):  # not walked yet, or not searched for
            measured.drifts[name] = json.loads(paper.drift_path(paper.drift_run(name)).read_text())
    for key, runs in paper.figure1_runs().items():
        if found := _all_results(paper, runs):
            measured.orders[key] = max(result["validation"] for result in found)
    for order in scale.bound_orders:
        if paper.bound_path(order).exists():
            measured.bounds[order] = json.loads(paper.bound_path(order).read_text())
    return measured


def _by_width(paper: Paper, runs_of: Callable[[Row], list[Run]], row: Row) -> list[tuple[int, list[dict[str, Any]]]]:
    """The results of a line of a table by the number of bits: none before its search, whose finding it runs with."""
    try:
        runs = runs_of(row)
    except FileNotFoundError:
        return []
    cells = [(bits, _all_results(paper, list(seeds))) for bits, seeds in groupby(runs, key=lambda run: run.bits)]
    return [(bits, results) for bits, results in cells if results]


def _all_results(paper: Paper, runs: list[Run]) -> list[dict[str, Any]]:
    """The results of runs, or none where one is missing."""
    results = [paper.results.get(run) for run in runs]
    return [result for result in results if result] if all(results) else []
