"""Every format that was ever written is read, or converted first."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tests.golden as golden_files
from ammi import Collection
from tests.golden import HERE, NOW
from tests.search.stores import MilvusStore, PostgresStore
from tests.torture import flips

ASKED = {
    "collection": ("index", flips.make_index, flips.ask_index),
    "vectors": ("index", flips.make_vector_index, flips.ask_vector_index),
    "model": ("model", flips.make_word_model, flips.ask_model),
    "checkpoint": ("run", flips.make_checkpoint, flips.ask_checkpoint),
    "export": ("export", golden_files.make_export, golden_files.ask_export),
    "pairs": ("pairs", golden_files.make_pairs, golden_files.ask_pairs),
    "embeddings": ("cache", golden_files.make_cache, golden_files.ask_cache),
    "milvus": ("lite", golden_files.make_milvus, golden_files.ask_milvus),
    "postgres": ("dump", golden_files.make_dump, golden_files.ask_dump),
}
ON_SERVERS = {"milvus": MilvusStore, "postgres": PostgresStore}
WITHOUT_MODEL = {"collection-1", "collection-2", "vectors-2"}  # made of codes by the programs of these formats


def vectors_of(name: str) -> dict[str, Any]:
    return {"vectors": np.ones((1, 24), np.float32)} if name.startswith("vectors") else {}


def entries(location: Path) -> list[tuple]:
    with Collection.open(location) as collection:
        found = [(one.id, one.code.tobytes(), one.text, one.metadata, flips._bytes(one.vector)) for one in collection]
        return [*found, (collection.keys(), collection.n_bits)]


def test_each_format_of_this_version_has_a_golden_file():
    assert [name for name in NOW if not (HERE / name).exists()] == []


def marks(name: str) -> list[pytest.MarkDecorator]:
    kind = name.rpartition("-")[0]
    if kind not in ON_SERVERS:
        return []
    missing = getattr(ON_SERVERS[kind], "missing", "")
    return [pytest.mark.servers, pytest.mark.skipif(bool(missing), reason=missing)]


@pytest.mark.parametrize(
    "golden", [pytest.param(path, id=path.name, marks=marks(path.name)) for path in sorted(HERE.glob("*-*"))]
)
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
    if golden.name in WITHOUT_MODEL:
        assert entries(old / part) == entries(new / part)
        with Collection.open(old / part) as collection:
            assert collection.store.add(collection.codes()[1][:1], **vectors_of(golden.name)) == [80]  # numbers go on
    elif part == "run":  # whose numbers differ between processors
        assert len(ask(old)[0]) == len(ask(new)[0])
    else:
        assert ask(old) == ask(new)
    if part == "index":
        with Collection.open(old / part) as collection:
            collection.store.recode(
                lambda some: (np.zeros((len(some), 1), np.uint8), None), 8, fingerprint="a", files={}
            )
        assert Collection.check(old / part) == []
