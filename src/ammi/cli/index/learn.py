"""A new model for `ammi index rebuild --learn`: of the stored documents, with the settings of the present model."""

from collections.abc import Iterator
from typing import Any

import ammi
from ammi.cli.progress import counter, training_progress
from ammi.cli.screen import note


class _Stored:
    """The texts of a collection, read anew by each iteration, with progress."""

    def __init__(self, collection: "ammi.Collection"):
        self._collection = collection

    def __iter__(self) -> Iterator[str]:
        with counter("reading documents", len(self._collection)) as advance:
            for entry in self._collection:
                if entry.text is None:
                    raise ValueError(f"document {entry.id!r} has no text to learn from: add it with its text first")
                yield entry.text
                advance(1)


def learned_anew(collection: "ammi.Collection") -> "ammi.DocumentHasher":
    """Learn a model of the stored texts, or of the kept vectors if it reads these; Ctrl-C is passed on."""
    from sklearn.base import clone

    from ammi.hashers import TrainedHasher

    present = collection.model
    model: ammi.DocumentHasher = clone(present)
    more: dict[str, Any] = {}
    name = type(present.hasher_).__name__
    if isinstance(present.hasher_, TrainedHasher):
        more["progress"] = training_progress(name)
    note(f"A model by {name} of {present.n_bits} bits is learned from {len(collection):,} documents.")
    model.fit(_Stored(collection) if present.reads == "text" else _vectors(collection), **more)
    if any(getattr(part.hasher_, "interrupted_", False) for part in model.parts):
        raise KeyboardInterrupt
    return model


def _vectors(collection: "ammi.Collection") -> Any:
    import numpy as np

    if collection.store.vectors is None:
        raise ValueError(
            f"{collection.location} keeps no vectors to learn from: learn from their source with ammi fit, and use "
            "--model"
        )
    return np.stack([entry.vector for entry in collection if entry.vector is not None])
