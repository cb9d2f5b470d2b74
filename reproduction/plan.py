"""The plan: the searches and experiments of each table and figure. Nothing is read or written here.

Searched methods run with the parameters that a search found, so a plan depends on the parameters found so far.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from ammi.tuning.experiments import Experiment, Parameters, default_parameters
from ammi.tuning.grids import GRIDS, Grid
from ammi.tuning.search import Search
from reproduction.controls import CONTROL_GRIDS
from reproduction.unseen import MINILM
from reproduction.unseen import ROWS as UNSEEN_ROWS

PARTS = ("table1", "figure1", "table2", "table3", "controls", "unseen")
SEARCHED_PARTS = ("table1", "figure1", "table2", "controls")
# The paper's objective: documents alone, or pairs read by two encoders, without this package's additions.
_DOCUMENTS_ALONE: Parameters = {"neighbours": 0, "word_dropout": 0.0, "related_encoder": "own", "epochs": 40}
PAPERS_ORDER = 3  # of the prior, in all of the paper's tables
PAPERS_OBJECTIVE: Mapping[str, Parameters] = {
    "ammi": {
        **_DOCUMENTS_ALONE,
        "first_bits": 0,
        "reorder": 0,
        "prior_order": PAPERS_ORDER,
        "adversary": "gradient",
    },
    "bmmi": _DOCUMENTS_ALONE,
}
ARTICLE_HALVES = "article-halves"  # nearly as many test pairs as the paper
WHO_DID_WHAT = "who-did-what"  # the paper's own pairs: matrices without texts
TINY, TINY_PAIRS = "docstrings", "docstring-halves"  # exist on every machine
WORDS = {"tmc_small": 5_393, "ng20": 9_988, "reuters": 7_164}  # of the matrices; of pairs at most 20,000
MOST_WORDS = 20_000
FINALISTS = 3  # trials of a search that are run with several seeds; a trial's own seed may be a lucky one
FINALIST_SEEDS = 3
DECODER_BUDGET = 40_000_000  # weights of DVQ's decoder, a limit of the published program


@dataclass(frozen=True)
class Row:
    """A line of a table: a method with some parameters fixed; the others are searched for, or have their defaults."""

    name: str
    method: str
    fixed: Parameters = field(default_factory=dict)
    searched: bool = False
    several_seeds: bool = False

    @property
    def key(self) -> str:
        """The name as a part of file names."""
        return file_name(self.name)


def file_name(name: str) -> str:
    """Return the name of a row as a part of file names."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _searched(name: str, method: str, **fixed: object) -> Row:
    return Row(name, method, {**PAPERS_OBJECTIVE.get(method, {}), **fixed}, searched=True, several_seeds=True)


DVQ, BMSH, PAPERS, BMMI = (_searched(method.upper(), method) for method in ("dvq", "bmsh", "ammi", "bmmi"))
EXACT = _searched("AMMI, exact adversary", "ammi", adversary="exact")
RECIPE = Row("AMMI, recipe", "ammi", several_seeds=True)  # this package's default
OTHERS = ("bow", "lsh", "srbm", "sph", "itq", "sth", "vdsh", "nash", "gmsh")
NAMES = {"sph": "SpH", "srbm": "S-RBM"}
TABLE_1 = (
    *(Row(NAMES.get(method, method.upper()), method) for method in OTHERS),
    DVQ,
    BMSH,
    PAPERS,
    BMMI,
    EXACT,
    RECIPE,
)
TABLE_2 = (Row("BOW", "bow"), BMSH, DVQ, PAPERS, EXACT, RECIPE)
CONTROLS = tuple(
    Row(f"{name}, recipe's pairs", method, searched=True, several_seeds=True)
    for name, method in zip(("BMSH", "DVQ", "InfoNCE"), CONTROL_GRIDS, strict=True)
)


@dataclass(frozen=True)
class Scale:
    """The size of the reproduction."""

    sets: tuple[str, ...] = ("tmc_small", "ng20", "reuters")
    pair_sets: tuple[str, ...] = ("reuters-pairs", "newsgroup-replies", ARTICLE_HALVES)
    unseen_sets: tuple[str, ...] = ("agnews", "dbpedia", "stackoverflow")
    bits: tuple[int, ...] = (16, 32, 64, 128)
    pair_bits: int = 128
    control_bits: tuple[int, ...] = (16, 64)
    unseen_bits: int = 64
    unseen_rows: tuple[str, ...] = tuple(UNSEEN_ROWS)
    trials: int = 12  # of each search
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    figure_set: str = "reuters"
    bound_orders: tuple[int, ...] = tuple(range(14))
    bound_steps: int = 1000
    prior_orders: tuple[int, ...] = tuple(range(11))
    epochs: int | None = None


PAPER = Scale()
QUICK = Scale(
    sets=(TINY,),
    pair_sets=(TINY_PAIRS,),
    unseen_sets=(TINY,),
    bits=(8, 16),
    pair_bits=32,
    control_bits=(16,),
    unseen_bits=16,
    unseen_rows=tuple(row for row in UNSEEN_ROWS if row != MINILM),  # which takes a minute
    trials=1,
    seeds=(0, 1),
    figure_set=TINY,
    bound_orders=(0, 1, 3),
    bound_steps=50,
    prior_orders=(0, 1, 3),
    epochs=2,
)


class Place(NamedTuple):
    """Where a row is searched for: a set, the row's key and the number of bits."""

    task: str
    key: str
    bits: int


Found = Mapping[Place, Parameters]


class PlannedSearch(NamedTuple):
    """A search, the place of its row, and its number of trials."""

    search: Search
    place: Place
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
        lines = self._lines("table2" if part == "table3" else part)
        return [self._search(*line) for line in lines if line[0].searched]

    def cells(self, part: str) -> list[Cell]:
        """Return the cells of a part of the paper."""
        return [
            Cell(row.name, name, bits, [self._experiment(row, name, bits, seed) for seed in self._seeds(row)])
            for row, name, bits in self._lines(part)
            if not row.searched or Place(name, row.key, bits) in self.found
        ]

    def order_rows(self) -> dict[tuple[int, int], Row]:
        """Return the rows of figure 1 (b), by the orders of the encoder and of the prior."""
        orders = [(order, prior) for order, prior in product((0, 1), self.scale.prior_orders) if prior >= order]
        return {
            (order, prior): PAPERS
            if (order, prior) == (0, PAPERS_ORDER)
            else _searched(f"AMMI, o = {order}, r = {prior}", "ammi", order=order, prior_order=prior)
            for order, prior in orders
        }

    def table3(self) -> dict[str, Experiment]:
        """Return, by set of pairs with texts, the experiment of table 2 whose codes are used."""
        cells = {cell.task: cell for cell in self.cells("table2") if cell.row == PAPERS.name}
        return {name: cell.experiments[0] for name, cell in cells.items() if name != WHO_DID_WHAT}

    def _lines(self, part: str) -> Iterator[tuple[Row, str, int]]:
        """Yield each row of a part with each of its sets and widths."""
        scale = self.scale
        if part == "figure1":
            rows = (BMMI, *self.order_rows().values())
            yield from product(rows, (scale.figure_set,), scale.bits[:1])
        elif part == "controls":
            yield from product(CONTROLS, scale.sets, scale.control_bits)
        elif part == "table2":
            for row, name in product(TABLE_2, scale.pair_sets):
                yield row, name, 0 if row.method == "bow" else scale.pair_bits
        elif part == "table1":
            widths = {"bow": (0,), "bmmi": scale.bits[:1]}  # BOW has a bit per word, BMMI visits all codes
            for row, name in product(TABLE_1, scale.sets):
                yield from ((row, name, bits) for bits in widths.get(row.method, scale.bits))

    def _search(self, row: Row, name: str, bits: int) -> PlannedSearch:
        values: Grid = CONTROL_GRIDS.get(row.method) or GRIDS[row.method]
        if row.method == "dvq":
            most = DECODER_BUDGET / (bits * WORDS.get(name, MOST_WORDS))
            values = {**values, "dimension": tuple(n for n in GRIDS["dvq"]["dimension"] if float(n or 0) <= most)}
        search = Search(name, row.method, bits, self._shortened(row), values=values)
        return PlannedSearch(search, Place(name, row.key, bits), self.scale.trials)

    def _seeds(self, row: Row) -> tuple[int, ...]:
        return self.scale.seeds if row.several_seeds else self.scale.seeds[:1]

    def _experiment(self, row: Row, name: str, bits: int, seed: int) -> Experiment:
        parameters = self.found[Place(name, row.key, bits)] if row.searched else self._shortened(row)
        return Experiment(name, row.method, bits, parameters, seed)

    def _shortened(self, row: Row) -> Parameters:
        """Return the fixed parameters of a row, with the number of epochs of this scale, pretraining included."""
        if self.scale.epochs is None:
            return row.fixed
        of_epochs = {"epochs", "pretraining_epochs"} & default_parameters(row.method).keys()
        return {**row.fixed, **dict.fromkeys(sorted(of_epochs), self.scale.epochs)}
