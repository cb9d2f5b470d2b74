"""Hashers that train an objective with the loop of ammi.training; fit only assembles the parts."""

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ammi.hashers.base import Arrays, Bits, Facts, SizedHasher
from ammi.hashers.given import Given, Validation
from ammi.hashers.hyperplanes import HyperplaneNames, Hyperplanes
from ammi.hashers.linear import linear_bits
from ammi.hashers.parameters import estimator, in_words, parameter
from ammi.hashers.stage import Stage
from ammi.nets.matrix import Matrix
from ammi.nets.rows import Rows, to_rows
from ammi.training.batches import Batches
from ammi.training.checkpoint import Checkpoint
from ammi.training.finite import check_weights
from ammi.training.history import History, plot_history
from ammi.training.loop import Callback, Schedule, TrainingRun, train
from ammi.training.objective import Objective
from ammi.training.progress import Lines, Progress, Silent
from ammi.training.threads import torch_threads
from ammi.training.validation import hold_out, label_precision, pair_matching

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_RATE = 10.0  # of learning rates and of weights at the start: beyond, nothing can be learned
MOST_SIZE = 2**16  # of layers and of priors
_ROWS_AT_ONCE = 4096
_NOT_PART_OF_A_RUN = {"verbose", "checkpoint", "n_jobs", "device"}


@estimator
class TrainedHasher(SizedHasher):
    """A hasher that is trained in epochs; a method says with which objective."""

    batch_size: int = parameter(
        "documents in a batch, N. The paper's grid: 16 to 128.", default=128, whole=True, least=1, most=2**31 - 1
    )
    learning_rate: float | None = parameter(
        "η. The paper's grid: 0.0001 to 0.03.", default=0.01, above=0, most=MOST_RATE
    )
    init_range: float = parameter(
        "α, weights start uniform in (-α, α). The paper's: 0.1.", default=0.1, above=0, most=MOST_RATE
    )
    clip: float = parameter("largest norm of a gradient.", default=10.0, above=0)
    epochs: int | None = parameter("at most so many.", default=40, whole=True, least=1)
    patience: int = parameter(
        "stop when the validation score has not risen for so many epochs.", default=6, whole=True, least=1
    )
    checkpoint: str | os.PathLike[str] | None = parameter(
        "a folder; the run is written there after every epoch, and goes on from there when started again.",
        default=None,
        types=(str, os.PathLike),
        optional=True,
    )
    device: str = parameter(
        "'auto' takes a GPU where there is one; or a torch device. It is not saved with a model.",
        default="auto",
        types=(str,),
    )
    n_jobs: int | None = parameter(
        "threads for encoding and validation; None leaves torch's setting. Results do not depend on it.",
        default=None,
        whole=True,
        least=1,
        most=1024,
        optional=True,
    )
    verbose: bool = parameter("show progress on standard error.", default=True, types=(bool, np.bool_))

    @abstractmethod
    def objective(self, n_features: int, predictive: bool) -> Objective:
        """What to train for rows of n_features columns; predictive if with related documents."""

    def _learning_rate(self) -> float:
        """The learning rate of the epochs, where a method has a rule for it instead of a number."""
        assert self.learning_rate is not None
        return self.learning_rate

    def _looks_for_neighbours(self) -> bool:
        """Whether it pairs documents with near ones where it has no related documents."""
        return False

    def _near_documents(self, stage: Stage) -> NDArray | None:
        """The numbers (n, k) of rows to pair each row with, where a method wants that and has no related documents."""
        return None

    def _lean(self) -> float:
        """How much more often near ones of these are drawn (`Batches`)."""
        return 1.0

    def _dropout(self, given: Given) -> float:
        """The share of the words that is left out of rows that are trained on."""
        return 0.0

    def _n_epochs(self, n_documents: int, predictive: bool) -> int:
        """How many epochs a run has at most, on documents alone or with related ones."""
        assert self.epochs is not None
        return self.epochs

    def _keeps_last(self, given: Given) -> bool:
        """Whether it is the last epoch that is kept where no validation chooses one."""
        return False

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        related: Any = None,
        views: Any = None,
        validation: Validation = None,
        callbacks: Sequence[Callback] = (),
        progress: Progress | None = None,
    ) -> Self:
        """Learn from rows X (n, V), sparse or dense.

        Where an epoch leaves the finite numbers, training stops: `diverged_` is its number, and the best epoch before
        it is kept. Where there is none, that is an error.

        Args:
            y: labels of X, only for a validation with labels: the documents among which held-out ones are looked for.
            related: for predictive hashing, a document related to each row of X, row for row.
            views: other rows of the same documents, such as their embeddings: a matrix, sparse or dense, or a list of
                some, row for row. Where neighbours are looked for, their cosines are added to those of X; codes are
                made of X alone.
            validation: what chooses the epoch to keep: (X_val, labels) for top-100 precision, which needs y; with
                `related`, (X_val, related_val) for top-100 matching; a function of the hasher, whose history_ ends
                with the figures of the epoch; or None for the objective on a tenth of the documents (2,000 at most),
                or where AMMI's one encoder reads pairs, for the last epoch.
            callbacks: functions that are called after each epoch with its figures, such as
                ammi.training.callbacks.TensorBoard.
            progress: what shows the run, in place of the lines that `verbose` asks for.
        """
        self._check_parameters()
        shown = progress or (Lines(type(self).__name__) if self.verbose else Silent())
        given = Given.checked(self, X, y, related, views, validation)
        seed = check_random_state(self.random_state).randint(2**31)
        with shown, torch_threads(self.n_jobs), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            run = self._train(given, np.random.default_rng(seed), callbacks, shown)
        self.best_epoch_, self.interrupted_, self.diverged_ = run.best_epoch, run.interrupted, run.diverged
        return self

    def _train(
        self, given: Given, rng: np.random.Generator, callbacks: Sequence[Callback], progress: Progress
    ) -> TrainingRun:
        rows, held_out = np.arange(given.X.shape[0]), None
        if given.validation is None and not self._keeps_last(given):
            rows, held_out = hold_out(len(rows), rng)
        checkpoint = Checkpoint(self.checkpoint, self._identity(given)) if self.checkpoint else None
        stage = Stage(given, rows, rng, progress, checkpoint, checkpoint.load() if checkpoint else None)
        self._begin(stage)
        return self._learn(stage, self._pairs_of_its_own(stage), self._scorer(given, held_out), callbacks)

    def _begin(self, stage: Stage) -> None:
        """Make the objective."""
        self.predictive_ = stage.given.related is not None
        objective = self.objective(stage.given.X.shape[1], self.predictive_)
        self.objective_: Objective = objective.to(self._device())
        self.history_: History = []
        if stage.saved is None:
            self.objective_.pretrain(stage.given.X, stage.rng, stage.progress)
            check_weights(self.objective_.state_dict(), "before the first epoch")

    def _learn(
        self, stage: Stage, near: NDArray | None, score: Callable[[], float], callbacks: Sequence[Callback] = ()
    ) -> TrainingRun:
        """Train the objective on documents alone, on related ones, or on pairs with those that are near."""
        given = stage.given
        run = TrainingRun(history=self.history_)
        batches = Batches(
            given.X,
            given.related,
            rows=stage.rows,
            neighbours=near,
            lean=self._lean(),
            batch_size=self.batch_size,
            dropout=self._dropout(given),
            device=self._device(),
            rng=stage.rng,
        )
        train(
            self.objective_,
            batches,
            lambda: self._blocks(given.X),
            score,
            self._schedule(given),
            run=run,
            saved=stage.saved,
            checkpoint=stage.checkpoint,
            callbacks=callbacks,
            progress=stage.progress,
        )
        return run

    def _schedule(self, given: Given) -> Schedule:
        # Any score is noisy as long as codes tell little, and the best of the first epochs may be so by luck.
        waits = given.validation is None or self._keeps_last(given)
        rising = self.objective_.rising if waits else None
        keeps_last = given.validation is None and self._keeps_last(given)
        epochs = self._n_epochs(given.X.shape[0], self.predictive_)
        return Schedule(epochs, self.patience, self._learning_rate(), self.clip, rising, keeps_last)

    def plot_history(self) -> "Figure":
        """A matplotlib figure of the training: what was measured in each epoch, and the epoch that was kept."""
        check_is_fitted(self)
        return plot_history(self.history_, self.best_epoch_)

    def hyperplanes(self) -> HyperplaneNames | None:
        names = self.objective_.linear()
        return names and HyperplaneNames(*names, are_biases=True)

    def _bits(self, X: Matrix) -> Bits:
        if names := self.hyperplanes():
            return linear_bits(X, Hyperplanes.among(self._arrays(), names, self.n_bits))
        with self._reading():
            return np.concatenate(
                [self.objective_.bits(rows).to(torch.uint8).cpu().numpy() for rows in self._blocks(X)]
            )

    def _arrays(self) -> Arrays:
        return {name: tensor.detach().cpu().numpy() for name, tensor in self.objective_.state_dict().items()}

    def _facts(self) -> Facts:
        return {
            "predictive": self.predictive_,
            "history": self.history_,
            "best_epoch": self.best_epoch_,
            "diverged": self.diverged_,
        }

    def _restore(self, arrays: Arrays, facts: Facts) -> None:
        self.predictive_, self.history_, self.best_epoch_ = facts["predictive"], facts["history"], facts["best_epoch"]
        self.interrupted_, self.diverged_ = False, facts["diverged"]
        self._check_shapes(arrays)
        with torch.random.fork_rng(devices=[]):
            objective = self.objective(self.n_features_in_, self.predictive_)
        objective.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
        self.objective_ = objective.to(self._device()).eval()

    def _check_shapes(self, arrays: Arrays) -> None:
        """Refuse arrays that are not those of an objective with these parameters, before there is room for one."""
        if callable(getattr(self, "encoder", None)):  # a network of one's own is made as it is
            return
        with torch.device("meta"):
            expected = self.objective(self.n_features_in_, self.predictive_).state_dict()
        for name, tensor in expected.items():
            if tuple(tensor.shape) != arrays[name].shape:
                raise ValueError(f"{name} has the shape {arrays[name].shape}, expected {tuple(tensor.shape)}")

    def _blocks(self, X: Matrix) -> Iterator[Rows]:
        """Rows as the objective reads them, some at a time."""
        for start in range(0, X.shape[0], _ROWS_AT_ONCE):
            yield to_rows(X[start : start + _ROWS_AT_ONCE], self._device())

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """While documents are read, and not trained on."""
        with torch_threads(self.n_jobs), torch.no_grad():
            yield

    def _pairs_of_its_own(self, stage: Stage) -> NDArray | None:
        """The documents that the collection itself gives each one to be paired with; a run that goes on has them."""
        if stage.given.related is not None:
            return None
        near = stage.checkpoint.array("neighbours") if stage.checkpoint else None
        if near is None:
            with torch.random.fork_rng(devices=[]):  # what is drawn for them changes nothing that is drawn later
                near = self._near_documents(replace(stage, rng=stage.rng.spawn(1)[0]))
            if stage.checkpoint and near is not None:
                stage.checkpoint.save_array("neighbours", near)
        return near

    def _scorer(self, given: Given, held_out: NDArray | None) -> Callable[[], float]:
        """The validation task as a function to call after each epoch."""
        validation, related = given.validation, given.related

        def encode(rows: Matrix) -> Bits:
            return np.packbits(self._bits(rows), axis=1)

        if callable(validation):
            return lambda: validation(self)
        if validation is None and self._keeps_last(given):
            return lambda: self.history_[-1]["information"]
        if validation is None:
            rows = slice(None) if held_out is None else held_out
            return lambda: -self._measure(given.X[rows], None if related is None else related[rows])["loss"]
        if related is not None:
            return lambda: pair_matching(encode, *validation)
        return lambda: label_precision(encode, *validation, given.X, given.y)

    @torch.no_grad()
    def _measure(self, Y: Matrix, X: Matrix | None = None) -> dict[str, float]:
        """The loss and what goes with it on documents that are not trained on, mean over blocks of them."""
        batches = Batches(Y, X, batch_size=_ROWS_AT_ONCE, device=self._device(), rng=np.random.default_rng(0))
        totals: dict[str, float] = {}
        for batch in batches:
            loss, figures = self.objective_.loss(batch)
            for name, value in {"loss": loss, **figures}.items():
                totals[name] = totals.get(name, 0.0) + value.item() * batch.size
        return {name: total / batches.n_documents for name, total in totals.items()}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.checkpoint is not None and not isinstance(self.random_state, int | np.integer):
            raise ValueError(
                "checkpoint needs a whole number as random_state, so that a run that goes on is the same run"
            )
        self._check_device()

    def _check_device(self) -> None:
        try:
            device = self._device()
            torch.zeros(1, device=device)
        except (AssertionError, NotImplementedError, RuntimeError) as error:
            raise ValueError(
                f"device is {self.device!r}, which torch does not have here: use 'auto', or 'cpu'"
            ) from error
        if device.type == "meta":
            raise ValueError("device is 'meta', which holds no numbers: use 'auto', or 'cpu'")

    def _identity(self, given: Given) -> dict[str, str | int | float | None]:
        """What a checkpoint belongs to: the parameters that shape a run, and what it was given."""
        parameters = self.get_params(deep=False).items()
        shaping = {name: in_words(value) for name, value in parameters if name not in _NOT_PART_OF_A_RUN}
        return {**shaping, "device": self._device().type, **given.digests()}

    def _device(self) -> torch.device:
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)
