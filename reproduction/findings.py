"""Findings: the figures of all results so far, for claims, tables and plots."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import NamedTuple

from ammi.files import read_json
from ammi.tuning.experiments import Experiment, Parameters, Result, Results
from reproduction.bounds import Bound
from reproduction.drifts import Drift
from reproduction.folder import PaperFolder
from reproduction.plan import BMMI, PAPERS_OBJECTIVE, Scale
from reproduction.unseen import Unseen

PAIR_KEYS = ("test", "distinct", "documents", "dimension", "pairs")


class PairScore(NamedTuple):
    """A result of table 2."""

    matching: float  # percent
    distinct: int
    documents: int
    dimension: int  # bits of a code
    pairs: list[int]  # for training, validation and test


class OrderPoint(NamedTuple):
    """A point of figure 1 (b): the validation precision of each seed, and the parameters that a search found."""

    validation: list[float]
    setting: Parameters


@dataclass(frozen=True)
class Findings:
    """Figures of tables and plots. A figure is missing if one of its experiments is."""

    scale: Scale
    precision: dict[tuple[str, str, int], list[float]] = field(default_factory=dict)  # row, set, bits: one per seed
    orders: dict[tuple[int, int], OrderPoint] = field(default_factory=dict)  # AMMI, by o and r
    brute_force: OrderPoint | None = None  # BMMI beside them
    bounds: dict[int, list[Bound]] = field(default_factory=dict)  # by r, one per seed
    pairs: dict[tuple[str, str], list[PairScore]] = field(default_factory=dict)  # row, set: one per seed
    drifts: dict[str, Drift] = field(default_factory=dict)  # by pair set
    unseen: dict[tuple[str, str], Unseen] = field(default_factory=dict)  # row, set

    def seed_averages(
        self, row: str, names: Iterable[str] | None = None, widths: Iterable[int] | None = None
    ) -> list[float]:
        """Return the mean precision of a row over sets and widths, seed by seed; nothing if a cell is missing."""
        widths = (0,) if row == "BOW" else tuple(widths or self.scale.bits)
        cells = [self.precision.get((row, name, bits), []) for name in names or self.scale.sets for bits in widths]
        return [mean(scores) for scores in zip(*cells, strict=True)] if all(cells) else []

    def average(self, row: str, names: Iterable[str] | None = None) -> float | None:
        """Return the mean precision of a row over widths and sets, None if one is missing."""
        averages = self.seed_averages(row, names)
        return mean(averages) if averages else None

    def curve(self, row: str, name: str) -> list[tuple[int, float]]:
        """Return the widths and mean precisions of a row on a set."""
        return [
            (bits, mean(self.precision[row, name, bits]))
            for bits in self.scale.bits
            if (row, name, bits) in self.precision
        ]

    def line(self, order: int) -> dict[int, list[float]]:
        """Return AMMI's validation precision by the order of the prior, for an encoder of this order."""
        return {r: point.validation for (o, r), point in sorted(self.orders.items()) if o == order}


def spread(scores: list[float]) -> float:
    """Return the standard deviation over seeds, 0 for one seed."""
    return stdev(scores) if len(scores) > 1 else 0.0


def read_findings(folder: PaperFolder) -> Findings:
    """Read all results in the folder."""
    plan, results, scale = folder.plan(), folder.results, folder.scale
    points = {
        cell.row: OrderPoint([result["validation"] for result in seeds], _varied(cell.experiments[0]))
        for cell in plan.cells("figure1")
        if (seeds := _all_results(results, cell.experiments))
    }
    orders = {orders: points[row.name] for orders, row in plan.order_rows().items() if row.name in points}
    findings = Findings(scale, orders=orders, brute_force=points.get(BMMI.name))
    for cell in (*plan.cells("table1"), *plan.cells("controls")):
        if seeds := _all_results(results, cell.experiments):
            findings.precision[cell.row, cell.task, cell.bits] = [result["test"] for result in seeds]
    for cell in plan.cells("table2"):
        if seeds := _all_results(results, cell.experiments):
            findings.pairs[cell.row, cell.task] = [PairScore(*(result[key] for key in PAIR_KEYS)) for result in seeds]
    for name, experiment in plan.table3().items():
        if folder.walks(experiment).exists():
            findings.drifts[name] = read_json(folder.walks(experiment))
    for order in scale.bound_orders:
        paths = [folder.bound(order, seed) for seed in scale.seeds]
        if all(path.exists() for path in paths):
            findings.bounds[order] = [read_json(path) for path in paths]
    for name in scale.unseen_sets:
        for row in scale.unseen_rows:
            if (path := folder.unseen(name, row)).exists():
                findings.unseen[row, name] = read_json(path)
    return findings


def _all_results(results: Results, experiments: list[Experiment]) -> list[Result]:
    """Return the results of experiments, or none if one is missing."""
    found = [results.get(experiment) for experiment in experiments]
    return [result for result in found if result] if all(found) else []


def _varied(experiment: Experiment) -> Parameters:
    """Return the parameters of an experiment that the paper's objective leaves open, without the orders."""
    fixed = {*PAPERS_OBJECTIVE[experiment.method], "order"}
    return {name: value for name, value in experiment.parameters.items() if name not in fixed}
