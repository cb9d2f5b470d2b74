"""What makes rows of documents: tf-idf of words, tf-idf of SentencePiece units, embeddings, or vectors as they are.

Nothing is imported before it is asked for: `ammi.features.quick` makes the row of a query without scikit-learn.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ammi.features.saved import naming_damage, read_saved
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
    "load_features",
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


def load_features(folder: str | Path) -> "FeatureMaker":
    """The feature maker that was saved to a folder, whatever its kind."""
    saved = read_saved(folder)
    kind = by_name(saved["features"])
    with naming_damage(folder):
        maker = kind.load(folder)
        if maker.fingerprint_ != saved["fingerprint"]:
            raise ValueError(f"the fingerprint is {maker.fingerprint_}, it was {saved['fingerprint']}")
    return maker


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'ammi.features' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
