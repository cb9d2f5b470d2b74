"""A checkpoint: what is written is read again, that of another run and a damaged one are refused."""

import shutil

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.files import write_with_digest
from ammi.training.checkpoint import Checkpoint
from tests.damage import flipped


def test_the_last_state_is_read_again(tmp_path):
    checkpoint = Checkpoint(tmp_path / "a" / "run", {"bits": 8})
    assert checkpoint.load() is None
    for epoch in (1, 2):
        checkpoint.save({"epoch": epoch, "weights": epoch * torch.ones(2)})
    state = Checkpoint(str(tmp_path / "a" / "run"), {"bits": 8}).load()
    assert state is not None
    assert state["epoch"] == 2
    assert torch.equal(state["weights"], torch.full((2,), 2.0))
    assert [path.name for path in (tmp_path / "a" / "run").iterdir()] == ["checkpoint.pt"]


def test_what_is_made_once_is_kept_beside_it(tmp_path):
    checkpoint = Checkpoint(tmp_path, {})
    assert checkpoint.array("neighbours") is None
    checkpoint.save_array("neighbours", np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(Checkpoint(tmp_path, {}).array("neighbours"), np.arange(6).reshape(2, 3))


def test_that_of_another_run_is_refused_with_what_differs(tmp_path):
    Checkpoint(tmp_path, {"bits": 8, "seed": 0, "epochs": 3}).save({})
    with pytest.raises(ValueError, match=r"another run \(bits, seed differ\): use another folder, or delete it"):
        Checkpoint(tmp_path, {"bits": 16, "seed": 1, "epochs": 3}).load()
    with pytest.raises(ValueError, match=r"another run \(labels differ\)"):
        Checkpoint(tmp_path, {"bits": 8, "seed": 0, "epochs": 3, "labels": "other"}).load()


class Trap:
    """What a pickle could do when it is read."""

    def __reduce__(self):
        return (pytest.fail, ("the checkpoint ran code",))


def test_damage_and_pickles_are_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path, {})
    checkpoint.save({"weights": torch.ones(100)})
    whole = checkpoint.path.read_bytes()
    for damaged in (b"", b"no checkpoint", whole[:-50], whole[: len(whole) // 2]):
        checkpoint.path.write_bytes(damaged)
        with pytest.raises(ValueError, match="cannot be read as a checkpoint: delete it to start anew"):
            checkpoint.load()
    torch.save({"identity": {}, "content": Trap()}, tmp_path / "trap")
    write_with_digest(checkpoint.path, (tmp_path / "trap").read_bytes())
    with pytest.raises(ValueError, match="cannot be read as a checkpoint"):
        checkpoint.load()


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Checkpoint:
    checkpoint = Checkpoint(tmp_path_factory.mktemp("kept"), {"bits": 8})
    checkpoint.save({"weights": torch.arange(50.0), "history": [{"epoch": 1, "score": 0.5}]})
    checkpoint.save_array("neighbours", np.arange(40).reshape(8, 5))
    return checkpoint


@pytest.mark.parametrize("file", ["checkpoint.pt", "neighbours.pt"])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_no_flipped_bit_goes_unseen(kept, file, data):
    """7 of 60 flipped bits were silently another model."""
    path = kept.path.with_name(file)
    whole = path.read_bytes()
    path.write_bytes(flipped(whole, data.draw(st.integers(0, 8 * len(whole) - 1))))
    try:
        with pytest.raises(ValueError, match=rf"{file} is damaged and cannot be read as a checkpoint: delete it"):
            kept.load() if file == "checkpoint.pt" else kept.array("neighbours")
    finally:
        path.write_bytes(whole)


def test_files_of_another_run_or_another_part_are_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path, {"bits": 8})
    for one in (checkpoint, checkpoint.part("first")):
        one.save({})
        one.save_array("neighbours", np.arange(6))
    stale = Checkpoint(tmp_path, {"bits": 16})
    with pytest.raises(ValueError, match=r"neighbours\.pt belongs to another run \(bits differ\)"):
        stale.array("neighbours")
    with pytest.raises(ValueError, match=r"checkpoint\.pt belongs to another run \(part differ\)"):
        Checkpoint(tmp_path / "first", {"bits": 8, "part": "second"}).load()
    shutil.copy(tmp_path / "checkpoint.pt", tmp_path / "neighbours.pt")
    with pytest.raises(ValueError, match=r"neighbours\.pt belongs to another run \(file differ\)"):
        checkpoint.array("neighbours")
