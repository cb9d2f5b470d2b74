"""The paper's experiments: which runs each table and figure is made of, and where their results are kept.

A folder holds everything: `tuning/` the searches, `runs/` one file a run, `bounds/` and `drift/` what is no run of a
method, `pairs/` the sets of article pairs. What is there is not done again, and reports only read.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from filelock import Timeout

from ammi.data import corpus_path, read_documents, read_pair_texts, read_pairs
from ammi.experiments.bounds import partly_trained_batch, upper_bound
from ammi.experiments.drifts import drift_of
from ammi.experiments.machine import machine
from ammi.experiments.pairs import Progress, build_pairs
from ammi.experiments.runs import Results, Run, alone, write_json
from ammi.experiments.tasks import PairTask, Task, benchmark_task
from ammi.experiments.tiny import TINY, TINY_PAIRS, tiny_articles, tiny_task
from ammi.experiments.tuning import Search, Tuning
from ammi.hashers import by_name

PAPERS_OBJECTIVE = {"neighbours": 0}  # documents alone; the default of AMMI pairs each with its neighbours
WHO_DID_WHAT = "who-did-what"  # the paper's own pairs, which come as matrices, without their texts
PAIR_SETS = {"reuters-pairs": ("reuters", False), "newsgroup-replies": ("newsgroups", True)}  # corpus, of replies


class Row(NamedTuple):
    """A line of a table: its name, and the method with parameters that were searched for or with its defaults."""

    name: str
    method: str
    tuned: bool = False


OTHERS = ("bow", "lsh", "srbm", "sph", "itq", "sth", "vdsh", "nash", "gmsh")
NAMES = {"sph": "SpH", "srbm": "S-RBM"}
TABLE_1 = (
    *(Row(NAMES.get(method, method.upper()), method) for method in OTHERS),
    Row("DVQ", "dvq", tuned=True),
    Row("BMSH", "bmsh", tuned=True),
    Row("AMMI", "ammi", tuned=True),
    Row("BMMI", "bmmi", tuned=True),
    Row("AMMI, neighbours", "ammi"),
)
TABLE_2 = (Row("BOW", "bow"), *(Row(method.upper(), method, tuned=True) for method in ("bmsh", "dvq", "ammi")))


def tuned(table: Iterable[Row]) -> list[str]:
    """The methods of a table that are searched for."""
    return [row.method for row in table if row.tuned]


@dataclass(frozen=True)
class Scale:
    """How much is done."""

    sets: tuple[str, ...] = ("tmc_small", "ng20", "reuters")
    pair_sets: tuple[str, ...] = ("reuters-pairs", "newsgroup-replies")
    bits: tuple[int, ...] = (16, 32, 64, 128)
    tuned_bits: int = 64
    pair_bits: int = 128
    trials: int = 12
    fewer_trials: int = 6  # on pairs, and for BMMI
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


class Show(NamedTuple):
    """How progress is shown: a bar of so many steps, and the bar of a search."""

    bar: Progress
    search: Callable[[Tuning, int], None]


class Paper:
    """The experiments at some scale, in a folder."""

    def __init__(self, folder: Path, scale: Scale, show: Show, published_pairs: Path | None = None):
        self.folder, self.scale, self.show, self.published_pairs = folder, scale, show, published_pairs
        if published_pairs or (folder / "runs" / WHO_DID_WHAT).exists():
            self.scale = replace(scale, pair_sets=(*scale.pair_sets, WHO_DID_WHAT))
        self.results = Results(folder / "runs")
        self.task = cache(self._task)

    def table1(self) -> None:
        """Search at one width on every set, and run every method at every width."""
        self._tune(product(self.scale.sets, tuned(TABLE_1)))
        self._complete("table 1", [run for row in TABLE_1 for run in self.table1_runs(row)])

    def figure1(self) -> None:
        """Bounds of priors of every order on one batch, and the precision that is reached with each."""
        orders = [order for order in self.scale.bound_orders if not self.bound_path(order).exists()]
        with self.show.bar("figure 1 (a)", len(orders)) as advance:
            batch = cache(lambda: partly_trained_batch(self.task(self.scale.figure_set), seed=0))
            for order in orders:
                bound = upper_bound(batch(), order, self.scale.bound_steps, seed=0)
                write_json(self.bound_path(order), {**bound, "seed": 0, **machine()})
                advance(1)
        self._complete("figure 1 (b)", [run for line in self.figure1_runs().values() for run in line])

    def table2(self) -> None:
        """Search on every set of article pairs, and run the methods that learn from pairs."""
        self._tune(product(self.scale.pair_sets, tuned(TABLE_2)))
        self._complete("table 2", [run for row in TABLE_2 for run in self.table2_runs(row)])

    def table3(self) -> None:
        """Walk from chosen articles to others, farther and farther, under AMMI's codes of table 2."""
        self.table2()
        runs = [self.drift_run(name) for name in self.scale.pair_sets if name != WHO_DID_WHAT]
        missing = [run for run in runs if not self.drift_path(run).exists()]
        with self.show.bar("table 3", len(missing)) as advance:
            for run in missing:
                hasher, folder = run.hasher(), self._pairs(run.task)
                self.task(run.task).fit(hasher)
                found = drift_of(run.task, read_pairs(folder), read_pair_texts(folder), hasher)
                about = {"task": run.task, "bits": run.bits, "parameters": dict(run.parameters), "seed": run.seed}
                write_json(self.drift_path(run), {**about, **found, **machine()})
                advance(1)

    def table1_runs(self, row: Row) -> list[Run]:
        """The runs of a line of table 1; BMMI is for 16 bits, and BOW has as many bits as there are words."""
        widths = {"bow": (0,), "bmmi": self.scale.bits[:1]}.get(row.method, self.scale.bits)
        seeds = self.scale.seeds if row.method in tuned(TABLE_1) else self.scale.seeds[:1]
        return [self._run(row, name, bits, seed) for name in self.scale.sets for bits in widths for seed in seeds]

    def table2_runs(self, row: Row) -> list[Run]:
        bits, seeds = (0, self.scale.seeds[:1]) if row.method == "bow" else (self.scale.pair_bits, self.scale.seeds)
        return [self._run(row, name, bits, seed) for name in self.scale.pair_sets for seed in seeds]

    def figure1_runs(self) -> dict[tuple[str, int, int], list[Run]]:
        """By method, encoder order and prior order, the runs of which the best counts; BMMI has no prior."""
        name, bits = self.scale.figure_set, self.scale.bits[0]

        def runs(method: str, **parameters: int) -> list[Run]:
            wanted = [{**PAPERS_OBJECTIVE, **parameters, "entropy_weight": beta} for beta in self.scale.entropy_weights]
            return [Run(name, method, bits, self._shortened(method, one)) for one in wanted]

        lines = {("bmmi", 0, 0): runs("bmmi")}
        for order in (0, 1):
            for prior in self.scale.prior_orders:
                if prior >= order:
                    lines["ammi", order, prior] = runs("ammi", order=order, prior_order=prior)
        return lines

    def bound_path(self, order: int) -> Path:
        return self.folder / "bounds" / f"{self.scale.figure_set}-{order}-{self.scale.bound_steps}.json"

    def drift_run(self, name: str) -> Run:
        """The run of table 2 whose codes table 3 walks among."""
        return self._run(TABLE_2[-1], name, self.scale.pair_bits, self.scale.seeds[0])

    def drift_path(self, run: Run) -> Path:
        return self.folder / "drift" / run.path

    def search_folder(self, name: str, method: str) -> Path:
        return self.folder / "tuning" / f"{name}-{method}-{self._search(name, method).bits}"

    def _search(self, name: str, method: str) -> Search:
        """The search for a method on a set: BMMI's is at its one width, and AMMI and BMMI see documents alone."""
        bits = self.scale.bits[0] if method == "bmmi" else self.scale.tuned_bits
        bits = self.scale.pair_bits if name in self.scale.pair_sets else bits
        fixed = PAPERS_OBJECTIVE if method in ("ammi", "bmmi") else {}
        return Search(name, method, bits, self._shortened(method, fixed))

    def _tune(self, searches: Iterable[tuple[str, str]]) -> None:
        """The searches of the tuned methods that have not had their trials, each by one process at a time."""
        wanted = list(searches)
        for patience in (0, -1):
            for name, method in wanted:
                folder = self.search_folder(name, method)
                fewer = name in self.scale.pair_sets or method == "bmmi"
                trials = self.scale.fewer_trials if fewer else self.scale.trials
                with suppress(Timeout), alone(folder, patience):
                    if len(self.trials(name, method)) < trials or not (folder / "history.png").exists():
                        tuning = Tuning(self._search(name, method), self.task(name), folder)
                        self.show.search(tuning, trials)
                        tuning.plot()

    def trials(self, name: str, method: str) -> list[dict[str, Any]]:
        """The finished trials of a search."""
        path = self.search_folder(name, method) / "trials.json"
        return json.loads(path.read_text())["trials"] if path.exists() else []

    def found(self, name: str, method: str) -> dict[str, Any]:
        """The parameters that the search for a method on a set found."""
        best = json.loads((self.search_folder(name, method) / "best.json").read_text())
        return {parameter: value for parameter, value in best["parameters"].items() if parameter != "n_bits"}

    def _run(self, row: Row, name: str, bits: int, seed: int) -> Run:
        found = self.found(name, row.method) if row.tuned else {}
        defaults = {key: one.default for key, one in inspect.signature(by_name(row.method)).parameters.items()}
        # What was found to be as it is by default is left out: it is the same run.
        parameters = {key: value for key, value in found.items() if value != defaults[key]}
        return Run(name, row.method, bits, self._shortened(row.method, parameters), seed)

    def _shortened(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of a run at this scale, which may have fewer epochs."""
        has_epochs = self.scale.epochs and "epochs" in inspect.signature(by_name(method)).parameters
        return {**parameters, **({"epochs": self.scale.epochs} if has_epochs else {})}

    def _complete(self, title: str, runs: list[Run]) -> None:
        with self.show.bar(title, len(self.results.missing(runs))) as advance:
            self.results.complete(runs, self.task, lambda run: advance(1))

    def _task(self, name: str) -> Task:
        if name in self.scale.pair_sets:
            return PairTask(read_pairs(self._pairs(name)))
        if name == TINY:
            return tiny_task()
        return benchmark_task(name)

    def _pairs(self, name: str) -> Path:
        """Where a set of article pairs is; it is made where it is not there."""
        if name == WHO_DID_WHAT and self.published_pairs:
            return self.published_pairs
        folder = self.folder / "pairs" / name
        with alone(folder):
            if folder.exists():
                return folder
            if name == TINY_PAIRS:
                build_pairs(tiny_articles(), folder, source=TINY, vocabulary_size=1000, held_out=0.35)
            else:
                corpus, replies = PAIR_SETS[name]
                documents = read_documents(corpus_path(corpus))
                build_pairs(documents, folder, source=corpus, replies=replies, progress=self.show.bar)
        return folder
