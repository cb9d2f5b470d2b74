"""MarkovBits: a Markov chain over bits as a torch distribution."""

import torch
from torch import Tensor
from torch.distributions import Distribution, constraints, register_kl

from ammi.chain.decode import log_prob, sample, viterbi
from ammi.chain.entropy import cross_entropy, entropy, kl_divergence
from ammi.chain.layout import order_of
from ammi.chain.marginals import window_marginals


class MarkovBits(Distribution):
    """A distribution over codes z in {0,1}^m in which each bit depends on the o bits before it.

    Args:
        logits: (..., m, 2**o); entry [i, c] is the logit of z_i = 1 after the context c, the o bits before bit i
            read as a binary number, the oldest the most significant. Bits before the first count as 0.

    >>> p = MarkovBits(torch.zeros(64, 2))      # 64 bits, order 1, all codes equally probable
    >>> p.entropy() / torch.log(torch.tensor(2.0))
    tensor(64.)
    """

    arg_constraints = {"logits": constraints.independent(constraints.real, 2)}  # noqa: RUF012 (torch's contract)
    support = constraints.independent(constraints.boolean, 1)

    def __init__(self, logits: Tensor, validate_args: bool | None = None):
        self.order = order_of(logits)
        self.logits = logits
        check = Distribution._validate_args if validate_args is None else validate_args
        if check and not logits.isfinite().all():
            raise ValueError("the logits of a chain must be finite, got NaN or infinity among them")
        super().__init__(logits.shape[:-2], logits.shape[-2:-1], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None) -> "MarkovBits":
        new = self._get_checked_instance(MarkovBits, _instance)
        new.order = self.order
        new.logits = self.logits.expand(*batch_shape, *self.logits.shape[-2:])
        super(MarkovBits, new).__init__(torch.Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def log_prob(self, z: Tensor) -> Tensor:
        """log p(z), for codes z (..., m) of 0 and 1 in any type."""
        if self._validate_args:
            self._validate_sample(z)
        return log_prob(self.logits, z)

    def sample(self, sample_shape=torch.Size()) -> Tensor:  # noqa: B008 (torch's signature)
        """Exact samples (*sample_shape, ..., m)."""
        return sample(self.logits, torch.Size(sample_shape))

    def entropy(self) -> Tensor:
        """H(p) in nats."""
        return entropy(self.logits)

    def cross_entropy(self, other: "MarkovBits") -> Tensor:
        """H(p, q) = -E_p[log q(z)] in nats, for another chain of any order."""
        return cross_entropy(self.logits, other.logits)

    def marginals(self, k: int) -> Tensor:
        """Window marginals (..., m, 2**k): entry [i, w] is the probability that the k bits ending at i are w."""
        return window_marginals(self.logits, k)

    @property
    def mode(self) -> Tensor:
        """The most probable code (..., m)."""
        return viterbi(self.logits)[0]

    @property
    def mean(self) -> Tensor:
        """The probability that each bit is 1, (..., m)."""
        return self.marginals(1)[..., 1]

    @property
    def variance(self) -> Tensor:
        return self.marginals(1).prod(-1)

    def _validate_sample(self, value: Tensor) -> None:
        (m,) = self.event_shape
        if value.ndim < 1 or value.shape[-1] != m:
            raise ValueError(
                f"a code of this distribution has {m} bits in its last dimension, got {tuple(value.shape)}"
            )
        if not ((value == 0) | (value == 1)).all():
            raise ValueError("a code consists of 0 and 1 only, got other values")


@register_kl(MarkovBits, MarkovBits)
def _kl_markov_bits(p: MarkovBits, q: MarkovBits) -> Tensor:
    return kl_divergence(p.logits, q.logits)
