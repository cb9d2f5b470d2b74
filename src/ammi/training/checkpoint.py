"""A training run on disk after every epoch, so that a killed run goes on where it was."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ammi.files import replacing_file


class Checkpoint:
    """A file in a folder, replaced whole; it belongs to one configuration on one data set.

    Args:
        identity: what the run is made of (parameters, data); a checkpoint of another one is refused.
    """

    def __init__(self, folder: str | os.PathLike[str], identity: Mapping[str, str | int | float | None]):
        self.path = Path(folder) / "checkpoint.pt"
        self.identity = dict(identity)
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def part(self, name: str) -> "Checkpoint":
        """A checkpoint of a run that is part of this one, in a folder below."""
        return Checkpoint(self.path.parent / name, self.identity)

    def load(self) -> dict[str, Any] | None:
        """The last state that was written, or None where there is none yet."""
        if not self.path.exists():
            return None
        try:
            saved = torch.load(self.path, weights_only=True)
            identity, state = saved["identity"], saved["state"]
        except Exception as error:
            raise ValueError(f"{self.path} cannot be read as a checkpoint: delete it to start anew") from error
        different = sorted(key for key in self.identity if identity.get(key) != self.identity[key])
        if different:
            raise ValueError(
                f"{self.path} belongs to another run ({', '.join(different)} differ): use another folder, or delete it"
            )
        return state

    def save(self, state: Mapping[str, object]) -> None:
        """Replace what was written before."""
        with replacing_file(self.path) as file:
            torch.save({"identity": self.identity, "state": state}, file)

    def save_array(self, name: str, array: NDArray) -> None:
        """Keep what a run makes once, before its first epoch, for when it goes on."""
        with replacing_file(self.path.with_name(f"{name}.npy")) as file:
            np.save(file, array)

    def array(self, name: str) -> NDArray | None:
        """What was kept under a name, or None."""
        path = self.path.with_name(f"{name}.npy")
        return np.load(path, allow_pickle=False) if path.exists() else None
