"""A training run on disk after every epoch, so that a killed run goes on where it was."""

import os
from pathlib import Path
from typing import Any

import torch


class Checkpoint:
    """One file in a folder, replaced atomically; it belongs to one configuration on one data set.

    Args:
        identity: what the run is made of (parameters, data); a checkpoint of another one is refused.
    """

    def __init__(self, folder: str | os.PathLike, identity: dict[str, Any]):
        self.path = Path(folder) / "checkpoint.pt"
        self.identity = identity
        self.path.parent.mkdir(parents=True, exist_ok=True)

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

    def save(self, state: dict[str, Any]) -> None:
        new = self.path.with_suffix(".new")
        with new.open("wb") as file:
            torch.save({"identity": self.identity, "state": state}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.path)
