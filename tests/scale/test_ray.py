"""The commands on a real cluster of two nodes, one of which is lost on the way: nothing is missing, nothing twice.

All in one file, and `make test` runs it by itself, so that the cluster is started once.
"""

import json
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ammi import Collection
from ammi.data import read_codes
from ammi.hashers import LSH, DocumentHasher
from ammi.scale.tune import tune_on_ray
from ammi.tuning.search import Search, Tuning
from ammi.tuning.tasks import Task
from tests.cli.conftest import Run, ammi, notes
from tests.scale.conftest import Nodes
from tests.search.stores import postgres_location
from tests.servers import postgres
from tests.tuning.small import SHORT, Scripted

__all__ = ["ammi"]

N_SHARDS, N_DOCUMENTS = 16, 400
RAY = ("--ray", "--workers", 2)
RAY_AGAIN = (*RAY[:-1], 1)  # a worker takes long to start, and what is there already needs no second one


class Shards:
    """Documents in shards of Parquet and JSON lines, and a model of them."""

    def __init__(self, folder: Path):
        self.folder, self.model_folder = folder / "shards", folder / "model"
        self.folder.mkdir()
        self.documents = [{**one, "id": f"{n}-{one['id']}"} for n in range(N_SHARDS) for one in notes(N_DOCUMENTS)]
        for n in range(N_SHARDS):
            part = self.documents[n * N_DOCUMENTS : (n + 1) * N_DOCUMENTS]
            if n % 2:
                pq.write_table(pa.Table.from_pylist(part), self.folder / f"part-{n:02}.parquet")
            else:
                lines = "".join(json.dumps(one) + "\n" for one in part)
                (self.folder / f"part-{n:02}.jsonl").write_text(lines)
        self.model = DocumentHasher(LSH(24, random_state=0)).fit([one["text"] for one in notes(600)])
        self.model.save(self.model_folder)
        self.other_folder = folder / "other"
        DocumentHasher(LSH(24, random_state=1)).fit([one["text"] for one in notes(600)]).save(self.other_folder)

    @property
    def ids(self) -> list[str]:
        return [one["id"] for one in self.documents]

    @property
    def codes(self) -> np.ndarray:
        return self.model.encode([one["text"] for one in self.documents])


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Shards:
    return Shards(tmp_path_factory.mktemp("scale"))


def finished(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("part-*.parquet")}


def test_an_encode_that_loses_a_node(two_nodes: Nodes, shards: Shards, ammi: Run, tmp_path):
    out = tmp_path / "codes"
    at_the_loss: list[int] = []

    def some_are_done() -> bool:
        at_the_loss[:] = [len(finished(out))]
        return at_the_loss[0] >= 3

    lost = two_nodes.lose_one_when(some_are_done)
    encoded = ammi("encode", shards.model_folder, shards.folder, "--out", out, *RAY)
    lost.join()
    assert encoded.code == 0, encoded.err
    assert at_the_loss[0] < N_SHARDS
    assert f"{len(shards.documents):,} codes of 24 bits in {N_SHARDS} shards" in encoded.err

    codes = read_codes(out)
    assert codes.ids == shards.ids
    np.testing.assert_array_equal(codes.codes, shards.codes)
    assert codes.fingerprint == shards.model.fingerprint_
    assert json.loads((out / "manifest.json").read_text())["rows"] == len(shards.documents)

    before = finished(out)
    changed = shards.folder / "part-00.jsonl"
    whole = changed.read_text()
    try:
        changed.write_text(whole + json.dumps({"id": "new", "text": "wave and tide"}) + "\n")
        again = ammi("encode", shards.model_folder, shards.folder, "--out", out, *RAY_AGAIN)
        assert f"{N_SHARDS - 1} of them were there already" in again.err
    finally:
        changed.write_text(whole)
    assert {name for name, time in finished(out).items() if before[name] != time} == {"part-00.parquet"}
    assert read_codes(out).ids[N_DOCUMENTS] == "new"

    built = ammi("index", "build", tmp_path / "index", out, "--json")
    assert built.json["documents"] == len(shards.documents) + 1


def test_a_load_that_loses_a_node(two_nodes: Nodes, shards: Shards, ammi: Run, tmp_path):
    location = tmp_path / "index"
    arguments = ("index", "build", location, shards.folder, "--model", shards.model_folder, "--json")
    at_the_loss: list[int] = []

    def some_are_there() -> bool:
        try:
            with Collection.open(location) as collection:
                at_the_loss[:] = [len(collection)]
        except FileNotFoundError:  # it is made just now
            return False
        return at_the_loss[0] >= 3 * N_DOCUMENTS

    lost = two_nodes.lose_one_when(some_are_there)
    built = ammi(*arguments, *RAY)
    lost.join()
    assert built.code == 0, built.err
    assert at_the_loss[0] < len(shards.documents)
    assert built.json["added"] == built.json["documents"] == len(shards.documents)
    with Collection.open(location) as collection:
        ids, codes = collection.store.export()
        assert ids == shards.ids
        np.testing.assert_array_equal(codes, shards.codes)
        assert collection.get(ids[-1]).metadata == {"subject": "sea", "year": 1983}
        collection.delete(ids[7 * N_DOCUMENTS + 5 :])  # as if it had been stopped there

    again = ammi(*arguments, *RAY_AGAIN)
    assert again.json["already_there"] == 7 * N_DOCUMENTS
    assert again.json["documents"] == len(shards.documents)
    with Collection.open(location) as collection:
        assert collection.store.export()[0] == shards.ids


def test_a_store_with_many_writers(two_nodes: Nodes, shards: Shards, ammi: Run, tmp_path):
    url, _, name = postgres_location(tmp_path).partition("#")
    location = f"{url}&approximate=hnsw#{name}"
    files = sorted(shards.folder.iterdir())[:3]
    arguments = ("--model", shards.model_folder, "--json")
    first = ammi("index", "build", location, *files[:2], *arguments, *RAY)
    assert first.json["added"] == first.json["documents"] == 2 * N_DOCUMENTS
    hnsw = f"SELECT count(*) FROM pg_indexes WHERE indexname = 'codes_1_hnsw' AND schemaname = '{name}'"
    assert postgres().execute(hnsw) == [(1,)]
    again = ammi("index", "build", location, *files, *arguments, *RAY_AGAIN)
    assert (again.json["already_there"], again.json["added"]) == (2 * N_DOCUMENTS, N_DOCUMENTS)
    other = ammi("index", "build", location.replace("@", ":hush@"), *files, "--model", shards.other_folder, *RAY_AGAIN)
    assert other.code == 1
    assert f"{location} holds a collection of model" in other.err
    with Collection.open(location) as collection:
        found = dict(zip(*collection.store.export(), strict=True))
    assert len(found) == 3 * N_DOCUMENTS
    np.testing.assert_array_equal([found[id] for id in shards.ids[: len(found)]], shards.codes[: len(found)])


class Slow(Scripted):
    """Epochs that last long enough to lose a node in one."""

    def fit(self, hasher, watch=lambda score: None):
        def watch_and_wait(score: float) -> None:
            time.sleep(0.1)
            watch(score)

        super().fit(hasher, watch_and_wait)


def search(folder: Path, task: Task) -> Tuning:
    return Tuning(Search("small", "ammi", 8, SHORT), task, folder)


def test_a_search_with_one_worker_is_the_same_search(two_nodes: Nodes, tmp_path):
    with search(tmp_path / "here", Scripted()) as here, search(tmp_path / "ray", Scripted()) as on_ray:
        here.run_until(11)
        tune_on_ray(on_ray, 11, 1)
        rows = [[{**row, "seconds": 0, "cpu_seconds": 0} for row in one.rows()] for one in (here, on_ray)]
    assert rows[0] == rows[1]
    assert {row["state"] for row in rows[0]} == {"complete", "pruned"}


def test_a_search_that_loses_a_node_tries_again(two_nodes: Nodes, tmp_path):
    with search(tmp_path / "ray", Slow()) as on_ray, search(tmp_path / "here", Scripted()) as here:
        lost = two_nodes.lose_one_when(lambda: any(trial.intermediate_values for trial in on_ray.study.get_trials()))
        tune_on_ray(on_ray, 4, 2)
        lost.join()
        here.run_until(4)
        drawn = [sorted(json.dumps(row["parameters"]) for row in one.rows()) for one in (here, on_ray)]
    assert drawn[0] == drawn[1]
