"""Results that were made up, so that what should be said of them is known."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ammi.files import write_json
from ammi.tuning.experiments import Experiment
from reproduction import published
from reproduction.drifts import Agreement
from reproduction.findings import Findings, OrderPoint, PairScore
from reproduction.folder import PaperFolder, all_searches
from reproduction.plan import PAPER, SEARCHED_PARTS, Plan
from reproduction.unseen import ROWS

SCALE = replace(
    PAPER,
    sets=("reuters", "ng20"),
    bits=(16, 32),
    control_bits=(16,),
    seeds=(0, 1),
    bound_orders=(0, 1, 3),
    prior_orders=(0, 1, 3),
)
MACHINE = {"processor": "a | b", "cores": 2, "python": "3.11", "ammi": "0.1", "date": "2020-01-01"}
ODD = "<script>alert(1)</script> | a & b *c* _d_ [e](f) `g` \\ $h$ # ! ~~i~~ &lt;"
AROUND = (-0.2, -0.1, 0.0, 0.1, 0.2)  # of the figures of five seeds around their mean


def around(figure: float, step: float = 1.0) -> list[float]:
    """Figures of five seeds whose mean is this one."""
    return [figure + step * away for away in AROUND]


def as_published() -> Findings:
    """The paper's own figures with five seeds close to each, and figures 1 and 3 as its text describes them."""
    orders = {
        (order, prior): OrderPoint(around(60.0 if prior == order else 80.0 - order), {"clip": 1.0})
        for order in (0, 1)
        for prior in range(order, 11)
    }
    findings = Findings(PAPER, orders=orders, brute_force=OrderPoint(around(79.0), {"clip": 5.0}))
    for row, sets in {**published.TABLE_1, "ITQ": published.TABLE_1["STH"]}.items():
        for name, figures in sets.items():
            for bits, figure in zip(published.WIDTHS, figures, strict=False):
                findings.precision[row, name, bits] = around(figure, 0.1)  # tmc_small at 64 bits differs by 0.03
    for name in PAPER.sets:
        findings.precision["BOW", name, 0] = [published.BOW[name]]
    for prior in range(14):
        findings.bounds[prior] = [
            {
                "order": prior,
                "seed": seed,
                "entropy": 9.0 + away,
                "exact": 9 + away + 5 / 2**prior,
                "gradient": 9 + away + 5 / 2**prior,
                "gradient_setting": "0 layers",
            }
            for seed, away in enumerate(AROUND)
        ]
    for name in PAPER.pair_sets:
        for row, (codes, matching) in published.TABLE_2.items():
            scores = around(matching) if row != "BOW" else [matching]
            findings.pairs[row, name] = [
                PairScore(score, codes + i, published.TABLE_2_DOCUMENTS, 128, [200, 150, 150])
                for i, score in enumerate(scores)
            ]
        steps: list[Agreement] = [{"distance": 5 * step, "pairs": 1000, "shared": 60 * 0.8**step} for step in range(10)]
        findings.drifts[name] = {"walks": [], "agreement": steps, "farther": [9.0, 10.0, 11.0]}
    return findings


def all_experiments(plan: Plan) -> list[Experiment]:
    return [experiment for part in SEARCHED_PARTS for cell in plan.cells(part) for experiment in cell.experiments]


def finalists(folder: PaperFolder) -> list[Experiment]:
    searches = all_searches(Plan(folder.scale))
    return [one for planned in searches for finalist in folder.finalists(planned) for one in finalist.experiments]


def complete_folder(place: Path) -> PaperFolder:
    """A folder with every result there can be."""
    folder = PaperFolder(place, SCALE)
    write_searches(folder)
    write_results(folder, finalists(folder))
    write_results(folder, all_experiments(folder.plan()))
    write_bounds_and_walks(folder)
    write_unseen(folder)
    return folder


def write_searches(folder: PaperFolder) -> None:
    """Searches of three trials, of which the first two were run to their end and the second is the better one."""
    for planned in all_searches(Plan(folder.scale)):
        trials = [
            {"trial": i, "state": state, "validation": 70.0 + i, "parameters": {"batch_size": 64 - 32 * i}}
            for i, state in enumerate(("complete", "complete", "pruned"))
        ]
        costing = [{**trial, "seconds": 1800.0, "cpu_seconds": None} for trial in trials]
        write_json(folder.search(planned.place) / "trials.json", {"trials": costing})


def write_results(folder: PaperFolder, experiments: Iterable[Experiment]) -> None:
    """Results of experiments: half an hour each."""
    for experiment in experiments:
        score = 50 + len(experiment.path.name) + experiment.bits / 10 + experiment.seed
        result = {
            "test": score,
            "validation": score,
            "distinct": 90 - experiment.seed,
            "dimension": 128,
            "pairs": [200, 150, 150],
            "documents": 100,
            "fit_cpu_s": 1800.0,
        }
        write_json(folder.results.path(experiment), {**result, **MACHINE})


def write_bounds_and_walks(folder: PaperFolder) -> None:
    """Figure 1 (a) and table 3."""
    for order in folder.scale.bound_orders:
        for seed in folder.scale.seeds:
            bound = {"order": order, "seed": seed, "entropy": 9.0 + seed / 10, "gradient_setting": "0 layers"}
            write_json(folder.bound(order, seed), {**bound, "exact": 12.0 - order, "gradient": 12.01 - order})
    for experiment in folder.plan().table3().values():
        article = {"title": ODD, "labels": ["a|b", "<c>"], "beginning": ODD * 2}
        walk = {"from": article, "steps": [{"distance": 5, **article}]}
        agreement = [{"distance": 5 * step, "pairs": 200, "shared": 50.0 - step} for step in range(4)]
        found = {"walks": [walk], "agreement": agreement, "farther": [1.0, 2.0, 3.0]}
        write_json(folder.walks(experiment), found)


def write_unseen(folder: PaperFolder) -> None:
    """Scores of three queries, higher the later the row."""
    for name in folder.scale.unseen_sets:
        for place, row in enumerate(ROWS):
            shares = [0.1 * place, 0.2, 0.3]
            scores = {"average_precision": shares, "ndcg": shares, "precision": shares}
            write_json(folder.unseen(name, row), {"documents": 1000, "bytes": 8, "seconds": 1.0, **scores, **MACHINE})
