"""BMMI: the encoder of AMMI without an adversary; H(Z) of each batch is computed over all 2^m codes.

max over the encoder of β H(Z) - H(Z|Y), with H(Z) the entropy of the batch's mixture (the paper's equation 2).
"""

from ammi.chain import MAX_BRUTE_FORCE_BITS
from ammi.hashers.information import InformationHasher
from ammi.hashers.parameters import estimator, parameter
from ammi.training.information import BMMIObjective


@estimator
class BMMI(InformationHasher):
    """Binary codes by brute force, up to 24 bits: the yardstick for AMMI's upper bound."""

    n_bits: int = parameter(
        f"length m of the codes, at most {MAX_BRUTE_FORCE_BITS}: every epoch visits all 2^m codes for each batch.",
        default=16,
        whole=True,
        least=1,
        positional=True,
    )
    learning_rate: float | None = 0.001  # AMMI's 0.01 is much worse (LOG.md)

    def objective(self, n_features: int, predictive: bool) -> BMMIObjective:
        return BMMIObjective(*self._readers(n_features, predictive), self.entropy_weight)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_bits > MAX_BRUTE_FORCE_BITS:
            raise ValueError(
                f"BMMI visits all 2^n_bits codes: at most {MAX_BRUTE_FORCE_BITS} bits, got {self.n_bits}: use AMMI"
            )
