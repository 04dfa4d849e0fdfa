"""What touches what: features of two geoms, and the contact that follows from them.

A feature is found first, and frozen: a point of either core, up to two directions in which it may
slide (of edges and faces), and whether the surface turns with the normal (an ellipsoid, the rim of
a cylinder). All of it is written in the frames of the geoms. What is measured from it has a
derivative: the normal n makes the height n . (x1(n) - x2(n)) of the difference of the geoms least,
perpendicular to the directions, and follows from them alone if there are two. Otherwise one step of
Newton's method from the frozen normal, which solves that already, has the derivative of the
solution (the implicit function theorem).
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE
from difftile.worlds.quaternions import vec3
from difftile.worlds.shapes import FLAT, RIM, ROUND, Shapes

# The parts of a code, which is 0 where there is no feature: the number of directions, the geoms of
# both, surfaces, whether these are around a core, and whether points do not slide.
THERE, POLYGON, WAYS, OWNER1, OWNER2, SURFACE1, SURFACE2 = 1, 2, 4, 16, 32, 64, 256
THICK1, THICK2, PINNED = 1024, 2048, 4096
_PARALLEL = 1e-12  # square of the sine of the angle below which two edges are parallel
_INSIDE = 1e-4  # of the size of a cylinder: the distance from its rim of points that are not on it


@dt.func
def part_of(code, place, count):
    """Return a part of a code that has `count` values."""
    return code // place % count


@dt.func
def across(normal):
    """Return a unit vector perpendicular to another one."""
    e = ti.Vector([0.0, 1.0, 0.0])
    if abs(normal[1]) >= 0.5:
        e = ti.Vector([0.0, 0.0, 1.0])
    e -= normal * normal.dot(e)
    return e / e.norm()


@dt.data_oriented(frozen=True)
class Features:
    """Features of the convex geoms that occur, and contacts from them.

    The features of contact slots are a tuple of arrays: codes; normals in the world;
    points of the first and the second core in parts of their scales; two directions. Those of
    polygons have other vectors in these places; see `polygons`.

    Args:
        shapes: The shapes of the geoms.
        count: The number of slots.
    """

    def __init__(self, shapes: Shapes, count: int) -> None:
        self.shapes, self.count = shapes, max(count, 1)

    @dt.func
    def empty(self):
        """Return an empty tuple of features."""
        return (
            dt.local(self.count, int),
            dt.local(self.count, vec3),
            dt.local(self.count, vec3),
            dt.local(self.count, vec3),
            dt.local(self.count, vec3),
            dt.local(self.count, vec3),
            dt.local(self.count, vec3),
        )

    # Finding

    @dt.func
    def of_core(self, m, g, side: ti.template(), known, weights, count):
        """Return the feature of one core at a point of a simplex.

        Args:
            m, g: The parameters of the model, and the geom.
            side: 0 for the first geom, 1 for the second.
            known, weights, count: The simplex; see `ConvexSearch`.

        Returns:
            The number of directions, these, the point in parts of the scale, FLAT, ROUND or RIM,
            and 1 if the surface is around the core.
        """
        kind, ways, surface, thick = m.geom_type[g], 0, FLAT, 0
        one, other = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
        point = ti.Vector([0.0, 0.0, 0.0])
        for k in range(count):
            point += weights[k] * known[1 + side][k]
            id, first = known[3 + side][k], known[3 + side][0]
            between = known[1 + side][k] - known[1 + side][0]
            if ways == 0 and id != first:
                ways, one = 1, between
            elif ways == 1 and id != first and id != known[3 + side][1]:
                ways, other = 2, between
        part = point / self.shapes.scale(m, g)
        if kind == SPHERE or kind == CAPSULE:
            thick = 1
        elif kind == PLANE:
            ways, one, other = 2, ti.Vector([1.0, 0.0, 0.0]), ti.Vector([0.0, 1.0, 0.0])
        if ti.static(self.shapes.ellipsoids):
            if kind == ELLIPSOID:
                ways, surface = 0, ROUND
        if ti.static(self.shapes.cylinders):
            if kind == CYLINDER:
                wide = ti.sqrt(part[0] * part[0] + part[1] * part[1])
                if wide < 1.0 - _INSIDE and abs(part[2]) > 1.0 - _INSIDE:
                    ways = 2
                    one, other = ti.Vector([1.0, 0.0, 0.0]), ti.Vector([0.0, 1.0, 0.0])
                elif abs(part[2]) < 1.0 - _INSIDE:
                    ways, thick, one = 1, 1, ti.Vector([0.0, 0.0, 1.0])
                    part = ti.Vector([0.0, 0.0, part[2]])
                else:
                    ways, surface = 0, RIM
                    part = ti.Vector([0.0, 0.0, 1.0 if part[2] > 0.0 else -1.0])
        return ways, one, other, part, surface, thick

    @dt.func
    def record(self, m, pair, axes, known, weights, count, normal, found, s):
        """Write the feature at a point of a simplex to slot s.

        Args:
            m: The parameters of the model.
            pair, axes: The geoms, and their orientations.
            known, weights, count: The simplex; see `ConvexSearch`.
            normal: The normal, from the first geom to the second.
            found: The features.
            s: The slot.
        """
        ways1, a1, b1, part1, surface1, thick1 = self.of_core(m, pair[0], 0, known, weights, count)
        ways2, a2, b2, part2, surface2, thick2 = self.of_core(m, pair[1], 1, known, weights, count)
        ways, one, other, owner1, owner2 = 0, a1, b1, 0, 0
        if ways1 == 2:
            ways = 2
        elif ways2 == 2:
            ways, one, other, owner1, owner2 = 2, a2, b2, 1, 1
        elif ways1 == 1 and ways2 == 1:
            u, v = axes[0] @ a1, axes[1] @ a2
            ways, other, owner2 = 1, a2, 1
            if u.cross(v).norm_sqr() > _PARALLEL * u.norm_sqr() * v.norm_sqr():
                ways = 2
        elif ways1 == 1:
            ways = 1
        elif ways2 == 1:
            ways, one, owner1 = 1, a2, 1
        code = THERE + ways * WAYS + owner1 * OWNER1 + owner2 * OWNER2
        code += surface1 * SURFACE1 + surface2 * SURFACE2 + thick1 * THICK1 + thick2 * THICK2
        found[0][s] = code
        found[1][s] = normal
        found[2][s] = part1
        found[3][s] = part2
        found[4][s] = one
        found[5][s] = other

    # Measuring

    @dt.func
    def height(self, m, pair, code, parts, apart, axes, normal):
        """Return the difference of the points of both geoms with a normal, and their sum."""
        one = self.shapes.at(
            m,
            pair[0],
            axes[0].transpose() @ normal,
            parts[0],
            part_of(code, SURFACE1, 4),
            part_of(code, THICK1, 2) == 1,
        )
        other = self.shapes.at(
            m,
            pair[1],
            -(axes[1].transpose() @ normal),
            parts[1],
            part_of(code, SURFACE2, 4),
            part_of(code, THICK2, 2) == 1,
        )
        x1, x2 = apart + axes[0] @ one, axes[1] @ other
        return x1 - x2, x1 + x2

    @dt.func
    def bend(self, m, pair, code, axes, normal, along, other):
        """Return along^T D other, with D the derivative of the difference by the normal."""
        found = self.shapes.bend(
            m,
            pair[0],
            axes[0].transpose() @ normal,
            part_of(code, SURFACE1, 4),
            part_of(code, THICK1, 2) == 1,
            axes[0].transpose() @ along,
            axes[0].transpose() @ other,
        )
        return found + self.shapes.bend(
            m,
            pair[1],
            axes[1].transpose() @ normal,
            part_of(code, SURFACE2, 4),
            part_of(code, THICK2, 2) == 1,
            axes[1].transpose() @ along,
            axes[1].transpose() @ other,
        )

    @dt.func
    def directions(self, code, ways, axes):
        """Return both directions in the world."""
        one, other = axes[0] @ ways[0], axes[0] @ ways[1]
        if part_of(code, OWNER1, 2) == 1:
            one = axes[1] @ ways[0]
        if part_of(code, OWNER2, 2) == 1:
            other = axes[1] @ ways[1]
        return one, other

    @dt.func
    def normal(self, m, pair, code, normal, parts, ways, apart, axes):
        """Return the normal that makes the height least, from one near it.

        Args:
            m, pair: The parameters of the model, and the geoms.
            code, normal, parts, ways: The feature: its vectors by twos.
            apart: The centre of the first geom less that of the second [m].
            axes: The orientations of the geoms.
        """
        one, other = self.directions(code, ways, axes)
        count = part_of(code, WAYS, 4)
        n = normal
        if count == 2:
            found = one.cross(other)
            if found.dot(normal) < 0.0:
                found = -found
            n = found / found.norm()
        else:
            if count == 1:
                n -= one * (one.dot(n) / one.norm_sqr())
                n /= n.norm()
            a = across(n)
            if count == 1:
                a = one.cross(n)
                a /= a.norm()
            b = n.cross(a)
            y, _sum = self.height(m, pair, code, parts, apart, axes, n)
            depth, ya, yb = n.dot(y), a.dot(y), b.dot(y)
            aa = self.bend(m, pair, code, axes, n, a, a) - depth
            if count == 1:
                if aa > 0.0:
                    n -= a * (ya / aa)
            else:
                ab = self.bend(m, pair, code, axes, n, a, b)
                bb = self.bend(m, pair, code, axes, n, b, b) - depth
                det = aa * bb - ab * ab
                if aa > 0.0 and det > 0.0:
                    n -= a * ((bb * ya - ab * yb) / det) + b * ((aa * yb - ab * ya) / det)
            n /= n.norm()
        return n

    @dt.func
    def contact(self, m, pair, code, normal, parts, ways, places, axes):
        """Return distance, point and normal of the contact of a feature; see `normal`.

        Args:
            m, pair, code, normal, parts, ways, axes: As for `normal`.
            places: The centres of the geoms.
        """
        apart = places[0] - places[1]
        n = self.normal(m, pair, code, normal, parts, ways, apart, axes)
        y, total = self.height(m, pair, code, parts, apart, axes, n)
        one, other = self.directions(code, ways, axes)
        count = part_of(code, WAYS, 4) * (1 - part_of(code, PINNED, 2))
        dist = -n.dot(y)
        rest = y + dist * n  # what sliding takes away
        sign1 = 1.0 - 2.0 * part_of(code, OWNER1, 2)
        sign2 = 1.0 - 2.0 * part_of(code, OWNER2, 2)
        if count == 1:
            total -= one * (sign1 * rest.dot(one) / one.norm_sqr())
        elif count == 2:
            aa, ab, bb = one.norm_sqr(), one.dot(other), other.norm_sqr()
            ra, rb = rest.dot(one), rest.dot(other)
            det = aa * bb - ab * ab
            total -= one * (sign1 * (bb * ra - ab * rb) / det)
            total -= other * (sign2 * (aa * rb - ab * ra) / det)
        return dist, places[1] + 0.5 * total, n
