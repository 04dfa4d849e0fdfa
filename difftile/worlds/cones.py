"""Penalties of constraints: values, forces and curvatures of the functions s(z).

From the documentation of MuJoCo, "Computation", "Constraint model"; the elliptic cone after
Todorov, Convex and analytically-invertible dynamics with contacts and constraints (2014). Forces
are -s', curvatures s''.
"""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import ELLIPTIC

WIDTH = 1.0  # of smooth limits, in units of their rows [m/s² or rad/s²]


@dt.func
def one_sided(z, weight):
    """Return the penalty of a limit, ½ D min(z, 0)²: value, force, curvature."""
    value, force, curvature = 0.0, 0.0, 0.0
    if z < 0.0:
        value, force, curvature = 0.5 * weight * z * z, -weight * z, weight
    return value, force, curvature


@dt.func
def dry(z, weight, most):
    """Return the penalty of frictionloss, Huber's function, whose force is at most `most`."""
    value, force, curvature = 0.5 * weight * z * z, -weight * z, weight
    if force > most:
        value, force, curvature = -most * z - 0.5 * most * most / weight, most, 0.0
    elif force < -most:
        value, force, curvature = most * z - 0.5 * most * most / weight, -most, 0.0
    return value, force, curvature


@dt.func
def soft_one_sided(z, weight, width):
    """Return the same for the smooth ½ D (w softplus(-z / w))², which is convex too."""
    near = 1.0 / (1.0 + ti.exp(-abs(z) / width))  # the larger of both sigmoids
    slope = near if z < 0.0 else 1.0 - near
    depth = width * dt.log1p(ti.exp(-abs(z) / width)) + max(-z, 0.0)
    bend = slope * (1.0 - slope) * depth / width
    return 0.5 * weight * depth * depth, weight * depth * slope, weight * (slope * slope + bend)


@dt.func
def soft_dry(z, weight, most):
    """Return the same for the smooth R η² (√(1 + (z / (R η))²) - 1)."""
    u = z * weight / most
    root = ti.sqrt(1.0 + u * u)
    # root - 1 would lose the digits of a small u.
    return most * u * z / (1.0 + root), -most * u / root, weight / (root * root * root)


@dt.data_oriented(frozen=True)
class Cones:
    """The penalty of contacts: z is the vector of the normal and of the two tangential rows.

    Args:
        sizes: The cone of the model.
        smooth: Whether forces of pyramids, limits and frictionloss are smooth functions; elliptic
            cones stay as they are.
        width: The width of smooth limits [m/s² or rad/s²].
    """

    def __init__(self, sizes: Any, smooth: bool = False, width: float = WIDTH) -> None:
        self.smooth, self.width = smooth, width
        self.elliptic = sizes.cone == ELLIPTIC
        self.frictional = sizes.condim > 1

    @dt.func
    def push(self, z, weight):
        """Return value, force and curvature of a limit."""
        if ti.static(self.smooth):
            found = soft_one_sided(z, weight, self.width)
        else:
            found = one_sided(z, weight)
        return found

    @dt.func
    def rub(self, z, weight, most):
        """Return value, force and curvature of frictionloss."""
        if ti.static(self.smooth):
            found = soft_dry(z, weight, most)
        else:
            found = dry(z, weight, most)
        return found

    @dt.func
    def penalty(self, dim, z, weight, mu):
        """Return value, force and curvature of a contact.

        Args:
            dim: 1 without friction, or 3.
            z: The rows J a + r.
            weight: D, as `Rows.contact_law` has it; mu too.
        """
        value, normal_force, normal_curvature = self.push(z[0], weight)
        force = ti.Vector([normal_force, 0.0, 0.0])
        s = ti.Matrix([[normal_curvature, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        if ti.static(self.frictional):
            if dim > 1:
                if ti.static(self.elliptic):
                    value, force, s = self.elliptic_penalty(z, weight, mu)
                else:
                    value, force, s = self.pyramid_penalty(z, weight, mu)
        return value, force, s

    @dt.func
    def pyramid_penalty(self, z, weight, mu):
        """Return the same of a pyramid: of its four edges z_n + mu_k z_k, z_n - mu_k z_k."""
        v1, f1, c1 = self.push(z[0] + mu[1] * z[1], weight)
        v2, f2, c2 = self.push(z[0] - mu[1] * z[1], weight)
        v3, f3, c3 = self.push(z[0] + mu[2] * z[2], weight)
        v4, f4, c4 = self.push(z[0] - mu[2] * z[2], weight)
        force = ti.Vector([f1 + f2 + f3 + f4, mu[1] * (f1 - f2), mu[2] * (f3 - f4)])
        a, b = mu[1] * (c1 - c2), mu[2] * (c3 - c4)
        s = ti.Matrix(
            [
                [c1 + c2 + c3 + c4, a, b],
                [a, mu[1] * mu[1] * (c1 + c2), 0.0],
                [b, 0.0, mu[2] * mu[2] * (c3 + c4)],
            ]
        )
        return v1 + v2 + v3 + v4, force, s

    @dt.func
    def elliptic_penalty(self, z, weight, mu):
        """Return the same of an elliptic cone: sticking, sliding on its surface, or free."""
        u1, u2 = mu[1] * z[1], mu[2] * z[2]
        n = mu[0] * z[0]
        t = ti.sqrt(u1 * u1 + u2 * u2)
        value = 0.0
        force = ti.Vector([0.0, 0.0, 0.0])
        s = ti.Matrix([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        if mu[0] * n + t <= 0.0:
            # D_1 = impratio D, D_2 = D_1 mu_2² / mu_1²; and mu_1² / mu² is impratio.
            w1 = weight * mu[1] * mu[1] / (mu[0] * mu[0])
            w2 = weight * mu[2] * mu[2] / (mu[0] * mu[0])
            force = -ti.Vector([weight * z[0], w1 * z[1], w2 * z[2]])
            value = -0.5 * force.dot(z)
            s = ti.Matrix([[weight, 0.0, 0.0], [0.0, w1, 0.0], [0.0, 0.0, w2]])
        elif n < mu[0] * t:
            w = weight / (mu[0] * mu[0] * (1.0 + mu[0] * mu[0]))
            depth = n - mu[0] * t  # below 0
            d1, d2 = mu[1] * u1 / t, mu[2] * u2 / t  # of t by z
            slope = ti.Vector([mu[0], -mu[0] * d1, -mu[0] * d2])
            value = 0.5 * w * depth * depth
            force = -w * depth * slope
            bend = -w * depth * mu[0] / t
            s = w * slope.outer_product(slope) + bend * ti.Matrix(
                [
                    [0.0, 0.0, 0.0],
                    [0.0, mu[1] * mu[1] - d1 * d1, -d1 * d2],
                    [0.0, -d1 * d2, mu[2] * mu[2] - d2 * d2],
                ]
            )
        return value, force, s
