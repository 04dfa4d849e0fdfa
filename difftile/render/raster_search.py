"""The search for the triangles of pixels: which one is the nearest, and which ones are behind it.

Triangles are cut into the tiles of the image that they touch, and each piece is drawn by a thread:
the nearest triangle of a pixel is the minimum of a key, its depth in single precision and then its
number, so that no order of threads matters. Farther layers are drawn in the same way, by the keys
above the one before (depth peeling, Everitt 2001).
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError
from difftile.render.cameras import Cameras, Poses
from difftile.render.homogeneous import project, sides_of

TILE = 16
SLACK = 1 / 64  # of a pixel, by which a box around a triangle is wider, for roundings
_NONE = np.iinfo(np.int64).max  # the key of a pixel without a triangle
_MOST = 2**31 - 1


@dt.func
def box_of(projected, faces, camera, face, near, far, width, height):
    """Return the pixels around the part of a triangle beyond `near`: x0, x1, y0, y1.

    Empty where no pixel can show the triangle, and where a corner is not finite.
    """
    low, high = ti.Vector([1e9, 1e9]), ti.Vector([-1e9, -1e9])
    nearest, finite = far * 2.0, True
    for k in ti.static(range(3)):
        p = projected[camera, faces[face][k]]
        q = projected[camera, faces[face][(k + 1) % 3]]
        finite = finite and abs(p[0]) + abs(p[1]) + abs(p[2]) < 1e30  # nor is NaN
        nearest = min(nearest, p[2])
        if p[2] >= near:
            low, high = min(low, p.xy / p[2]), max(high, p.xy / p[2])
        if (p[2] >= near) != (q[2] >= near):
            t = (near - p[2]) / (q[2] - p[2])
            cut = (p.xy + t * (q.xy - p.xy)) / near
            low, high = min(low, cut), max(high, cut)
    box = ti.Vector([0, 0, 0, 0])
    if finite and nearest <= far and low[0] <= high[0]:
        size = ti.Vector([width, height])
        for k in ti.static(range(2)):
            first = ti.ceil(max(low[k] - 0.5 - SLACK, 0.0))
            last = ti.floor(min(high[k] - 0.5 + SLACK, size[k] - 1.0))
            box[2 * k] = int(min(first, 1e6))
            box[2 * k + 1] = int(max(last, -1.0)) + 1
        if box[0] >= box[1] or box[2] >= box[3]:
            box = ti.Vector([0, 0, 0, 0])
    return box


@dt.func
def tiles_of(box):
    """Return the first tile of a box in a row and in a column, and how many there are of each."""
    x, y = box[0] // TILE, box[2] // TILE
    wide, high = (box[1] + TILE - 1) // TILE - x, (box[3] + TILE - 1) // TILE - y
    if box[0] >= box[1]:
        wide, high = 0, 0
    return x, y, wide, high


@dt.kernel
def count_pieces(projected, faces, near: float, far: float, width: int, height: int, counts):
    """Count the tiles of the image that each triangle touches."""
    for k in range(projected.shape[0] * faces.shape[0]):
        camera, face = k // faces.shape[0], k % faces.shape[0]
        box = box_of(projected, faces, camera, face, near, far, width, height)
        _, _, wide, high = tiles_of(box)
        counts[k] = wide * high


@dt.func
def owner_of(starts, count, k):
    """Return the last of some ranges that starts at a number or before it."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] <= k:
            low = middle
        else:
            high = middle
    return low


@dt.kernel
def draw_pieces(
    projected,
    faces,
    starts,
    total: int,
    near: float,
    far: float,
    width: int,
    height: int,
    before,
    keys,
):
    """Draw the pieces: keep the least key of each pixel, above that of the layer `before`."""
    for k in range(total):
        owner = owner_of(starts, projected.shape[0] * faces.shape[0], k)
        camera, face = owner // faces.shape[0], owner % faces.shape[0]
        box = box_of(projected, faces, camera, face, near, far, width, height)
        x, y, wide, _ = tiles_of(box)
        piece = k - ti.cast(starts[owner], ti.i32)
        left, top = (x + piece % wide) * TILE, (y + piece // wide) * TILE
        for i in range(max(top, box[2]), min(top + TILE, box[3])):
            for j in range(max(left, box[0]), min(left + TILE, box[1])):
                sides, depths = sides_of(projected, faces, camera, face, j + 0.5, i + 0.5)
                around = sides[0] + sides[1] + sides[2]
                inside = sides.min() >= 0.0 or sides.max() <= 0.0
                if inside and around != 0.0:
                    depth = sides.dot(depths) / around
                    if depth >= near and depth <= far:
                        bits = ti.bit_cast(ti.cast(depth, ti.f32), ti.i32)
                        key = (ti.cast(bits, ti.i64) << 32) | ti.cast(face, ti.i64)
                        behind = True
                        if ti.static(before is not None):
                            behind = key > before[camera, i, j]
                        if behind:
                            ti.atomic_min(keys[camera, i, j], key)


@dt.kernel
def read_keys(keys, none: ti.i64, layer: int, found):
    """Write the triangles that keys stand for, -1 for none."""
    for camera, i, j in keys:
        face = -1
        if keys[camera, i, j] < none:
            face = ti.cast(keys[camera, i, j] & ti.cast(0x7FFFFFFF, ti.i64), ti.i32)
        found[layer, camera, i, j] = face


@final
class Search(dt.Step):
    """The search as a step of tapes, without a derivative.

    Args:
        mesh: The mesh.
        cameras: The cameras.
        near: The least depth [scene units].
        far: The largest depth.
        found: The field that it fills, shape (layers, cameras, height, width): triangles, or -1.
    """

    is_contained = True

    def __init__(
        self, mesh: dt.geometry.Mesh, cameras: Cameras, near: float, far: float, found: dt.Field
    ) -> None:
        self._mesh, self._cameras, self._found = mesh, cameras.detach(), found
        self._range = near, far
        fields = sources_of(mesh, cameras)
        reads = {f"field {k}": one for k, one in enumerate(fields)}
        super().__init__("triangles of pixels", reads=reads, writes={"triangles": found})
        number = cameras.twist.numpy_dtype
        layers, count, height, width = found.shape
        with dt.scratch():
            self._poses = Poses(count, number, grad=False)
            self._projected = dt.zeros((count, mesh.vertices.shape[-1]), dt.vec(3, number))
            self._counts = dt.zeros(count * mesh.faces.shape[0], ti.i64)
            self._keys = [dt.zeros((count, height, width), ti.i64) for _ in range(min(layers, 2))]

    def run(self) -> None:
        """Find the triangles of all pixels."""
        layers, _, height, width = self._found.shape
        poses, faces, seen = self._poses, self._mesh.faces, self._projected
        poses.set(self._cameras)
        camera = poses.rotation, poses.translation, poses.intrinsics
        project(self._mesh.vertices.detach(), *camera, seen)
        image = *self._range, width, height
        count_pieces(seen, faces, *image, self._counts)
        total = dt.prefix_sum(self._counts)
        if total > _MOST:
            raise FieldError(
                f"rasterize: the triangles touch {total:,} tiles, and there is room for {_MOST:,}. "
                "Draw fewer cameras at a time."
            )
        before = None
        for layer in range(layers):
            keys = self._keys[layer % 2]
            keys.fill(_NONE)
            draw_pieces(seen, faces, self._counts, total, *image, before, keys)
            read_keys(keys, _NONE, layer, self._found)
            before = keys


def sources_of(mesh: dt.geometry.Mesh, cameras: Cameras) -> list[Any]:
    """Return the fields that images of a mesh follow from."""
    given = mesh.vertices, cameras.rotation, cameras.translation, cameras.twist
    return [one.base for one in (*given, cameras.intrinsics)]
