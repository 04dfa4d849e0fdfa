"""Quaternions w, x, y, z (Hamilton's product), as in `datasets` and in most files.

Where a quaternion stands for a rotation it may have any length, and its gradient is orthogonal to
it; zeros stand for the identity, with the gradient 0. Opposite quaternions are the same rotation.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.textures.directions import unit

vec3, vec4, mat3 = ti.math.vec3, ti.math.vec4, ti.math.mat3

_SMALL = 0.25  # the square of an angle below which Taylor series are used
_NARROW = 0.02  # the square of the tangent of half an angle, for the same


@dt.func
def quat_multiply(p: vec4, q: vec4):
    """Return the product of two quaternions, the rotation q followed by the rotation p."""
    return ti.Vector(
        [
            p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
            p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
            p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
            p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
        ]
    )


@dt.func
def quat_conjugate(q: vec4):
    """Return w, -x, -y, -z: the inverse rotation."""
    return ti.Vector([q[0], -q[1], -q[2], -q[3]])


@dt.func
def quat_rotate(q: vec4, v: vec3):
    """Return a vector, rotated by a quaternion of any length."""
    u = unit(q)
    axis = ti.Vector([u[1], u[2], u[3]])
    return v + 2.0 * axis.cross(axis.cross(v) + u[0] * v)


@dt.func
def quat_to_matrix(q: vec4):
    """Return the rotation matrix of a quaternion of any length; the identity for zeros."""
    u = unit(q)
    w, x, y, z = u[0], u[1], u[2], u[3]
    return ti.Matrix(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


@dt.func
def quat_from_matrix(m: mat3):
    """Return a quaternion of length 1 of a rotation matrix, one of the two.

    Of the four formulas the one whose largest component is largest is used, so that no digits are
    lost at any angle (Shepperd, Quaternion from rotation matrix, 1978).
    """
    x, y, z = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    xy, xz, yz = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
    xx, yy, zz = m[0, 0], m[1, 1], m[2, 2]
    q = ti.Vector([1.0 + xx + yy + zz, x, y, z])
    if xx + yy + zz < max(xx, yy, zz):
        if xx >= max(yy, zz):
            q = ti.Vector([x, 1.0 + xx - yy - zz, xy, xz])
        elif yy >= zz:
            q = ti.Vector([y, xy, 1.0 - xx + yy - zz, yz])
        else:
            q = ti.Vector([z, xz, yz, 1.0 - xx - yy + zz])
    return q.normalized()


@dt.func
def quat_from_axis_angle(axis: vec3, angle):
    """Return the quaternion of length 1 that turns by an angle about an axis.

    Args:
        axis: The axis, vec3 of any length but 0.
        angle: The angle [rad].
    """
    n = ti.sin(0.5 * angle) * unit(axis)
    return ti.Vector([ti.cos(0.5 * angle), n[0], n[1], n[2]])


@dt.func
def quat_exp(w: vec3):
    """Return the quaternion of length 1 of a rotation vector, axis times angle [rad]."""
    t = w.norm_sqr()
    real, factor = 0.0, 0.0
    if t < _SMALL:
        real = 1.0 - t / 120 * (1.0 - t / 224 * (1.0 - t / 360 * (1.0 - t / 528)))
        real = 1.0 - t / 8 * (1.0 - t / 48 * real)
        factor = 1.0 - t / 168 * (1.0 - t / 288 * (1.0 - t / 440 * (1.0 - t / 624)))
        factor = 0.5 * (1.0 - t / 24 * (1.0 - t / 80 * factor))
    else:
        angle = ti.sqrt(t)
        real = ti.cos(0.5 * angle)
        factor = ti.sin(0.5 * angle) / angle
    return ti.Vector([real, factor * w[0], factor * w[1], factor * w[2]])


@dt.func
def quat_log(q: vec4):
    """Return the rotation vector of a quaternion, of length pi at most [rad].

    The derivative follows the branch in use; at half a turn the vector jumps to its
    opposite.
    """
    u = unit(q)
    real, axis = u[0], ti.Vector([u[1], u[2], u[3]])
    if real < 0.0:
        real, axis = -real, -axis
    s, square = axis.norm_sqr(), real * real
    if s + square == 0.0:
        real, square = 1.0, 1.0
    factor = 0.0  # twice the arc tangent of |axis| / real, divided by |axis|
    if s < _NARROW * square:
        r, total = s / square, 0.0
        for k in ti.static(range(11)):
            total = 1.0 / (21 - 2 * k) - r * total
        factor = 2.0 * total / real
    else:
        n = ti.sqrt(s)
        factor = 2.0 * ti.atan2(n, real) / n
    return factor * axis


@dt.func
def slerp(p: vec4, q: vec4, t):
    """Return the quaternion of length 1 on the shorter arc from p (t = 0) to q (t = 1).

    Source: Shoemake, Animating rotation with quaternion curves, 1985. The derivatives are finite
    where p and q are equal.
    """
    way = quat_log(quat_multiply(quat_conjugate(unit(p)), unit(q)))
    return quat_multiply(unit(p), quat_exp(t * way))
