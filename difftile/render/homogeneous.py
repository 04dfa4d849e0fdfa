"""Vertices in homogeneous pixels, and what a pixel and a triangle of them have in common.

A vertex is (x z, y z, z), with its column x, row y and depth z. A ray through the image is then a
point (x, y, 1) times any depth, triangles need no division, and those that reach behind the camera
no clipping: Olano and Greer, Triangle scan conversion using 2D homogeneous coordinates, 1997.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti

vec2, vec3 = ti.math.vec2, ti.math.vec3


@dt.kernel
def project(vertices, rotation, translation, intrinsics, projected):
    """Write the vertices as each camera sees them; of several worlds camera k sees world k."""
    for c, i in projected:
        copy = i % rotation.shape[1]
        world = vertices[i] if ti.static(len(vertices.shape) == 1) else vertices[c, i]
        at, lens = rotation[c, copy] @ world + translation[c, copy], intrinsics[c, copy]
        projected[c, i] = vec3(
            lens[0] * at[0] + lens[2] * at[2], lens[1] * at[1] + lens[3] * at[2], at[2]
        )


@dt.func
def seen_from(projected, camera, vertex, x, y):
    """Return a vertex relative to a point of the image.

    Rounded here, so that triangles with a common vertex have the same number for it.
    """
    p = projected[camera, vertex]
    return vec3(dt.exact(p[0] - x * p[2]), dt.exact(p[1] - y * p[2]), p[2])


@dt.func
def side(p, q):
    """Return on which side of the edge from p to q the point that they are relative to is.

    Zero on the edge. An edge in the other direction has exactly the opposite.
    """
    return dt.exact(p[0] * q[1] - q[0] * p[1])


@dt.func
def side_changes(p, q):
    """Return the change of `side` for one pixel to the right, and one downwards."""
    return vec2(q[2] * p[1] - p[2] * q[1], p[2] * q[0] - q[2] * p[0])


@dt.func
def sides_of(projected, faces, camera, face, x, y):
    """Return `side` of the three edges opposite to the corners of a triangle, and its depths.

    The sides are the weights of its corners, times a number that they all share.
    """
    at = faces[face]
    p = seen_from(projected, camera, at[0], x, y)
    q = seen_from(projected, camera, at[1], x, y)
    r = seen_from(projected, camera, at[2], x, y)
    return vec3(side(q, r), side(r, p), side(p, q)), vec3(p[2], q[2], r[2])
