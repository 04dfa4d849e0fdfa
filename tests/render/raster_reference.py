"""Images of meshes in NumPy, triangle by triangle, with many samples for each pixel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import difftile as dt

Array = NDArray[Any]


def seen(vertices: Array, pose: Array, lens: Array) -> Array:
    """Return columns times depths, rows times depths, and depths, shape (n, 3)."""
    with np.errstate(invalid="ignore"):  # vertices may be infinite
        x, y, z = (vertices @ pose[:3, :3].T + pose[:3, 3]).T
        return np.stack([lens[0] * x + lens[2] * z, lens[1] * y + lens[3] * z, z], -1)


def nearest_faces(
    points: Array, faces: Array, width: int, height: int, samples: int = 1, near: float = 0.01
) -> tuple[Array, Array, Array]:
    """Return the triangle at each sample, or -1, its depth, and the weights of its corners.

    Args:
        points: Vertices as `seen` returns them.
        faces: The triangles.
        width: Of the image [pixels].
        height: Of the image.
        samples: Of a pixel along each axis.
        near: The least depth.
    """
    x, y = ((np.arange(n * samples) + 0.5) / samples for n in (width, height))
    found, weights = np.full((len(y), len(x)), -1), np.zeros((len(y), len(x), 3))
    depth = np.full(found.shape, np.inf)
    for face, corners in enumerate(points[faces]):
        box = [slice(0, len(y)), slice(0, len(x))]
        if (corners[:, 2] > near).all() and np.isfinite(corners).all():
            flat = corners[:, :2] / corners[:, 2:]
            for k in (0, 1):
                low, high = flat[:, k].min() * samples - 1, flat[:, k].max() * samples + 2
                box[1 - k] = slice(max(0, int(low)), max(0, int(high)))
        over, down = x[box[1]], y[box[0]][:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            planes = np.cross(corners[[1, 2, 0]], corners[[2, 0, 1]])  # through the eye and an edge
            sides = np.stack([n[0] * over + n[1] * down + n[2] for n in planes])
            share = sides / sides.sum(0)
            z = (share * corners[:, 2, None, None]).sum(0)
        into = depth[tuple(box)]
        better = (share >= 0).all(0) & (z >= near) & (z < into)
        into[better] = z[better]
        found[tuple(box)][better] = face
        weights[tuple(box)][better] = np.moveaxis(share, 0, -1)[better]
    return found, depth, weights


def mean_image(
    points: Array, faces: Array, colours: Array, width: int, height: int, samples: int = 64
) -> Array:
    """Return the mean colour of each pixel, of triangles with a colour each, over black."""
    found, _, _ = nearest_faces(points, faces, width, height, samples)
    shown = np.append(colours, 0.0)[found]
    return shown.reshape(height, samples, width, samples).mean((1, 3))


def joined(*meshes: tuple[Array, Array]) -> tuple[Array, Array, Array]:
    """Return vertices and faces of several meshes as one, and of each face which mesh it is of."""
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in meshes])
    faces = [f + start for (_, f), start in zip(meshes, starts, strict=False)]
    which = np.repeat(np.arange(len(meshes)), [len(f) for f in faces])
    return np.concatenate([v for v, _ in meshes]), np.concatenate(faces), which


def pinhole(cameras: dt.render.Cameras, k: int = 0) -> tuple[Array, Array]:
    """Return the pose and the intrinsics of a camera."""
    return cameras.world_to_camera()[k], cameras.intrinsics.to_numpy()[k]
