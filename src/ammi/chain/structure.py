"""The interface of a structure over m bits. Markov chains (markov.py) and trees (tree.py) implement it.

A structure is the shape of a family of distributions over codes z in {0,1}^m, each of them a table of logits. It has
up to three roles:

    the encoder p(z|y)        `table` and `read`: a batch of tables, one for each document, as Distributions
    the other encoder q(z|x)  the same, and `statistics`, `cross_entropy_of`: p.cross_entropy(q)
    the prior q(z)            `mean_statistics`, `cross_entropy_of`, `best_prior`: the adversary's side of H⁺(Z)

The cross entropy of p with q is linear in a few expectations under p, the statistics of q's structure (of a chain: the
window marginals). So they are computed once for each batch, and averaged over documents that share one q:

    H(p, q) = cross_entropy_of(statistics(p), q),      H⁺(Z) = cross_entropy_of(mean_statistics(p), q(z)).

Two kinds of statistics serve all structures: the joint of adjacent bits (`windows`, for chains) and that of any two
bits (`pairs`, for trees).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ammi.chain.layout import check_some
from ammi.chain.pairs import square


class Structure(ABC):
    """A family of distributions over m bits, each given by a table of logits."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The shape of one table: a row of logits for each of the m bits."""

    @property
    @abstractmethod
    def statistics_shape(self) -> tuple[int, ...]:
        """The shape of the statistics of one distribution."""

    @abstractmethod
    def read(self, table: Tensor) -> "Distributions":
        """Return the distributions of tables (..., *shape)."""

    @abstractmethod
    def statistics(self, p: "Distributions") -> Tensor:
        """Return the expectations (..., *statistics_shape) under p that determine its cross entropy with it."""

    @abstractmethod
    def mean_statistics(self, p: "Distributions") -> Tensor:
        """Return the mean of `statistics` over the batch, (*statistics_shape)."""

    @abstractmethod
    def cross_entropy_of(self, statistics: Tensor, table: Tensor) -> Tensor:
        """Return H(p, q) (...,) in nats, of p's statistics (..., *statistics_shape) and q's table (..., *shape)."""

    @abstractmethod
    def best_prior(self, statistics: Tensor) -> Tensor:
        """Return the table (..., *shape) that makes `cross_entropy_of` these statistics smallest."""

    @abstractmethod
    def check_prior(self, encoder: "Structure") -> None:
        """Refuse an encoder with more dependencies than this structure can model as its prior."""

    def reordered(self, order: Sequence[int]) -> "Structure | None":
        """Return the structure of the same bits in another order; None, the default, if there is none of this kind.

        Position j has the bit order[j]: if the codes z have the table t, the codes z[order] have the table t[order].
        """
        return None

    @property
    def n_logits(self) -> int:
        """The number of network outputs that make one table."""
        n_bits, width = self.shape
        return n_bits * width

    def table(self, outputs: Tensor) -> Tensor:
        """Return a network's outputs (B, n_logits) as tables (B, *shape)."""
        if outputs.ndim != 2 or outputs.shape[1] != self.n_logits:
            raise ValueError(
                f"the encoder gave outputs of shape {tuple(outputs.shape)}, expected (rows, {self.n_logits}): let its "
                "last layer have that many"
            )
        return outputs.unflatten(1, self.shape)


@dataclass(frozen=True, eq=False)
class Distributions(ABC):
    """A batch of distributions of one structure. The result of each pass over them is kept and used again.

    All passes share one graph of gradients: sum up everything to be differentiated, and go backward once.
    """

    structure: Structure
    logits: Tensor  # (..., *structure.shape)

    @abstractmethod
    def windows(self, width: int) -> Tensor:
        """Return the joint probabilities (..., m, 2**width) of `width` bits ending at each bit; earlier bits are 0."""

    @abstractmethod
    def mean_windows(self, width: int) -> Tensor:
        """Return the mean of `windows` over the batch, (m, 2**width)."""

    @abstractmethod
    def pairs(self, first: Sequence[int], second: Sequence[int]) -> Tensor:
        """Return the joint probabilities (..., n, 4) of n pairs, w = 2 * z_first + z_second; a first bit -1 is 0."""

    def mean_pairs(self, first: Sequence[int], second: Sequence[int]) -> Tensor:
        """Return the mean of `pairs` over the batch, (n, 4)."""
        return self.mean(self.pairs(first, second))

    def mean_all_pairs(self) -> Tensor:
        """Return the mean joint probabilities (m, m, 4) of all pairs over the batch; a bit equals itself."""
        first, second = torch.triu_indices(self.n_bits, self.n_bits, 1).tolist()
        return square(self.mean_pairs(first, second), self.mean_windows(1))

    @abstractmethod
    def mixture_entropy(self) -> Tensor:
        """Return Ĥ(Z), the entropy () of the uniform mixture of a batch (B, *structure.shape), over all 2^m codes."""

    @abstractmethod
    def mode(self) -> Tensor:
        """Return the most probable codes (..., m)."""

    @abstractmethod
    def sample(self, shape: torch.Size) -> Tensor:
        """Return independent codes (*shape, ..., m)."""

    def cross_entropy(self, q: "Distributions") -> Tensor:
        """Return H(p, q) = -E_p[log q(z)] (...,) in nats, for q of any structure whose statistics p has."""
        return q.structure.cross_entropy_of(q.structure.statistics(self), q.logits)

    def entropy(self) -> Tensor:
        """Return H(p) (...,) in nats."""
        return self.cross_entropy(self)

    def marginals(self) -> Tensor:
        """Return the probability (..., m) that each bit is 1."""
        return self.windows(1)[..., 1]

    @property
    def n_bits(self) -> int:
        """m."""
        return self.structure.shape[0]

    def mean(self, tables: Tensor) -> Tensor:
        """Return the mean of tables (..., n, K) over the batch, (n, K)."""
        check_some(self.logits)
        return tables.flatten(0, -3).mean(0) if tables.ndim > 2 else tables
