"""The faces of a mesh: checked, and each with those that it shares its edges with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from difftile.diagnostics import FieldError

MOST = 1 << 28  # triangles: the path to a leaf is a number of 31 bits
LARGEST = 1e17  # coordinates: squares of distances are numbers of f32


def checked_faces(faces: Any, vertices: int) -> NDArray[np.int32]:
    """Return faces as integers, shape (m, 3).

    Raises:
        FieldError: They are not triangles of these vertices.
    """
    found = np.asarray(faces)
    if found.size == 0:
        return np.zeros((0, 3), np.int32)
    if found.ndim != 2 or found.shape[1] != 3 or found.dtype.kind not in "iu":
        raise FieldError(
            f"Faces are three integers each, shape (m, 3), not {found.dtype} of shape "
            f"{found.shape}. Cut polygons into triangles first."
        )
    if len(found) > MOST:
        raise FieldError(f"A mesh has {MOST:,} triangles at most, not {len(found):,}; cut it up.")
    outside = np.flatnonzero(((found < 0) | (found >= vertices)).any(1))
    if outside.size:
        k = int(outside[0])
        raise FieldError(f"Face {k} is {found[k].tolist()}, but there are {vertices} vertices.")
    return np.ascontiguousarray(found, np.int32)


def check_positions(positions: NDArray[Any]) -> None:
    """Refuse coordinates that are too large to square; NaN belongs to no triangle."""
    with np.errstate(invalid="ignore"):
        large = np.abs(positions) > LARGEST
    large &= np.isfinite(positions)
    if large.any():
        at = np.argwhere(large)[0][:-1].tolist()
        value = float(positions[large].flat[0])
        raise FieldError(
            f"Vertex {at if len(at) > 1 else at[0]} has the coordinate {value:g}, beyond "
            f"{LARGEST:g}, where squares overflow. Scale the mesh."
        )


def adjacent_faces(faces: NDArray[np.int32], refuse: bool) -> NDArray[np.int32]:
    """Return the face on the other side of each edge, or -1, shape (m, 3).

    Edges are 0 from the first to the second vertex, 1 to the third, 2 back. Triangles with the
    same vertex twice have no neighbours.

    Raises:
        FieldError: `refuse`, and an edge has more than two faces, or two in the same direction.
    """
    found = np.full(faces.shape, -1, np.int32)
    start, end = faces.ravel().astype(np.int64), np.roll(faces, -1, 1).ravel().astype(np.int64)
    proper = np.repeat((faces != np.roll(faces, -1, 1)).all(1), 3)
    low, high = np.minimum(start, end), np.maximum(start, end)
    key = low << 32 | high
    edges = np.flatnonzero(proper)
    edges = edges[np.argsort(key[edges], kind="stable")]
    if not edges.size:
        return found
    first = np.flatnonzero(np.r_[True, np.diff(key[edges]) != 0])
    counts = np.diff(np.r_[first, edges.size])
    pair = first[counts == 2]
    one, other = edges[pair], edges[pair + 1]
    opposite = start[one] == end[other]
    if refuse:
        _refuse(edges[first[counts > 2]], counts[counts > 2], start, end, "many")
        _refuse(one[~opposite], other[~opposite] // 3, start, end, "flipped")
    one, other = one[opposite], other[opposite]
    found.ravel()[one], found.ravel()[other] = other // 3, one // 3
    return found


def _refuse(
    edges: NDArray[Any], more: NDArray[Any], start: NDArray[Any], end: NDArray[Any], fault: str
) -> None:
    if not edges.size:
        return
    k, others = int(edges[0]), edges.size - 1
    edge = f"The edge between vertices {start[k]} and {end[k]}"
    rest = f" ({others} more such edges)" if others > 1 else " (one more)" if others else ""
    what = (
        f"{edge} has {more[0]} faces{rest}"
        if fault == "many"
        else f"{edge} has the same direction in faces {k // 3} and {more[0]}: one is flipped{rest}"
    )
    raise FieldError(
        f"{what}. Such a mesh has no inside. Repair it, or write "
        "Mesh(vertices, faces, signed=False) for distances without a sign."
    )
