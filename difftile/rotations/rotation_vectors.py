"""SO(3): rotation vectors, axis times angle, to rotation matrices and back."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.rotations.quaternions import quat_from_matrix, quat_log

vec3, mat3 = ti.math.vec3, ti.math.mat3

SMALL = 0.25  # the square of an angle below which Taylor series are used


@dt.func
def skew(w: vec3):
    """Return the matrix of the cross product with a vector, whose product with v is w x v."""
    return ti.Matrix([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


@dt.func
def sines(t):
    """Return sin(x)/x, (1 - cos(x))/x^2 and (x - sin(x))/x^3, given t = x^2."""
    third = 0.0
    second = 0.0
    if t < SMALL:
        # Taylor series, with an error of 1e-16 at most.
        third = 1.0 - t / 72 * (1.0 - t / 110 * (1.0 - t / 156 * (1.0 - t / 210)))
        third = (1.0 - t / 20 * (1.0 - t / 42 * third)) / 6
        second = 1.0 - t / 56 * (1.0 - t / 90 * (1.0 - t / 132 * (1.0 - t / 182)))
        second = 0.5 * (1.0 - t / 12 * (1.0 - t / 30 * second))
    else:
        x = ti.sqrt(t)
        second = (1.0 - ti.cos(x)) / t
        third = (x - ti.sin(x)) / (t * x)
    return 1.0 - t * third, second, third


@dt.func
def so3_exp(w: vec3):
    """Return the rotation matrix of a rotation vector, axis times angle [rad].

    At the zero vector, value and derivatives of any order equal their limits. Source: the
    formula of Rodrigues.
    """
    first, second, _ = sines(w.norm_sqr())
    turn = skew(w)
    return ti.Matrix.identity(float, 3) + first * turn + second * (turn @ turn)


@dt.func
def so3_log(rotation: mat3):
    """Return the rotation vector of a rotation matrix, of length pi at most [rad].

    Accurate at all angles, by way of the quaternion. The gradient with respect to the matrix is
    right for changes that keep it a rotation; at half a turn the vector jumps to its opposite.
    """
    return quat_log(quat_from_matrix(rotation))
