"""Rotations by quaternions w, x, y, z of length 1, in kernels.

`dt.rotations` takes quaternions of any length, at the price of a square root for each; here
coordinates are normalised once, where they enter.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti

vec3 = ti.types.vector(3, float)
vec4 = ti.types.vector(4, float)
mat3 = ti.types.matrix(3, 3, float)


@dt.func
def product(p, q):
    """Return the rotation q followed by the rotation p."""
    return ti.Vector(
        [
            p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
            p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
            p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
            p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
        ]
    )


@dt.func
def conjugate(q):
    """Return the inverse of a rotation."""
    return ti.Vector([q[0], -q[1], -q[2], -q[3]])


@dt.func
def turned(q, v):
    """Return a vector after the rotation q."""
    axis = ti.Vector([q[1], q[2], q[3]])
    return v + 2.0 * axis.cross(axis.cross(v) + q[0] * v)


@dt.func
def matrix(q):
    """Return the rotation matrix of q."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    return ti.Matrix(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


@dt.func
def unit_at(qpos, at):
    """Return the four coordinates from `at` on, normalised; the identity where all are zero."""
    q = ti.Vector([qpos[at], qpos[at + 1], qpos[at + 2], qpos[at + 3]])
    square = q.dot(q)
    if square > 0.0:
        q = q / ti.sqrt(square)
    else:
        q = ti.Vector([1.0, 0.0, 0.0, 0.0])
    return q


@dt.func
def four_at(x, at):
    """Return four neighbouring numbers as a vector."""
    return ti.Vector([x[at], x[at + 1], x[at + 2], x[at + 3]])


@dt.func
def three_at(x, at):
    """Return three neighbouring numbers as a vector."""
    return ti.Vector([x[at], x[at + 1], x[at + 2]])


@dt.func
def _advanced(q, turn):
    return product(unit_at(q, 0), dt.rotations.quat_exp(turn))


@dt.func
def advanced(q, turn):
    """Return q, normalised, followed by a turn: a vector in the axes of the body [rad].

    Gradients of 0 stay 0 where q or the turn is not a number.
    """
    return _advanced(q, turn)


@advanced.backward
def _(q, turn, d_out):
    by_q, by_turn = 0.0 * d_out, ti.Vector([0.0, 0.0, 0.0])
    if d_out.norm_sqr() != 0.0:
        by_q, by_turn = dt.bwd_diff(_advanced)(q, turn, d_out)
    return by_q, by_turn
