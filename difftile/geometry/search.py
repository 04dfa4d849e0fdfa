"""Walks through the tree of a mesh. What they find has no derivative.

A walk goes down to the nearer of two boxes first. `trail` has a bit for each level, set where the
other box has to be visited too: the lowest one says where to go on.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.geometry.tree import first_of, is_finite, leaf_of
from difftile.geometry.triangles import crossing, in_box, largest_axis, nearest

MISSED = 1e37  # more than any distance within 1e18, and a number of f32
_STEEP = 1e-18  # components of a direction below count as this much, next to the largest one, 1


@dt.func
def next_box(node, trail):
    """Return the box to visit after a part of the tree is done, 0 for none, and its trail."""
    if trail == 0:
        return 0, 0
    up = 31 - ti.math.clz(trail & -trail)
    return (node >> up) ^ 1, (trail >> up) ^ 1


@dt.func
def span_in_box(tree, world, node, origin, inverse, start):
    """Return where a ray enters a box, at `start` at least, or MISSED."""
    s, t = (
        (tree.lower[world, node] - origin) * inverse,
        (tree.upper[world, node] - origin) * inverse,
    )
    near, far = min(s, t), max(s, t)
    enters = max(start, near[0], near[1], near[2])
    # A product is off by 1 unit in the last place, of f32 at most: more boxes than needed are met.
    leaves = min(far[0], far[1], far[2]) * (1.0 + 4e-7)
    return enters if enters <= leaves else MISSED


@dt.func
def steep(x):
    """Return one over a component of a direction."""
    return 1.0 / (x if abs(x) > _STEEP else (_STEEP if x >= 0.0 else -_STEEP))


@dt.func
def find_on_ray(tree, world, origin, direction, t_min, t_max, some):
    """Return the first triangle on a ray, or some triangle, and its distance; -1 for none.

    Of triangles at the same distance the one with the lowest number is found, in any order.
    """
    count, leaves = tree.faces.shape[0], tree.lower.shape[1] // 2
    axis = largest_axis(direction)
    length = abs(direction[axis])
    face, best, node = count, MISSED, 0
    one = ti.Vector([0.0, 0.0, 0.0])
    if (
        is_finite(origin) and is_finite(direction) and length > 0.0 and t_min <= MISSED
    ):  # nor is NaN
        node, one = 1, direction / length
        best = min(t_max * length, MISSED * 0.5) if t_max >= t_min else -MISSED
    start = max(t_min * length, -MISSED)
    inverse = ti.Vector([steep(one[0]), steep(one[1]), steep(one[2])])
    along = steep(one[axis])
    shear = ti.Vector([one[(axis + 1) % 3] * along, one[(axis + 2) % 3] * along, along])
    trail = 0
    while node > 0:
        below = False
        if node < leaves:
            left = span_in_box(tree, world, 2 * node, origin, inverse, start)
            right = span_in_box(tree, world, 2 * node + 1, origin, inverse, start)
            if min(left, right) <= best:
                trail = 2 * trail + (1 if max(left, right) <= best else 0)
                node = 2 * node + (1 if right < left else 0)
                below = True
        else:
            first = first_of(node - leaves, leaves, count)
            for s in range(first, first_of(node - leaves + 1, leaves, count)):
                a = tree.corners[world, s, 0] - origin
                b = tree.corners[world, s, 1] - origin
                c = tree.corners[world, s, 2] - origin
                over, under = crossing(a, b, c, axis, shear)
                if under != 0.0:
                    t = over / under
                    if t >= start and (t < best or (t == best and tree.order[s] < face)):
                        best, face = t, tree.order[s]
            if ti.static(some) and face < count:
                trail = 0
        if not below:
            node, trail = next_box(node, trail)
    return (face if face < count else -1), best / max(length, 1e-30)


@dt.func
def square_to_box(tree, world, node, p):
    """Return the square of the distance from a point to a box."""
    away = max(tree.lower[world, node] - p, p - tree.upper[world, node], 0.0)
    return away.norm_sqr()


@dt.func
def find_nearest(tree, world, p, reach):
    """Return the triangle nearest to a point, -1 if none is within reach.

    Of triangles at the same distance the one with the lowest number is found, in any order.
    """
    count, leaves = tree.faces.shape[0], tree.lower.shape[1] // 2
    face, best, node, trail = count, MISSED * 0.5, 0, 0
    if is_finite(p) and reach >= 0.0:
        node, best = 1, (reach * reach if reach < 1e18 else MISSED * 0.5)
    while node > 0:
        below = False
        if node < leaves:
            left = square_to_box(tree, world, 2 * node, p)
            right = square_to_box(tree, world, 2 * node + 1, p)
            if min(left, right) <= best:
                trail = 2 * trail + (1 if max(left, right) <= best else 0)
                node = 2 * node + (1 if right < left else 0)
                below = True
        else:
            first = first_of(node - leaves, leaves, count)
            for s in range(first, first_of(node - leaves + 1, leaves, count)):
                a, b = tree.corners[world, s, 0], tree.corners[world, s, 1]
                c = tree.corners[world, s, 2]
                u, v, _ = nearest(a, b, c, p)
                square = (a + u * (b - a) + v * (c - a) - p).norm_sqr()
                if square < best or (square == best and tree.order[s] < face):
                    best, face = square, tree.order[s]
        if not below:
            node, trail = next_box(node, trail)
    return face if face < count else -1


@dt.func
def after_box(node):
    """Return the box after all that is below one, in depth-first order, 0 for none."""
    ones = 31 - ti.math.clz(~node & -(~node))
    up = node >> ones
    return 0 if up == 0 else up + 1


@dt.func
def find_in_box(tree, world, lower, upper, after):
    """Return the next triangle after one, in the order of the tree, in a box; -1 for none."""
    count, leaves = tree.faces.shape[0], tree.lower.shape[1] // 2
    place, node, found = 0, 1, -1
    if after >= 0:
        place = tree.places[min(after, count - 1)] + 1
        node = leaves + leaf_of(place, leaves, count) if place < count else 0
    if not (is_finite(lower) and is_finite(upper)):
        node = 0
    while node > 0:
        inside = (tree.upper[world, node] - lower).min() >= 0.0 and (
            upper - tree.lower[world, node]
        ).min() >= 0.0
        if inside and node < leaves:
            node = 2 * node
        else:
            if inside:
                first = first_of(node - leaves, leaves, count)
                for s in range(max(first, place), first_of(node - leaves + 1, leaves, count)):
                    a, b = tree.corners[world, s, 0], tree.corners[world, s, 1]
                    c = tree.corners[world, s, 2]
                    if found < 0 and in_box(a, b, c, lower, upper):
                        found = tree.order[s]
            node = after_box(node) if found < 0 else 0
    return found
