"""`dt.geometry`: meshes that kernels shoot rays at and find the nearest points of.

What is found has no derivative, what is measured has: a walk through a tree of boxes (`search.py`)
finds a triangle from constants, and its distance, its coordinates and its normal are computed from
the vertices once more. `tree.py` builds the tree, `triangles.py` has the formulas of one triangle,
`topology.py` checks faces on the host, and `files.py` reads files by `trimesh`.
"""

from difftile.geometry.files import load
from difftile.geometry.mesh import Mesh

__all__ = ["Mesh", "load"]
