"""The shortest way of a string around a sphere or a cylinder, or through the inside of one.

In a plane through both ends (of a cylinder: normal to its axis) the string leaves each end along a
tangent of the circle and follows its arc, or, where the side that it has to pass lies within the
circle, touches that from the inside at one point. Which way that is follows from the ends and has
no derivative; the points have. Source: MuJoCo's documentation, "Modeling", "tendon", `mju_wrap`.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.quaternions import conjugate, turned

LEAST = 1e-15  # lengths below which points are in one place [m], and determinants 0
_NEWTON = 30
_CLOSE = 1e-6  # the error of an angle above which there is no point inside [rad]
_FIRST = 1.0 - 1e-7  # sine at which it begins


@dt.func
def flat(x, y):
    """Return a vector of a plane."""
    return ti.Vector([x, y])


@dt.func
def unit_of(v):
    """Return a vector of length 1, the first axis for one of no length; and the length."""
    size = v.norm_sqr()
    found = 0.0 * v
    found[0] = 1.0
    if size > LEAST * LEAST:
        size = ti.sqrt(size)
        found = v / size
    else:
        size = 0.0
    return found, size


@dt.func
def across(p, q):
    """Return the determinant of two vectors of a plane."""
    return p[0] * q[1] - p[1] * q[0]


@dt.func
def cross_each_other(p, u, q, v):
    """Return whether the segments from p to u and from q to v have a point in common."""
    found = False
    det = across(u - p, v - q)
    if abs(det) >= LEAST:
        a, b = across(v - q, p - q) / det, across(u - p, p - q) / det
        found = a >= 0.0 and a <= 1.0 and b >= 0.0 and b <= 1.0
    return found


@dt.func
def touched(p, radius, sign):
    """Return where a tangent from p touches the circle, on the side of the sign."""
    square = p.norm_sqr()
    along = ti.sqrt(square - radius * radius)
    return (radius * radius * p + sign * radius * along * flat(p[1], -p[0])) / square


@dt.func
def behind(p, q, side):
    """Return whether a side lies behind the centre as both ends see it."""
    turn = across(p, q)
    return turn * across(side, p) > 0.0 and turn * across(q, side) > 0.0


@dt.func
def around(p, q, side, sided, radius):
    """Return the length of the arc from p to q around a circle, -1 without one, and its ends.

    The string goes around where it has to: the short way, if the circle is in its own; or the long
    one, for a side behind the circle. MuJoCo 4.0 chooses so; earlier releases by another rule.

    Args:
        p, q: The ends of the string, vec2 from the centre.
        side: The side that it passes.
        sided: Whether there is one.
        radius: Of the circle [m].
    """
    arc, u, v = -1.0, p, q
    gap = q - p
    if min(p.norm_sqr(), q.norm_sqr()) >= radius * radius and gap.norm_sqr() >= LEAST:
        if radius >= LEAST:
            near = p + ti.math.clamp(-gap.dot(p) / gap.norm_sqr(), 0.0, 1.0) * gap
            far = sided and behind(p, q, side)
            if far or near.norm_sqr() <= radius * radius:
                sign = 1.0
                if (across(p, q) > 0.0) != far:
                    sign = -1.0
                u, v = touched(p, radius, sign), touched(q, radius, -sign)
                if not cross_each_other(p, u, q, v):
                    turn = across(u, v)
                    angle = ti.atan2(abs(turn), u.dot(v))
                    if turn * sign > 0.0:
                        angle = 2.0 * ti.math.pi - angle
                    arc = radius * angle
    return arc, u, v


@dt.func
def touching_sine(a, b, angle):
    """Return the z with asin(a z) + asin(b z) - 2 asin(z) + angle = 0; -1 if the search fails.

    The search goes on until steps are rounding; MuJoCo's ends where moments are off by 3e-9.
    """
    z, found = _FIRST, -1.0
    f = ti.asin(a * z) + ti.asin(b * z) - 2.0 * ti.asin(z) + angle
    for _ in range(_NEWTON):
        slope = a / ti.sqrt(1.0 - z * z * a * a) + b / ti.sqrt(1.0 - z * z * b * b)
        slope -= 2.0 / ti.sqrt(1.0 - z * z)
        if slope > -LEAST or not z - f / slope < z or f > _CLOSE:
            break
        z -= f / slope
        f = ti.asin(a * z) + ti.asin(b * z) - 2.0 * ti.asin(z) + angle
    if abs(f) <= _CLOSE:
        found = z
    return found


@touching_sine.backward
def _(a, b, angle, d_out):
    z, by_a, by_b, by_angle = touching_sine(a, b, angle), 0.0, 0.0, 0.0
    if z >= 0.0:
        of_a, of_b = 1.0 / ti.sqrt(1.0 - z * z * a * a), 1.0 / ti.sqrt(1.0 - z * z * b * b)
        rest = -d_out / (a * of_a + b * of_b - 2.0 / ti.sqrt(1.0 - z * z))
        by_a, by_b, by_angle = rest * z * of_a, rest * z * of_b, rest
    return by_a, by_b, by_angle


@dt.func
def inside(p, q, radius):
    """Return 0 and where a string from p to q touches a circle from the inside, -1 if it does not.

    Args:
        p, q, radius: As for `around`.
    """
    arc, u, n, m = -1.0, p, p.norm(), q.norm()
    gap = q - p
    square = gap.norm_sqr()
    if min(n, m) > radius >= LEAST:
        crossing = False
        if square > LEAST:
            t = -gap.dot(p) / square
            crossing = t > 0.0 and t < 1.0 and (p + t * gap).norm_sqr() <= radius * radius
        cosine = (n * n + m * m - square) / (2.0 * n * m)
        if not crossing and cosine >= LEAST - 1.0:
            arc = 0.0
            u = radius * unit_of(p + q)[0]
            if cosine <= 1.0 - LEAST:
                z = touching_sine(radius / n, radius / m, ti.acos(cosine))
                if z >= 0.0:
                    start, first = q / m, radius / m
                    if across(p, q) > 0.0:
                        start, first = p / n, radius / n
                    turn = ti.asin(z) - ti.asin(first * z)
                    c, s = radius * ti.cos(turn), radius * ti.sin(turn)
                    u = flat(c * start[0] - s * start[1], s * start[0] + c * start[1])
    return arc, u


@dt.func
def plane_of(p, q):
    """Return two axes of the plane through the centre of a sphere and two points."""
    first = unit_of(p)[0]
    normal, size = unit_of(p.cross(q))
    if size < LEAST:
        other = ti.Vector([0.0, 1.0, 1.0])
        if abs(first[1]) > abs(first[0]) and abs(first[1]) > abs(first[2]):
            other = ti.Vector([1.0, 0.0, 1.0])
        elif abs(first[2]) > abs(first[0]) and abs(first[2]) > abs(first[1]):
            other = ti.Vector([1.0, 1.0, 0.0])
        normal = unit_of(first.cross(other))[0]
    return first, unit_of(normal.cross(first))[0]


@dt.func
def wrapped(x1, x2, pos, quat, radius, round_, side, sided):
    """Return the length of a string on a shape, -1 if it passes by, and where it meets that.

    Args:
        x1, x2: The ends of the string, vec3 [m].
        pos, quat, radius: The frame of the shape, and its radius.
        round_: Whether it is a sphere, and not a cylinder along z.
        side, sided: A point whose side it passes, and whether there is one.
    """
    back = conjugate(quat)
    p, q, s = turned(back, x1 - pos), turned(back, x2 - pos), turned(back, side - pos)
    length, near, far = -1.0, x1, x2
    if p.norm_sqr() >= LEAST * LEAST and q.norm_sqr() >= LEAST * LEAST:
        one, other = ti.Vector([1.0, 0.0, 0.0]), ti.Vector([0.0, 1.0, 0.0])
        if round_:
            one, other = plane_of(p, q)
        a, b = flat(p.dot(one), p.dot(other)), flat(q.dot(one), q.dot(other))
        arc, u, v = -1.0, a, b
        if sided and s.norm_sqr() < radius * radius:
            arc, u = inside(a, b, radius)
            v = u
        else:
            arc, u, v = around(a, b, flat(s.dot(one), s.dot(other)), sided, radius)
        if arc >= 0.0:
            length = arc
            n, f = u[0] * one + u[1] * other, v[0] * one + v[1] * other
            if not round_:
                before, after = (a - u).norm(), (b - v).norm()
                rise = (q[2] - p[2]) / (before + arc + after)
                n[2] = p[2] + rise * before
                f[2] = p[2] + rise * (before + arc)
                length = 0.0
                if arc > 0.0:
                    length = arc * ti.sqrt(1.0 + rise * rise)
            near, far = pos + turned(quat, n), pos + turned(quat, f)
    return length, near, far
