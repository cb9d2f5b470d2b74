"""The plan: the searches and experiments of each table and figure. Nothing is read or written here.

Tuned methods run with the parameters that a search found, so a plan depends on the parameters found so far.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from ammi.tuning.experiments import Experiment, Parameters, default_parameters
from ammi.tuning.search import Search

PARTS = ("table1", "figure1", "table2", "table3")
# The paper's objective: documents alone, or pairs read by two encoders, without this package's additions.
_DOCUMENTS_ALONE: Parameters = {"neighbours": 0, "word_dropout": 0.0, "related_encoder": "own", "epochs": 40}
PAPERS_OBJECTIVE: Mapping[str, Parameters] = {
    "ammi": {**_DOCUMENTS_ALONE, "first_bits": 0, "reorder": 0, "prior_order": 3},
    "bmmi": _DOCUMENTS_ALONE,
}
ARTICLE_HALVES = "article-halves"  # nearly as many test pairs as the paper
WHO_DID_WHAT = "who-did-what"  # the paper's own pairs: matrices without texts
TINY, TINY_PAIRS = "docstrings", "docstring-halves"  # exist on every machine

Found = Mapping[tuple[str, str], Parameters]  # by set and method


class Row(NamedTuple):
    """A row of a table: its name and method, with tuned parameters or defaults."""

    name: str
    method: str
    tuned: bool = False


OTHERS = ("bow", "lsh", "srbm", "sph", "itq", "sth", "vdsh", "nash", "gmsh")
NAMES = {"sph": "SpH", "srbm": "S-RBM"}
PAPERS = Row("AMMI", "ammi", tuned=True)
RECIPE = Row("AMMI, recipe", "ammi")  # this package's default
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
    """The size of the reproduction."""

    sets: tuple[str, ...] = ("tmc_small", "ng20", "reuters")
    pair_sets: tuple[str, ...] = ("reuters-pairs", "newsgroup-replies", ARTICLE_HALVES)
    bits: tuple[int, ...] = (16, 32, 64, 128)
    tuned_bits: int = 64
    pair_bits: int = 128
    trials: int = 12
    fewer_trials: int = 6  # on pairs, and for BMMI
    fewest_trials: int = 3  # on the largest set of pairs, where a trial may take a quarter of an hour
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
    """A search and its number of trials."""

    search: Search
    trials: int


class Cell(NamedTuple):
    """A figure of a table: its row, set, number of bits, and experiments, one per seed."""

    row: str
    task: str
    bits: int
    experiments: list[Experiment]


@dataclass(frozen=True)
class Plan:
    """The experiments of each table and figure. Rows whose search has found nothing yet are missing."""

    scale: Scale
    found: Found = field(default_factory=dict)

    def searches(self, part: str) -> list[PlannedSearch]:
        """Return the searches of a part of the paper; table 3 uses the codes of table 2."""
        tables = {"table1": (self.scale.sets, TABLE_1), "table2": (self.scale.pair_sets, TABLE_2)}
        names, table = tables.get("table2" if part == "table3" else part, ((), ()))
        return [self._search(name, method) for name, method in product(names, tuned_methods(table))]

    def table1(self) -> list[Cell]:
        """Return every method at every width on every set."""
        return [
            Cell(row.name, name, bits, [self._experiment(row, name, bits, seed) for seed in self._seeds(row)])
            for row in TABLE_1
            for name in self.scale.sets
            for bits in self._widths(row)
            if self._is_known(row, name)
        ]

    def table2(self) -> list[Cell]:
        """Return the methods that learn from pairs, on every set of pairs."""
        cells = []
        for row, name in product(TABLE_2, self.scale.pair_sets):
            bits, seeds = (0, self.scale.seeds[:1]) if row.method == "bow" else (self.scale.pair_bits, self.scale.seeds)
            if self._is_known(row, name):
                cells.append(Cell(row.name, name, bits, [self._experiment(row, name, bits, seed) for seed in seeds]))
        return cells

    def figure1(self) -> dict[tuple[str, int, int], list[Experiment]]:
        """Return, by method, encoder order and prior order, experiments of which the best counts; BMMI has no prior."""
        lines = {("bmmi", 0, 0): self._weighted("bmmi", learning_rate=0.01)}  # AMMI's, also for its line
        for order, prior in product((0, 1), self.scale.prior_orders):
            if prior >= order:
                lines["ammi", order, prior] = self._weighted("ammi", order=order, prior_order=prior)
        return lines

    def table3(self) -> dict[str, Experiment]:
        """Return, by set of pairs with texts, the experiment of table 2 whose codes are used."""
        names = [name for name in self.scale.pair_sets if name != WHO_DID_WHAT]
        bits, seed = self.scale.pair_bits, self.scale.seeds[0]
        return {name: self._experiment(PAPERS, name, bits, seed) for name in names if self._is_known(PAPERS, name)}

    def _search(self, name: str, method: str) -> PlannedSearch:
        """Return the search for a method on a set; BMMI has one width, AMMI and BMMI the paper's objective."""
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
        """Return the widths of a row of table 1: BMMI is for 16 bits, and BOW has a bit per word."""
        return {"bow": (0,), "bmmi": self.scale.bits[:1]}.get(row.method, self.scale.bits)

    def _seeds(self, row: Row) -> tuple[int, ...]:
        """Return the seeds of a row of table 1: several for tuned methods, also with their defaults."""
        return self.scale.seeds if row.method in tuned_methods(TABLE_1) else self.scale.seeds[:1]

    def _experiment(self, row: Row, name: str, bits: int, seed: int) -> Experiment:
        found = self.found[name, row.method] if row.tuned else {}
        return Experiment(name, row.method, bits, self._shortened(row.method, found), seed)

    def _weighted(self, method: str, **more: float) -> list[Experiment]:
        """Return experiments of figure 1, one for each entropy weight."""
        papers, weights = PAPERS_OBJECTIVE[method], self.scale.entropy_weights
        wanted = [{**papers, **more, "entropy_weight": weight} for weight in weights]
        name, bits = self.scale.figure_set, self.scale.bits[0]
        return [Experiment(name, method, bits, self._shortened(method, parameters)) for parameters in wanted]

    def _shortened(self, method: str, parameters: Parameters) -> Parameters:
        """Return parameters with the number of epochs of this scale, pretraining included."""
        if self.scale.epochs is None:
            return parameters
        of_epochs = {"epochs", "pretraining_epochs"} & default_parameters(method).keys()
        return {**parameters, **dict.fromkeys(sorted(of_epochs), self.scale.epochs)}


def tuned_methods(table: Iterable[Row]) -> list[str]:
    """Return the tuned methods of a table."""
    return [row.method for row in table if row.tuned]
