"""Callbacks for fit(..., callbacks=[...]): each is called with the figures of an epoch when it is over."""

import os
from collections.abc import Mapping
from pathlib import Path


class TensorBoard:
    """Write the figures of each epoch for TensorBoard: `tensorboard --logdir FOLDER`.

    Args:
        folder: where to write; give each run a folder of its own to compare them.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise ImportError("writing for TensorBoard needs it: pip install 'ammi[tensorboard]'") from error
        self.folder, self._new_writer = Path(folder), SummaryWriter
        self._writer: SummaryWriter | None = None

    def __call__(self, row: Mapping[str, float]) -> None:
        if self._writer is None or row["epoch"] == 1:  # another fit has a file of its own
            if self._writer:
                self._writer.close()
            self._writer = self._new_writer(str(self.folder), filename_suffix=f".{os.urandom(4).hex()}.ammi")
        for name, value in row.items():
            if name != "epoch":
                self._writer.add_scalar(name, value, int(row["epoch"]))
        self._writer.flush()  # so that a run can be watched, and a killed one has its epochs
