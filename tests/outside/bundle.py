"""Bundle adjustment: ADBench's `ba`, the errors of projected points and their sparse Jacobian.

All unknowns are one vector: of each camera its rotation, centre, focal length, principal point and
two coefficients of distortion; then the points, and the weights of the observations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import taichi as ti

import difftile as dt

CAMERA = 11


@dt.func
def rotated(r, p):
    """Rotate a point about an axis by an angle, the length of r (the formula of Rodrigues)."""
    turned, square = p + r.cross(p), r.norm_sqr()
    if square > 0.0:
        angle = ti.sqrt(square)
        axis, c, s = r / angle, ti.cos(angle), ti.sin(angle)
        turned = c * p + s * axis.cross(p) + axis.dot(p) * (1.0 - c) * axis
    return turned


@dt.func
def triple(z, at):
    return ti.Vector([z[at], z[at + 1], z[at + 2]])


@dt.kernel
def reproject(z, seen, features, cameras: int, points: int, errors):
    """Store two errors of each observation, and then one of each weight."""
    for i in range(seen.shape[0]):
        at = CAMERA * seen[i, 0]
        w = z[CAMERA * cameras + 3 * points + i]
        p = triple(z, CAMERA * cameras + 3 * seen[i, 1])
        q = rotated(triple(z, at), p - triple(z, at + 3))
        u = ti.Vector([q.x, q.y]) / q.z
        square = u.norm_sqr()
        u *= 1.0 + z[at + 9] * square + z[at + 10] * square * square
        for k in ti.static(range(2)):
            errors[2 * i + k] = w * (u[k] * z[at + 6] + z[at + 7 + k] - features[i, k])
        errors[2 * seen.shape[0] + i] = 1.0 - w * w


def errors(z: dt.Field, seen: dt.Field, features: dt.Field, cameras: int, points: int) -> dt.Field:
    """Return the errors.

    Args:
        z: The unknowns.
        seen: Camera and point of each observation, shape (p, 2).
        features: Where each was observed [pixels], shape (p, 2).
        cameras: Their number.
        points: Their number.
    """
    found = dt.zeros(3 * seen.shape[0], dtype=ti.f64)
    reproject(z, seen, features, cameras, points, found)
    return found


def pattern(seen: Any, cameras: int, points: int) -> tuple[Any, Any]:
    """Return rows and columns of the entries that the Jacobian may have, row by row."""
    camera, point = np.asarray(seen).T
    p = len(camera)
    first = CAMERA * cameras
    weight = first + 3 * points + np.arange(p)
    of_camera = CAMERA * camera[:, None] + np.arange(CAMERA)
    of_point = first + 3 * point[:, None] + np.arange(3)
    columns = np.repeat(np.hstack([of_camera, of_point, weight[:, None]]), 2, axis=0)
    rows = np.repeat(np.arange(2 * p), columns.shape[1])
    rows, columns = np.append(rows, 2 * p + np.arange(p)), np.append(columns.ravel(), weight)
    return rows, columns
