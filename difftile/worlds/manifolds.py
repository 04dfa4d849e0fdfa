"""Several contacts of two polytopes whose faces, or a face and an edge, are almost parallel.

Which faces and edges are compared, and which of the points that are within both count, is the
choice of MuJoCo 4.0 (`multiccd`): those next to the vertices of the deepest point, and four points
at most, with a large area. See decision 126.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import BOX, CAPSULE, CYLINDER, MESH
from difftile.worlds.polygons import TILTED, Polygons

_FACING = 0.996  # the cosine from which on two faces are parallel
_ALONG = 0.0888  # the cosine up to which an edge is parallel to a face
MOST = 4  # contacts
_LEAST = 1e-15


@dt.func
def area(a, b, c, d):
    """Return twice the area of a quadrilateral."""
    return (c - a).cross(d - b).norm()


@dt.data_oriented(frozen=True)
class Manifolds:
    """Features of faces and edges of two polytopes.

    Args:
        polygons: The polygons of the geoms.
    """

    def __init__(self, polygons: Polygons) -> None:
        self.polygons = polygons

    @dt.func
    def has_faces(self, kinds):
        """Return whether both geoms have edges or faces, and one has faces."""
        one, other = False, False
        for kind in ti.static((BOX, MESH, CYLINDER)):
            one = one or kinds[0] == kind
            other = other or kinds[1] == kind
        return (one or kinds[0] == CAPSULE) and (other or kinds[1] == CAPSULE) and (one or other)

    @dt.func
    def round(self, m, g):
        """Return whether the edges of a geom are lines around its axis."""
        return m.geom_type[g] == CAPSULE or m.geom_type[g] == CYLINDER

    @dt.func
    def thicker(self, m, g, half):
        """Return how much further than its radius the line of a geom is from its axis [m].

        As in MuJoCo 4 a capsule is thicker by half of the margin of a pair.
        """
        found = 0.0
        if m.geom_type[g] == CAPSULE:
            found = half
        return found

    @dt.func
    def offset(self, m, g, half, normal, axes):
        """Return how far such a line is from the axis, where a normal points outwards [m].

        As in MuJoCo 4, the line of a capsule whose axis is not perpendicular to the normal is
        nearer to it.
        """
        found = ti.Vector([0.0, 0.0, 0.0])
        if self.round(m, g):
            axis = axes[:, 2]
            found = normal - axis * axis.dot(normal)
            if m.geom_type[g] == CYLINDER:
                found /= max(found.norm(), _LEAST)
            found *= m.geom_size[g][0] + self.thicker(m, g, half)
        return found

    @dt.func
    def corners(self, ids):
        """Return how many of three vertices differ, 1 to 3, and the first that is another."""
        count, other = 1, ids[1]
        if ids[0] == ids[1]:
            other = ids[2]
            if ids[2] != ids[0]:
                count = 2
        elif ids[2] == ids[0] or ids[2] == ids[1]:
            count = 2
        else:
            count = 3
        return count, other

    @dt.func
    def has(self, m, hull, face, v):
        """Return whether a vertex belongs to a face."""
        found = False
        at = m.hull_vertadr[hull] + v
        for k in range(m.hull_mapadr[at], m.hull_mapadr[at + 1]):
            if m.hull_map[k] == face:
                found = True
        return found

    @dt.func
    def around(self, m, g, ids, way):
        """Return the faces at some vertices, as a range of the faces around the first.

        Args:
            m, g: The parameters of the model, and the geom.
            ids: Three vertices, some of which may be the same.
            way: The normal of the contact, outwards, in the frame of the geom.

        Returns:
            The first, the end, and the only face of a box whose vertices have too few, or -1.
        """
        hull = m.geom_hull[g]
        at = m.hull_vertadr[hull] + ids[0]
        first, end, lone, faces = m.hull_mapadr[at], m.hull_mapadr[at + 1], -1, 0
        if self.round(m, g):
            end = first
            if m.geom_type[g] == CYLINDER and ids[0] == ids[1] and ids[0] == ids[2]:
                lone, end = 1 - ids[0], first + 1  # the cap at this end
        if m.geom_type[g] == BOX:
            for k in range(first, end):
                face = m.hull_map[k]
                if self.has(m, hull, face, ids[1]) and self.has(m, hull, face, ids[2]):
                    faces += 1
            count, _other = self.corners(ids)
            if faces != 4 - count:
                end = first
                for face in range(6):
                    if self.polygons.normal(m, g, face).dot(way) > _FACING:
                        lone, end = face, first + 1
        return first, end, lone

    @dt.func
    def face(self, m, g, ids, k, lone):
        """Return face k of the range of `around` if it has all vertices, else -1."""
        found = lone
        if lone < 0:
            hull = m.geom_hull[g]
            face = m.hull_map[k]
            if self.has(m, hull, face, ids[1]) and self.has(m, hull, face, ids[2]):
                found = face
        return found

    @dt.func
    def facing(self, m, pair, ids1, ids2, normal, axes):
        """Return the two faces that look at each other most, or -1 for both."""
        from1, to1, lone1 = self.around(m, pair[0], ids1, axes[0].transpose() @ normal)
        from2, to2, lone2 = self.around(m, pair[1], ids2, -(axes[1].transpose() @ normal))
        one, other, least = -1, -1, -_FACING
        for a in range(from1, to1):
            f = self.face(m, pair[0], ids1, a, lone1)
            if f >= 0:
                n = axes[0] @ self.polygons.normal(m, pair[0], f)
                for b in range(from2, to2):
                    g = self.face(m, pair[1], ids2, b, lone2)
                    if g >= 0:
                        facing = n.dot(axes[1] @ self.polygons.normal(m, pair[1], g))
                        if facing < least:
                            one, other, least = f, g, facing
        return one, other

    @dt.func
    def neighbour(self, m, g, ids, k):
        """Return the end of edge k of a vertex, or the other one of two, or -1."""
        hull = m.geom_hull[g]
        count, found = self.corners(ids)
        at = m.hull_vertadr[hull] + ids[0]
        if self.round(m, g):
            found = 1 - ids[0]
        elif count == 1:
            if m.geom_type[g] == BOX:
                found = ids[0] ^ (1 << k)
            else:  # the corner before it, of a face around it
                f = m.hull_faceadr[hull] + m.hull_map[m.hull_mapadr[at] + k]
                first, end = m.hull_cornadr[f], m.hull_cornadr[f + 1]
                for c in range(first, end):
                    if m.hull_corn[c] == ids[0]:
                        found = m.hull_corn[end - 1 if c == first else c - 1]
        return found

    @dt.func
    def edges(self, m, g, ids):
        """Return how many edges `neighbour` knows."""
        count, _other = self.corners(ids)
        at = m.hull_vertadr[m.geom_hull[g]] + ids[0]
        found = 1
        if count == 1 and not self.round(m, g):
            found = m.hull_mapadr[at + 1] - m.hull_mapadr[at]
        elif count == 3:
            found = 0
        return found

    @dt.func
    def along(self, m, one, ids1, axes1, other, ids2, axes2, normal):
        """Return the first face of the second geom parallel to an edge of the first, and its end.

        Args:
            m: The parameters of the model.
            one, ids1, axes1: The geom with the edge, its vertices, and its orientation.
            other, ids2, axes2: Those of the face.
            normal: The outward normal of the second geom.
        """
        first, end, lone = self.around(m, other, ids2, axes2.transpose() @ normal)
        face, vertex = -1, -1
        start = self.vertex(m, one, ids1[0])
        for a in range(first, end):
            f = self.face(m, other, ids2, a, lone)
            if f >= 0 and face < 0:
                n = axes2 @ self.polygons.normal(m, other, f)
                for k in range(self.edges(m, one, ids1)):
                    v = self.neighbour(m, one, ids1, k)
                    way = axes1 @ (self.vertex(m, one, v) - start)
                    if face < 0 and abs(way.dot(n)) < _ALONG * way.norm():
                        face, vertex = f, v
        return face, vertex

    @dt.func
    def vertex(self, m, g, v):
        """Return a vertex, or an end of an axis, in the frame of its geom [m]."""
        found = m.hull_vert[m.hull_vertadr[m.geom_hull[g]] + v]
        if self.round(m, g):
            found = ti.Vector([0.0, 0.0, m.geom_size[g][1] * (2.0 * v - 1.0)])
        if m.geom_type[g] == BOX:
            found = m.geom_size[g] * found
        return found

    @dt.func
    def find(self, m, s, pair, reach, half, known, vertices, places, axes, found):
        """Write the features of two polytopes from slot s on, in the place of a single one.

        Args:
            m, s, pair: The parameters of the model, the first slot, and the geoms.
            reach, half: The distance up to which there are contacts, and half of that in the model,
                without a distance of gradients [m].
            known, vertices: The simplex of the difference, and its number of vertices; see
                `ConvexSearch`.
            places, axes: Centres and orientations of the geoms.
            found: The features, the single one included.
        """
        normal = found[1][s]
        one, two = min(1, vertices - 1), min(2, vertices - 1)
        ids1 = ti.Vector([known[3][0], known[3][one], known[3][two]])
        ids2 = ti.Vector([known[4][0], known[4][one], known[4][two]])
        given, spare = self.polygons.polygon(), self.polygons.polygon()
        face, polygon = self.facing(m, pair, ids1, ids2, normal, axes)
        second, count, edge, way, offset = 0, 0, -1, normal, 0.0 * normal
        if face < 0:
            count1, _next1 = self.corners(ids1)
            count2, _next2 = self.corners(ids2)
            if count1 < 3:
                second = 1
                face, edge = self.along(m, pair[0], ids1, axes[0], pair[1], ids2, axes[1], -normal)
                offset = self.offset(m, pair[0], half, normal, axes[0])
                count = self.edge(m, pair[0], ids1[0], edge, places[0] + offset, axes[0], given)
            if edge < 0 and count2 < 3:
                second = 0
                face, edge = self.along(m, pair[1], ids2, axes[1], pair[0], ids1, axes[0], normal)
                offset = self.offset(m, pair[1], half, -normal, axes[1])
                count = self.edge(m, pair[1], ids2[0], edge, places[1] + offset, axes[1], given)
        else:
            count = self.polygons.sides(m, pair[1], polygon)
            self.outline(m, pair[1], polygon, places[1], axes[1], given)
        if count > 0:
            c, p, place, turned, p_axes = pair[0], pair[1], places[0], axes[0], axes[1]
            if second == 1:
                c, p, place, turned, p_axes = pair[1], pair[0], places[1], axes[1], axes[0]
            way = p_axes.transpose() @ (given[0][1] - given[0][0])
            count = self.polygons.clipped(m, c, face, place, turned, given, count, spare)
            high = reach - self.thicker(m, p, half)
            count = self.below(m, c, face, place, turned, given, count, spare, high)
            chosen = self.spread(given, count)
            flags = TILTED if edge < 0 else 0
            if edge >= 0 and count > 2:
                chosen = self.farthest(given, count)
            for k in range(MOST):
                i = chosen[k]
                if i >= 0:
                    self.polygons.record(
                        m,
                        pair,
                        second,
                        flags,
                        (face, polygon),
                        way,
                        offset,
                        places,
                        axes,
                        given[0][i],
                        spare[1][i],
                        given[1][i],
                        found,
                        s + k,
                    )

    @dt.func
    def outline(self, m, g, face, place, axes, given):
        """Set a polygon to a face."""
        points, sides = given[0], given[1]
        for k in range(self.polygons.sides(m, g, face)):
            points[k] = place + axes @ self.polygons.corner(m, g, face, k)
            sides[k] = k

    @dt.func
    def edge(self, m, g, start, end, place, axes, given):
        """Set a polygon to an edge; return the number of its points, 0 if there is no edge."""
        count = 0
        if end >= 0:
            given[0][0] = place + axes @ self.vertex(m, g, start)
            given[0][1] = place + axes @ self.vertex(m, g, end)
            given[1][0] = 0
            given[1][1] = 1
            count = 2
        return count

    @dt.func
    def below(self, m, g, face, place, axes, given, count, spare, reach):
        """Keep the points of a polygon within reach of a face; sides before them are in `spare`."""
        n = axes @ self.polygons.normal(m, g, face)
        origin = place + axes @ self.polygons.corner(m, g, face, 0)
        points, sides, before = given[0], given[1], spare[1]
        for i in range(count):
            before[i] = sides[count - 1 if i == 0 else i - 1]
        kept = 0
        for i in range(count):
            if n.dot(points[i] - origin) <= reach:
                points[kept] = points[i]
                sides[kept] = sides[i]
                before[kept] = before[i]
                kept += 1
        return kept

    @dt.func
    def lowest(self, m, g, v, way, corners):
        """Set a polygon to the face around vertex v that looks along a direction most.

        Args:
            m, g: The parameters of the model, and the geom.
            v: The vertex, which becomes the first corner.
            way: The direction, in the frame of the geom.
            corners: Result, counter-clockwise.

        Returns:
            The number of corners.
        """
        at = m.hull_vertadr[m.geom_hull[g]] + v
        best, face, count = -2.0, -1, 0
        for k in range(m.hull_mapadr[at], m.hull_mapadr[at + 1]):
            facing = self.polygons.normal(m, g, m.hull_map[k]).dot(way)
            if facing > best:
                best, face = facing, m.hull_map[k]
        if face >= 0:
            count = self.polygons.sides(m, g, face)
            start, point, points = 0, self.vertex(m, g, v), corners[0]
            for k in range(count):
                if (self.polygons.corner(m, g, face, k) - point).norm_sqr() == 0.0:
                    start = k
            for k in range(count):
                points[k] = self.polygons.corner(m, g, face, start + count - k)
        return count

    @dt.func
    def farthest(self, given, count):
        """Return the ends of the longest line between points of a polygon, then -1 twice."""
        found, longest = ti.Vector([0, 1, -1, -1]), 0.0
        for i in range(count):
            for j in range(i + 1, count):
                square = (given[0][j] - given[0][i]).norm_sqr()
                if square > longest:
                    longest = square
                    found = ti.Vector([i, j, -1, -1])
        return found

    @dt.func
    def spread(self, given, count):
        """Return four points of a polygon with a large area, or all of fewer, then -1.

        Rotating calipers (Dobkin and Snyder 1979) from the first point alone, as in MuJoCo: the
        others go on while the area grows.
        """
        found = ti.Vector([-1, -1, -1, -1])
        for k in ti.static(range(MOST)):
            if k < count:
                found[k] = k
        if count > MOST:
            b, c, d = 1, 2, 3
            p = given[0][0]
            most = area(p, given[0][1], given[0][2], given[0][3])
            for _turn in range(count * count * 4):
                e = (d + 1) % count
                grown = area(p, given[0][b], given[0][c], given[0][e])
                if grown <= most:
                    break
                d, most = e, grown
                for _ in range(count):
                    e = (c + 1) % count
                    grown = area(p, given[0][b], given[0][e], given[0][d])
                    if grown <= most:
                        break
                    c, most = e, grown
                for _ in range(count):
                    e = (b + 1) % count
                    grown = area(p, given[0][e], given[0][c], given[0][d])
                    if grown <= most:
                        break
                    b, most = e, grown
                found = ti.Vector([0, b, c, d])
        return found
