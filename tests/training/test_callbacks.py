"""The file for TensorBoard, read back by TensorBoard itself."""

import time
from pathlib import Path
from typing import Any

import pytest

from ammi.training.callbacks import TensorBoard


def read_events(folder: Path) -> Any:
    """TensorBoard's own reader of a folder, after it has read it."""
    package = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    read = package.EventAccumulator(str(folder))
    read.Reload()
    return read


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard finds in a folder: for each figure its steps and values."""
    read = read_events(folder)
    return {name: [(event.step, event.value) for event in read.Scalars(name)] for name in read.Tags()["scalars"]}


def test_tensorboard_reads_every_figure_of_every_epoch(tmp_path):
    callback = TensorBoard(tmp_path / "runs" / "first")
    for epoch in (1, 2, 300):  # a step of more than seven bits
        callback({"epoch": epoch, "entropy": 1.5 * epoch, "größe": -1e-20, "score": float("inf")})
    assert scalars(tmp_path / "runs" / "first") == {
        "entropy": [(1, 1.5), (2, 3.0), (300, 450.0)],
        "größe": [(epoch, pytest.approx(-1e-20)) for epoch in (1, 2, 300)],
        "score": [(epoch, float("inf")) for epoch in (1, 2, 300)],
    }
    (file,) = (tmp_path / "runs" / "first").iterdir()
    assert file.name.startswith("events.out.tfevents.")


def test_events_have_the_time_they_were_written_at(tmp_path):
    before = time.time()
    TensorBoard(tmp_path)({"epoch": 1, "score": 1.0})
    read = read_events(tmp_path)
    assert before <= read.Scalars("score")[0].wall_time <= time.time()


def test_each_run_has_a_file_and_one_that_goes_on_is_read_as_one(tmp_path):
    first = TensorBoard(tmp_path)
    first({"epoch": 1, "score": 1.0})
    first({"epoch": 2, "score": 2.0})
    TensorBoard(str(tmp_path))({"epoch": 3, "score": 3.0})
    assert len(list(tmp_path.iterdir())) == 2
    first({"epoch": 1, "score": 7.0})  # the same callback for another fit
    assert len(list(tmp_path.iterdir())) == 3
