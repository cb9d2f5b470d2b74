"""One small file or folder of each format that ammi has written: `python -m tests.golden` adds those of this version.

They are never written again: a version that reads another format converts these, or refuses them with a sentence.
"""

import shutil
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
from ammi.training.checkpoint import FORMAT as CHECKPOINT
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


NOW = {
    f"collection-{COLLECTION}": ("index", flips.make_index),
    f"vectors-{COLLECTION}": ("index", flips.make_vector_index),
    f"model-{MODEL}": ("model", flips.make_word_model),
    f"checkpoint-{CHECKPOINT}": ("run", flips.make_checkpoint),
    f"export-{EXPORT}": ("export", make_export),
    f"pairs-{pairs.FORMAT}": ("pairs", make_pairs),
    f"embeddings-{EMBEDDINGS}": ("cache", make_cache),
}


def write_missing() -> None:
    """Write the golden files of this version's formats, except those that are there."""
    for name, (part, make) in NOW.items():
        if not (HERE / name).exists():
            with tempfile.TemporaryDirectory() as folder:
                make(Path(folder))
                shutil.copytree(Path(folder, part), HERE / name)
