"""Short binary codes for documents, learned by maximising mutual information.

The public names are loaded on first use, so that importing ammi costs nothing until something needs torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ammi.version import __version__

if TYPE_CHECKING:
    from ammi.chain import MarkovBits
    from ammi.collection import Collection
    from ammi.hashers import AMMI, BMMI, ITQ, LSH, DocumentHasher, load
    from ammi.search import HammingIndex

_HOME = {
    "AMMI": "ammi.hashers",
    "BMMI": "ammi.hashers",
    "Collection": "ammi.collection",
    "DocumentHasher": "ammi.hashers",
    "HammingIndex": "ammi.search",
    "ITQ": "ammi.hashers",
    "LSH": "ammi.hashers",
    "MarkovBits": "ammi.chain",
    "load": "ammi.hashers",
}

__all__ = [
    "AMMI",
    "BMMI",
    "ITQ",
    "LSH",
    "Collection",
    "DocumentHasher",
    "HammingIndex",
    "MarkovBits",
    "__version__",
    "load",
]

_ROOMS = {"chain", "data", "evaluate", "features", "hashers", "search"}


def __getattr__(name: str):
    if name in _ROOMS:
        return import_module(f"ammi.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'ammi' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
