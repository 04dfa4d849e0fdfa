"""A tree of boxes around triangles: complete and binary, over the order of a Hilbert curve.

Node k has the children 2 k and 2 k + 1, node 1 is the root, and leaves have 4 to 8 triangles that
follow one another on the curve. There are no pointers: a path through the tree is the number of a
node, and a walk through it keeps one bit for each level in place of a stack.
"""

from __future__ import annotations

import math

import numpy as np

import difftile as dt
from difftile import ti

# Triangles of a leaf, at most. With 2, 4 and 8, rays take 1.8, 1.24 and 1 of the time, and nearest
# points 1.2, 0.9 and 1 (benchmarks/meshes.py, 100,000 triangles, two cores).
LEAF = 8
BITS = 10  # of a cell of the curve along each axis; a key has 3 times as many
EMPTY = 1e30  # the lower corner of a box without triangles; the upper one is at -EMPTY


def leaves_of(triangles: int) -> int:
    """Return the number of leaves, a power of two, for a number of triangles."""
    return 1 << max(0, (triangles - 1).bit_length() - (LEAF.bit_length() - 1))


@dt.func
def corner(vertices, faces, world, face, k):
    """Return one corner of a triangle, in a world if there are several."""
    if ti.static(len(vertices.shape) == 1):
        return vertices[faces[face][k]]
    return vertices[world, faces[face][k]]


@dt.func
def is_finite(v):
    """Return whether all components of a vector are finite, and their squares in f32 too."""
    return abs(v[0]) + abs(v[1]) + abs(v[2]) < 1e18  # nor is NaN


@dt.func
def first_of(leaf, leaves, triangles):
    """Return the place of the first triangle of a leaf on the curve."""
    return leaf * (triangles // leaves) + min(leaf, triangles % leaves)


@dt.func
def leaf_of(place, leaves, triangles):
    """Return the leaf with the triangle at a place on the curve."""
    size, more = triangles // leaves, triangles % leaves
    beyond = place - more * (size + 1)
    return place // (size + 1) if beyond < 0 else more + beyond // size


@dt.func
def on_curve(cell):
    """Return the place of a cell on a Hilbert curve.

    Source: Skilling, Programming the Hilbert curve, AIP Conf. Proc. 707, 2004.
    """
    x = cell
    for level in range(BITS - 1):
        bit = 1 << (BITS - 1 - level)
        for k in ti.static(range(3)):
            swap = (x[0] ^ x[k]) & (bit - 1)
            if x[k] & bit != 0:
                x[0] ^= bit - 1
            else:
                x[0] ^= swap
                x[k] ^= swap
    x[1] ^= x[0]
    x[2] ^= x[1]
    turn = 0
    for level in range(BITS - 1):
        bit = 1 << (BITS - 1 - level)
        if x[2] & bit != 0:
            turn ^= bit - 1
    key = 0
    for level in range(BITS):
        for k in ti.static(range(3)):
            key = 2 * key + (((x[k] ^ turn) >> (BITS - 1 - level)) & 1)
    return key


@dt.func
def middle(vertices, faces, face):
    """Return three times the centre of a triangle, the mean over all worlds."""
    total = dt.stop_grad(ti.Vector([0.0, 0.0, 0.0]))
    worlds = 1
    if ti.static(len(vertices.shape) == 2):
        worlds = vertices.shape[0]
    for world in range(worlds):
        for k in ti.static(range(3)):
            total += dt.stop_grad(corner(vertices, faces, world, face, k)) / worlds
    return total


@dt.kernel
def bounds_of(vertices, faces, bounds):
    """Find the box around the centres of all triangles, corner by corner."""
    x, y, z = EMPTY, EMPTY, EMPTY
    u, v, w = -EMPTY, -EMPTY, -EMPTY
    for face in faces:
        at = middle(vertices, faces, face)
        if is_finite(at):
            ti.atomic_min(x, at[0])
            ti.atomic_min(y, at[1])
            ti.atomic_min(z, at[2])
            ti.atomic_max(u, at[0])
            ti.atomic_max(v, at[1])
            ti.atomic_max(w, at[2])
    bounds[0] = ti.Vector([x, y, z])
    bounds[1] = ti.Vector([u, v, w])


@dt.kernel
def keys_of(vertices, faces, bounds, keys):
    """Find the place of each triangle on the curve, last for triangles that are not finite."""
    for face in faces:
        at = middle(vertices, faces, face)
        key = (1 << (3 * BITS)) - 1
        if is_finite(at):
            side = bounds[1] - bounds[0]
            longest = max(side[0], side[1], side[2], 1e-30)
            scaled = (at - bounds[0]) * (((1 << BITS) - 1) / longest)
            key = on_curve(ti.Vector([int(scaled[k]) for k in ti.static(range(3))]))
        keys[face] = key


@dt.kernel
def fill_leaves(vertices, faces, order, places, corners, lower, upper, pad: float):
    """Copy triangles in the order of the curve, and put a box around those of each leaf.

    Boxes are larger by some units in the last place of the largest coordinate: a ray within a side
    of a box passes through it, and distances to boxes are not too long.
    """
    for world, leaf in ti.ndrange(corners.shape[0], lower.shape[1] // 2):
        leaves = lower.shape[1] // 2
        low, high, far = ti.Vector([EMPTY] * 3), ti.Vector([-EMPTY] * 3), 0.0
        for s in range(
            first_of(leaf, leaves, faces.shape[0]), first_of(leaf + 1, leaves, faces.shape[0])
        ):
            face = max(order[s], 0)
            if world == 0:
                places[face] = s
            a = dt.stop_grad(corner(vertices, faces, world, face, 0))
            b = dt.stop_grad(corner(vertices, faces, world, face, 1))
            c = dt.stop_grad(corner(vertices, faces, world, face, 2))
            if order[s] < 0:
                a *= math.nan
            corners[world, s, 0], corners[world, s, 1], corners[world, s, 2] = a, b, c
            if is_finite(a) and is_finite(b) and is_finite(c):
                low, high = min(low, a, b, c), max(high, a, b, c)
                far = max(far, abs(low).max(), abs(high).max())
        lower[world, leaves + leaf] = low - pad * far
        upper[world, leaves + leaf] = high + pad * far


@dt.kernel
def fill_level(lower, upper, lower_below, upper_below):
    """Put boxes around pairs of boxes."""
    for world, k in lower:
        lower[world, k] = min(lower_below[world, 2 * k], lower_below[world, 2 * k + 1])
        upper[world, k] = max(upper_below[world, 2 * k], upper_below[world, 2 * k + 1])


class Tree:
    """Boxes around triangles, and copies of these in the order of the curve.

    Memory: with numbers of s bytes, m triangles take 9 s + 8 bytes each, and 2 L boxes 6 s
    each, with L leaves, m / 8 <= L < m / 4; all but the 8 bytes in every world.

    Args:
        vertices: Positions, shape (n,) or (worlds, n).
        faces: Three vertices for each triangle, shape (m,), at least one.
        empty: None of the triangles is ever found.
    """

    def __init__(self, vertices: dt.Field, faces: dt.Field, empty: bool) -> None:
        count, leaves = faces.shape[0], leaves_of(faces.shape[0])
        worlds = vertices.shape[0] if len(vertices.shape) == 2 else 1
        self.vertices, self.faces, self.empty = vertices, faces, empty
        self.order, self.places = dt.zeros(count, ti.i32), dt.zeros(count, ti.i32)
        self.corners = dt.zeros((worlds, count, 3), vertices.dtype)
        self.lower = dt.zeros((worlds, 2 * leaves), vertices.dtype)
        self.upper = dt.zeros((worlds, 2 * leaves), vertices.dtype)
        self._pad = 4 * float(np.finfo(vertices.numpy_dtype).eps)

    def rebuild(self) -> None:
        """Sort the triangles again, and refit."""
        if self.empty:
            self.order.fill(-1)
        else:
            self._sort()
        self.refit()

    def _sort(self) -> None:
        bounds = dt.zeros(2, self.vertices.dtype)
        keys = dt.zeros(self.faces.shape[0], ti.i32)
        bounds_of(self.vertices, self.faces, bounds)
        keys_of(self.vertices, self.faces, bounds, keys)
        self.order.copy_from(dt.sort(keys))

    def refit(self) -> None:
        """Find all boxes again, in the order that the triangles have."""
        memory = self.order, self.places, self.corners, self.lower, self.upper
        fill_leaves(self.vertices, self.faces, *memory, self._pad)
        n = self.lower.shape[1] // 4
        while n:
            here, below = slice(n, 2 * n), slice(2 * n, 4 * n)
            fill_level(*(x[:, at] for at in (here, below) for x in (self.lower, self.upper)))
            n //= 2
