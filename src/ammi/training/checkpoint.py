"""A training run on disk after every epoch, so that a killed run goes on where it was."""

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from ammi.files import read_with_digest, write_with_digest


class Checkpoint:
    """Files in a folder, each replaced whole and with its digest; they belong to one configuration on one data set.

    Args:
        identity: what the run is made of (parameters, data); a checkpoint of another one is refused.
    """

    def __init__(self, folder: str | os.PathLike[str], identity: Mapping[str, str | int | float | None]):
        self.path = Path(folder) / "checkpoint.pt"
        self.identity = dict(identity)
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def part(self, name: str) -> "Checkpoint":
        """A checkpoint of a run that is part of this one, in a folder below."""
        return Checkpoint(self.path.parent / name, {**self.identity, "part": name})

    def load(self) -> dict[str, Any] | None:
        """The last state that was written, on the CPU, or None where there is none yet."""
        return self._read(self.path)

    def save(self, state: Mapping[str, object]) -> None:
        """Replace what was written before."""
        self._write(self.path, state)

    def save_array(self, name: str, array: NDArray) -> None:
        """Keep what a run makes once, before its first epoch, for when it goes on."""
        self._write(self.path.with_name(f"{name}.pt"), torch.from_numpy(array))

    def array(self, name: str) -> NDArray | None:
        """What was kept under a name, or None."""
        kept = self._read(self.path.with_name(f"{name}.pt"))
        return None if kept is None else kept.numpy()

    def _write(self, path: Path, content: object) -> None:
        buffer = io.BytesIO()
        torch.save({"identity": {**self.identity, "file": path.name}, "content": content}, buffer)
        write_with_digest(path, buffer.getvalue())

    def _read(self, path: Path) -> Any:
        if not path.exists():
            return None
        try:
            saved = torch.load(io.BytesIO(read_with_digest(path)), map_location="cpu", weights_only=True)
            identity, content = saved["identity"], saved["content"]
        except Exception as error:
            raise ValueError(
                f"{path} is damaged and cannot be read as a checkpoint: delete it to start anew"
            ) from error
        expected = {**self.identity, "file": path.name}
        different = sorted(key for key in expected if identity.get(key) != expected[key])
        if different:
            raise ValueError(
                f"{path} belongs to another run ({', '.join(different)} differ): use another folder, or delete it"
            )
        return content
