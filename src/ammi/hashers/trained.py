"""Hashers that train an objective with the loop of ammi.training; fit only assembles the parts."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from ammi.digests import matrix_digest
from ammi.hashers.base import Arrays, Bits, Facts, SizedHasher
from ammi.hashers.linear import Linear, linear_bits
from ammi.hashers.parameters import estimator, parameter
from ammi.nets.networks import Factory, build_encoder
from ammi.nets.rows import Rows, to_rows
from ammi.training.batches import Batches
from ammi.training.checkpoint import Checkpoint
from ammi.training.history import History, plot_history
from ammi.training.loop import Callback, Schedule, TrainingRun, train
from ammi.training.objective import Objective
from ammi.training.progress import Lines, Progress, Silent
from ammi.training.threads import torch_threads
from ammi.training.validation import hold_out, label_precision, pair_matching

_ROWS_AT_ONCE = 4096
_NOT_PART_OF_A_RUN = {"verbose", "checkpoint", "n_jobs", "device"}

Validation = tuple[Any, Any] | Callable[["TrainedHasher"], float] | None


@estimator
class TrainedHasher(SizedHasher):
    """A hasher that is trained in epochs; a method says with which objective."""

    batch_size: int = parameter(128, "documents in a batch, N. The paper's grid: 16 to 128.", whole=True, least=1)
    learning_rate: float | None = parameter(0.01, "η. The paper's grid: 0.0001 to 0.03.", above=0)
    init_range: float = parameter(0.1, "α, weights start uniform in (-α, α). The paper's: 0.1.", above=0)
    clip: float = parameter(10.0, "largest norm of a gradient.", above=0)
    epochs: int = parameter(40, "at most so many.", whole=True, least=1)
    patience: int = parameter(
        6, "stop when the validation score has not risen for so many epochs.", whole=True, least=1
    )
    checkpoint: Any = parameter(
        None,
        "a folder; the run is written there after every epoch, and goes on from there when started again.",
        optional=True,
    )
    device: str = parameter("auto", "'auto' takes a GPU where there is one; or a torch device.")
    n_jobs: int | None = parameter(
        None,
        "threads for encoding and validation; None leaves torch's setting. Results do not depend on it.",
        whole=True,
        least=1,
        optional=True,
    )
    verbose: bool = parameter(True, "show progress on standard error.")

    @abstractmethod
    def objective(self, n_features: int, predictive: bool) -> Objective:
        """What to train for rows of n_features columns; predictive if with related documents."""

    def _learning_rate(self) -> float | None:
        """The learning rate of the epochs."""
        return self.learning_rate

    def _near_documents(self, X: Any, among: NDArray, rng: np.random.Generator, progress: Progress) -> NDArray | None:
        """The numbers (n, k) of rows to pair each row with, where a method wants that and has no related documents."""
        return None

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        related: Any = None,
        validation: Validation = None,
        callbacks: Sequence[Callback] = (),
        progress: Progress | None = None,
    ) -> Self:
        """Learn from rows X (n, V), sparse or dense.

        Args:
            y: labels of X, only for a validation with labels: the documents among which held-out ones are looked for.
            related: for predictive hashing, a document related to each row of X, row for row.
            validation: what chooses the epoch to keep: (X_val, labels) for top-100 precision, which needs y; with
                `related`, (X_val, related_val) for top-100 matching; a function of the hasher, whose history_ ends
                with the figures of the epoch; or None for the objective on a tenth of the documents (2,000 at most).
            callbacks: functions that are called after each epoch with its figures, such as
                ammi.training.callbacks.TensorBoard.
            progress: what shows the run, in place of the lines that `verbose` asks for.
        """
        self._check_parameters()
        X, related = self._check_documents(X, related)
        validation = self._check_validation(validation, y, related)
        seed = check_random_state(self.random_state).randint(2**31)
        rng = np.random.default_rng(seed)
        shown = progress or (Lines(type(self).__name__, self.epochs) if self.verbose else Silent())
        run = TrainingRun()
        self.history_: History = run.history
        with shown, torch_threads(self.n_jobs), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            rows, held_out = (np.arange(X.shape[0]), None) if validation else hold_out(X.shape[0], rng)
            self.predictive_ = related is not None
            self.objective_: Objective = self.objective(X.shape[1], self.predictive_).to(self._device())
            checkpoint = Checkpoint(self.checkpoint, self._identity(X, related, validation)) if self.checkpoint else None
            saved = checkpoint.load() if checkpoint else None
            if saved is None:
                self.objective_.pretrain(X, rng, shown)
            train(
                self.objective_,
                Batches(
                    X,
                    related,
                    rows=rows,
                    neighbours=None if self.predictive_ else self._pairs_of_its_own(X, rows, rng, shown, checkpoint, saved),
                    batch_size=self.batch_size,
                    device=self._device(),
                    rng=rng,
                ),
                lambda: self._blocks(X),
                self._scorer(validation, X, y, related, held_out),
                Schedule(self.epochs, self.patience, self._learning_rate(), self.clip),
                run=run,
                saved=saved,
                checkpoint=checkpoint,
                callbacks=callbacks,
                progress=shown,
            )
        self.best_epoch_, self.interrupted_ = run.best_epoch, run.interrupted
        return self

    def plot_history(self) -> Any:
        """A matplotlib figure of the training: what was measured in each epoch, and the epoch that was kept."""
        check_is_fitted(self)
        return plot_history(self.history_)

    def linear(self) -> Linear | None:
        found = self.objective_.linear()
        if found is None:
            return None
        weights, biases = (part.detach().cpu().numpy() for part in found)
        return Linear(weights, -biases)

    def _bits(self, X: Any) -> Bits:
        if linear := self.linear():
            return linear_bits(X, linear)
        with self._reading():
            return np.concatenate([self.objective_.bits(rows).to(torch.uint8).cpu().numpy() for rows in self._blocks(X)])

    def _arrays(self) -> Arrays:
        return {name: tensor.detach().cpu().numpy() for name, tensor in self.objective_.state_dict().items()}

    def _facts(self) -> Facts:
        return {"predictive": self.predictive_, "history": self.history_, "best_epoch": self.best_epoch_}

    def _restore(self, arrays: Arrays, facts: Facts) -> None:
        self.predictive_, self.history_, self.best_epoch_ = facts["predictive"], facts["history"], facts["best_epoch"]
        self.interrupted_ = False
        with torch.random.fork_rng(devices=[]):
            objective = self.objective(self.n_features_in_, self.predictive_)
        objective.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
        self.objective_ = objective.to(self._device()).eval()

    def _blocks(self, X: Any) -> Iterator[Rows]:
        """Rows as the objective reads them, some at a time."""
        for start in range(0, X.shape[0], _ROWS_AT_ONCE):
            yield to_rows(X[start : start + _ROWS_AT_ONCE], self._device())

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """While documents are read, and not trained on."""
        with torch_threads(self.n_jobs), torch.no_grad():
            yield

    def _pairs_of_its_own(
        self,
        X: Any,
        among: NDArray,
        rng: np.random.Generator,
        progress: Progress,
        checkpoint: Checkpoint | None,
        saved: dict[str, Any] | None,
    ) -> NDArray | None:
        """The documents that the collection itself gives each one to be paired with; a run that goes on has them."""
        near = checkpoint.array("neighbours") if checkpoint and saved else None
        if near is None:
            near = self._near_documents(X, among, rng, progress)
            if checkpoint and near is not None:
                checkpoint.save_array("neighbours", near)
        return near

    def _scorer(
        self, validation: Validation, X: Any, y: Any, related: Any, held_out: NDArray | None
    ) -> Callable[[], float]:
        """The validation task as a function to call after each epoch."""

        def encode(rows: Any) -> Bits:
            return np.packbits(self._bits(rows), axis=1)

        if callable(validation):
            return lambda: validation(self)
        if validation is None:
            rows = slice(None) if held_out is None else held_out
            return lambda: -self._measure(X[rows], None if related is None else related[rows])["loss"]
        if related is not None:
            return lambda: pair_matching(encode, *validation)
        return lambda: label_precision(encode, *validation, X, y)

    @torch.no_grad()
    def _measure(self, Y: Any, X: Any = None) -> dict[str, float]:
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
        self._device()

    def _check_documents(self, X: Any, related: Any) -> tuple[Any, Any]:
        if related is not None and not self.predictive:
            raise ValueError(
                f"{type(self).__name__} has no predictive form: use AMMI, BMMI, BMSH or DVQ with `related`"
            )
        X = self._check_rows(X, reset=True)
        return X, None if related is None else self._check_beside(related, "related", len_of=X)

    def _check_beside(self, X: Any, name: str, len_of: Any = None) -> Any:
        """Further rows of the training documents' columns, checked as these are."""
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name=name)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"{name} has {X.shape[1]} columns, the documents have {self.n_features_in_}")
        if len_of is not None and X.shape[0] != len_of.shape[0]:
            raise ValueError(f"{name} has {X.shape[0]} rows for {len_of.shape[0]} documents: it goes row for row")
        return X

    def _check_validation(self, validation: Validation, y: Any, related: Any) -> Validation:
        if validation is None or callable(validation):
            return validation
        try:
            X, target = validation
        except (TypeError, ValueError):
            raise ValueError(
                "validation must be (X_val, labels), or with related= (X_val, related_val), a function, or None"
            ) from None
        X = self._check_beside(X, "the validation part")
        if related is not None:
            return X, self._check_beside(target, "the related validation part", len_of=X)
        if y is None:
            raise ValueError(
                "validation by labels looks for the held-out documents among the training documents, whose labels are "
                "missing: pass them as y, or a function of the hasher as validation"
            )
        target = target.tocsr() if issparse(target) else np.asarray(target)
        if target.shape[0] != X.shape[0]:
            raise ValueError(f"validation has {X.shape[0]} documents but labels for {target.shape[0]}")
        return X, target

    def _identity(self, X: Any, related: Any, validation: Validation) -> dict[str, Any]:
        """What a checkpoint belongs to: the parameters that shape a run, the documents, and what chooses the epoch."""
        parameters = {k: v for k, v in self.get_params(deep=False).items() if k not in _NOT_PART_OF_A_RUN}
        return {
            **{name: value if isinstance(value, str | int | float | None) else repr(value) for name, value in parameters.items()},
            "documents": matrix_digest(X),
            "related documents": None if related is None else matrix_digest(related),
            "validation": _validation_digest(validation),
        }

    def _device(self) -> torch.device:
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)


@estimator
class EncoderHasher(TrainedHasher):
    """A trained hasher with an encoder network, the ReLU layers of this package or one's own."""

    encoder: int | Factory | None = parameter(
        None,
        "the network: a number of ReLU layers, or a function (n_inputs, n_outputs) that gives a torch module from rows to "
        "numbers (ammi.nets.networks says how it is saved); None takes hidden_layers.",
        optional=True,
    )
    hidden_layers: int = parameter(0, "ReLU layers of the encoder; 0 makes it linear.", whole=True, least=0, most=100)
    hidden_size: int = parameter(512, "their width. Useful: 300 to 700.", whole=True, least=1)

    def _encoder(self, n_features: int, n_outputs: int, dropout: float = 0.0) -> nn.Module:
        return build_encoder(
            self.encoder,
            n_features,
            n_outputs,
            hidden_layers=self.hidden_layers,
            hidden_size=self.hidden_size,
            dropout=dropout,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        whole = isinstance(self.encoder, int | np.integer) and self.encoder >= 0
        if not (self.encoder is None or whole or callable(self.encoder)):
            raise ValueError(
                "encoder must be None, a number of layers from 0 up, or a function (n_inputs, n_outputs) that gives a "
                f"torch module, got {self.encoder!r}"
            )


def _validation_digest(validation: Validation) -> str | None:
    if callable(validation):
        return getattr(validation, "__qualname__", type(validation).__qualname__)
    if validation is None:
        return None
    X, target = validation
    numbers = issparse(target) or target.dtype.kind in "biuf"
    return f"{matrix_digest(X)} {matrix_digest(target) if numbers else target.tolist()}"
