"""Findings: the figures of all results so far, for claims, tables and plots."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import NamedTuple

from ammi.files import read_json
from ammi.tuning.experiments import Experiment, Result, Results
from reproduction.bounds import Bound
from reproduction.drifts import Drift
from reproduction.folder import PaperFolder
from reproduction.plan import Scale

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
    """Figures of tables and plots. A figure is missing if one of its experiments is."""

    scale: Scale
    precision: dict[tuple[str, str, int], list[float]] = field(default_factory=dict)  # row, set, bits: one per seed
    orders: dict[tuple[str, int, int], float] = field(default_factory=dict)  # method, o, r: validation precision
    bounds: dict[int, Bound] = field(default_factory=dict)  # by r
    pairs: dict[tuple[str, str], list[PairScore]] = field(default_factory=dict)  # row, set: one per seed
    drifts: dict[str, Drift] = field(default_factory=dict)  # by pair set

    def average(self, row: str, names: Iterable[str] | None = None) -> float | None:
        """Return the mean precision of a row over widths and sets, None if one is missing."""
        widths = (0,) if row == "BOW" else self.scale.bits
        cells = [self.precision.get((row, name, bits)) for name in names or self.scale.sets for bits in widths]
        return mean(mean(scores) for scores in cells if scores) if all(cells) else None

    def curve(self, row: str, name: str) -> list[tuple[int, float]]:
        """Return the widths and mean precisions of a row on a set."""
        return [
            (bits, mean(self.precision[row, name, bits]))
            for bits in self.scale.bits
            if (row, name, bits) in self.precision
        ]

    def line(self, order: int) -> dict[int, float]:
        """Return AMMI's validation precision by the order of the prior, for an encoder of this order."""
        return {r: score for (method, o, r), score in sorted(self.orders.items()) if (method, o) == ("ammi", order)}


def spread(scores: list[float]) -> float:
    """Return the standard deviation over seeds, 0 for one seed."""
    return stdev(scores) if len(scores) > 1 else 0.0


def read_findings(folder: PaperFolder) -> Findings:
    """Read all results in the folder."""
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
    """Return the results of experiments, or none if one is missing."""
    found = [results.get(experiment) for experiment in experiments]
    return [result for result in found if result] if all(found) else []
