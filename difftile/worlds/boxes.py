"""Contacts of spheres and capsules with boxes, in the frame of the box, with its centre at 0.

A capsule touches a box as one or two spheres on its axis do: the first is at the point of the axis
nearest to the box, the second as far along the axis as that stays above the same face or edge.
Which points these are, and the choices at ties, are MuJoCo's (`mjc_SphereBox`, `mjc_CapsuleBox`).

The nearest feature is searched first, as an integer; positions are then computed for it alone, so
that derivatives have no loop to go back through.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.segments import on_segments

_LEAST = 1e-15  # distances, their squares and determinants below which things coincide
_FAR = 1e10
NOWHERE = 1e10  # the place of a sphere that there is not


@dt.func
def clamped(p, size):
    """Return the point of the box that is nearest to p."""
    return ti.min(ti.max(p, -size), size)


@dt.func
def unit_of(k):
    """Return the unit vector of an axis."""
    e = ti.Vector([0.0, 0.0, 0.0])
    e[k] = 1.0
    return e


@dt.func
def to_box(p, size):
    """Return the distance of a point from the surface, negative inside, and the direction to it.

    Inside the direction is away from the nearest face, so that a contact's normal still points from
    the sphere to the box.
    """
    way = clamped(p, size) - p
    dist = way.norm()
    normal = ti.Vector([1.0, 0.0, 0.0])
    if dist > _LEAST:
        normal = way / dist
    else:
        nearest = _FAR
        for k in ti.static(range(3)):
            for sign in ti.static((-1.0, 1.0)):
                depth = abs(sign * size[k] - p[k])
                if depth < nearest:
                    nearest = depth
                    normal = -sign * unit_of(k)
        dist = -nearest
    return dist, normal


@dt.func
def edge_at(size, j, corner):
    """Return the middle of the edge along axis j next to a corner, whose bits are signs."""
    e = ti.Vector(
        [
            size[0] * (2.0 * (corner & 1) - 1.0),
            size[1] * (2.0 * (corner >> 1 & 1) - 1.0),
            size[2] * (2.0 * (corner >> 2 & 1) - 1.0),
        ]
    )
    e[j] = 0.0
    return e


@dt.func
def on_edge(pos, half, size, j, corner):
    """Return where an edge and the axis of a capsule are nearest, each in -1..1."""
    return on_segments(unit_of(j) * size[j], half, edge_at(size, j, corner) - pos, False)


@dt.func
def end_of(pos, half, size, j, corner, y):
    """Return -1 or 1 if an edge counts as its lower or upper corner, else 0.

    It does at its ends, and also where the line of the axis is nearest to the line of the edge
    beyond one of them, though the axis ends before.

    Args:
        pos, half, size, j, corner: The edge and the axis.
        y: The place on the edge nearest to the axis.
    """
    apart = edge_at(size, j, corner) - pos
    long = half.norm_sqr()
    on_line = (half.dot(apart) * half[j] - long * apart[j]) / (long - half[j] * half[j])
    found = 0
    if y >= 1.0:
        found = 1
    elif y <= -1.0:
        found = -1
    elif on_line > size[j]:
        found = 1
    elif on_line < -size[j]:
        found = -1
    return found


@dt.func
def nearest_feature(pos, half, size):
    """Return the feature of the box nearest to the axis of a capsule.

    Args:
        pos, half: The centre of the capsule, and half of its axis.
        size: Of the box.

    Returns:
        0 or 1 if it is the face below the first or the second end of the axis, or if that end is
        inside; 2 + 8 j + c for the edge along axis j next to corner c, whose bit j is 0.
    """
    least, found = _FAR, -1
    for end in range(2):
        p = pos + half * (2.0 * end - 1.0)
        way = p - clamped(p, size)
        outside = 0
        for k in ti.static(range(3)):
            if way[k] != 0.0:
                outside += 1
        if outside <= 1 and way.norm_sqr() < least:
            least, found = way.norm_sqr(), end
    for j in range(3):
        for corner in range(8):
            across = size[j] * size[j] * (half.norm_sqr() - half[j] * half[j])
            if (corner >> j & 1) == 0 and across >= _LEAST:
                x1, x2 = on_edge(pos, half, size, j, corner)
                way = edge_at(size, j, corner) + unit_of(j) * (size[j] * x1) - pos - half * x2
                if way.norm_sqr() < least - _LEAST:
                    least, found = way.norm_sqr(), 2 + 8 * j + corner
    return found


@dt.func
def beyond_face(pos, half, size, end):
    """Return how far the axis stays above the face below one of its ends, or NOWHERE.

    Args:
        pos, half, size: As for `nearest_feature`.
        end: -1 or 1.

    Returns:
        The change of the place along the axis.
    """
    start = pos + half * end
    face = -1
    for k in ti.static(range(3)):
        if abs(start[k]) > size[k]:
            face = k
    far = 2.0
    for k in ti.static(range(3)):
        if k != face and half[k] != 0.0:
            for sign in ti.static((1.0, -1.0)):
                reach = -(sign * size[k] - start[k]) / half[k] * end
                if reach > 0.0 and reach < far:
                    far = reach
    found = -far * end
    if face < 0:
        found = NOWHERE
    return found


@dt.func
def across(size, half, k):
    """Return the way along the axis of a capsule over which it crosses the box along axis k."""
    return 2.0 * size[k] / max(abs(half[k]), _LEAST)


@dt.func
def beyond_corner(half, size, corner, x):
    """Return how far the axis stays above an edge or a face from a corner on, or NOWHERE.

    Args:
        half, size: As for `nearest_feature`.
        corner: The corner.
        x: The place on the axis nearest to it.
    """
    along = 0  # the axes along which the capsule leads away from the corner
    for k in ti.static(range(3)):
        if (half[k] > 0.0) != ((corner >> k & 1) == 1):
            along += 1 << k
    found, sign = NOWHERE, 1.0
    if along == 3 or along == 5 or along == 6:
        along, sign = 7 - along, -1.0
    if along == 1 or along == 2 or along == 4:
        k = along >> 1  # 0, 1, 2
        if half[k] * half[k] > 0.5 * half.norm_sqr():
            found = sign * min(1.0 - sign * x, across(size, half, k))
        else:
            one, other = across(size, half, (k + 1) % 3), across(size, half, (k + 2) % 3)
            found = -sign * min(1.0 + sign * x, one, other)
    return found


@dt.func
def beyond_edge(half, size, j, corner, y, x):
    """Return how far the axis stays above a face from an edge on, or NOWHERE.

    Args:
        half, size: As for `nearest_feature`.
        j, corner: The edge.
        y, x: The places where edge and axis are nearest.
    """
    one, other = (j + 1) % 3, (j + 2) % 3
    if abs(half[one]) > abs(half[other]):
        one, other = other, one
    leads_one = (half[one] > 0.0) != ((corner >> one & 1) == 1)
    leads = (half[other] > 0.0) != ((corner >> other & 1) == 1)
    found = NOWHERE
    if leads != leads_one:
        sign = 1.0 if leads else -1.0
        rest = 1.0 + y
        if (half[j] > 0.0) == leads:
            rest = 1.0 - y
        found = min(1.0 - sign * x, across(size, half, other))
        found = sign * min(found, 0.5 * rest * across(size, half, j))
    return found


@dt.func
def sphere_of(pos, half, size, place):
    """Return the place in -1..1 of the first or the second sphere on the axis of a capsule.

    Args:
        pos, half, size: As for `nearest_feature`.
        place: 0 or 1.

    Returns:
        The place, and whether there is such a sphere.
    """
    feature = nearest_feature(pos, half, size)
    x, more = 0.0, NOWHERE
    if feature == 0 or feature == 1:
        x = 2.0 * feature - 1.0
        more = beyond_face(pos, half, size, x)
    elif feature > 1:
        j, corner = (feature - 2) // 8, (feature - 2) % 8
        y, on_axis = on_edge(pos, half, size, j, corner)
        x = on_axis
        end = end_of(pos, half, size, j, corner, y)
        if end != 0:
            if end > 0:
                corner += 1 << j
            more = beyond_corner(half, size, corner, x)
        else:
            more = beyond_edge(half, size, j, corner, y, x)
    there = feature >= 0
    if place == 1:
        there = more != NOWHERE
        x += more
    return x, there
