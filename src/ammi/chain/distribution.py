"""MarkovBits: a Markov chain over bits as a torch distribution (docs/markov-bits.md shows what it can do)."""

import torch
from torch import Tensor
from torch.distributions import Distribution, constraints, register_kl
from torch.distributions.utils import lazy_property, logits_to_probs, probs_to_logits

from ammi.chain.condition import UNKNOWN, certain_logit, condition
from ammi.chain.decode import log_prob, sample, viterbi
from ammi.chain.entropy import cross_entropy, entropy, kl_divergence
from ammi.chain.layout import check_expands, holds, order_of, shape_with_codes
from ammi.chain.marginals import window_marginals

MAX_ENUMERATED_BITS = 20


class MarkovBits(Distribution):
    """A distribution over codes z in {0,1}^m in which each bit depends on the o bits before it.

    Args:
        logits: (..., m, 2**o); entry [i, c] is the logit of z_i = 1 after the context c, the o bits before bit i
            read as a binary number, the oldest the most significant. Bits before the first count as 0.
        probs: the same as probabilities; 0 and 1 become the nearest numbers inside, as torch's distributions do it.

    >>> p = MarkovBits(torch.zeros(64, 2))      # 64 bits, order 1, all codes equally probable
    >>> p.entropy() / torch.log(torch.tensor(2.0))
    tensor(64.)
    """

    arg_constraints = {  # noqa: RUF012 (torch's contract)
        "logits": constraints.independent(constraints.real, 2),
        "probs": constraints.independent(constraints.unit_interval, 2),
    }
    support = constraints.independent(constraints.boolean, 1)
    has_enumerate_support = True

    def __init__(self, logits: Tensor | None = None, *, probs: Tensor | None = None, validate_args: bool | None = None):
        check = Distribution._validate_args if validate_args is None else validate_args
        if logits is not None and probs is None:
            self.order, shape = order_of(logits), logits.shape
            if check and not holds(logits.isfinite()):
                raise ValueError("the logits of a chain must be finite, got NaN or infinity among them")
            self.logits = logits
        elif probs is not None and logits is None:
            self.order, shape = order_of(probs), probs.shape
            if check and not holds((probs >= 0) & (probs <= 1)):
                raise ValueError("the probs of a chain must be from 0 to 1, got others or NaN among them")
            self.probs = probs
        else:
            raise ValueError(f"give either logits or probs, got {'neither' if logits is None else 'both'}")
        super().__init__(shape[:-2], shape[-2:-1], validate_args=False)  # torch's own check fails on an empty batch
        self._validate_args = check

    @lazy_property
    def logits(self) -> Tensor:
        """(..., m, 2**o), from probs where those were given."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability (..., m, 2**o) of z_i = 1 after each context."""
        return logits_to_probs(self.logits, is_binary=True)

    def expand(self, batch_shape, _instance=None) -> "MarkovBits":
        check_expands(self.batch_shape, batch_shape)
        new = self._get_checked_instance(MarkovBits, _instance)
        new.order = self.order
        for name in {"logits", "probs"} & self.__dict__.keys():
            table = getattr(self, name)
            setattr(new, name, table.expand(*batch_shape, *table.shape[-2:]))
        super(MarkovBits, new).__init__(torch.Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def condition(self, known: Tensor) -> "MarkovBits":
        """Return p(z | known bits), exactly: a chain of the same order.

        The known bits are certain in it: other codes have the probability 0 and a log_prob that is finite but below
        any other (about -1e19 in single precision), so that entropies and gradients stay finite.

        Args:
            known: (..., m), 0 or 1 where a bit is known and -1 where it is not; it broadcasts with the batch.
        """
        if self._validate_args:
            self._check_codes(known, (0, 1, UNKNOWN), "known bits are 0 or 1, and -1 where a bit is not known")
        logits, log_prob_of_known = condition(self.logits, known)
        if self._validate_args and not holds(log_prob_of_known > -certain_logit(logits.dtype) / 2):
            raise ValueError("these bits have probability 0 here: an earlier condition said another value for one")
        return MarkovBits(logits, validate_args=self._validate_args)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all codes in the order of binary numbers, (2**m, ..., m), with a batch of ones unless `expand`."""
        (m,) = self.event_shape
        if m > MAX_ENUMERATED_BITS:
            raise ValueError(f"a list of all 2**m codes has at most {MAX_ENUMERATED_BITS} bits, got {m}: use sample")
        shifts = torch.arange(m - 1, -1, -1, device=self.logits.device)
        codes = (torch.arange(2**m, device=self.logits.device).unsqueeze(-1) >> shifts) & 1
        codes = codes.to(self.logits.dtype).view(2**m, *[1] * len(self.batch_shape), m)
        return codes.expand(2**m, *self.batch_shape, m) if expand else codes

    def log_prob(self, z: Tensor) -> Tensor:
        """Return log p(z), for codes z (..., m) of 0 and 1 in any type."""
        if self._validate_args:
            self._validate_sample(z)
        return log_prob(self.logits, z)

    def sample(self, sample_shape=torch.Size()) -> Tensor:  # noqa: B008 (torch's signature)
        """Return exact samples (*sample_shape, ..., m)."""
        return sample(self.logits, torch.Size(sample_shape))

    def entropy(self) -> Tensor:
        """Return H(p) in nats."""
        return entropy(self.logits)

    def cross_entropy(self, other: "MarkovBits") -> Tensor:
        """Return H(p, q) = -E_p[log q(z)] in nats, for another chain of any order."""
        return cross_entropy(self.logits, other.logits)

    def marginals(self, k: int) -> Tensor:
        """Return window marginals (..., m, 2**k): entry [i, w] is the probability that the k bits ending at i are w."""
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

    def _check_codes(self, z: Tensor, values: tuple[int, ...], sentence: str) -> None:
        shape_with_codes(self.logits, z)
        wrong = torch.stack([z != value for value in values]).all(0)
        if not holds(~wrong):
            raise ValueError(f"{sentence}, got {z[wrong][0].item()}")

    def _validate_sample(self, value: Tensor) -> None:
        self._check_codes(value, (0, 1), "a code consists of 0 and 1 only")


@register_kl(MarkovBits, MarkovBits)
def _kl_markov_bits(p: MarkovBits, q: MarkovBits) -> Tensor:
    return kl_divergence(p.logits, q.logits)
