"""Figures, a map and the meaning of each bit, for the page and the report."""

from ammi.explore.explorer import Explorer
from ammi.explore.figures import Figures

__all__ = ["Explorer", "Figures"]
