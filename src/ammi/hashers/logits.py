"""How sure a model is of the bits of a document: logits, positive where a bit is 1."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ammi.hashers.hyperplanes import Hyperplanes

if TYPE_CHECKING:
    from ammi.hashers.documents import DocumentHasher

_SUREST = 1e-7  # what float32 still tells from 0: no bit is surer


def bit_logits(model: "DocumentHasher", documents: Any) -> NDArray[np.floating]:
    """The logits (n, m): the sides of a linear hasher's hyperplanes, else those of each bit's own probability."""
    X, hasher = model.features_.transform(documents), model.hasher_
    if names := hasher.hyperplanes():
        planes = Hyperplanes.among(hasher._arrays(), names, hasher.n_bits)
        return np.asarray(X @ planes.weights) - planes.thresholds
    if hasattr(hasher, "bit_probabilities"):
        p = np.clip(hasher.bit_probabilities(X).astype(np.float64), _SUREST, 1 - _SUREST)
        return np.log(p) - np.log1p(-p)
    raise ValueError(
        f'rank is "asymmetric", but {type(hasher).__name__} does not tell how sure it is of a bit: use "distance" or '
        '"text"'
    )
