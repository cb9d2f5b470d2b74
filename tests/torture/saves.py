"""Saves that are killed, with a reader in a loop: it finds a whole model each time, and no litter stays."""

import sys
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np

from ammi import load
from tests.torture import jobs
from tests.torture.commands import FORK
from tests.torture.crashes import killed
from tests.torture.outcome import Outcome

_LEAST_LOADS = 6  # however busy the machine is


def kill_saves(folder: Path, tries: int, seed: int = 0) -> Outcome:
    rng, outcome = np.random.default_rng(seed), Outcome()
    jobs.save_models(folder, 0, 1, lambda step: None)
    load(folder / "model")  # imports what the others need not import again
    receiving, sending = FORK.Pipe(duplex=False)
    enough, loads = FORK.Event(), FORK.Value("q")
    reader = FORK.Process(target=_load_until, args=(folder, enough, loads, sending))
    reader.start()
    step = 0
    while outcome.tried < tries or (loads.value < _LEAST_LOADS and reader.is_alive()):
        step += killed(jobs.save_models, folder, step, rng)
        outcome.good("killed")
    enough.set()
    failures = receiving.recv()
    reader.join()
    outcome.seen["loads meanwhile"] = loads.value
    for words in failures:
        outcome.bad(words)
    jobs.save_models(folder, step, step + 1, lambda step: None)
    if left := sorted(path.name for path in folder.iterdir() if path.name != "model"):
        outcome.bad(f"left behind: {left}")
    return outcome


def _load_until(folder: Path, enough: Event, loads: Synchronized, sending: Connection) -> None:
    """Load the model again and again; each one is whole, and encodes as it says."""
    failures = []
    rows = np.eye(40)[:5]
    while not enough.is_set():
        loads.value += 1
        try:
            model = load(folder / "model")
            assert model.encode(rows).shape == (5, 4)
        except Exception as error:
            failures.append(repr(error))
    sending.send(failures)
    sys.exit()
