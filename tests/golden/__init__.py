"""One small file or folder of each format that ammi has written: `python -m tests.golden` adds those of this version.

They are never written again: a version that reads another format converts these, or refuses them with a sentence.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ammi import Collection
from ammi.data import pairs, read_documents
from ammi.data.exports import FORMAT as EXPORT
from ammi.features import WordFeatures
from ammi.features.embedding_cache import FORMAT as EMBEDDINGS
from ammi.features.embedding_cache import open_cache
from ammi.hashers.saving import FORMAT as MODEL
from ammi.search.embedded.database import FORMAT as COLLECTION
from ammi.search.milvus.client import FORMAT as MILVUS
from ammi.search.postgres.postgres_database import FORMAT as POSTGRES
from ammi.training.checkpoint import FORMAT as CHECKPOINT
from tests.servers import postgres
from tests.torture import flips

HERE = Path(__file__).parent


def make_export(folder: Path) -> None:
    flips.make_index(folder)
    (folder / "export").mkdir()
    with Collection.open(folder / "index") as collection:
        for kind in ("jsonl", "parquet"):
            collection.export(folder / "export" / f"all.{kind}")


def ask_export(folder: Path) -> Any:
    return [list(map(repr, read_documents(folder / "export" / f"all.{kind}"))) for kind in ("jsonl", "parquet")]


def make_pairs(folder: Path) -> None:
    texts = flips.texts(9)
    features = WordFeatures().fit(texts)
    X, split = features.transform(texts), [({"text": text}, {"text": text}) for text in texts]
    splits = dict.fromkeys(("train", "cv", "test"), split)
    pairs.write_pairs(folder / "pairs", pairs.ArticlePairs((X, X), (X, X), (X, X)), splits, features, {})


def ask_pairs(folder: Path) -> Any:
    (X, Y), *_ = vars(pairs.read_pairs(folder / "pairs")).values()
    return X.toarray().tolist(), Y.toarray().tolist(), pairs.read_pair_texts(folder / "pairs")


def make_cache(folder: Path) -> None:
    with open_cache(folder / "cache", "model", 3) as cache:
        cache.put({"a": np.arange(3, dtype=np.float32)})


def ask_cache(folder: Path) -> Any:
    with open_cache(folder / "cache", "model", 3) as cache:
        return {text: row.tolist() for text, row in cache.get(["a", "b"]).items()}


def make_dump(folder: Path) -> None:
    """Write the schema `golden` of a PostgreSQL server as statements."""
    flips.make_index(folder)
    server = postgres()
    server.execute("DROP SCHEMA IF EXISTS golden CASCADE")
    with Collection.open(folder / "index") as collection:
        collection.copy(f"{server.url}#golden")
    (folder / "dump").mkdir()
    command = [str(server.program("pg_dump")), "--schema", "golden", "--inserts", "--no-owner", server.url]
    dump = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # Without comments, and what only psql or a server of this version understands.
    lines = [line for line in dump.splitlines() if line and not line.startswith(("--", "\\", "SET "))]
    (folder / "dump" / "golden.sql").write_text("\n".join(lines) + "\n")


def ask_dump(folder: Path) -> Any:
    server = postgres()
    dump = (folder / "dump" / "golden.sql").read_text()
    server.execute("DROP SCHEMA IF EXISTS golden CASCADE", dump)
    location = f"{server.url}#golden"
    Collection.upgrade(location)
    with Collection.open(location) as collection:
        entries = [(one.id, one.code.tobytes(), one.text, one.metadata) for one in collection]
        hits = [tuple(hit) for hit in collection.search("oil price", k=5, where={"year": {">=": 1985}})]
        return entries, hits, collection.keys(), Collection.check(location)


def make_milvus(folder: Path) -> None:
    flips.make_index(folder)
    (folder / "lite").mkdir()
    with Collection.open(folder / "index") as collection:
        collection.copy(f"milvus-lite:{folder}/lite/golden.db")


def ask_milvus(folder: Path) -> Any:
    location = f"milvus-lite:{folder}/lite/golden.db"
    with Collection.open(location) as collection:
        entries = sorted((one.id, one.code.tobytes(), one.text, one.metadata) for one in collection)
        hits = [tuple(hit) for hit in collection.search("oil price", k=5, where={"year": {">=": 1985}})]
        return entries, hits, collection.keys(), Collection.check(location)


NOW = {
    f"collection-{COLLECTION}": ("index", flips.make_index),
    f"vectors-{COLLECTION}": ("index", flips.make_vector_index),
    f"model-{MODEL}": ("model", flips.make_word_model),
    f"checkpoint-{CHECKPOINT}": ("run", flips.make_checkpoint),
    f"export-{EXPORT}": ("export", make_export),
    f"pairs-{pairs.FORMAT}": ("pairs", make_pairs),
    f"embeddings-{EMBEDDINGS}": ("cache", make_cache),
    f"postgres-{POSTGRES}": ("dump", make_dump),
    f"milvus-{MILVUS}": ("lite", make_milvus),
}


def write_missing() -> None:
    """Write the golden files of this version's formats, except those that are there."""
    for name, (part, make) in NOW.items():
        if not (HERE / name).exists():
            with tempfile.TemporaryDirectory() as folder:
                make(Path(folder))
                shutil.copytree(Path(folder, part), HERE / name)
