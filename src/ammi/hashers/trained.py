"""Hashers that are trained in epochs: a method names an objective, and may change the recipe of its training."""

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ammi.hashers.base import Arrays, Bits, Facts, SizedHasher
from ammi.hashers.hyperplanes import HyperplaneNames, Hyperplanes
from ammi.hashers.linear import linear_bits
from ammi.hashers.parameters import estimator, in_words, parameter
from ammi.hashers.running import Stage, run_recipe
from ammi.hashers.training_data import TrainingData, Validation, Views
from ammi.nets.matrix import Matrix, MatrixLike
from ammi.nets.rows import row_blocks
from ammi.training.checkpoint import Checkpoint
from ammi.training.history import History, plot_history
from ammi.training.loop import Callback
from ammi.training.objective import Objective
from ammi.training.progress import Progress, Silent, shown
from ammi.training.recipe import DataShape, Recipe
from ammi.training.threads import torch_threads
from ammi.training.validation import hold_out, label_precision, mean_figures, pair_matching

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_RATE = 10.0  # of learning rates and initial weights: nothing can be learned beyond
MOST_SIZE = 2**16  # of layers and of priors
_EPOCHS, _LEARNING_RATE = 40, 0.01
_NOT_PART_OF_A_RUN = {"verbose", "checkpoint", "n_jobs", "device", "epochs", "patience"}  # all may change later


@estimator
class TrainedHasher(SizedHasher):
    """A hasher that is trained in epochs. A method defines `objective`, and may override `recipe`."""

    batch_size: int = parameter(
        "documents in a batch, N. The paper's grid: 16 to 128.", default=128, whole=True, least=1, most=2**31 - 1
    )
    learning_rate: float | None = parameter(
        "η. The paper's grid: 0.0001 to 0.03.", default=_LEARNING_RATE, above=0, most=MOST_RATE
    )
    init_range: float = parameter(
        "α, weights start uniform in (-α, α). The paper's: 0.1.", default=0.1, above=0, most=MOST_RATE
    )
    clip: float = parameter("largest norm of a gradient.", default=10.0, above=0)
    epochs: int | None = parameter("largest number of epochs.", default=_EPOCHS, whole=True, least=1)
    patience: int = parameter(
        "stop after this many epochs without a better validation score.", default=6, whole=True, least=1
    )
    checkpoint: str | os.PathLike[str] | None = parameter(
        "a folder; the run is written there after every epoch, and resumed from there when started again, also a "
        "finished one with more epochs or patience; neighbours and a first model stay as they are.",
        default=None,
        types=(str, os.PathLike),
        optional=True,
    )
    device: str = parameter(
        "'auto' takes a GPU if there is one; or a torch device. It is not saved with a model.",
        default="auto",
        types=(str,),
    )
    n_jobs: int | None = parameter(
        "threads of a fit and of encoding; None uses torch's setting, normally all cores. Results do not depend on it.",
        default=None,
        whole=True,
        least=1,
        most=1024,
        optional=True,
    )
    verbose: bool = parameter(
        "show progress: on standard error, in a notebook as bars.", default=True, types=(bool, np.bool_)
    )

    @abstractmethod
    def objective(self, n_features: int, predictive: bool) -> Objective:
        """Make the objective for rows of n_features columns, predictive if there are related documents.

        A saved model is loaded into it as well.
        """

    def recipe(self, shape: DataShape) -> Recipe:
        """Return how to train on a collection of this shape: the objective, with the schedule of the parameters."""
        return Recipe(
            self.objective(shape.n_features, shape.predictive),
            epochs=self.epochs or _EPOCHS,
            learning_rate=self.learning_rate or _LEARNING_RATE,
            batch_size=self.batch_size,
            clip=self.clip,
            patience=self.patience,
        )

    def fit(
        self,
        X: MatrixLike,
        y: object = None,
        *,
        related: MatrixLike | None = None,
        views: Views | None = None,
        validation: Validation | None = None,
        callbacks: Sequence[Callback] = (),
        progress: Progress | None = None,
    ) -> Self:
        """Learn from rows X (n, V), sparse or dense.

        If a number becomes infinite or NaN, training stops: `diverged_` is the number of that epoch, and the best epoch
        before it is kept. Without one, that is an error.

        Args:
            y: labels of X, only for a validation with labels: the documents among which held-out ones are looked for.
            related: for predictive hashing, a document related to each row of X, row for row.
            views: other rows of the same documents, such as their embeddings: a matrix, sparse or dense, or a list of
                them, row for row. Their cosines are added to those of X when neighbours are looked for; codes are made
                of X alone.
            validation: chooses the epoch to keep: (X_val, labels) for top-100 precision, which needs y; with
                `related`, (X_val, related_val) for top-100 matching; a function of the hasher, whose history_ ends
                with the figures of the epoch; or None for what the method's recipe says: the loss on a tenth of the
                documents (2,000 at most), or if AMMI's or BMMI's one encoder reads pairs, the last epoch.
            callbacks: functions called after each epoch with its figures, such as
                ammi.training.callbacks.TensorBoard.
            progress: shows the run, in place of the lines that `verbose` asks for.
        """
        self._check_parameters()
        data = TrainingData.checked(self, X, y, related, views, validation)
        seed = check_random_state(self.random_state).randint(2**31)
        display = progress or (shown(type(self).__name__) if self.verbose else Silent())
        with display, torch_threads(self.n_jobs), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            recipe = self.recipe(data.shape)
            if data.views and (not recipe.neighbours or callable(recipe.neighbours)):
                name = type(self).__name__ + (" with neighbours=0" if hasattr(self, "neighbours") else "")
                raise ValueError(
                    f"views help to find the neighbours of documents, but {name} looks for none: leave out `views`"
                )
            if data.validation is not None:
                recipe = recipe.validated()
            rows, held_out, rng = np.arange(data.shape.n_documents), None, np.random.default_rng(seed)
            if data.validation is None and recipe.keep == "best" and recipe.score is None:
                rows, held_out = hold_out(len(rows), rng)
            checkpoint = Checkpoint(self.checkpoint, self._identity(data)) if self.checkpoint else None
            # A validation is a function of the hasher while it is trained.
            self.predictive_, self.objective_ = data.shape.predictive, recipe.objective
            self.history_: History = []
            stage = Stage(data, rows, rng, self._device(), display, checkpoint, self.history_)
            run = run_recipe(recipe, stage, self._scorer(recipe, stage, held_out), callbacks)
        self.best_epoch_, self.interrupted_, self.diverged_ = run.best_epoch, run.interrupted, run.diverged
        return self

    def plot_history(self) -> "Figure":
        """Return a matplotlib figure of the training: the figures of each epoch, and the epoch that was kept."""
        check_is_fitted(self)
        return plot_history(self.history_, self.best_epoch_)

    def hyperplanes(self) -> HyperplaneNames | None:
        names = self.objective_.linear()
        return names and HyperplaneNames(*names, are_biases=True)

    def _bits(self, X: Matrix) -> Bits:
        if names := self.hyperplanes():
            return linear_bits(X, Hyperplanes.among(self._arrays(), names, self.n_bits))
        with self._reading():
            blocks = row_blocks(X, self._device())
            return np.concatenate([self.objective_.bits(rows).to(torch.uint8).cpu().numpy() for rows in blocks])

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
        """Refuse arrays of other shapes than the parameters ask for, before memory is allocated for them."""
        if callable(getattr(self, "encoder", None)):  # a user's network may not build on the meta device
            return
        with torch.device("meta"):
            expected = self.objective(self.n_features_in_, self.predictive_).state_dict()
        for name, tensor in expected.items():
            if tuple(tensor.shape) != arrays[name].shape:
                raise ValueError(f"{name} has the shape {arrays[name].shape}, expected {tuple(tensor.shape)}")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Encode in a block, without gradients and with n_jobs threads."""
        with torch_threads(self.n_jobs), torch.no_grad():
            yield

    def _scorer(self, recipe: Recipe, stage: Stage, held_out: NDArray[np.integer] | None) -> Callable[[], float]:
        """Return the validation task as a function to call after each epoch."""
        data, own_score = stage.data, recipe.score
        validation, related = data.validation, data.related

        def encode(rows: Matrix) -> Bits:
            return np.packbits(self._bits(rows), axis=1)

        if callable(validation):
            return lambda: validation(self)
        if validation is None and recipe.keep == "last":
            return lambda: stage.last_figure(recipe)
        if validation is None and own_score is not None:
            return lambda: own_score(self.objective_)
        if validation is None:
            rows = np.arange(data.shape.n_documents) if held_out is None else held_out
            partners = None if related is None else related[rows]
            if related is None and recipe.neighbours and len(rows) > 1:
                partners = data.X[stage.held_out_partners(recipe.neighbours, rows)]
            return lambda: -mean_figures(self.objective_, data.X[rows], partners, stage.device)["loss"]
        if related is not None:
            return lambda: pair_matching(encode, *validation)
        return lambda: label_precision(encode, *validation, data.X, data.y)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.checkpoint is not None and not isinstance(self.random_state, int | np.integer):
            raise ValueError("checkpoint needs a whole number as random_state, so that a resumed run is the same run")
        try:
            device = self._device()
            torch.zeros(1, device=device)
        except (AssertionError, NotImplementedError, RuntimeError) as error:
            raise ValueError(
                f"device is {self.device!r}, which torch does not have here: use 'auto', or 'cpu'"
            ) from error
        if device.type == "meta":
            raise ValueError("device is 'meta', which holds no numbers: use 'auto', or 'cpu'")

    def _identity(self, data: TrainingData) -> dict[str, str | int | float | None]:
        """Return what a checkpoint belongs to: the parameters that shape a run, and digests of its data."""
        parameters = self.get_params(deep=False).items()
        shaping = {name: in_words(value) for name, value in parameters if name not in _NOT_PART_OF_A_RUN}
        return {**shaping, "device": self._device().type, **data.digests()}

    def _device(self) -> torch.device:
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)
