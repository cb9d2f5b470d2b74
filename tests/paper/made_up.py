"""Results that were made up, so that what should be said of them is known."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ammi.files import write_json
from ammi.tuning.experiments import Experiment
from ammi.tuning.search import Search
from reproduction import published
from reproduction.drifts import Agreement
from reproduction.findings import Findings, PairScore
from reproduction.folder import PaperFolder
from reproduction.plan import PAPER, Plan

SCALE = replace(
    PAPER, sets=("reuters", "ng20"), bits=(16, 32), seeds=(0, 1), bound_orders=(0, 1, 3), prior_orders=(0, 1, 3)
)
MACHINE = {"processor": "a | b", "cores": 2, "python": "3.11", "ammi": "0.1", "date": "2020-01-01"}
ODD = "<script>alert(1)</script> | a & b *c* _d_ [e](f) `g` \\ $h$ # ! ~~i~~ &lt;"


def as_published() -> Findings:
    """The paper's own figures, one seed, and figures 1 and 3 as its text describes them."""
    findings = Findings(PAPER)
    for row, sets in {**published.TABLE_1, "ITQ": published.TABLE_1["STH"]}.items():
        for name, figures in sets.items():
            for bits, figure in zip(published.WIDTHS, figures, strict=False):
                findings.precision[row, name, bits] = [figure]
    for name in PAPER.sets:
        findings.precision["BOW", name, 0] = [published.BOW[name]]
    for order in (0, 1):
        for prior in range(order, 11):
            findings.orders["ammi", order, prior] = 60.0 if prior == order else 80.0 - order
    findings.orders["bmmi", 0, 0] = 79.0
    for prior in range(14):
        findings.bounds[prior] = {
            "order": prior,
            "entropy": 9.0,
            "exact": 9 + 5 / 2**prior,
            "gradient": 9 + 5 / 2**prior,
            "gradient_setting": "",
        }
    for name in PAPER.pair_sets:
        for row, (codes, matching) in published.TABLE_2.items():
            findings.pairs[row, name] = [PairScore(matching, codes, published.TABLE_2_DOCUMENTS, 128, [200, 150, 150])]
        steps: list[Agreement] = [{"distance": 5 * step, "pairs": 1000, "shared": 60 * 0.8**step} for step in range(10)]
        findings.drifts[name] = {"walks": [], "agreement": steps}
    return findings


def all_searches(plan: Plan) -> list[Search]:
    return [planned.search for part in ("table1", "table2") for planned in plan.searches(part)]


def all_experiments(plan: Plan) -> list[Experiment]:
    experiments = [experiment for cell in (*plan.table1(), *plan.table2()) for experiment in cell.experiments]
    return experiments + [experiment for line in plan.figure1().values() for experiment in line]


def complete_folder(place: Path) -> PaperFolder:
    """A folder with every result there can be."""
    folder = PaperFolder(place, SCALE)
    write_searches(folder)
    write_results(folder, all_experiments(folder.plan()))
    write_bounds_and_walks(folder)
    return folder


def write_searches(folder: PaperFolder) -> None:
    """Searches of which the best is known, the last trial of each given up."""
    for search in all_searches(Plan(folder.scale)):
        states = ("complete", "complete", "pruned")
        cost = {"seconds": 1800.0, "cpu_seconds": None}
        trials = [{"trial": i, "state": state, "validation": 70.0 + i, **cost} for i, state in enumerate(states)]
        write_json(folder.search(search) / "trials.json", {"trials": trials})
        write_json(folder.search(search) / "best.json", {"parameters": {"n_bits": 64, "batch_size": 32}})


def write_results(folder: PaperFolder, experiments: Iterable[Experiment]) -> None:
    """Results of experiments: half an hour each, every other one without processor time."""
    for place, experiment in enumerate(experiments):
        score = 50 + len(experiment.path.name) + experiment.bits / 10 + experiment.seed
        result = {
            "test": score,
            "validation": score,
            "distinct": 90 - experiment.seed,
            "dimension": 128,
            "pairs": [200, 150, 150],
            "documents": 100,
            "fit_s": 1800.0,
        }
        processor_time = {"fit_cpu_s": 1800.0} if place % 2 else {}
        write_json(folder.results.path(experiment), {**result, **processor_time, **MACHINE})


def write_bounds_and_walks(folder: PaperFolder) -> None:
    """Figure 1 (a) and table 3."""
    for order in folder.scale.bound_orders:
        bound = {"order": order, "entropy": 9.0, "exact": 12.0 - order, "gradient": 12.01 - order}
        write_json(folder.bound(order), bound)
    for experiment in folder.plan().table3().values():
        article = {"title": ODD, "labels": ["a|b", "<c>"], "beginning": ODD * 2}
        walk = {"from": article, "steps": [{"distance": 5, **article}]}
        agreement = [{"distance": 5 * step, "pairs": 200, "shared": 50.0 - step} for step in range(4)]
        write_json(folder.walks(experiment), {"walks": [walk], "agreement": agreement})
