"""The runner: it does what is missing, tells the display, and does nothing twice."""

import json
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ammi.tuning.display import SILENT, Display
from ammi.tuning.tasks import Task
from reproduction.findings import read_findings
from reproduction.folder import PaperFolder
from reproduction.plan import QUICK
from reproduction.runner import Runner
from reproduction.sets import PaperSets
from tests.tuning.small import small_task

SCALE = replace(QUICK, pair_sets=(), seeds=(0,), bound_orders=(0, 1), bound_steps=2, prior_orders=(0, 1))


class Recorder(Display):
    """A display that keeps what it was told: bars with how many steps they were to have and had."""

    def __init__(self):
        self.bars: dict[str, tuple[float | None, float]] = {}

    @contextmanager
    def bar(self, what, total=None):
        steps: list[float] = []
        yield steps.append
        self.bars[what] = (total, sum(steps))


class SmallSets(PaperSets):
    """Documents that are learned in a moment, until they were asked for so many times."""

    def __init__(self, folder: PaperFolder, display: Display, at_most: int = 1000):
        super().__init__(folder, display)
        self.left = at_most

    def task(self, name: str) -> Task:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return small_task()


def runner_in(folder: Path) -> tuple[Runner, Recorder]:
    recorder = Recorder()
    runner = Runner(PaperFolder(folder, SCALE), recorder)
    runner.sets = SmallSets(runner.folder, recorder)
    return runner, recorder


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*.json")}


@pytest.mark.slow
def test_table_1_is_searched_for_and_done_once(tmp_path):
    runner, recorder = runner_in(tmp_path)
    runner.run("table1")
    plan = runner.folder.plan()
    cells = plan.cells("table1")
    assert len(cells) == 13 * 2 + 2
    assert runner.folder.results.missing(experiment for cell in cells for experiment in cell.experiments) == []
    assert recorder.bars == {"trials of table1": (9, 9), "finalists of table1": (9, 9), "runs of table1": (19, 19)}

    before, (again, nothing) = files(tmp_path), runner_in(tmp_path)
    again.run("table1")
    assert files(tmp_path) == before
    assert nothing.bars == {"trials of table1": (0, 0), "finalists of table1": (0, 0), "runs of table1": (0, 0)}


def test_a_search_without_its_plot_is_drawn_and_not_searched_again(tmp_path):
    runner, _ = runner_in(tmp_path)
    planned = next(one for one in runner.folder.plan().searches("table1") if one.search.method == "bmmi")
    runner._finish_search(planned, SILENT)
    folder = runner.folder.search(planned.place)
    trials = json.loads((folder / "trials.json").read_text())["trials"]
    (folder / "history.png").unlink()
    assert runner._is_unfinished(planned)
    runner._finish_search(planned, SILENT)
    assert not runner._is_unfinished(planned)
    assert json.loads((folder / "trials.json").read_text())["trials"] == trials


@pytest.mark.slow
def test_figure_1_is_done_once(tmp_path):
    runner, recorder = runner_in(tmp_path)
    runner.run("figure1")
    searched = {"trials of figure1": (4, 4), "finalists of figure1": (4, 4)}  # BMMI; r = 0 and 1; o = r = 1
    assert recorder.bars == {"bounds of figure1": (2, 2), **searched, "runs of figure1": (0, 0)}
    bound = json.loads(runner.folder.bound(1, 0).read_text())
    assert (bound["order"], bound["seed"]) == (1, 0)

    before, (again, nothing) = files(tmp_path), runner_in(tmp_path)
    runner.folder.bound(0, 0).unlink()
    again.run("figure1")
    done = {"trials of figure1": (0, 0), "finalists of figure1": (0, 0), "runs of figure1": (0, 0)}
    assert nothing.bars == {"bounds of figure1": (1, 1), **done}
    after = files(tmp_path)
    assert {path for path in before if before[path] != after[path]} <= {runner.folder.bound(0, 0)}
    assert json.loads(after[runner.folder.bound(0, 0)]) == json.loads(before[runner.folder.bound(0, 0)])


def test_an_interrupted_runner_keeps_what_is_finished(tmp_path):
    runner, recorder = runner_in(tmp_path)
    runner.sets = SmallSets(runner.folder, recorder, at_most=1)
    with pytest.raises(KeyboardInterrupt):
        runner.run("figure1")
    assert len(files(tmp_path)) == 2  # both bounds, of one batch
    again, rest = runner_in(tmp_path)
    again._bound_entropies()
    assert rest.bars == {"bounds of figure1": (0, 0)}


@pytest.mark.slow
def test_unseen_sets_are_scored_once(tmp_path):
    rows = ("ITQ", "tf-idf, cosine", "SVD, cosine")
    recorder = Recorder()
    runner = Runner(PaperFolder(tmp_path, replace(SCALE, unseen_rows=rows)), recorder)
    runner.run("unseen")
    assert recorder.bars == {"rows of unseen": (3, 3)}
    found = read_findings(runner.folder).unseen
    assert found.keys() == {(row, name) for row in rows for name in SCALE.unseen_sets}
    runner.run("unseen")
    assert recorder.bars == {"rows of unseen": (0, 0)}
