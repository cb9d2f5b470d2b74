"""The section of the report on tuning and its cost."""

from ammi.tuning.experiments import Result
from ammi.tuning.search import Search, TrialRow
from reproduction.folder import PaperFolder
from reproduction.page import escaped, table
from reproduction.plan import TABLE_1, TABLE_2, Plan, tuned_methods


def costs_section(folder: PaperFolder) -> list[str]:
    scale, plan, results = folder.scale, Plan(folder.scale), folder.all_results()
    searches = [planned.search for part in ("table1", "table2") for planned in plan.searches(part)]
    searched = [(search, trials) for search in searches if (trials := folder.trials(search))]
    trial_seconds = [_seconds(trial) for _, trials in searched for trial in trials]
    fit_seconds = [result["fit_cpu_s" if "fit_cpu_s" in result else "fit_s"] for result in results]
    in_search, in_results = sum(trial_seconds), sum(fit_seconds)
    methods = ", ".join(map(str.upper, tuned_methods(TABLE_2)))
    defaults = "; ".join(row.name for row in TABLE_1 if not row.tuned and row.method != "bow")
    head = ("set", "method", "trials", "given up early", "best validation, %", "in trial", "hours", "found")
    return [
        "## What was tuned, how much, and what it cost",
        f"Tuned by random search on the validation part of each set: {methods}, at "
        f"{scale.tuned_bits} bits for table 1, whose other widths use what was found there, and at "
        f"{scale.pair_bits} bits for table 2; BMMI at its {scale.bits[0]} bits, which favours it a little "
        "beside AMMI. The paper searches at each width.",
        f"At their defaults: {defaults}. The defaults were chosen on validation parts of the same sets (LOG.md). Tuned "
        "methods, BMMI and “AMMI, recipe” were "
        f"run with {len(scale.seeds)} seeds, the rest with one.",
        table(head, [_search_row(folder, search, trials) for search, trials in searched])
        if searched
        else "No search was run yet: `ammi paper table1`.",
        f"In all: {len(trial_seconds)} trials in {_hours(in_search)} hours and {len(results)} runs in "
        f"{_hours(in_results)} hours, together {_hours(in_search + in_results)} hours of one core, all runs on the "
        "labelled sets and the pairs counted, "
        "also those that no table shows. It is processor time, or the clock where that was not kept. Figure 1 (a) and "
        "table 3, some minutes, are not counted.",
        *_machines(results),
    ]


def _search_row(folder: PaperFolder, search: Search, trials: list[TrialRow]) -> tuple[str, ...]:
    given_up = sum(trial["state"] == "pruned" for trial in trials)
    best = max((trial for trial in trials if trial["state"] == "complete"), key=lambda trial: trial["validation"])
    varied = {name: value for name, value in (folder.found(search) or {}).items() if name not in search.fixed}
    found = ", ".join(f"{name} {value}" for name, value in varied.items())
    best_trial = "first, near the defaults of then" if best["trial"] == 0 else str(best["trial"])
    hours = _hours(sum(map(_seconds, trials)))
    figures = (str(len(trials)), str(given_up), f"{best['validation']:.2f}", best_trial, hours)
    return (search.task, search.method.upper(), *figures, escaped(found))


def _seconds(trial: TrialRow) -> float:
    return trial["cpu_seconds"] or trial["seconds"]


def _machines(results: list[Result]) -> list[str]:
    """Return the machines and dates of the experiments."""
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
