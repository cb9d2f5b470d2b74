"""The folder of the paper's results: where each is, and what the searches have found so far.

`tuning/` has the searches, `runs/` one file an experiment, `bounds/` and `drift/` what is no experiment with a method,
`pairs/` the sets of article pairs, `figures/` and `report.html` what is made of all of them.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from ammi.files import read_json
from ammi.paper.plan import WHO_DID_WHAT, Plan, Scale
from ammi.tuning.experiments import Experiment, Result, Results
from ammi.tuning.search import Search, TrialRow


class PaperFolder:
    """Results at some scale; with the published pairs as well, if their file is given or there are results of them."""

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

    def search(self, search: Search) -> Path:
        """The folder of a search."""
        return self.folder / "tuning" / f"{search.task}-{search.method}-{search.bits}"

    def bound(self, order: int) -> Path:
        """The file of figure 1 (a) for a prior of some order."""
        return self.folder / "bounds" / f"{self.scale.figure_set}-{order}-{self.scale.bound_steps}.json"

    def walks(self, experiment: Experiment) -> Path:
        """The file of table 3 for the codes of an experiment."""
        return self.folder / "drift" / experiment.path

    def pairs(self, name: str) -> Path:
        """The folder of a set of article pairs, or the file in which they were published."""
        if name == WHO_DID_WHAT and self.published_pairs:
            return self.published_pairs
        return self.folder / "pairs" / name

    def plan(self) -> Plan:
        """The plan, with what the searches have found so far."""
        plan = Plan(self.scale)
        searches = [planned.search for part in ("table1", "table2") for planned in plan.searches(part)]
        found = {(search.task, search.method): self.found(search) for search in searches}
        return replace(plan, found={key: parameters for key, parameters in found.items() if parameters is not None})

    def found(self, search: Search) -> dict[str, Any] | None:
        """The parameters that a search has found, None before its first trial."""
        path = self.search(search) / "best.json"
        if not path.exists():
            return None
        parameters = read_json(path)["parameters"]
        return {name: value for name, value in parameters.items() if name != "n_bits"}

    def trials(self, search: Search) -> list[TrialRow]:
        """The finished trials of a search."""
        path = self.search(search) / "trials.json"
        return read_json(path)["trials"] if path.exists() else []

    def all_results(self) -> list[Result]:
        """Every result there is, also of experiments that are not in the plan."""
        return [read_json(path) for path in sorted(self.results.folder.glob("*/*.json"))]
