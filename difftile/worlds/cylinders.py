"""Contacts of cylinders with planes and spheres, as in MuJoCo (`mjc_PlaneCylinder` and so on)."""

from __future__ import annotations

import difftile as dt
from difftile import ti

_LEAST = 1e-15
_FAR = 1e10


@dt.func
def on_floor(height, normal, centre, axes, size, place):
    """Return distance and point of a contact of a cylinder with a plane.

    Args:
        height: Of the centre above the plane [m].
        normal: Of the plane.
        centre, axes, size: Of the cylinder.
        place: 0 and 1 for the lowest points of the rims, the lower rim first; 2 and 3 for the other
            corners of a triangle in the lower disc.
    """
    axis = axes[:, 2]
    if axis.dot(normal) > 0.0:
        axis = -axis
    across = axis * axis.dot(normal) - normal
    length = across.norm_sqr()
    if length >= _LEAST * _LEAST:
        across *= size[0] / ti.sqrt(length)
    else:
        across = axes[:, 0] * size[0]
    arm = axis * size[1]
    if place == 0:
        arm += across
    elif place == 1:
        arm = across - arm
    else:
        side = across.cross(axis) * (0.5 * ti.sqrt(3.0))
        if place == 3:
            side = -side
        arm += side - 0.5 * across
    dist = height + normal.dot(arm)
    return dist, centre + arm - normal * (0.5 * dist)


@dt.func
def sphere_on_cylinder(centre, third, radius, middle, axis, size):
    """Return distance, point and normal of the contact of a sphere with a cylinder.

    Args:
        centre, third, radius: Of the sphere; its third axis decides the normal where its centre is
            on the axis or the rim of the cylinder.
        middle, axis, size: Of the cylinder.
    """
    apart = centre - middle
    x = axis.dot(apart)
    across = apart - axis * x
    wide = across.norm_sqr()
    side, cap = abs(x) < size[1], wide < size[0] * size[0]
    if side and cap:
        if size[1] - abs(x) < size[0] - ti.sqrt(wide):
            side = False
        else:
            cap = False
    sign = 1.0 if x > 0.0 else -1.0
    lone = third.cross(axis)
    if lone.norm_sqr() > _LEAST * _LEAST:
        lone = lone / lone.norm()
    else:
        lone = ti.Vector([1.0, 0.0, 0.0])
    normal, dist = -sign * axis, abs(x) - size[1]
    if side:
        normal, dist = lone, -size[0]
        if wide > _LEAST * _LEAST:
            normal = -across / ti.sqrt(wide)
            dist = ti.sqrt(wide) - size[0]
    elif not cap:
        rim = axis * (sign * size[1]) + across * (size[0] / ti.sqrt(wide)) - apart
        dist = rim.norm()
        normal = lone
        if dist > _LEAST:
            normal = rim / dist
    dist -= radius
    return dist, centre + normal * (radius + 0.5 * dist), normal
