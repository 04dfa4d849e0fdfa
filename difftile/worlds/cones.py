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

ZERO = ti.Vector([0.0, 0.0])
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
    """The penalty of contacts: z is the vector of the normal row and of those with friction.

    Args:
        sizes: The cone of the model.
        smooth: Whether forces of pyramids, limits and frictionloss are smooth functions; elliptic
            cones stay as they are.
        width: The width of smooth limits [m/s² or rad/s²].
    """

    def __init__(self, sizes: Any, smooth: bool = False, width: float = WIDTH) -> None:
        self.smooth, self.width = smooth, width
        self.elliptic = sizes.cone == ELLIPTIC
        self.frictional, self.nrow = sizes.condim > 1, sizes.nrow

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
            dim: 1 without friction, 3, 4 or 6.
            z: The rows J a + r.
            weight: D, as `Rows.contact_law` has it; mu too.
        """
        value, normal_force, normal_curvature = self.push(z[0], weight)
        force = ti.Vector.zero(float, self.nrow)
        s = ti.Matrix.zero(float, self.nrow, self.nrow)
        force[0] = normal_force
        s[0, 0] = normal_curvature
        if ti.static(self.frictional):
            if dim > 1:
                if ti.static(self.elliptic):
                    value, force, s = self.elliptic_penalty(z, weight, mu)
                else:
                    value, force, s = self.pyramid_penalty(dim, z, weight, mu)
        return value, force, s

    @dt.func
    def pyramid_penalty(self, dim, z, weight, mu):
        """Return the same of a pyramid: of its edges z_n + mu_k z_k and z_n - mu_k z_k."""
        value = 0.0
        force = ti.Vector.zero(float, self.nrow)
        s = ti.Matrix.zero(float, self.nrow, self.nrow)
        for k in ti.static(range(1, self.nrow)):
            v, f, c = ZERO, ZERO, ZERO
            if ti.static(k < 3) or k < dim:
                v, f, c = self.edges(z[0], mu[k] * z[k], weight)
            value += v[0] + v[1]
            force[0] += f[0] + f[1]
            force[k] = mu[k] * (f[0] - f[1])
            s[0, 0] += c[0] + c[1]
            s[0, k] = mu[k] * (c[0] - c[1])
            s[k, 0] = s[0, k]
            s[k, k] = mu[k] * mu[k] * (c[0] + c[1])
        return value, force, s

    @dt.func
    def edges(self, z, rub, weight):
        """Return values, forces and curvatures of the two edges z + rub and z - rub."""
        v1, f1, c1 = self.push(z + rub, weight)
        v2, f2, c2 = self.push(z - rub, weight)
        return ti.Vector([v1, v2]), ti.Vector([f1, f2]), ti.Vector([c1, c2])

    @dt.func
    def elliptic_penalty(self, z, weight, mu):
        """Return the same of an elliptic cone: sticking, sliding on its surface, or free.

        Rows that the contact does not have are no part of it, since their friction is 0.
        """
        n, square = mu[0] * z[0], 0.0
        for k in ti.static(range(1, self.nrow)):
            square += (mu[k] * z[k]) ** 2
        t = ti.sqrt(square)
        value = 0.0
        force = ti.Vector.zero(float, self.nrow)
        s = ti.Matrix.zero(float, self.nrow, self.nrow)
        if mu[0] * n + t <= 0.0:
            # D_1 = impratio D, D_k = D_1 mu_k² / mu_1²; and mu_1² / mu² is impratio.
            force[0] = -weight * z[0]
            s[0, 0] = weight
            for k in ti.static(range(1, self.nrow)):
                w = weight * mu[k] * mu[k] / (mu[0] * mu[0])
                force[k] = -w * z[k]
                s[k, k] = w
            value = -0.5 * force.dot(z)
        elif n < mu[0] * t:
            w = weight / (mu[0] * mu[0] * (1.0 + mu[0] * mu[0]))
            depth = n - mu[0] * t  # below 0
            slope = ti.Vector.zero(float, self.nrow)  # of the depth by z
            slope[0] = mu[0]
            along = ti.Vector.zero(float, self.nrow)  # of t by z
            for k in ti.static(range(1, self.nrow)):
                along[k] = mu[k] * mu[k] * z[k] / t
                slope[k] = -mu[0] * along[k]
            value = 0.5 * w * depth * depth
            force = -w * depth * slope
            bend = -w * depth * mu[0] / t
            s = w * slope.outer_product(slope) - bend * along.outer_product(along)
            for k in ti.static(range(1, self.nrow)):
                s[k, k] += bend * mu[k] * mu[k]
        return value, force, s
