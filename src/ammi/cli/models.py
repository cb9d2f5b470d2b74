"""Models as commands load them."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ammi.hashers import DocumentHasher


def load_model(folder: Path) -> "DocumentHasher":
    """The model in a folder; a hasher that was saved alone is a model of vectors."""
    from ammi.hashers import DocumentHasher, load

    model = load(folder)
    return model if isinstance(model, DocumentHasher) else DocumentHasher.of(model)
