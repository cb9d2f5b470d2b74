"""The runner: it does what is missing, tells the display, and does nothing twice."""

import json
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ammi.tuning.display import Display
from ammi.tuning.tasks import Task
from reproduction.folder import PaperFolder
from reproduction.plan import QUICK
from reproduction.runner import Runner
from reproduction.sets import PaperSets
from tests.tuning.small import small_task

SCALE = replace(QUICK, pair_sets=(), trials=1, seeds=(0,), bound_orders=(0, 1), bound_steps=2, prior_orders=(0, 1))


class Recorder(Display):
    """A display that keeps what it was told: bars with how many steps they were to have and had, and searches."""

    def __init__(self):
        self.bars: dict[str, tuple[float | None, float]] = {}
        self.searches: list[tuple[str, int, int]] = []

    @contextmanager
    def bar(self, what, total=None):
        steps: list[float] = []
        yield steps.append
        self.bars[what] = (total, sum(steps))

    @contextmanager
    def search(self, title, trials, finished):
        self.searches.append((title, trials, finished))
        with super().search(title, trials, finished) as view:
            yield view


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
    cells = plan.table1()
    assert len(cells) == 12 * 2 + 2
    assert runner.folder.results.missing(experiment for cell in cells for experiment in cell.experiments) == []
    assert recorder.bars == {"table 1": (len(cells), len(cells))}
    assert recorder.searches == [(planned.search.title, 1, 0) for planned in plan.searches("table1")]

    before, (again, nothing) = files(tmp_path), runner_in(tmp_path)
    again.run("table1")
    assert files(tmp_path) == before
    assert (nothing.bars, nothing.searches) == ({"table 1": (0, 0)}, [])


def test_a_search_without_its_plot_is_drawn_and_not_searched_again(tmp_path):
    runner, _ = runner_in(tmp_path)
    planned = next(one for one in runner.folder.plan().searches("table1") if one.search.method == "bmmi")
    runner._finish_search(planned)
    folder = runner.folder.search(planned.search)
    trials = json.loads((folder / "trials.json").read_text())["trials"]
    (folder / "history.png").unlink()
    assert runner._is_unfinished(planned)
    runner._finish_search(planned)
    assert not runner._is_unfinished(planned)
    assert json.loads((folder / "trials.json").read_text())["trials"] == trials


def test_figure_1_is_done_once(tmp_path):
    runner, recorder = runner_in(tmp_path)
    runner.run("figure1")
    assert recorder.bars == {"figure 1 (a)": (2, 2), "figure 1 (b)": (4, 4)}
    experiments = [experiment for line in runner.folder.plan().figure1().values() for experiment in line]
    assert runner.folder.results.missing(experiments) == []
    bound = json.loads(runner.folder.bound(1).read_text())
    assert (bound["order"], bound["seed"]) == (1, 0)

    before, (again, nothing) = files(tmp_path), runner_in(tmp_path)
    runner.folder.bound(0).unlink()
    again.run("figure1")
    assert nothing.bars == {"figure 1 (a)": (1, 1), "figure 1 (b)": (0, 0)}
    after = files(tmp_path)
    assert {path for path in before if before[path] != after[path]} <= {runner.folder.bound(0)}
    assert json.loads(after[runner.folder.bound(0)]) == json.loads(before[runner.folder.bound(0)])


def test_an_interrupted_runner_keeps_what_is_finished(tmp_path):
    runner, recorder = runner_in(tmp_path)
    runner.sets = SmallSets(runner.folder, recorder, at_most=2)
    with pytest.raises(KeyboardInterrupt):
        runner.run("figure1")
    assert len(files(tmp_path)) == 2 + 1  # both bounds, of one batch, and an experiment
    again, rest = runner_in(tmp_path)
    again.run("figure1")
    assert rest.bars == {"figure 1 (a)": (0, 0), "figure 1 (b)": (3, 3)}
