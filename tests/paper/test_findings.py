"""Findings: figures only where all of their experiments are done."""

import json
from itertools import product
from statistics import mean, stdev

import pytest

from reproduction.findings import Findings, read_findings, spread
from reproduction.folder import PaperFolder
from reproduction.unseen import ROWS
from tests.paper.made_up import SCALE, complete_folder


def test_everything_there_is_read(complete):
    findings, plan = read_findings(complete), complete.plan()
    cells = (*plan.cells("table1"), *plan.cells("controls"))
    assert findings.precision.keys() == {(cell.row, cell.task, cell.bits) for cell in cells}
    assert findings.pairs.keys() == {(cell.row, cell.task) for cell in plan.cells("table2")}
    assert findings.orders.keys() == plan.order_rows().keys()
    assert findings.brute_force is not None
    assert findings.brute_force.setting == findings.orders[1, 3].setting == {"batch_size": 32}
    assert {len(bounds) for bounds in findings.bounds.values()} == {len(SCALE.seeds)}
    assert findings.unseen.keys() == {(row, name) for row in ROWS for name in SCALE.unseen_sets}
    assert tuple(findings.bounds) == SCALE.bound_orders
    assert tuple(findings.drifts) == SCALE.pair_sets
    cell = next(cell for cell in plan.cells("table1") if (cell.row, cell.task, cell.bits) == ("BMSH", "ng20", 32))
    results = [json.loads(complete.results.path(experiment).read_text()) for experiment in cell.experiments]
    assert findings.precision["BMSH", "ng20", 32] == [result["test"] for result in results]


def test_a_figure_with_a_seed_missing_is_none(tmp_path):
    folder = complete_folder(tmp_path)
    cell = next(cell for cell in folder.plan().cells("table1") if cell.row == "AMMI")
    folder.results.path(cell.experiments[1]).unlink()
    before = read_findings(complete_folder(tmp_path / "other")).precision
    assert before.keys() - read_findings(folder).precision.keys() == {(cell.row, cell.task, cell.bits)}


def test_a_search_that_is_done_on_one_set_and_not_on_another(tmp_path):
    folder = complete_folder(tmp_path)
    place = next(planned.place for planned in folder.plan().searches("table1") if planned.search.method == "bmsh")
    (folder.search(place) / "trials.json").unlink()
    findings = read_findings(folder)
    everywhere = set(product(SCALE.sets, SCALE.bits))
    assert {(name, bits) for row, name, bits in findings.precision if row == "BMSH"} == everywhere - {
        (place.task, place.bits)
    }
    assert {(name, bits) for row, name, bits in findings.precision if row == "AMMI"} == everywhere


def test_there_is_nothing_before_the_first_experiment(tmp_path):
    assert read_findings(PaperFolder(tmp_path / "new", SCALE)) == Findings(SCALE)


def test_averages_curves_and_lines(complete):
    findings = read_findings(complete)
    cells = [mean(findings.precision["DVQ", name, bits]) for name in SCALE.sets for bits in SCALE.bits]
    assert findings.average("DVQ") == pytest.approx(mean(cells))
    assert findings.average("DVQ", ["ng20"]) == pytest.approx(mean(cells[2:]))
    scores = [findings.precision["DVQ", name, bits] for name in SCALE.sets for bits in SCALE.bits]
    assert findings.seed_averages("DVQ") == pytest.approx([mean(each[seed] for each in scores) for seed in (0, 1)])
    assert findings.average("BOW") == pytest.approx(mean(findings.precision["BOW", name, 0][0] for name in SCALE.sets))
    assert findings.curve("DVQ", "ng20") == list(zip(SCALE.bits, cells[2:], strict=True))
    assert list(findings.line(1)) == [1, 3]
    del findings.precision["DVQ", "ng20", 16]
    assert findings.average("DVQ") is None
    assert [bits for bits, _ in findings.curve("DVQ", "ng20")] == [32]


def test_spread():
    assert spread([80.0]) == 0
    assert spread([80.0, 81.0, 83.0]) == stdev([80.0, 81.0, 83.0])
