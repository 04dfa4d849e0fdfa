"""`dt.geometry`: queries in kernels. What is found has no derivative, what is measured has."""

from difftile.geometry.lists import NeighbourLists
from difftile.geometry.neighbours import Neighbours

__all__ = ["NeighbourLists", "Neighbours"]
