"""The folder of the paper's results.

`tuning/` has the searches, `runs/` one file per experiment, `bounds/` figure 1 (a), `drift/` table 3, `unseen/` the
sets on which nothing was chosen, `pairs/` the sets of article pairs, `figures/` and `report.html` the report.
"""

from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from ammi.files import read_json
from ammi.tuning.experiments import Experiment, Parameters, Results
from ammi.tuning.search import TrialRow
from reproduction.plan import (
    FINALIST_SEEDS,
    FINALISTS,
    SEARCHED_PARTS,
    WHO_DID_WHAT,
    Place,
    Plan,
    PlannedSearch,
    Scale,
    file_name,
)


class Finalist(NamedTuple):
    """One of the best trials of a search: its number, and its experiments, one per seed."""

    trial: int
    experiments: list[Experiment]

    @property
    def parameters(self) -> Parameters:
        return self.experiments[0].parameters


class Winner(NamedTuple):
    """The finalist with the highest mean validation precision, and that mean."""

    finalist: Finalist
    validation: float


class PaperFolder:
    """Results at a scale; with the published pairs if their file is given or results of them exist."""

    def __init__(self, folder: Path, scale: Scale, published_pairs: Path | None = None):
        self.folder, self.published_pairs = folder, published_pairs
        with_published = published_pairs or (folder / "runs" / WHO_DID_WHAT).exists()
        self.scale = replace(scale, pair_sets=(*scale.pair_sets, WHO_DID_WHAT)) if with_published else scale
        self.results = Results(folder / "runs")

    @property
    def figures(self) -> Path:
        return self.folder / "figures"

    @property
    def page(self) -> Path:
        return self.folder / "report.html"

    def search(self, place: Place) -> Path:
        """Return the folder of a search."""
        return self.folder / "tuning" / f"{place.task}-{place.key}-{place.bits}"

    def bound(self, order: int, seed: int) -> Path:
        """Return the file of figure 1 (a) for a prior of this order."""
        return self.folder / "bounds" / f"{self.scale.figure_set}-{order}-{self.scale.bound_steps}-{seed}.json"

    def unseen(self, name: str, row: str) -> Path:
        """Return the file of a row's scores on a set on which nothing was chosen."""
        return self.folder / "unseen" / name / f"{file_name(row)}-{self.scale.unseen_bits}.json"

    def walks(self, experiment: Experiment) -> Path:
        """Return the file of table 3 for the codes of an experiment."""
        return self.folder / "drift" / experiment.path

    def pairs(self, name: str) -> Path:
        """Return the folder of a set of article pairs, or the file of the published ones."""
        if name == WHO_DID_WHAT and self.published_pairs:
            return self.published_pairs
        return self.folder / "pairs" / name

    def plan(self) -> Plan:
        """Return the plan, with the parameters that searches have found so far."""
        plan = Plan(self.scale)
        winners = {planned.place: self.winner(planned) for planned in all_searches(plan)}
        return replace(plan, found={place: won.finalist.parameters for place, won in winners.items() if won})

    def finalists(self, planned: PlannedSearch) -> list[Finalist]:
        """Return the best complete trials of a search, the best first."""
        complete = [trial for trial in self.trials(planned.place) if trial["state"] == "complete"]
        best = sorted(complete, key=lambda trial: trial["validation"], reverse=True)[:FINALISTS]
        seeds = self.scale.seeds[:FINALIST_SEEDS]
        experiments = {trial["trial"]: planned.search.experiment(trial["parameters"]) for trial in best}
        return [Finalist(n, [replace(one, seed=seed) for seed in seeds]) for n, one in experiments.items()]

    def winner(self, planned: PlannedSearch) -> Winner | None:
        """Return the winner of a search, None before all runs of its finalists."""
        finalists = self.finalists(planned)
        results = [[self.results.get(one) for one in finalist.experiments] for finalist in finalists]
        if not finalists or not all(map(all, results)):
            return None
        means = [mean(result["validation"] for result in runs if result) for runs in results]
        return Winner(finalists[means.index(max(means))], max(means))

    def trials(self, place: Place) -> list[TrialRow]:
        """Return the finished trials of a search."""
        path = self.search(place) / "trials.json"
        return read_json(path)["trials"] if path.exists() else []


def all_searches(plan: Plan) -> list[PlannedSearch]:
    """Return the searches of all parts, each once: figure 1 shares some with table 1."""
    planned = [planned for part in SEARCHED_PARTS for planned in plan.searches(part)]
    return list({one.place: one for one in planned}.values())
