"""`dt.geometry`: queries in kernels: of meshes, by rays and nearest points, and of neighbours.

What is found has no derivative, what is measured has: a walk through a tree of boxes (`search.py`)
finds a triangle from constants, and its distance, its coordinates and its normal are computed from
the vertices once more. `tree.py` builds the tree, `triangles.py` has the formulas of one triangle,
`topology.py` checks faces on the host, and `files.py` reads files by `trimesh`. Of points,
`neighbours.py` has a grid of cells, around which kernels loop, and `lists.py` the pairs.
"""

from difftile.geometry.files import load
from difftile.geometry.lists import NeighbourLists
from difftile.geometry.mesh import Mesh
from difftile.geometry.neighbours import Neighbours

__all__ = ["Mesh", "NeighbourLists", "Neighbours", "load"]
