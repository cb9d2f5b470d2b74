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

_METHODS = ("AMMI", "BMMI", "BMSH", "BOW", "DVQ", "GMSH", "ITQ", "LSH", "NASH", "SRBM", "STH", "SpH", "VDSH")

methods: "Registry[type[Hasher]]" = Registry(
    "ammi.methods", "method", {name.lower(): f"ammi.hashers.{name.lower()}:{name}" for name in _METHODS}
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


_OTHERS = ("documents:DocumentHasher", "base:Hasher", "trained:TrainedHasher", "saving:load")
__getattr__ = lazy_names(__name__, __all__, [*methods.own.values(), *(f"ammi.hashers.{home}" for home in _OTHERS)])


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
