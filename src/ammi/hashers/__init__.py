"""Every method that learns codes, one file each, all scikit-learn estimators with the interface of base.Hasher."""

from ammi.hashers.ammi import AMMI
from ammi.hashers.base import Hasher
from ammi.hashers.bmmi import BMMI
from ammi.hashers.saving import load

__all__ = ["AMMI", "BMMI", "Hasher", "load"]
