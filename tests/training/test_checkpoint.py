"""A checkpoint: what is written is read again, that of another run and a damaged one are refused."""

import numpy as np
import pytest
import torch

from ammi.training.checkpoint import Checkpoint


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
    torch.save({"identity": {}, "state": Trap()}, checkpoint.path)
    with pytest.raises(ValueError, match="cannot be read as a checkpoint"):
        checkpoint.load()
