"""Collections that are damaged in any way, and restored from a backup that was made while others wrote."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ammi import Collection
from tests.torture import flips
from tests.torture.outcome import Outcome

Damage = Callable[[Path, np.random.Generator], None]
_FILE, _CHANGES = "index.sqlite", "index.changes"


def _flip(folder: Path, rng: np.random.Generator) -> None:
    for _ in range(rng.integers(1, 100)):
        file = folder / rng.choice([_FILE, _FILE, _FILE, _CHANGES])
        content = bytearray(file.read_bytes())
        content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        file.write_bytes(content)


def _cut(folder: Path, rng: np.random.Generator) -> None:
    os.truncate(folder / _FILE, int(rng.integers((folder / _FILE).stat().st_size)))


def _lose(folder: Path, rng: np.random.Generator) -> None:
    (folder / rng.choice([_FILE, _CHANGES])).unlink()


def _overwrite(folder: Path, rng: np.random.Generator) -> None:
    with open(folder / _FILE, "r+b") as file:
        file.seek(4096 * int(rng.integers((folder / _FILE).stat().st_size // 4096)))
        file.write(rng.bytes(4096))


def _foreign_journal(folder: Path, rng: np.random.Generator) -> None:
    (folder / f"{_FILE}-wal").write_bytes(rng.bytes(5000))


def _empty(folder: Path, rng: np.random.Generator) -> None:
    (folder / _FILE).write_bytes(b"")


def _killed_restore(folder: Path, rng: np.random.Generator) -> None:
    """What a restore leaves that was killed while it copied."""
    _cut(folder, rng)
    (folder / ".repair").mkdir()
    shutil.copy(folder / _FILE, folder / ".repair")


DAMAGES = (_flip, _cut, _lose, _overwrite, _foreign_journal, _empty, _killed_restore)


def restore(folder: Path, tries: int, seed: int = 0) -> Outcome:
    """Damage a collection, restore it, and ask for everything."""
    rng, outcome = np.random.default_rng(seed), Outcome()
    whole, damaged, backup = folder / "whole", folder / "damaged", folder / "backup"
    whole.mkdir()
    flips.make_unfinished_index(whole)
    with Collection.open(whole / "index") as collection:
        collection.backup(backup)
        collection.add([{"id": "later", "text": "not in the backup", "year": 2001}])
    right = flips.ask_index(whole)
    for number in range(tries):
        damage = DAMAGES[number % len(DAMAGES)]
        shutil.rmtree(damaged, ignore_errors=True)
        shutil.copytree(whole, damaged)
        damage(damaged / "index", rng)
        restored = Collection.restore(backup, damaged / "index")
        left = Collection.check(damaged / "index")
        with Collection.open(damaged / "index") as collection:
            collection.add([{"id": "later", "text": "not in the backup", "year": 2001}])
        if restored.documents == 98 and not left and flips.ask_index(damaged) == right:
            outcome.good("restored")
        else:
            outcome.bad(f"{damage.__name__} of try {number}: {restored}, {left}")
    return outcome
