"""Distances and intersections of one triangle, in kernels."""

from __future__ import annotations

import difftile as dt
from difftile import ti

FAR = 1e37  # more than the square of any distance, and a number of f32
_NARROW = 1e-6  # the square of the sine of an angle, of three digits with an error of 1e-6


@dt.func
def turned(v, axis):
    """Return the components of a vector from the one after an axis on, that of the axis last."""
    first = v[1] if axis == 0 else (v[2] if axis == 1 else v[0])
    second = v[2] if axis == 0 else (v[0] if axis == 1 else v[1])
    return ti.Vector([first, second, v[axis]])


@dt.func
def largest_axis(v):
    """Return the index of the component with the largest magnitude."""
    x, y, z = abs(v[0]), abs(v[1]), abs(v[2])
    return 2 if z >= x and z >= y else (1 if y >= x else 0)


@dt.func
def crossing(a, b, c, axis, shear):
    """Return where a ray meets a triangle, watertight: t times its determinant, and that one.

    Edges that two triangles share have the same products with opposite signs, so that a ray meets
    at least one of the two. Source: Woop, Benthin and Wald, Watertight ray/triangle intersection,
    JCGT 2(1), 2013; a product of 0 counts as inside, without their second try in double precision.

    Args:
        a: A corner of the triangle, relative to the origin of the ray; so are b and c.
        b: The second corner.
        c: The third corner.
        axis: The axis along which the ray is longest.
        shear: The ratios of the other components of its direction to that one, and 1 over it.

    Returns:
        The numerator and the denominator of t; the denominator is 0 where the ray misses.
    """
    p, q, r = turned(a, axis), turned(b, axis), turned(c, axis)
    px, py = dt.exact(p[0] - shear[0] * p[2]), dt.exact(p[1] - shear[1] * p[2])
    qx, qy = dt.exact(q[0] - shear[0] * q[2]), dt.exact(q[1] - shear[1] * q[2])
    rx, ry = dt.exact(r[0] - shear[0] * r[2]), dt.exact(r[1] - shear[1] * r[2])
    u = dt.exact(rx * qy - ry * qx)
    v = dt.exact(px * ry - py * rx)
    w = dt.exact(qx * py - qy * px)
    inside = min(u, v, w) >= 0.0 or max(u, v, w) <= 0.0
    return shear[2] * (u * p[2] + v * q[2] + w * r[2]), (u + v + w if inside else 0.0)


@dt.func
def along_edge(a, b, p):
    """Return the parameter of the point of an edge nearest to p, in 0 .. 1, and 0 for a point."""
    edge = b - a
    square = edge.norm_sqr()
    reached = (p - a).dot(edge)
    return 0.0 if reached <= 0.0 else (1.0 if reached >= square else reached / square)


@dt.func
def nearest(a, b, c, p):
    """Return the point a + u (b - a) + v (c - a) of a triangle that is nearest to p.

    In the interior if p projects into it, else on the nearest of the edges: this holds for
    triangles without area too, and each case has the derivative of its own formula.

    Returns:
        u, v, and the number of the edge: 0 from a to b, 1 from b to c, 2 from c to a, -1 in the
        interior, or 3 in the interior of a narrow triangle.
    """
    e, f, d = b - a, c - a, p - a
    normal = e.cross(f)
    square = normal.norm_sqr()
    u, v, best, edge = 0.0, 0.0, FAR, -1
    if square > 0.0:
        s, r = d.cross(f).dot(normal) / square, e.cross(d).dot(normal) / square
        if s >= 0.0 and r >= 0.0 and s + r <= 1.0:
            u, v, best = s, r, (d - s * e - r * f).norm_sqr()
    narrow = square < _NARROW * e.norm_sqr() * f.norm_sqr()
    # The normal of a narrow triangle is rounded, and the point is then anywhere in it.
    if best == FAR or narrow:
        s, r, q = along_edge(a, b, p), along_edge(a, c, p), along_edge(b, c, p)
        on_ab, on_ac = (d - s * e).norm_sqr(), (d - r * f).norm_sqr()
        on_bc = (p - b - q * (c - b)).norm_sqr()
        if on_ab < best:
            u, v, best, edge = s, 0.0, on_ab, 0
        if on_ac < best:
            u, v, best, edge = 0.0, r, on_ac, 2
        if on_bc < best:
            u, v, edge = 1.0 - q, q, 1
        if edge < 0:
            edge = 3
    return u, v, edge


@dt.func
def separated(axis, a, b, c, half):
    """Return whether an axis separates a triangle from the box around 0 with half its sides."""
    x, y, z = axis.dot(a), axis.dot(b), axis.dot(c)
    reach = abs(axis[0]) * half[0] + abs(axis[1]) * half[1] + abs(axis[2]) * half[2]
    return min(x, y, z) > reach or max(x, y, z) < -reach


@dt.func
def in_box(a, b, c, lower, upper):
    """Return whether a triangle and a box, edges included, have a point in common.

    By 13 axes that may separate them; source: Akenine-Moller, Fast 3D triangle-box overlap testing,
    2001.
    """
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    p, q, r = a - middle, b - middle, c - middle
    apart = min(half[0], half[1], half[2]) < 0.0
    apart = apart or separated((q - p).cross(r - p), p, q, r, half)
    for k in ti.static(range(3)):
        unit = ti.Vector([1.0 if ti.static(i == k) else 0.0 for i in ti.static(range(3))])
        apart = apart or separated(unit, p, q, r, half)
        apart = apart or separated(unit.cross(q - p), p, q, r, half)
        apart = apart or separated(unit.cross(r - q), p, q, r, half)
        apart = apart or separated(unit.cross(p - r), p, q, r, half)
    return not apart
