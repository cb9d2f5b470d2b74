"""The section of the report on tuning and its cost."""

from ammi.tuning.experiments import Result
from ammi.tuning.search import TrialRow
from reproduction.folder import PaperFolder, all_searches
from reproduction.page import escaped, table
from reproduction.plan import FINALIST_SEEDS, FINALISTS, SEARCHED_PARTS, TABLE_1, Plan, PlannedSearch

Searched = list[tuple[PlannedSearch, list[TrialRow]]]


def costs_section(folder: PaperFolder) -> list[str]:
    scale, results = folder.scale, planned_results(folder)
    searched = [(one, trials) for one in all_searches(Plan(scale)) if (trials := folder.trials(one.place))]
    trial_seconds = [_seconds(trial) for _, trials in searched for trial in trials]
    fit_seconds = [result["fit_cpu_s"] for result in results]
    in_search, in_results = sum(trial_seconds), sum(fit_seconds)
    names = ", ".join(row.name for row in TABLE_1 if row.searched)
    defaults = "; ".join(row.name for row in TABLE_1 if not row.searched and row.method != "bow")
    head = ("set", "row", "bits", "trials", "given up early", "found in trial", "mean validation, %", "hours", "found")
    return [
        "## What was tuned, how much, and what it cost",
        f"Searched at random on the validation part of each set, at each width, with {scale.trials} trials each: "
        f"{names}, each point of figure 1 (b), and each control. The first trial of a search has the values of its "
        "grid that are nearest to the method's defaults; a trial is given up early if its scores stay below the median "
        f"of those before it. All trials have seed 0, and some parameters work with one seed only: so the {FINALISTS} "
        f"best trials were run with {len(scale.seeds[:FINALIST_SEEDS])} seeds, and the one with the highest mean "
        "validation score was taken.",
        f"At their defaults: {defaults}. The defaults were chosen on validation parts of the same sets (LOG.md). "
        f"Searched rows and “AMMI, recipe” were run with {len(scale.seeds)} seeds, the rest with one.",
        table(head, [_search_row(folder, planned, trials) for planned, trials in searched])
        if searched
        else "No search was run yet: `ammi paper table1`.",
        f"In all: {len(trial_seconds)} trials in {_hours(in_search)} hours and {len(results)} runs in "
        f"{_hours(in_results)} hours, together {_hours(in_search + in_results)} hours of one core. It is processor "
        "time. Figure 1 (a), table 3 and the unseen sets are not counted.",
        *_machines(results),
    ]


def planned_results(folder: PaperFolder) -> list[Result]:
    """Return the results of the experiments of the plan and of finalists, each once."""
    plan = folder.plan()
    cells = [cell.experiments for part in SEARCHED_PARTS for cell in plan.cells(part)]
    finalists = [one.experiments for planned in all_searches(plan) for one in folder.finalists(planned)]
    experiments = {experiment.path: experiment for group in (*cells, *finalists) for experiment in group}
    return [result for experiment in experiments.values() if (result := folder.results.get(experiment))]


def _search_row(folder: PaperFolder, planned: PlannedSearch, trials: list[TrialRow]) -> tuple[str, ...]:
    place, winner = planned.place, folder.winner(planned)
    given_up = sum(trial["state"] != "complete" for trial in trials)
    figures = (str(winner.finalist.trial), f"{winner.validation:.2f}") if winner else ("", "")
    parameters = winner.finalist.parameters if winner else {}
    found = ", ".join(f"{name} {value}" for name, value in parameters.items() if name in planned.search.grid)
    hours = _hours(sum(map(_seconds, trials)))
    return (place.task, place.key, str(place.bits), str(len(trials)), str(given_up), *figures, hours, escaped(found))


def _seconds(trial: TrialRow) -> float:
    return trial["cpu_seconds"] or trial["seconds"]


def _machines(results: list[Result]) -> list[str]:
    """Return the machines, versions and dates of the experiments."""
    if not results:
        return []
    kinds = {
        f"{result['processor']}, {result['cores']} cores, Python {result['python']}, ammi {result['ammi']}"
        for result in results
    }
    first, last = min(result["date"] for result in results), max(result["date"] for result in results)
    return [
        f"Machine: {escaped('; '.join(sorted(kinds)))}. Runs of {first if first == last else f'{first} to {last}'}."
    ]


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.2f}" if seconds >= 36 else "under 0.01"
