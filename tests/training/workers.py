"""Runs that workers train together, each a process: `python -m tests.training.workers FOLDER RANK SIZE` is one."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import distributed as dist

from ammi import AMMI
from ammi.hashers import TrainedHasher
from ammi.training.exchange import ALONE, Exchange, GroupExchange
from tests.conftest import topics

SMALL: dict[str, Any] = {
    "n_bits": 8,
    "batch_size": 32,
    "epochs": 4,
    "random_state": 0,
    "verbose": False,
    "first_bits": 16,
}
N = 4 * 32 + 1  # the last batch is of one document, which no two workers can share


def documents(**more: Any) -> dict[str, Any]:
    return {"X": topics(N)[0], **more}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "the whole recipe": ({"batch_size": 31}, documents()),
    "pairs with two encoders": ({"related_encoder": "own"}, documents(related=topics(N, seed=1)[0])),
    "gradient steps": ({"adversary": "gradient", "first_bits": 0}, documents()),
    "order 1 and a hidden layer": ({"order": 1, "hidden_layers": 1, "hidden_size": 8, "first_bits": 0}, documents()),
    "vectors": ({"neighbours": 0}, {"X": np.random.default_rng(0).normal(size=(N, 12))}),
}


def learned(name: str, exchange: Exchange = ALONE) -> TrainedHasher:
    parameters, given = CASES[name]
    return AMMI(**{**SMALL, **parameters}).fit(**given, exchange=exchange)


def arrays(hasher: TrainedHasher) -> dict[str, np.ndarray]:
    return {name: array.copy() for name, array in hasher._arrays().items()}


def figures(hasher: TrainedHasher) -> np.ndarray:
    return np.array([[row["entropy"], row["conditional_entropy"], row["score"]] for row in hasher.history_])


def main(folder: Path, rank: int, size: int) -> None:
    torch.set_num_threads(1)
    meeting = f"file://{folder / 'meeting'}"
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=size, timeout=timedelta(seconds=120))
    for name in CASES:
        hasher = learned(name, GroupExchange())
        found: dict[str, Any] = {"history": figures(hasher), **arrays(hasher)}
        np.savez(folder / f"{name} {rank}.npz", **found)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
