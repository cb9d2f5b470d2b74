"""A run that the tests stop: in a process of its own, slowly, it imports no more than it needs."""

import sys
import time
from pathlib import Path

from ammi import AMMI
from ammi.hashers import TrainedHasher
from tests.conftest import topics


def learned(folder: Path | str, verbose: bool = False, seconds: float = 0.0) -> AMMI:
    """A run of eight epochs, each with some time in which it can be stopped."""
    X, _ = topics(600)

    def score(hasher: TrainedHasher) -> float:
        time.sleep(seconds)
        return hasher.score(X)

    hasher = AMMI(16, epochs=8, patience=8, random_state=0, verbose=verbose, checkpoint=folder)
    return hasher.fit(X, validation=score)


def run_slowly() -> None:
    hasher = learned(sys.argv[1], verbose=True, seconds=1.0)
    print(len(hasher.history_), hasher.fingerprint_)
