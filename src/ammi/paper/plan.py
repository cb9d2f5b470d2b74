"""The plan: of which searches and experiments each table and figure of the paper is made. Nothing is read or written.

A table's tuned methods run with what a search found, so the plan is made for a scale and for what was found so far.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from ammi.tuning.experiments import Experiment, Parameters, default_parameters
from ammi.tuning.search import Search

PARTS = ("table1", "figure1", "table2", "table3")
# Documents alone, or pairs read by two encoders: what the defaults of this package add is left out.
_DOCUMENTS_ALONE: Parameters = {"neighbours": 0, "word_dropout": 0.0, "related_encoder": "own", "epochs": 40}
PAPERS_OBJECTIVE: Mapping[str, Parameters] = {
    "ammi": {**_DOCUMENTS_ALONE, "first_bits": 0, "reorder": 0, "prior_order": 3},
    "bmmi": _DOCUMENTS_ALONE,
}
ARTICLE_HALVES = "article-halves"  # as many pairs in the test part as the paper has, nearly
WHO_DID_WHAT = "who-did-what"  # the paper's own pairs, which come as matrices, without their texts
TINY, TINY_PAIRS = "docstrings", "docstring-halves"  # which are on every machine

Found = Mapping[tuple[str, str], Parameters]  # by set and method


class Row(NamedTuple):
    """A line of a table: its name, and the method with parameters that were searched for or with its defaults."""

    name: str
    method: str
    tuned: bool = False


OTHERS = ("bow", "lsh", "srbm", "sph", "itq", "sth", "vdsh", "nash", "gmsh")
NAMES = {"sph": "SpH", "srbm": "S-RBM"}
PAPERS = Row("AMMI", "ammi", tuned=True)
RECIPE = Row("AMMI, recipe", "ammi")  # this package's, which is its default
TABLE_1 = (
    *(Row(NAMES.get(method, method.upper()), method) for method in OTHERS),
    Row("DVQ", "dvq", tuned=True),
    Row("BMSH", "bmsh", tuned=True),
    PAPERS,
    Row("BMMI", "bmmi", tuned=True),
    RECIPE,
)
TABLE_2 = (Row("BOW", "bow"), Row("BMSH", "bmsh", tuned=True), Row("DVQ", "dvq", tuned=True), PAPERS, RECIPE)


@dataclass(frozen=True)
class Scale:
    """How much is done."""

    sets: tuple[str, ...] = ("tmc_small", "ng20", "reuters")
    pair_sets: tuple[str, ...] = ("reuters-pairs", "newsgroup-replies", ARTICLE_HALVES)
    bits: tuple[int, ...] = (16, 32, 64, 128)
    tuned_bits: int = 64
    pair_bits: int = 128
    trials: int = 12
    fewer_trials: int = 6  # on pairs, and for BMMI
    fewest_trials: int = 3  # on the largest set of pairs, where one may take a quarter of an hour
    seeds: tuple[int, ...] = (0, 1, 2)
    figure_set: str = "reuters"
    bound_orders: tuple[int, ...] = tuple(range(14))
    bound_steps: int = 1000
    prior_orders: tuple[int, ...] = tuple(range(11))
    entropy_weights: tuple[float, ...] = (2.0, 3.0)
    epochs: int | None = None


PAPER = Scale()
QUICK = Scale(
    sets=(TINY,),
    pair_sets=(TINY_PAIRS,),
    bits=(8, 16),
    tuned_bits=16,
    pair_bits=32,
    trials=2,
    fewer_trials=1,
    seeds=(0, 1),
    figure_set=TINY,
    bound_orders=(0, 1, 3),
    bound_steps=50,
    prior_orders=(0, 1, 3),
    entropy_weights=(2.0,),
    epochs=2,
)


class PlannedSearch(NamedTuple):
    """A search, and how many trials it has."""

    search: Search
    trials: int


class Cell(NamedTuple):
    """A figure of a table: its line, its set, the width of the codes, and the experiments that it is of, one a seed."""

    row: str
    task: str
    bits: int
    experiments: list[Experiment]


@dataclass(frozen=True)
class Plan:
    """What each table and figure is made of. Lines whose search has found nothing yet are not there."""

    scale: Scale
    found: Found = field(default_factory=dict)

    def searches(self, part: str) -> list[PlannedSearch]:
        """The searches that a part of the paper needs; the walks of table 3 are among the codes of table 2."""
        tables = {"table1": (self.scale.sets, TABLE_1), "table2": (self.scale.pair_sets, TABLE_2)}
        names, table = tables.get("table2" if part == "table3" else part, ((), ()))
        return [self._search(name, method) for name, method in product(names, tuned_methods(table))]

    def table1(self) -> list[Cell]:
        """Every method at every width on every set."""
        return [
            Cell(row.name, name, bits, [self._experiment(row, name, bits, seed) for seed in self._seeds(row)])
            for row in TABLE_1
            for name in self.scale.sets
            for bits in self._widths(row)
            if self._is_known(row, name)
        ]

    def table2(self) -> list[Cell]:
        """The methods that learn from pairs, on every set of pairs."""
        cells = []
        for row, name in product(TABLE_2, self.scale.pair_sets):
            bits, seeds = (0, self.scale.seeds[:1]) if row.method == "bow" else (self.scale.pair_bits, self.scale.seeds)
            if self._is_known(row, name):
                cells.append(Cell(row.name, name, bits, [self._experiment(row, name, bits, seed) for seed in seeds]))
        return cells

    def figure1(self) -> dict[tuple[str, int, int], list[Experiment]]:
        """By method, encoder order and prior order, the experiments of which the best counts; BMMI has no prior."""
        lines = {("bmmi", 0, 0): self._weighted("bmmi")}
        for order, prior in product((0, 1), self.scale.prior_orders):
            if prior >= order:
                lines["ammi", order, prior] = self._weighted("ammi", order=order, prior_order=prior)
        return lines

    def table3(self) -> dict[str, Experiment]:
        """By set of pairs, the experiment of table 2 among whose codes the walks are; they need the articles' texts."""
        names = [name for name in self.scale.pair_sets if name != WHO_DID_WHAT]
        bits, seed = self.scale.pair_bits, self.scale.seeds[0]
        return {name: self._experiment(PAPERS, name, bits, seed) for name in names if self._is_known(PAPERS, name)}

    def _search(self, name: str, method: str) -> PlannedSearch:
        """The search for a method on a set: BMMI's is at its one width, AMMI's and BMMI's of the paper's objective."""
        of_pairs = name in self.scale.pair_sets
        bits = self.scale.bits[0] if method == "bmmi" else self.scale.tuned_bits
        fixed = self._shortened(method, PAPERS_OBJECTIVE.get(method, {}))
        search = Search(name, method, self.scale.pair_bits if of_pairs else bits, fixed)
        return PlannedSearch(search, self._trials(name, method))

    def _trials(self, name: str, method: str) -> int:
        if name == ARTICLE_HALVES:
            return self.scale.fewest_trials
        return self.scale.fewer_trials if name in self.scale.pair_sets or method == "bmmi" else self.scale.trials

    def _is_known(self, row: Row, name: str) -> bool:
        return not row.tuned or (name, row.method) in self.found

    def _widths(self, row: Row) -> tuple[int, ...]:
        """Of table 1: BMMI is for 16 bits, and BOW has as many bits as there are words."""
        return {"bow": (0,), "bmmi": self.scale.bits[:1]}.get(row.method, self.scale.bits)

    def _seeds(self, row: Row) -> tuple[int, ...]:
        """Of table 1: several for the methods that are searched for, also where they run with their defaults."""
        return self.scale.seeds if row.method in tuned_methods(TABLE_1) else self.scale.seeds[:1]

    def _experiment(self, row: Row, name: str, bits: int, seed: int) -> Experiment:
        found = self.found[name, row.method] if row.tuned else {}
        return Experiment(name, row.method, bits, self._shortened(row.method, found), seed)

    def _weighted(self, method: str, **orders: int) -> list[Experiment]:
        """Experiments of figure 1, one for each entropy weight."""
        papers, weights = PAPERS_OBJECTIVE[method], self.scale.entropy_weights
        wanted = [{**papers, **orders, "entropy_weight": weight} for weight in weights]
        name, bits = self.scale.figure_set, self.scale.bits[0]
        return [Experiment(name, method, bits, self._shortened(method, parameters)) for parameters in wanted]

    def _shortened(self, method: str, parameters: Parameters) -> dict[str, Any]:
        """The parameters of an experiment at this scale, which may have fewer epochs, also of what comes before."""
        if self.scale.epochs is None:
            return dict(parameters)
        of_epochs = {"epochs", "pretraining_epochs"} & default_parameters(method).keys()
        return {**parameters, **dict.fromkeys(sorted(of_epochs), self.scale.epochs)}


def tuned_methods(table: Iterable[Row]) -> list[str]:
    """The methods of a table that are searched for."""
    return [row.method for row in table if row.tuned]
