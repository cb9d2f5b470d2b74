"""Codes to look at: figures, a map, what each bit says. The page and the report show what is computed here."""

from ammi.explore.explorer import Explorer
from ammi.explore.figures import Figures

__all__ = ["Explorer", "Figures"]
