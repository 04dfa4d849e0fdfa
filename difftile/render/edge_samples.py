"""Derivatives of silhouettes by samples on edges.

The mean over a pixel changes by what edges sweep: the difference of the colours on both sides,
times the motion of the edge across itself, integrated along it (Li et al., Differentiable Monte
Carlo ray tracing through edge sampling, 2018, section 3). Samples lie on all silhouettes, also
where something hides them: the colours on both sides are then the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import difftile as dt
from difftile import ti
from difftile.render.antialiasing import is_fold
from difftile.render.cameras import Poses
from difftile.render.raster_search import owner_of

if TYPE_CHECKING:
    from difftile.render.raster import Raster

vec2, vec3 = ti.math.vec2, ti.math.vec3
ASIDE = 1 / 256  # of a pixel, from an edge to the points whose colours are compared
MOST = 1 << 14  # samples of an edge


@dt.func
def ends_of_edge(projected, faces, camera, face, edge, near):
    """Return both ends of the part of an edge beyond `near`, in the image, and if there is one."""
    p = projected[camera, faces[face][edge]]
    q = projected[camera, faces[face][(edge + 1) % 3]]
    found = p[2] >= near or q[2] >= near
    a, b = vec2(0.0, 0.0), vec2(0.0, 0.0)
    if found:
        if p[2] < near:
            p += (near - p[2]) / (q[2] - p[2]) * (q - p)
        if q[2] < near:
            q += (near - q[2]) / (p[2] - q[2]) * (p - q)
        a, b = p.xy / p[2], q.xy / q[2]
    return a, b, found


@dt.kernel
def count_samples(
    projected, faces, adjacent, near: float, per_pixel: float, width: int, height: int, counts
):
    """Count the samples of each edge that is a silhouette."""
    for k in counts:
        camera, face, edge = k // (3 * faces.shape[0]), k // 3 % faces.shape[0], k % 3
        other, count = adjacent[face][edge], 0
        if other < face:  # or there is none; the other one has the edge else
            a, b, found = ends_of_edge(projected, faces, camera, face, edge, near)
            low, high = min(a, b), max(a, b)
            found = found and high[0] > 0.0 and low[0] < width and high[1] > 0.0 and low[1] < height
            if found and is_fold(projected, faces, adjacent, camera, face, edge):
                count = int(ti.ceil(min((b - a).norm() * per_pixel, float(MOST))))
        counts[k] = count


@dt.func
def colour_at(raster, shade, rotation, translation, camera, at):
    """Return the colour of a point of an image, whose triangle a ray finds."""
    lens = raster.cameras.intrinsics[camera]
    turn, towards = rotation[camera, 0].transpose(), vec3(0.0, 0.0, 1.0)
    towards.xy = (at - lens.zw) / lens.xy
    world = 0
    if ti.static(len(raster.mesh.vertices.shape) == 2):
        world = camera
    eye = -(turn @ translation[camera, 0])
    hit = raster.mesh.ray(eye, turn @ towards, raster.near, raster.far, world)
    return shade(camera, raster.measure(camera, at[0], at[1], hit.face))


@dt.kernel
def add_samples(raster: ti.template(), shade, rotation, translation, starts, total: int, image):
    """Add what is 0, with the derivative of an image by the motion of silhouettes."""
    for k in range(total):
        faces, count = raster.mesh.faces.shape[0], starts.shape[0]
        owner = owner_of(starts, count, k)
        camera, face, edge = owner // (3 * faces), owner // 3 % faces, owner % 3
        a, b, _ = ends_of_edge(raster.projected, raster.mesh.faces, camera, face, edge, raster.near)
        start, end = starts[owner], starts[min(owner + 1, count - 1)]
        pieces = end - start if owner + 1 < count else total - start
        at = a + (k - start + dt.rand()) / pieces * (b - a)
        row, column = int(ti.floor(at[1])), int(ti.floor(at[0]))
        if 0 <= row < image.shape[1] and 0 <= column < image.shape[2]:
            still, along = dt.stop_grad(at), dt.stop_grad(b - a)
            length = max(along.norm(), 1e-30)
            across = vec2(along[1], -along[0]) / length
            jump = dt.stop_grad(
                colour_at(raster, shade, rotation, translation, camera, still - ASIDE * across)
                - colour_at(raster, shade, rotation, translation, camera, still + ASIDE * across)
            )
            image[camera, row, column] += across.dot(at - still) * length / pieces * jump


@final
class EdgeSamples:
    """Samples on the silhouettes of a raster.

    Args:
        raster: The raster.
    """

    def __init__(self, raster: Raster) -> None:
        self._raster = raster
        self._poses = Poses(len(raster.cameras), raster.mesh.vertices.numpy_dtype, grad=False)

    def add(self, image: dt.Field, shade: Any, per_pixel: float) -> None:
        """Add derivatives to an image; see `Raster.add_edges`."""
        raster, poses = self._raster, self._poses
        raster.mesh.refit()
        with dt.no_grad():
            poses.set(raster.cameras.detach())
        raster.projected.refresh()  # on the tape, before the count that it does not see
        faces = raster.mesh.faces
        with dt.stop_recording():  # in new memory, which the launch on the tape keeps
            starts = dt.zeros(len(raster.cameras) * 3 * faces.shape[0], ti.i32)
            size = image.shape[2], image.shape[1]
            edges = raster.projected.detach(), faces, raster.mesh.adjacent
            count_samples(*edges, raster.near, per_pixel, *size, starts)
            total = dt.prefix_sum(starts)
        if total:
            add_samples(raster, shade, poses.rotation, poses.translation, starts, total, image)
