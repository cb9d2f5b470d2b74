"""What the attacked programs do: python -m tests.torture.jobs JOB FOLDER ... Each says which steps it has made."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ammi.search import HammingIndex, repair_store
from tests.search.plain import PlainIndex

N_BITS = 64
Say = Callable[[int], None]


def change(index: HammingIndex | PlainIndex, step: int) -> None:
    """The step-th of a fixed sequence of changes, on an index or on its plain twin."""
    rng = np.random.default_rng(step)
    present = index.ids() if isinstance(index, PlainIndex) else list(index)
    kind = rng.random()
    if kind < 0.5 or not present:
        ids = rng.integers(0, 400, rng.integers(1, 60)).tolist()
        codes = rng.integers(0, 256, (len(ids), N_BITS // 8), dtype=np.uint8)
        index.add(
            codes, ids, [f"{step} words " * 100 for _ in ids], [{"step": step, "even": id % 2 == 0} for id in ids]
        )
        return
    chosen = rng.choice(present, size=min(len(present), int(rng.integers(1, 40))), replace=False).tolist()
    if kind < 0.75:
        index.delete(chosen)
    else:
        index.set_metadata(chosen, {"set": step})


def say(step: int) -> None:
    print(step, flush=True)


def change_index(folder: Path, first: int, last: int, said: Say = say) -> None:
    with HammingIndex.open(folder) as index:
        for step in range(first, last):
            change(index, step)
            said(step)


def repair(folder: Path, first: int, last: int, said: Say = say) -> None:
    """Repair an index, which may be done once."""
    repair_store(folder)
    said(first)


def save_models(folder: Path, first: int, last: int, said: Say = say) -> None:
    """Save one model after another in the same location."""
    for step in range(first, last):
        model(step).save(folder / "model")
        said(step)


def model(step: int):
    """Another model for each step."""
    from ammi.hashers import LSH

    return LSH(32, random_state=step).fit(np.eye(40)[: 20 + step % 20])


if __name__ == "__main__":
    job, folder, *numbers = sys.argv[1:]
    globals()[job](Path(folder), *map(int, numbers))
