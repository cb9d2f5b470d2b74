"""Findings: figures only where all of their experiments are done."""

import json
from statistics import mean, stdev

import pytest

from reproduction.findings import Findings, read_findings, spread
from reproduction.folder import PaperFolder
from tests.paper.made_up import SCALE, complete_folder


def test_everything_there_is_read(complete):
    findings, plan = read_findings(complete), complete.plan()
    assert findings.precision.keys() == {(cell.row, cell.task, cell.bits) for cell in plan.table1()}
    assert findings.pairs.keys() == {(cell.row, cell.task) for cell in plan.table2()}
    assert findings.orders.keys() == plan.figure1().keys()
    assert tuple(findings.bounds) == SCALE.bound_orders
    assert tuple(findings.drifts) == SCALE.pair_sets
    cell = next(cell for cell in plan.table1() if (cell.row, cell.task, cell.bits) == ("BMSH", "ng20", 32))
    results = [json.loads(complete.results.path(experiment).read_text()) for experiment in cell.experiments]
    assert findings.precision["BMSH", "ng20", 32] == [result["test"] for result in results]


def test_a_figure_with_a_seed_missing_is_none(tmp_path):
    folder = complete_folder(tmp_path)
    cell = next(cell for cell in folder.plan().table1() if cell.row == "AMMI")
    folder.results.path(cell.experiments[1]).unlink()
    before = read_findings(complete_folder(tmp_path / "other")).precision
    assert before.keys() - read_findings(folder).precision.keys() == {(cell.row, cell.task, cell.bits)}


def test_a_search_that_is_done_on_one_set_and_not_on_another(tmp_path):
    folder = complete_folder(tmp_path)
    search = next(planned.search for planned in folder.plan().searches("table1") if planned.search.method == "bmsh")
    (folder.search(search) / "best.json").unlink()
    findings = read_findings(folder)
    assert {name for row, name, _ in findings.precision if row == "BMSH"} == set(SCALE.sets) - {search.task}
    assert {name for row, name, _ in findings.precision if row == "AMMI"} == set(SCALE.sets)


def test_there_is_nothing_before_the_first_experiment(tmp_path):
    assert read_findings(PaperFolder(tmp_path / "new", SCALE)) == Findings(SCALE)


def test_averages_curves_and_lines(complete):
    findings = read_findings(complete)
    cells = [mean(findings.precision["DVQ", name, bits]) for name in SCALE.sets for bits in SCALE.bits]
    assert findings.average("DVQ") == pytest.approx(mean(cells))
    assert findings.average("DVQ", ["ng20"]) == pytest.approx(mean(cells[2:]))
    assert findings.average("BOW") == pytest.approx(mean(findings.precision["BOW", name, 0][0] for name in SCALE.sets))
    assert findings.curve("DVQ", "ng20") == list(zip(SCALE.bits, cells[2:], strict=True))
    assert list(findings.line(1)) == [1, 3]
    del findings.precision["DVQ", "ng20", 16]
    assert findings.average("DVQ") is None
    assert [bits for bits, _ in findings.curve("DVQ", "ng20")] == [32]


def test_spread():
    assert spread([80.0]) == 0
    assert spread([80.0, 81.0, 83.0]) == stdev([80.0, 81.0, 83.0])
