"""What AMMI and BMMI share: an encoder p(z|y) that is a Markov chain, trained to maximise H(Z) - H(Z|X).

    max over the encoder of  β H(Z) - H(Z|Y)       documents alone           (the paper's equation 5)
                             β H(Z) - H⁺(Z|X)      with related documents    (the paper's equation 3)

H⁺(Z|X) is the cross entropy between p(z|y) and a second encoder q(z|x) of the related document. Without related
documents the collection can give its own: x is then one of the nearest documents of y, read by the same encoder, and
the conditional entropy is half H(Z|Y) and half H⁺(Z|X).
"""

import math
from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from ammi.chain import forward, order_of, viterbi, window_marginals, windows_cross_entropy
from ammi.hashers.neural import NeuralHasher
from ammi.nets.encoder import Encoder
from ammi.nets.rows import Rows
from ammi.training.batches import Batch

BITS = 1 / math.log(2)


class ChainModel(nn.Module):
    """Encoders and the objective. A method says what H(Z) of a batch is."""

    def __init__(self, encoder: Encoder, related_encoder: Encoder | None, n_bits: int, entropy_weight: float):
        super().__init__()
        self.encoder, self.related_encoder = encoder, related_encoder
        self.n_bits, self.entropy_weight = n_bits, entropy_weight

    @abstractmethod
    def code_entropy(self, p: Tensor, pi: Tensor) -> Tensor:
        """H(Z), or its upper bound, of a batch of chains p (B, m, 2**o) whose forward pass is pi."""

    def chains(self, rows: Rows) -> Tensor:
        """p(z|y) of each row, as logits (B, m, 2**o)."""
        return self.encoder(rows).unflatten(1, (self.n_bits, -1))

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        p = self.chains(batch.y)
        pi = forward(p)  # one pass for all three entropies
        conditional = self._conditional_entropy(p, pi, batch.x)
        code = self.code_entropy(p, pi)
        measured = {
            "entropy": code * BITS,
            "conditional_entropy": conditional * BITS,
            "information": (code - conditional) * BITS,
        }
        return conditional - self.entropy_weight * code, measured

    def _conditional_entropy(self, p: Tensor, pi: Tensor, x: Rows | None) -> Tensor:
        """H(Z|Y), H⁺(Z|X), or half of each: the mean of cross entropies between p and one or two chains q."""
        if x is None:
            against = [p]
        elif self.related_encoder is None:
            against = [p, self.chains(x)]
        else:
            against = [self.related_encoder(x).unflatten(1, (self.n_bits, -1))]
        windows = window_marginals(p, order_of(against[-1]) + 1, pi)
        return torch.stack([windows_cross_entropy(windows, q).mean() for q in against]).mean()


class ChainHasher(NeuralHasher):
    """An estimator around a ChainModel."""

    order: int
    related_order: int | None
    hidden_layers: int
    hidden_size: int
    entropy_weight: float
    model_: ChainModel

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """The probability (n, m) that each bit is 1."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)

        def probs(rows: Rows) -> Tensor:
            return window_marginals(self.model_.chains(rows), 1)[..., 1]

        with self._threads():
            return np.concatenate(list(self._by_blocks(X, probs)))

    def score(self, X: Any, y: Any = None, *, related: Any = None) -> float:
        """The information estimate H(Z) - H(Z|Y) on these documents, in bits; with `related`, H(Z) - H⁺(Z|X)."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        related = None if related is None else self._check_beside(related, "related", len_of=X)
        with self._threads():
            return self._measure(X, related)["information"]

    def _module_bits(self, rows: Rows) -> Tensor:
        return viterbi(self.model_.chains(rows))[0]

    def _encoders(self, n_features: int, predictive: bool) -> tuple[Encoder, Encoder | None]:
        """p(z|y) of order o and, for related documents, q(z|x) of order h."""
        orders = [self.order, self._related_order()] if predictive else [self.order]
        encoders = [Encoder(n_features, self.n_bits * 2**o, self.hidden_layers, self.hidden_size) for o in orders]
        for encoder in encoders:
            self._initialised(encoder)
        return encoders[0], encoders[1] if predictive else None

    def _related_order(self) -> int:
        return self.order if self.related_order is None else self.related_order

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("order", "hidden_layers", "neighbours"):
            if not isinstance(getattr(self, name), (int, np.integer)) or getattr(self, name) < 0:
                raise ValueError(f"{name} must be a whole number from 0 up, got {getattr(self, name)!r}")
        if self.hidden_layers and self.hidden_size < 1:
            raise ValueError(f"hidden_size must be from 1 up, got {self.hidden_size!r}")
        if self._related_order() < self.order:
            raise ValueError(
                f"related_order must be at least the encoder's order {self.order}, got {self.related_order}"
            )
        if not self.entropy_weight > 0:
            raise ValueError(f"entropy_weight must be above 0, got {self.entropy_weight!r}")
