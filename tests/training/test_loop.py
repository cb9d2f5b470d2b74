"""The loop: what an epoch measures, which one is kept, what callbacks and scores see, and runs that are cut short."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch

from ammi.training.checkpoint import Checkpoint
from ammi.training.finite import NotFiniteError
from ammi.training.loop import Callback, TrainingRun, train
from ammi.training.objective import Objective
from ammi.training.progress import Lines, Progress, Silent
from ammi.training.recipe import Recipe
from tests.training.made import Middle, batches, documents

X = documents()


def trained(
    objective: Objective,
    score: Callable[[TrainingRun], float],
    *,
    epochs: int = 6,
    patience: int = 6,
    folder: Path | None = None,
    callbacks: Sequence[Callback] = (),
    progress: Progress | None = None,
    run: TrainingRun | None = None,
    rising: str | None = None,
    keep: Literal["best", "last"] = "best",
) -> TrainingRun:
    """A run of the small objective, from the same seed each time."""
    run = TrainingRun() if run is None else run
    checkpoint = Checkpoint(folder, {}) if folder else None
    torch.manual_seed(0)
    train(
        Recipe(objective, epochs, learning_rate=0.05, patience=patience, rising=rising, keep=keep),
        batches(X),
        lambda: score(run),
        run=run,
        checkpoint=checkpoint,
        callbacks=callbacks,
        progress=progress or Silent(),
    )
    return run


def one_by_one(*scores: float | type[BaseException]) -> Callable[[TrainingRun], float]:
    """These scores, epoch by epoch; an exception among them is raised."""
    rest: Iterator[Any] = iter(scores)

    def score(run: TrainingRun) -> float:
        value = next(rest)
        if isinstance(value, type):
            raise value
        return value

    return score


def weights(objective: Objective) -> dict[str, list[float]]:
    return {name: value.tolist() for name, value in objective.state_dict().items()}


def test_it_learns_and_measures_the_mean_over_all_documents():
    objective = Middle()
    run = trained(objective, lambda run: -run.history[-1]["distance"], epochs=40, patience=40)
    assert [row["epoch"] for row in run.history] == list(range(1, 41))
    assert set(run.history[0]) == {"epoch", "distance", "total", "seconds", "documents_per_second", "score"}
    np.testing.assert_allclose(objective.point.detach(), X.mean(0), atol=0.05)
    assert run.history[-1]["distance"] < run.history[0]["distance"] / 10
    np.testing.assert_allclose([row["total"] for row in run.history], X.sum(1).mean(), rtol=1e-5)
    assert objective.epochs_seen == [50] * 40
    assert not objective.training


def test_the_best_epoch_is_left_in_the_objective_and_patience_ends_the_run():
    objective, seen = Middle(), []
    scores = one_by_one(1.0, 3.0, 2.0, 3.0, 0.0)

    def score(run: TrainingRun) -> float:
        seen.append(weights(objective))
        return scores(run)

    run = trained(objective, score, patience=3)
    assert (len(run.history), run.best_epoch, run.finished) == (5, 2, True)  # an equal score is no better one
    assert [row["score"] for row in run.history] == [1, 3, 2, 3, 0]
    assert weights(objective) == seen[1] != seen[-1]


def test_patience_waits_while_a_figure_rises():
    figures = [1, 1.2, 1.4, 1.6, 1.7, 1.72, 1.75, 1.76]
    run = TrainingRun()

    def score(_: TrainingRun) -> float:
        run.history[-1]["information"] = figures[len(run.history) - 1]
        return 9.0 - len(run.history)

    trained(Middle(), score, epochs=8, patience=3, run=run, rising="information")
    assert (len(run.history), run.best_epoch, run.finished) == (7, 1, True)  # 1.75 is within a tenth of 1.6


def test_a_run_to_the_end_keeps_its_last_epoch():
    objective, seen = Middle(), []
    scores = one_by_one(5.0, 4.0, 3.0, 2.0)

    def score(run: TrainingRun) -> float:
        seen.append(weights(objective))
        return scores(run)

    run = trained(objective, score, epochs=4, patience=1, keep="last")
    assert (len(run.history), run.best_epoch, run.finished) == (4, 4, False)
    assert weights(objective) == seen[-1]


def test_a_score_sees_the_figures_of_its_epoch():
    rows: list[dict[str, float]] = []

    def score(run: TrainingRun) -> float:
        rows.append(dict(run.history[-1]))
        return 0.0

    trained(Middle(), score, epochs=3)
    assert [row["epoch"] for row in rows] == [1, 2, 3]
    assert all("distance" in row and "score" not in row for row in rows)


def test_callbacks_are_given_each_row_for_themselves():
    rows: list[Mapping[str, float]] = []

    def spoil(row: Any) -> None:
        row.clear()

    run = trained(Middle(), one_by_one(5, 6, 7), epochs=3, callbacks=[spoil, rows.append])
    assert [row["score"] for row in run.history] == [5, 6, 7]
    assert rows == run.history


class Half(Middle):
    def trained(self) -> Iterator[torch.nn.Parameter]:
        return iter([self.point])


@pytest.mark.parametrize("kind", [Half, Middle])
def test_only_what_the_objective_names_is_trained(kind):
    objective = kind()
    trained(objective, lambda run: run.history[-1]["epoch"], epochs=2)
    assert objective.point.abs().min() > 0
    assert objective.asleep.item() == 0


def test_ctrl_c_in_the_first_epoch_ends_it_all():
    with pytest.raises(KeyboardInterrupt):
        trained(Middle(), one_by_one(KeyboardInterrupt))


def test_ctrl_c_later_keeps_the_best_epoch_so_far(tmp_path):
    objective, seen = Middle(), []
    scores = one_by_one(2.0, 1.0, KeyboardInterrupt)

    def score(run: TrainingRun) -> float:
        seen.append(weights(objective))
        return scores(run)

    with (tmp_path / "shown").open("w+") as file:
        run = trained(objective, score, progress=Lines("Middle", file))
        file.seek(0)
        assert file.read() == "Stopped by hand after epoch 2; the best one so far is kept.\n"
    assert (len(run.history), run.best_epoch, run.interrupted, run.finished) == (2, 1, True, False)
    assert weights(objective) == seen[0]


class Interrupted(torch.Tensor):
    """Weights during whose copying somebody presses Ctrl-C."""

    def __deepcopy__(self, memo: Any) -> "Interrupted":
        raise KeyboardInterrupt


def test_ctrl_c_while_the_best_weights_are_copied_keeps_those_before():
    run = TrainingRun(history=[{"epoch": 1}])
    recipe = Recipe(Middle(), 9, learning_rate=0.1, patience=5)
    run.add(1.0, {"point": torch.ones(1)}, recipe)
    run.history.append({"epoch": 2})
    with pytest.raises(KeyboardInterrupt):
        run.add(2.0, {"point": Interrupted(1)}, recipe)
    assert run.best_epoch == 1
    assert torch.equal(run.best["point"], torch.ones(1))


@pytest.mark.parametrize("stopped_in", [2, 3, 5])
def test_a_run_that_goes_on_is_the_same_to_the_bit(tmp_path, stopped_in):
    whole = Middle()
    expected = trained(whole, lambda run: run.history[-1]["epoch"] % 4)
    broken = one_by_one(*[epoch % 4 for epoch in range(1, stopped_in)], RuntimeError)
    with pytest.raises(RuntimeError):
        trained(Middle(), broken, folder=tmp_path)
    again = Middle()
    run = trained(again, lambda run: run.history[-1]["epoch"] % 4, folder=tmp_path)
    times = {"seconds", "documents_per_second"}
    assert [{k: v for k, v in row.items() if k not in times} for row in run.history] == [
        {k: v for k, v in row.items() if k not in times} for row in expected.history
    ]
    assert run.best_epoch == expected.best_epoch == 3
    assert weights(again) == weights(whole)
    assert again.epochs_seen == [50] * (7 - stopped_in)


def test_a_run_that_is_finished_has_nothing_left_to_do(tmp_path):
    first = Middle()
    run = trained(first, one_by_one(3.0, 2.0, 1.0), patience=2, folder=tmp_path)
    second = Middle()
    again = trained(second, one_by_one(), patience=2, folder=tmp_path)
    assert again.history == run.history
    assert weights(second) == weights(first)


class LeavesTheFinite(Middle):
    """From some epoch on its loss, a weight, a figure or what it learns after an epoch is not finite."""

    def __init__(self, where: str, epoch: int):
        super().__init__()
        self.where, self.epoch = where, epoch
        self.register_buffer("threshold", torch.zeros(1))

    @property
    def _now(self) -> bool:
        return len(self.epochs_seen) + 1 >= self.epoch

    def loss(self, batch):
        loss, figures = super().loss(batch)
        if self._now and self.where == "loss":
            loss = loss * float("nan")
        if self._now and self.where == "gradient":
            loss = loss * 1e38
        if self._now and self.where == "figure":
            figures["total"] = figures["total"] * float("inf")
        return loss, figures

    def after_epoch(self, documents):
        if self._now and self.where == "threshold":
            self.threshold = torch.full((1,), float("nan"))
        super().after_epoch(documents)


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("loss", "the gradient is nan"),
        ("gradient", "the gradient is inf"),
        ("figure", "the total is inf"),
        ("threshold", "threshold has numbers that are not finite"),
        ("score", "the validation score is nan"),
    ],
)
def test_an_epoch_that_leaves_the_finite_ends_the_run(where, told, tmp_path):
    def score(run: TrainingRun) -> float:
        return float("nan") if where == "score" and len(run.history) == 3 else len(run.history)

    said: list[str] = []

    class Said(Silent):
        def say(self, text: str) -> None:
            said.append(text)

    shown = Said()
    objective = LeavesTheFinite(where, 3)
    run = trained(objective, score, progress=shown, folder=tmp_path)
    assert (run.diverged, run.best_epoch, run.interrupted) == (3, 2, False)
    assert [row["score"] for row in run.history] == [1, 2]
    assert all(tensor.isfinite().all() for tensor in objective.state_dict().values())
    (sentence,) = said
    assert f"left the finite numbers in epoch 3, where {told}: lower the learning rate, or divide" in sentence
    assert sentence.endswith("Epoch 2 is kept.")
    again = trained(LeavesTheFinite(where, 1), score, progress=shown, folder=tmp_path)  # from its checkpoint
    assert (again.diverged, again.best_epoch) == (3, 2)
    if where != "score":
        with pytest.raises(NotFiniteError, match=f"in epoch 1, where {told}"):
            trained(LeavesTheFinite(where, 1), score)
