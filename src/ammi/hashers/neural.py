"""Hashers that train a torch module with the loop of ammi.training; fit only assembles the parts."""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from ammi.hashers.base import Hasher
from ammi.nets.encoder import initialise
from ammi.nets.rows import Rows, to_rows
from ammi.training.batches import Batches
from ammi.training.checkpoint import Checkpoint
from ammi.training.history import History, plot_history
from ammi.training.loop import train
from ammi.training.neighbours import nearest_documents
from ammi.training.progress import TrainingProgress
from ammi.training.validation import label_precision, pair_matching

_ROWS_AT_ONCE = 4096
_LARGEST_HELD_OUT = 2000
_NOT_PART_OF_A_RUN = {"verbose", "checkpoint", "n_jobs", "device"}

Validation = tuple[Any, Any] | Callable[["NeuralHasher"], float] | None


class NeuralHasher(Hasher):
    """A hasher whose module has `loss(batch)`; a method defines _build and _module_bits."""

    model_: Any
    history_: History

    batch_size: int
    learning_rate: Any  # a number, or None where a method has a rule for it
    init_range: float
    clip: float
    epochs: int
    patience: int
    checkpoint: Any
    device: str
    n_jobs: int | None
    random_state: Any
    verbose: bool
    neighbours: int = 0

    _has_predictive_form = True

    @abstractmethod
    def _build(self, n_features: int, predictive: bool) -> nn.Module:
        """The module to train, for rows of n_features; predictive if it is trained on related documents."""

    @abstractmethod
    def _module_bits(self, rows: Rows) -> Tensor:
        """The codes (B, m) of a block of rows."""

    def _pretrain(self, X: Any, rng: np.random.Generator, progress: TrainingProgress) -> None:
        """What a method learns before its epochs."""

    def _after_epoch(self, X: Any) -> None:
        """What a method learns from all documents at once when an epoch is over, such as thresholds."""

    def _step(self) -> float:
        """The learning rate of the epochs."""
        return self.learning_rate

    def _check_parameters(self) -> None:
        self._check_n_bits()
        for name in ("batch_size", "epochs", "patience"):
            if not isinstance(getattr(self, name), (int, np.integer)) or getattr(self, name) < 1:
                raise ValueError(f"{name} must be a whole number from 1 up, got {getattr(self, name)!r}")
        for name, value in {"learning_rate": self._step(), "init_range": self.init_range, "clip": self.clip}.items():
            if value is None or not value > 0:
                raise ValueError(f"{name} must be above 0, got {value!r}")
        if self.checkpoint is not None and not isinstance(self.random_state, (int, np.integer)):
            raise ValueError(
                "checkpoint needs a whole number as random_state, so that a run that goes on is the same run"
            )

    def fit(self, X: Any, y: Any = None, *, related: Any = None, validation: Validation = None) -> "NeuralHasher":
        """Learn from rows X (n, V), sparse or dense.

        Args:
            y: labels of X, only for a validation with labels: the documents among which held-out ones are looked for.
            related: for predictive hashing, a document related to each row of X, row for row.
            validation: what chooses the epoch to keep: (X_val, labels) for top-100 precision; with `related`,
                (X_val, related_val) for top-100 matching; a function of the hasher; or None for the objective on
                a tenth of the documents (2,000 at most), held out.
        """
        self._check_parameters()
        if related is not None and not self._has_predictive_form:
            raise ValueError(
                f"{type(self).__name__} has no predictive form: use AMMI, BMMI, BMSH or DVQ with `related`"
            )
        X = self._check_rows(X, reset=True)
        related = None if related is None else self._check_beside(related, "related", len_of=X)
        validation = self._check_validation(validation, related is not None)
        seed = check_random_state(self.random_state).randint(2**31)
        rng = np.random.default_rng(seed)
        progress = TrainingProgress(type(self).__name__, self.epochs, bool(self.verbose))
        with progress, self._threads(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            kept, held_out = (np.arange(X.shape[0]), None) if validation else _hold_out(X.shape[0], rng)
            self._pretrain(X, rng, progress)
            self.model_ = self._build(X.shape[1], related is not None).to(self._device())
            near = None
            if self.neighbours and related is None and len(kept) > 1:
                advance = progress.part("neighbours", X.shape[0])
                near = nearest_documents(X, self.neighbours, kept, rng, advance)
            run = train(
                self.model_,
                Batches(
                    X, related, rows=kept, neighbours=near, batch_size=self.batch_size, device=self._device(), rng=rng
                ),
                self._validate(validation, X, y, related, held_out),
                lambda: self._after_epoch(X),
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self._step(),
                clip=self.clip,
                checkpoint=Checkpoint(self.checkpoint, self._identity(X, related)) if self.checkpoint else None,
                progress=progress,
            )
        self.history_, self.best_epoch_, self.interrupted_ = run.history, run.best_epoch, run.interrupted
        return self

    def plot_history(self) -> Any:
        """A matplotlib figure of the training: what was measured in each epoch, and the epoch that was kept."""
        check_is_fitted(self)
        if not getattr(self, "history_", None):
            raise ValueError("there is no history to plot: a loaded model, or one stopped in its first epoch, has none")
        return plot_history(self.history_)

    def _bits(self, X: Any) -> NDArray[np.uint8]:
        with self._threads():
            return np.concatenate(list(self._by_blocks(X, lambda rows: self._module_bits(rows).to(torch.uint8))))

    def _arrays(self) -> dict[str, NDArray]:
        return {name: tensor.detach().cpu().numpy() for name, tensor in self.model_.state_dict().items()}

    def _set_arrays(self, arrays: Mapping[str, NDArray]) -> None:
        with torch.random.fork_rng(devices=[]):
            models = [self._build(self.n_features_in_, predictive) for predictive in (False, True)]
        model = next((model for model in models if set(model.state_dict()) == set(arrays)), models[0])
        model.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
        self.model_ = model.to(self._device()).eval()

    def _initialised(self, model: nn.Module) -> nn.Module:
        initialise(model, self.init_range)
        return model

    @torch.no_grad()
    def _by_blocks(self, X: Any, job: Callable[[Rows], Tensor]) -> Iterator[NDArray]:
        for start in range(0, X.shape[0], _ROWS_AT_ONCE):
            yield job(to_rows(X[start : start + _ROWS_AT_ONCE], self._device())).cpu().numpy()

    def _validate(
        self, validation: Validation, X: Any, y: Any, related: Any, held_out: NDArray | None
    ) -> Callable[[], float]:
        """The validation task as a function to call after each epoch."""

        def encode(rows: Any) -> NDArray[np.uint8]:
            return np.packbits(self._bits(rows), axis=1)

        if callable(validation):
            return lambda: validation(self)
        if validation is None:
            rows = slice(None) if held_out is None else held_out
            return lambda: -self._measure(X[rows], None if related is None else related[rows])["loss"]
        if related is not None:
            return lambda: pair_matching(encode, *validation)
        if y is None:
            return lambda: label_precision(encode, *validation)
        return lambda: label_precision(encode, *validation, X, y)

    @torch.no_grad()
    def _measure(self, Y: Any, X: Any = None, block: int = _ROWS_AT_ONCE) -> dict[str, float]:
        """The loss and what goes with it on documents that are not trained on, mean over blocks of them."""
        batches = Batches(Y, X, batch_size=block, device=self._device(), rng=np.random.default_rng(0))
        totals: dict[str, float] = {}
        for batch in batches:
            loss, measured = self.model_.loss(batch)
            for name, value in {"loss": loss, **measured}.items():
                totals[name] = totals.get(name, 0.0) + value.item() * batch.size
        return {name: total / batches.n_documents for name, total in totals.items()}

    def _check_beside(self, X: Any, name: str, len_of: Any = None) -> Any:
        """Further rows of the training documents' columns, checked as these are."""
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name=name)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"{name} has {X.shape[1]} columns, the documents have {self.n_features_in_}")
        if len_of is not None and X.shape[0] != len_of.shape[0]:
            raise ValueError(f"{name} has {X.shape[0]} rows for {len_of.shape[0]} documents: it goes row for row")
        return X

    def _check_validation(self, validation: Validation, predictive: bool) -> Validation:
        if validation is None or callable(validation):
            return validation
        try:
            X, target = validation
        except (TypeError, ValueError):
            raise ValueError(
                "validation must be (X_val, labels), or with related= (X_val, related_val), a function, or None"
            ) from None
        X = self._check_beside(X, "the validation part")
        if predictive:
            return X, self._check_beside(target, "the related validation part", len_of=X)
        target = target.tocsr() if issparse(target) else np.asarray(target)
        if target.shape[0] != X.shape[0]:
            raise ValueError(f"validation has {X.shape[0]} documents but labels for {target.shape[0]}")
        return X, target

    def _identity(self, X: Any, related: Any) -> dict[str, Any]:
        """What a checkpoint belongs to: the parameters that shape a run, and the documents."""
        parameters = {k: v for k, v in self.get_params(deep=False).items() if k not in _NOT_PART_OF_A_RUN}
        return {
            **parameters,
            "documents": matrix_digest(X),
            "related documents": None if related is None else matrix_digest(related),
        }

    def _device(self) -> torch.device:
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)

    @contextmanager
    def _threads(self) -> Iterator[None]:
        before = torch.get_num_threads()
        torch.set_num_threads(self.n_jobs or before)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def _hold_out(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray | None]:
    """The rows to train on and those to validate on; too few documents are validated on themselves."""
    size = min(n // 10, _LARGEST_HELD_OUT)
    if size < 2:
        return np.arange(n), None
    order = rng.permutation(n)
    return np.sort(order[size:]), np.sort(order[:size])


def matrix_digest(X: Any) -> str:
    """What tells a matrix, sparse or dense, from any other."""
    digest = hashlib.blake2b(str(X.shape).encode(), digest_size=8)
    for array in (X.indptr, X.indices, X.data) if issparse(X) else (X,):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
