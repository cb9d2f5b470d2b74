"""Run the experiments of the plan that have no result yet; several processes can share a folder."""

from collections.abc import Iterable
from functools import cache

from ammi.data.pairs import read_pair_texts, read_pairs
from ammi.files import write_json
from ammi.tuning.display import SILENT, Display
from ammi.tuning.experiments import Experiment
from ammi.tuning.locks import make_missing
from ammi.tuning.machine import machine
from ammi.tuning.search import Tuning
from reproduction.bounds import partly_trained_batch, upper_bound
from reproduction.drifts import drift_of
from reproduction.folder import PaperFolder
from reproduction.plan import Cell, Plan, PlannedSearch
from reproduction.sets import PaperSets


class Runner:
    """Runs parts of the paper, with progress on a display."""

    def __init__(self, folder: PaperFolder, display: Display = SILENT):
        self.folder, self.scale, self.display = folder, folder.scale, display
        self.sets = PaperSets(folder, display)

    def run(self, part: str) -> None:
        """Run what is missing of a table or figure."""
        {"table1": self.table1, "figure1": self.figure1, "table2": self.table2, "table3": self.table3}[part]()

    def table1(self) -> None:
        """Search at one width on every set, then run every method at every width."""
        self._search("table1")
        self._complete("table 1", _experiments(self.folder.plan().table1()))

    def figure1(self) -> None:
        """Compute the bounds of priors of every order on one batch, and the precision with each."""
        missing = [order for order in self.scale.bound_orders if self._has_no_bound(order)]
        batch = cache(lambda: partly_trained_batch(self.sets.task(self.scale.figure_set), seed=0))
        with self.display.bar("figure 1 (a)", len(missing)) as advance:

            def make(order: int) -> None:
                bound = upper_bound(batch(), order, self.scale.bound_steps, seed=0)
                write_json(self.folder.bound(order), {**bound, "seed": 0, **machine()})
                advance(1)

            make_missing(missing, self.folder.bound, self._has_no_bound, make)
        lines = Plan(self.scale).figure1().values()
        self._complete("figure 1 (b)", [experiment for line in lines for experiment in line])

    def table2(self) -> None:
        """Search on every set of article pairs, then run the methods that learn from pairs."""
        self._search("table2")
        self._complete("table 2", _experiments(self.folder.plan().table2()))

    def table3(self) -> None:
        """Walk from chosen articles to others at growing distance, by AMMI's codes of table 2."""
        self.table2()
        missing = [experiment for experiment in self.folder.plan().table3().values() if self._has_no_walks(experiment)]
        with self.display.bar("table 3", len(missing)) as advance:

            def make(experiment: Experiment) -> None:
                self._walk(experiment)
                advance(1)

            make_missing(missing, self.folder.walks, self._has_no_walks, make)

    def _search(self, part: str) -> None:
        """Run the unfinished searches, each by one process at a time."""
        make_missing(
            Plan(self.scale).searches(part),
            lambda planned: self.folder.search(planned.search),
            self._is_unfinished,
            self._finish_search,
        )

    def _is_unfinished(self, planned: PlannedSearch) -> bool:
        drawn = (self.folder.search(planned.search) / "history.png").exists()
        return len(self.folder.trials(planned.search)) < planned.trials or not drawn

    def _finish_search(self, planned: PlannedSearch) -> None:
        task, folder = self.sets.task(planned.search.task), self.folder.search(planned.search)
        with Tuning(planned.search, task, folder) as tuning:
            tuning.run_until(planned.trials, self.display)
            tuning.plot()

    def _complete(self, title: str, experiments: list[Experiment]) -> None:
        with self.display.bar(title, len(self.folder.results.missing(experiments))) as advance:
            self.folder.results.complete(experiments, self.sets.task, lambda experiment: advance(1))

    def _has_no_bound(self, order: int) -> bool:
        return not self.folder.bound(order).exists()

    def _has_no_walks(self, experiment: Experiment) -> bool:
        return not self.folder.walks(experiment).exists()

    def _walk(self, experiment: Experiment) -> None:
        """Learn the codes of an experiment again, and write table 3 for them."""
        name, hasher, pairs = experiment.task, experiment.hasher(), self.sets.pairs(experiment.task)
        self.sets.task(name).fit(hasher)
        found = drift_of(name, read_pairs(pairs), read_pair_texts(pairs), hasher)
        about = {"task": name, "bits": experiment.bits, "parameters": experiment.effective_parameters}
        write_json(self.folder.walks(experiment), {**about, "seed": experiment.seed, **found, **machine()})


def _experiments(cells: Iterable[Cell]) -> list[Experiment]:
    return [experiment for cell in cells for experiment in cell.experiments]
