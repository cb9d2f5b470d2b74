"""What makes rows of documents: tf-idf of words, tf-idf of SentencePiece units, embeddings, or vectors as they are.

Nothing is imported before it is asked for: `ammi.features.quick` makes the row of a query without scikit-learn.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ammi.features.saved import check_fingerprint, naming_damage, parse_features
from ammi.plugins import Registry

if TYPE_CHECKING:
    from ammi.features.base import FeatureMaker
    from ammi.features.embeddings import EmbeddingFeatures
    from ammi.features.pieces import PieceFeatures
    from ammi.features.vectors import VectorFeatures
    from ammi.features.words import WordFeatures

__all__ = [
    "EmbeddingFeatures",
    "FeatureMaker",
    "PieceFeatures",
    "VectorFeatures",
    "WordFeatures",
    "by_name",
    "features",
    "features_from_files",
]

_HOME = {
    "EmbeddingFeatures": "ammi.features.embeddings",
    "FeatureMaker": "ammi.features.base",
    "PieceFeatures": "ammi.features.pieces",
    "VectorFeatures": "ammi.features.vectors",
    "WordFeatures": "ammi.features.words",
}

features: Registry[type["FeatureMaker"]] = Registry(
    "ammi.features",
    "kind of features",
    {
        "words": "ammi.features.words:WordFeatures",
        "pieces": "ammi.features.pieces:PieceFeatures",
        "embeddings": "ammi.features.embeddings:EmbeddingFeatures",
        "vectors": "ammi.features.vectors:VectorFeatures",
    },
)


def by_name(name: str) -> type["FeatureMaker"]:
    """The class of feature makers of this name, ours or another package's."""
    return features.get(name)


def features_from_files(files: Mapping[str, bytes], location: str | Path = "the model") -> "FeatureMaker":
    """Return the feature maker that `to_files` gave, whatever its kind; `location` is for messages."""
    saved = parse_features(files, location=location)
    kind = by_name(saved["features"])
    with naming_damage(location):
        maker = kind.from_files(files)
        check_fingerprint(maker.fingerprint_, saved)
    return maker


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'ammi.features' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
