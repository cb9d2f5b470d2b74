"""Every method that learns codes, one file each, all scikit-learn estimators with the interface of base.Hasher."""

from ammi.hashers.ammi import AMMI
from ammi.hashers.base import Hasher
from ammi.hashers.bmmi import BMMI
from ammi.hashers.documents import DocumentHasher, model_of
from ammi.hashers.saving import load

METHODS: dict[str, type[Hasher]] = {"ammi": AMMI, "bmmi": BMMI}

__all__ = ["AMMI", "BMMI", "METHODS", "DocumentHasher", "Hasher", "by_name", "load", "model_of"]


def by_name(name: str) -> type[Hasher]:
    """The class of a method, as the command line names it."""
    if name not in METHODS:
        raise ValueError(f"no method {name!r}: there are {', '.join(sorted(METHODS))}")
    return METHODS[name]
