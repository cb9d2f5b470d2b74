"""Findings: what the results of the paper's experiments say so far, as plain figures for claims, tables and plots."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import Any, NamedTuple

from ammi.files import read_json
from ammi.paper.folder import PaperFolder
from ammi.paper.plan import Scale
from ammi.tuning.experiments import Experiment, Result, Results

PAIR_KEYS = ("test", "distinct", "documents", "dimension", "pairs")


class PairScore(NamedTuple):
    """A result of table 2."""

    matching: float  # percent
    distinct: int
    documents: int
    dimension: int  # bits of a code
    pairs: list[int]  # for training, validation and test


@dataclass(frozen=True)
class Findings:
    """Figures by what they are of. One whose experiments are not all done is not there."""

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


def read_findings(folder: PaperFolder) -> Findings:
    """All that is in the folder of the results."""
    plan, results, findings = folder.plan(), folder.results, Findings(folder.scale)
    for cell in plan.table1():
        if seeds := _all_results(results, cell.experiments):
            findings.precision[cell.row, cell.task, cell.bits] = [result["test"] for result in seeds]
    for cell in plan.table2():
        if seeds := _all_results(results, cell.experiments):
            findings.pairs[cell.row, cell.task] = [PairScore(*(result[key] for key in PAIR_KEYS)) for result in seeds]
    for name, experiment in plan.table3().items():
        if folder.walks(experiment).exists():
            findings.drifts[name] = read_json(folder.walks(experiment))
    for key, experiments in plan.figure1().items():
        if weights := _all_results(results, experiments):
            findings.orders[key] = max(result["validation"] for result in weights)
    for order in folder.scale.bound_orders:
        if folder.bound(order).exists():
            findings.bounds[order] = read_json(folder.bound(order))
    return findings


def _all_results(results: Results, experiments: list[Experiment]) -> list[Result]:
    """The results of experiments, or none where one is missing."""
    found = [results.get(experiment) for experiment in experiments]
    return [result for result in found if result] if all(found) else []
