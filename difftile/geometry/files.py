"""Meshes from files, which `trimesh` reads."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from difftile.diagnostics import FieldError
from difftile.geometry.mesh import Mesh


def load(path: str | Path, *, signed: bool = True, grad: bool = True, scale: float = 1.0) -> Mesh:
    """Return the triangles of a file: STL, OBJ, PLY, OFF, glTF and what else `trimesh` reads.

    Vertices at the same position become one, since STL stores each triangle for itself, and OBJ
    splits vertices at seams of textures. Nothing else is repaired. The parts of a scene are joined,
    polygons are cut into triangles by `trimesh`, and numbers are f32.

    Args:
        path: The file.
        signed: As for `Mesh`: distances have signs, and a mesh without an inside is refused.
        grad: Give vertices a gradient.
        scale: A factor for coordinates, 0.001 for a file in millimetres.

    Raises:
        FieldError: `trimesh` is missing or cannot read the file, the file has no triangles, or
            they are refused by `Mesh`.
    """
    try:
        trimesh = importlib.import_module("trimesh")
    except ImportError:
        raise FieldError(
            "dt.geometry.load needs trimesh: pip install 'difftile[meshes]'."
        ) from None
    file = Path(path)
    if not file.is_file():
        raise FieldError(f"There is no file {str(file)!r}.")
    try:
        found = trimesh.load(file, force="mesh", process=False)
        vertices, faces = np.asarray(found.vertices, float), np.asarray(found.faces, np.int64)
    except Exception as error:  # trimesh documents none of those that its readers raise
        raise FieldError(f"trimesh cannot read {str(file)!r}: {error}.") from error
    if not faces.size:
        raise FieldError(f"There are no triangles in {str(file)!r}.")
    vertices, faces = joined(scale * vertices, faces)
    return Mesh(vertices.astype(np.float32), faces, signed=signed, grad=grad)


def joined(vertices: NDArray[Any], faces: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return vertices without those at the same position as one before, and the faces of these."""
    _, first, which = np.unique(vertices + 0.0, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return vertices[first[order]], place[which.ravel()][faces]
