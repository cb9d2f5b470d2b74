"""Feature makers turn documents into rows: tf-idf of words or SentencePiece units, embeddings, or vectors as they are.

Each name is imported when it is first used: `ammi.features.quick` makes the row of a query without scikit-learn.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ammi.features.saved import check_fingerprint, naming_damage, parse_features
from ammi.plugins import Registry, lazy_names

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

__getattr__ = lazy_names(__name__, __all__, ["ammi.features.base:FeatureMaker", *features.own.values()])


def by_name(name: str) -> type["FeatureMaker"]:
    """Return the class of feature makers with this name, ammi's or another package's."""
    return features.get(name)


def features_from_files(files: Mapping[str, bytes], location: str | Path = "the model") -> "FeatureMaker":
    """Return the feature maker that `to_files` gave, whatever its kind; `location` is for messages."""
    saved = parse_features(files, location=location)
    kind = by_name(saved["features"])
    with naming_damage(location):
        maker = kind.from_files(files)
        check_fingerprint(maker.fingerprint_, saved)
    return maker
