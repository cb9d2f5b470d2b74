"""A training run on disk after every epoch, so that a killed run can be resumed, and a finished one continued."""

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from ammi.files import read_with_digest, write_with_digest

FORMAT = 1


class Checkpoint:
    """Files in a folder, each replaced as a whole, with a digest. They belong to one configuration and one data set.

    Args:
        identity: parameters and digests of the data; a checkpoint with another identity is refused.
    """

    def __init__(self, folder: str | os.PathLike[str], identity: Mapping[str, str | int | float | None]):
        self.path = Path(folder) / "checkpoint.pt"
        self.identity = dict(identity)
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def part(self, name: str) -> "Checkpoint":
        """Return the checkpoint of a run that is part of this one, in a sub-folder."""
        return Checkpoint(self.path.parent / name, {**self.identity, "part": name})

    def load(self) -> dict[str, Any] | None:
        """Return the last saved state, on the CPU, or None if there is none yet."""
        return self._read(self.path)

    def save(self, state: Mapping[str, object]) -> None:
        """Replace the saved state."""
        self._write(self.path, state)

    def save_array(self, name: str, array: NDArray) -> None:
        """Save an array that a run computes once, before its first epoch."""
        self._write(self.path.with_name(f"{name}.pt"), torch.from_numpy(array))

    def array(self, name: str) -> NDArray | None:
        """Return a saved array, or None."""
        saved = self._read(self.path.with_name(f"{name}.pt"))
        return None if saved is None else saved.numpy()

    def _write(self, path: Path, content: object) -> None:
        buffer = io.BytesIO()
        torch.save({"format": FORMAT, "identity": {**self.identity, "file": path.name}, "content": content}, buffer)
        write_with_digest(path, buffer.getvalue())

    def _read(self, path: Path) -> Any:
        if not path.exists():
            return None
        try:
            saved = torch.load(io.BytesIO(read_with_digest(path)), map_location="cpu", weights_only=True)
            format, identity, content = saved.get("format", 1), saved["identity"], saved["content"]
        except Exception as error:
            raise ValueError(
                f"{path} is damaged and cannot be read as a checkpoint: delete it to start anew"
            ) from error
        if format != FORMAT:
            raise ValueError(f"{path} has format {format}, and this ammi reads {FORMAT}: delete it to start anew")
        expected = {**self.identity, "file": path.name}
        different = sorted(key for key in expected if identity.get(key) != expected[key])
        if different:
            raise ValueError(
                f"{path} belongs to another run ({', '.join(different)} differ): use another folder, or delete it"
            )
        return content
