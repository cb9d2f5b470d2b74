"""How documents are shared out between training, validation and test."""

import numpy as np
from numpy.typing import NDArray

SPLITS = ("train", "cv", "test")  # of the published matrices and of pairs


def every_tenth(n: int, *, nth: int = 10) -> NDArray[np.bool_]:
    """Which of n documents are the tenth of ten, or the `nth` of ten: the same ones every time, whoever asks."""
    if not 1 <= nth <= 10:
        raise ValueError(f"nth is {nth}: expected one of ten, 1 to 10")
    return np.arange(n) % 10 == nth - 1  # (n,)
