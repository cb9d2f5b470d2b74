"""Every method that learns codes, one file each, all scikit-learn estimators with the interface of base.Hasher."""

from ammi.hashers.ammi import AMMI
from ammi.hashers.base import Hasher
from ammi.hashers.bmmi import BMMI
from ammi.hashers.bmsh import BMSH
from ammi.hashers.bow import BOW
from ammi.hashers.documents import DocumentHasher, model_of
from ammi.hashers.dvq import DVQ
from ammi.hashers.gmsh import GMSH
from ammi.hashers.itq import ITQ
from ammi.hashers.lsh import LSH
from ammi.hashers.nash import NASH
from ammi.hashers.saving import load
from ammi.hashers.sph import SpH
from ammi.hashers.srbm import SRBM
from ammi.hashers.sth import STH
from ammi.hashers.vdsh import VDSH

METHODS: dict[str, type[Hasher]] = {
    "ammi": AMMI,
    "bmmi": BMMI,
    "bmsh": BMSH,
    "bow": BOW,
    "dvq": DVQ,
    "gmsh": GMSH,
    "itq": ITQ,
    "lsh": LSH,
    "nash": NASH,
    "sph": SpH,
    "srbm": SRBM,
    "sth": STH,
    "vdsh": VDSH,
}

__all__ = [
    "AMMI",
    "BMMI",
    "BMSH",
    "BOW",
    "DVQ",
    "GMSH",
    "ITQ",
    "LSH",
    "METHODS",
    "NASH",
    "SRBM",
    "STH",
    "VDSH",
    "DocumentHasher",
    "Hasher",
    "SpH",
    "by_name",
    "load",
    "model_of",
]


def by_name(name: str) -> type[Hasher]:
    """The class of a method, as the command line names it."""
    if name not in METHODS:
        raise ValueError(f"no method {name!r}: there are {', '.join(sorted(METHODS))}")
    return METHODS[name]
