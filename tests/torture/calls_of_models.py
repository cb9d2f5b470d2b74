"""Calls of `ammi.hashers` and `ammi.features`: fits on odd rows and texts, and models asked about others."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from hypothesis import strategies as st

import ammi
from ammi import LSH, DocumentHasher, features, hashers
from tests.torture import strange
from tests.torture.calls import Calls, call, few_texts, models, paths, texts

METHODS = sorted(set(hashers.__all__) - {"DocumentHasher", "Hasher", "TrainedHasher", "by_name", "load", "methods"})
_rows = st.one_of(
    strange.matrices,
    st.integers(1, 8).map(lambda n: np.linspace(-1, 1, 4 * n).reshape(n, 4)),
    st.integers(1, 8).map(lambda n: scipy.sparse.csr_matrix(np.eye(n, 4, dtype=np.float32))),
    strange.any_array,
)
_good_texts = st.lists(st.sampled_from(["ship wave", "wheat soil", "cloud", "wing ship ship"]), min_size=1, max_size=6)
_bits = st.sampled_from([1, 2, 3, 4, 4, 4, 8, 16]) | strange.numbers
_settings = st.dictionaries(
    st.sampled_from(["n_bits", "random_state", "order", "prior_order", "learning_rate", "neighbours", "batch_size"]),
    strange.numbers | strange.floats,
    max_size=2,
)


def _fit(method: str, n_bits: int, more: dict[str, Any], X: Any, other: Any) -> object:
    """Fit a method, for one step where it takes steps, and encode other rows."""
    kind = getattr(hashers, method)
    taken = kind().get_params()
    short = {"epochs": 1, "pretraining_epochs": 1, "verbose": False, "random_state": 0, "n_bits": n_bits, **more}
    fitted = kind(**{name: value for name, value in short.items() if name in taken}).fit(X)
    fitted.describe()
    return fitted.transform(X), fitted.encode(other), fitted.bit_probabilities(other) if _is_sure(fitted) else None


def _is_sure(fitted: Any) -> bool:
    return hasattr(fitted, "bit_probabilities")


def _make(name: str, more: dict[str, Any], documents: Any, others: Any) -> object:
    maker = getattr(features, name)(**more).fit(documents)
    maker.describe()
    return maker.transform(others)


def _embed(documents: list[str], width: int) -> object:
    maker = features.EmbeddingFeatures(lambda some: np.ones((len(some), width), np.float32)).fit(documents)
    return maker.transform(documents)


@cache
def _model(folder: str) -> Any:
    return ammi.load(folder)


def _of_model(method: str, documents: Any) -> object:
    return getattr(_model("model"), method)(documents)


def _of_hasher(method: str, X: Any) -> object:
    return getattr(_model("vector-model"), method)(X)


def _of_parts(width: int) -> DocumentHasher:
    return DocumentHasher.of(LSH(8).fit(np.eye(4)), features.VectorFeatures().fit(np.zeros((1, width))))


def _fit_documents(documents: Any, n_bits: int) -> object:
    return DocumentHasher(LSH(n_bits)).fit(documents).encode(documents)


def _saved(folder: Path) -> None:
    _model("model").save(folder)


_files = st.dictionaries(
    st.sampled_from(["features.json", "sentencepiece.model"]), st.binary(max_size=100)
) | st.builds(lambda: {path.name: path.read_bytes() for path in Path("model/features").iterdir()})
_damaged = st.tuples(st.integers(0, 5), st.binary(max_size=20)).map(
    lambda change: _model("model").to_files() | {sorted(_model("model").to_files())[change[0] % 5]: change[1]}
)
_vocabularies = st.fixed_dictionaries({}, optional={"vocabulary_size": strange.numbers})
OF_MODELS: Calls = {
    **{
        f"hashers.{name}": call(lambda *given, name=name: _fit(name, *given), _bits, _settings, _rows, _rows)
        for name in METHODS
    },
    "hashers.by_name": call(hashers.by_name, texts | st.sampled_from(["lsh", "ammi"])),
    "hashers.load": call(hashers.load, paths | models.map(Path)),
    "Hasher.transform": call(lambda X: _of_hasher("transform", X), _rows),
    "Hasher.encode": call(lambda X: _of_hasher("encode", X), _rows),
    "DocumentHasher.fit": call(_fit_documents, _good_texts | few_texts | _rows, _bits),
    "DocumentHasher.of": call(_of_parts, st.integers(1, 6)),
    "DocumentHasher.from_files": call(DocumentHasher.from_files, _damaged),
    "DocumentHasher.to_files": call(lambda: _model("model").to_files()),
    "DocumentHasher.save": call(_saved, st.sampled_from(["model", "new", "index", "notes.jsonl"]).map(Path)),
    **{
        f"DocumentHasher.{name}": call(lambda given, name=name: _of_model(name, given), few_texts | _rows)
        for name in ("transform", "encode")
    },
    "DocumentHasher.count_words": call(lambda given: _of_model("count_words", given), few_texts),
    "DocumentHasher.knows": call(lambda given: _of_model("knows", given), texts),
    "features.WordFeatures": call(
        lambda *given: _make("WordFeatures", *given), _vocabularies, _good_texts | few_texts, few_texts
    ),
    "features.PieceFeatures": call(
        lambda *given: _make("PieceFeatures", *given), _vocabularies, _good_texts | few_texts, few_texts
    ),
    "features.VectorFeatures": call(lambda *given: _make("VectorFeatures", {}, *given), _rows, _rows),
    "features.EmbeddingFeatures": call(_embed, few_texts, st.integers(0, 3)),
    "features.by_name": call(features.by_name, texts | st.sampled_from(["words", "pieces"])),
    "features.features_from_files": call(features.features_from_files, _files),
}
