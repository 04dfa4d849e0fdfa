"""SE(3): twists to rigid motions and back.

A twist is a vec6, the first three components its translation, the last three its rotation [rad].
Source: Barfoot, State Estimation for Robotics, section 7.1.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.rotations.rotation_vectors import SMALL, sines, skew, so3_log

vec3, mat3, vec6 = ti.math.vec3, ti.math.mat3, dt.vec(6)

# |B_2k| / (2k)! for k from 9 down to 1, with the numbers of Bernoulli.
_COTANGENT = (
    8.586062056277845e-15,
    3.3896802963225827e-13,
    1.338253653068468e-11,
    5.284190138687493e-10,
    2.08767569878681e-08,
    8.267195767195768e-07,
    3.3068783068783064e-05,
    0.001388888888888889,
    0.08333333333333333,
)


@dt.func
def se3_exp(twist: vec6):
    """Return rotation (mat3) and translation (vec3) of the rigid motion exp(twist)."""
    w = ti.Vector([twist[3], twist[4], twist[5]])
    first, second, third = sines(w.norm_sqr())
    turn = skew(w)
    square = turn @ turn
    one = ti.Matrix.identity(float, 3)
    shift = (one + second * turn + third * square) @ ti.Vector([twist[0], twist[1], twist[2]])
    return one + first * turn + second * square, shift


@dt.func
def se3_log(rotation: mat3, translation: vec3):
    """Return the twist of a rigid motion, whose rotation is pi at most; see `so3_log`.

    Args:
        rotation: A rotation matrix, mat3.
        translation: What is added to a point after its rotation, vec3.
    """
    w = so3_log(rotation)
    t = w.norm_sqr()
    factor = 0.0  # (1 - x cot(x)) / (2 x)^2, where x is half the angle
    if t < SMALL:
        for coefficient in ti.static(_COTANGENT):
            factor = coefficient + t * factor
    else:
        x = 0.5 * ti.sqrt(t)
        factor = (1.0 - x * ti.cos(x) / ti.sin(x)) / t
    turn = skew(w)
    shift = translation - 0.5 * (turn @ translation) + factor * (turn @ (turn @ translation))
    return ti.Vector([shift[0], shift[1], shift[2], w[0], w[1], w[2]])
