"""Parts of data sets: a uniform sample of a stream, and documents held out from training."""

import math
import random
from collections.abc import Iterable
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

SPLITS = ("train", "cv", "test")  # of the published matrices and of pairs

T = TypeVar("T")


class Sample(NamedTuple, Generic[T]):
    """Items drawn from a stream, in the order of the stream, and the number of items that the stream had."""

    items: list[T]
    seen: int


def uniform_sample(stream: Iterable[T], n: int, *, seed: int = 0) -> Sample[T]:
    """Draw n items of a stream, each set of n with the same probability; all items of a shorter stream.

    The stream may yield anything, such as `Document`s with their labels in `metadata`. It is read once, and no more
    than n items are kept. The same stream, n and seed give the same sample.

    Algorithm L (Li 1994): give each item a uniform key and keep the n smallest keys. The largest kept key, w, tells how
    many items in a row will have a larger one, a geometric number, so that most items cost no random number.
    """
    if n < 1:
        raise ValueError(f"a sample of {n} documents was asked for: expected a whole number from 1")
    numbered = enumerate(stream)
    kept = list(islice(numbered, n))
    if len(kept) < n:
        return Sample([item for _, item in kept], len(kept))
    draw = random.Random(seed)
    seen, w = n, math.exp(math.log(1 - draw.random()) / n)
    while True:
        # 1 - random() is above 0; log1p keeps its precision when w is small.
        skipped = math.floor(math.log(1 - draw.random()) / math.log1p(-w)) if w < 1 else 0
        passed = sum(1 for _ in islice(numbered, skipped))
        found = next(numbered, None)
        seen += passed + (found is not None)
        if found is None:
            return Sample([item for _, item in sorted(kept, key=lambda entry: entry[0])], seen)
        kept[draw.randrange(n)] = found
        w *= math.exp(math.log(1 - draw.random()) / n)


def every_tenth(n: int, *, nth: int = 10) -> NDArray[np.bool_]:
    """Return a mask of n documents that is true for the last of each ten, or the `nth`: always the same documents."""
    if not 1 <= nth <= 10:
        raise ValueError(f"nth is {nth}: expected one of ten, 1 to 10")
    return np.arange(n) % 10 == nth - 1  # (n,)
