"""Run the experiments of the plan that have no result yet; several processes can share a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain

from ammi.data.pairs import read_pair_texts, read_pairs
from ammi.files import write_json
from ammi.tuning.display import SILENT, Advance, Display, SearchView
from ammi.tuning.experiments import Experiment
from ammi.tuning.locks import make_missing
from ammi.tuning.machine import machine
from ammi.tuning.search import Tuning
from reproduction import unseen
from reproduction.bounds import partly_trained_batch, upper_bound
from reproduction.drifts import drift_of
from reproduction.folder import PaperFolder
from reproduction.plan import Plan, PlannedSearch
from reproduction.sets import PaperSets


class _Counting(Display, SearchView):
    """Counts the trials of many searches on one bar, which tells how long the rest will take."""

    def __init__(self, advance: Advance):
        self._advance = advance

    @contextmanager
    def search(self, title: str, trials: int, finished: int) -> Iterator[SearchView]:
        yield self

    def trial(self, finished: int, best: float) -> None:
        self._advance(1)


class Runner:
    """Runs parts of the paper, with progress on a display."""

    def __init__(self, folder: PaperFolder, display: Display = SILENT):
        self.folder, self.scale, self.display = folder, folder.scale, display
        self.sets = PaperSets(folder, display)

    def run(self, part: str) -> None:
        """Run what is missing of a part: its searches, their finalists, its experiments, and what else it has."""
        if part == "unseen":
            self._score_unseen_sets()
            return
        if part == "figure1":
            self._bound_entropies()
        of = "table2" if part == "table3" else part
        self._search(of)
        finalists = chain.from_iterable(self.folder.finalists(planned) for planned in Plan(self.scale).searches(of))
        self._complete(f"finalists of {of}", [one for finalist in finalists for one in finalist.experiments])
        self._complete(f"runs of {of}", [one for cell in self.folder.plan().cells(of) for one in cell.experiments])
        if part == "table3":
            self._walk_all()

    def _complete(self, what: str, experiments: list[Experiment]) -> None:
        """Run the experiments that have no result yet, with a bar."""
        with self.display.bar(what, len(self.folder.results.missing(experiments))) as advance:
            self.folder.results.complete(experiments, self.sets.task, lambda experiment: advance(1))

    def _search(self, part: str) -> None:
        """Run the missing trials of the searches, each search by one process at a time."""
        searches = Plan(self.scale).searches(part)
        missing = sum(max(0, planned.trials - len(self.folder.trials(planned.place))) for planned in searches)
        with self.display.bar(f"trials of {part}", missing) as advance:
            make_missing(
                searches,
                lambda planned: self.folder.search(planned.place),
                self._is_unfinished,
                lambda planned: self._finish_search(planned, _Counting(advance)),
            )

    def _is_unfinished(self, planned: PlannedSearch) -> bool:
        drawn = (self.folder.search(planned.place) / "history.png").exists()
        return len(self.folder.trials(planned.place)) < planned.trials or not drawn

    def _finish_search(self, planned: PlannedSearch, display: Display) -> None:
        task, folder = self.sets.task(planned.search.task), self.folder.search(planned.place)
        with Tuning(planned.search, task, folder) as tuning:
            tuning.run_until(planned.trials, display)
            tuning.plot()

    def _bound_entropies(self) -> None:
        """Compute the bounds of priors of every order, on a batch for each seed."""
        points = [(order, seed) for seed in self.scale.seeds for order in self.scale.bound_orders]
        batch = cache(lambda seed: partly_trained_batch(self.sets.task(self.scale.figure_set), seed))

        def has_no_bound(point: tuple[int, int]) -> bool:
            return not self.folder.bound(*point).exists()

        with self.display.bar("bounds of figure1", sum(map(has_no_bound, points))) as advance:

            def make(point: tuple[int, int]) -> None:
                order, seed = point
                bound = upper_bound(batch(seed), order, self.scale.bound_steps, seed)
                write_json(self.folder.bound(order, seed), {**bound, **machine()})
                advance(1)

            make_missing(points, lambda point: self.folder.bound(*point), has_no_bound, make)

    def _walk_all(self) -> None:
        """Walk from chosen articles to others at growing distance, by AMMI's codes of table 2."""

        def has_no_walks(experiment: Experiment) -> bool:
            return not self.folder.walks(experiment).exists()

        experiments = list(self.folder.plan().table3().values())
        with self.display.bar("walks of table3", sum(map(has_no_walks, experiments))) as advance:

            def make(experiment: Experiment) -> None:
                self._walk(experiment)
                advance(1)

            make_missing(experiments, self.folder.walks, has_no_walks, make)

    def _walk(self, experiment: Experiment) -> None:
        """Learn the codes of an experiment again, and write table 3 for them."""
        name, hasher, pairs = experiment.task, experiment.hasher(), self.sets.pairs(experiment.task)
        self.sets.task(name).fit(hasher)
        found = drift_of(name, read_pairs(pairs), read_pair_texts(pairs), hasher)
        about = {"task": name, "bits": experiment.bits, "parameters": experiment.effective_parameters}
        write_json(self.folder.walks(experiment), {**about, "seed": experiment.seed, **found, **machine()})

    def _score_unseen_sets(self) -> None:
        """Score codes and cosines on the sets on which nothing was chosen; rows without their package are left out."""
        names = self.scale.unseen_sets
        places = [(name, row) for name in names for row in self.scale.unseen_rows if not unseen.missing_package(row)]

        def is_missing(place: tuple[str, str]) -> bool:
            return not self.folder.unseen(*place).exists()

        with self.display.bar("rows of unseen", sum(map(is_missing, places))) as advance:

            def make(place: tuple[str, str]) -> None:
                name, row = place
                scores = unseen.measure(row, self.sets.unseen(name), self.scale.unseen_bits, self.scale.epochs)
                write_json(self.folder.unseen(name, row), {"task": name, "row": row, **scores, **machine()})
                advance(1)

            make_missing(places, lambda place: self.folder.unseen(*place), is_missing, make)
