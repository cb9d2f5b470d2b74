"""Short binary codes for documents, learned by maximising mutual information.

The public names are loaded on first use, so that importing ammi costs nothing until something needs torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ammi.plugins import lazy_names
from ammi.version import __version__

if TYPE_CHECKING:
    from ammi.chain import MarkovBits
    from ammi.collection import Collection
    from ammi.hashers import AMMI, BMMI, ITQ, LSH, DocumentHasher, load
    from ammi.hashers.measured import information
    from ammi.quantised import quantize
    from ammi.search import HammingIndex

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
    "information",
    "load",
    "quantize",
]

_ROOMS = {"chain", "data", "evaluate", "features", "hashers", "search"}
_names = lazy_names(
    __name__,
    __all__,
    [
        "ammi.chain:MarkovBits",
        "ammi.collection:Collection",
        "ammi.hashers.measured:information",
        "ammi.quantised:quantize",
        "ammi.search:HammingIndex",
        *(f"ammi.hashers:{name}" for name in ("AMMI", "BMMI", "ITQ", "LSH", "DocumentHasher", "load")),
    ],
)


def __getattr__(name: str):
    return import_module(f"ammi.{name}") if name in _ROOMS else _names(name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
