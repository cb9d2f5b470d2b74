"""Every method that learns codes, one file each, all scikit-learn estimators with the interface of base.Hasher.

The names are loaded on first use: torch and scikit-learn take seconds, and a search by codes needs neither.
"""

from typing import TYPE_CHECKING

from ammi.plugins import Registry, lazy_names

if TYPE_CHECKING:
    from ammi.hashers.ammi import AMMI
    from ammi.hashers.base import Hasher
    from ammi.hashers.bmmi import BMMI
    from ammi.hashers.bmsh import BMSH
    from ammi.hashers.bow import BOW
    from ammi.hashers.documents import DocumentHasher
    from ammi.hashers.dvq import DVQ
    from ammi.hashers.gmsh import GMSH
    from ammi.hashers.itq import ITQ
    from ammi.hashers.lsh import LSH
    from ammi.hashers.nash import NASH
    from ammi.hashers.saving import load
    from ammi.hashers.sph import SpH
    from ammi.hashers.srbm import SRBM
    from ammi.hashers.sth import STH
    from ammi.hashers.trained import TrainedHasher
    from ammi.hashers.vdsh import VDSH

_CLASSES = {
    "AMMI": "ammi",
    "BMMI": "bmmi",
    "BMSH": "bmsh",
    "BOW": "bow",
    "DVQ": "dvq",
    "GMSH": "gmsh",
    "ITQ": "itq",
    "LSH": "lsh",
    "NASH": "nash",
    "SRBM": "srbm",
    "STH": "sth",
    "SpH": "sph",
    "VDSH": "vdsh",
}
_HOME = {**_CLASSES, "DocumentHasher": "documents", "Hasher": "base", "TrainedHasher": "trained", "load": "saving"}

methods: "Registry[type[Hasher]]" = Registry(
    "ammi.methods", "method", {file: f"ammi.hashers.{file}:{name}" for name, file in _CLASSES.items()}
)

__all__ = [
    "AMMI",
    "BMMI",
    "BMSH",
    "BOW",
    "DVQ",
    "GMSH",
    "ITQ",
    "LSH",
    "NASH",
    "SRBM",
    "STH",
    "VDSH",
    "DocumentHasher",
    "Hasher",
    "SpH",
    "TrainedHasher",
    "by_name",
    "load",
    "methods",
]


def by_name(name: str) -> "type[Hasher]":
    """Return the class of a method, as the command line names it."""
    return methods.get(name)


__getattr__ = lazy_names(__name__, __all__, (f"ammi.hashers.{module}:{name}" for name, module in _HOME.items()))


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
