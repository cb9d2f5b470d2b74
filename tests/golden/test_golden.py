"""Every format that was ever written is read, or converted first."""

import shutil
from pathlib import Path

import pytest

from ammi import Collection
from tests.golden import HERE, NOW
from tests.torture import flips

ASKED = {
    "collection": ("index", flips.make_index, flips.ask_index),
    "vectors": ("index", flips.make_vector_index, flips.ask_vector_index),
    "model": ("model", flips.make_word_model, flips.ask_model),
    "checkpoint": ("run", flips.make_checkpoint, flips.ask_checkpoint),
}


def test_each_format_of_this_version_has_a_golden_file():
    assert [name for name in NOW if not (HERE / name).exists()] == []


@pytest.mark.parametrize("golden", sorted(path for path in HERE.glob("*-*")), ids=lambda path: path.name)
def test_a_golden_file_is_read(golden: Path, tmp_path):
    part, make, ask = ASKED[golden.name.rpartition("-")[0]]
    old, new = tmp_path / "old", tmp_path / "new"
    shutil.copytree(golden, old / part)
    if part == "index":
        upgraded = Collection.upgrade(old / part)
        assert (upgraded.old is None) == (golden.name in NOW)
        assert Collection.check(old / part) == []
    new.mkdir()
    make(new)
    if part == "run":  # whose numbers differ between processors
        assert len(ask(old)[0]) == len(ask(new)[0])
    else:
        assert ask(old) == ask(new)
