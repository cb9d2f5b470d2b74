"""Optuna studies: their database, the rule that gives up trials, and the samplers."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

import numpy as np

with suppress(ImportError):
    # Optuna keeps the tracebacks of missing optional packages, and with them the variables of whoever imports it first.
    # Imported here, these hold no study with an open database.
    import optuna.distributions
    import optuna.pruners
    import optuna.samplers
    import optuna.storages
    import optuna.trial

if TYPE_CHECKING:
    from optuna import Study
    from optuna.samplers import BaseSampler
    from optuna.storages import RDBStorage

Sampler = Literal["random", "tpe"]

NEEDED = ("optuna", "psutil")


def open_storage(url: str) -> "RDBStorage":
    """Open the database at a URL; create it if it does not exist."""
    if missing := [package for package in NEEDED if not find_spec(package)]:
        raise ImportError(f"tuning needs {' and '.join(missing)}: pip install 'ammi[tune]'")
    from sqlalchemy.exc import ArgumentError

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with naming_storage():
            return optuna.storages.RDBStorage(url)
    except ArgumentError as error:
        raise ValueError(f"{url} is not an Optuna storage: expected a URL such as sqlite:///study.db") from error


@contextmanager
def naming_storage() -> Iterator[None]:
    """Turn database errors, such as a full disk, into one sentence."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import DatabaseError

    try:
        yield
    except (DatabaseError, StorageInternalError) as error:
        cause = error.__cause__ if isinstance(error, StorageInternalError) else error
        reason = getattr(cause, "orig", None) if isinstance(cause, DatabaseError) else cause
        raise OSError(
            f"the database of the study cannot be used ({str(reason).splitlines()[0]}): make space, or delete it if it "
            "is damaged, then run the same command to continue: trials.json has the finished trials"
        ) from error


def close_storage(storage: "RDBStorage") -> None:
    storage.remove_session()
    storage.engine.dispose()


def open_study(name: str, storage: "RDBStorage") -> "Study":
    """Open or create a study; it gives up trials whose scores stay below the median of the others."""
    from optuna import create_study
    from optuna.pruners import MedianPruner

    return create_study(
        study_name=name,
        storage=storage,
        direction="maximize",
        pruner=MedianPruner(n_startup_trials=4, n_warmup_steps=4),
        load_if_exists=True,
    )


def new_sampler(kind: Sampler, seed: tuple[int, int]) -> "BaseSampler":
    """Return a sampler that chooses parameters at random, or near good ones (TPE)."""
    from optuna.samplers import RandomSampler, TPESampler

    number = int(np.random.SeedSequence(seed).generate_state(1)[0])
    return RandomSampler(seed=number) if kind == "random" else TPESampler(seed=number, multivariate=False)
