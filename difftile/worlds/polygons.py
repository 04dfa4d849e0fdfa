"""Contacts of faces of polytopes: what one flat polygon has above another.

The corners of a polygon that are above a face, after the clipping of its sides, are contacts
(Sutherland and Hodgman 1974). Each is a corner of the polygon, a point where one of its sides
crosses a side of the face, or one above a corner of the face. Which, is a feature in the sense of
`features`, with POLYGON in its code; its vectors are, each in the frame of its geom:

* the normal of the face, and that of the polygon;
* the point of the polygon and that of the face below it, in parts of the scales;
* the direction of the side of the polygon, and the normal of the side of the face.

The polygon may be an edge, and the edge a line on a cylinder or a capsule, next to its axis.
"""

from __future__ import annotations

import difftile as dt
from difftile.worlds.features import POLYGON, THERE, part_of
from difftile.worlds.kinds import MESH
from difftile.worlds.quaternions import vec3
from difftile.worlds.shapes import Shapes

# Parts of the code of such a feature: which kind of point, whether the face is of the second geom,
# whether the contact is that of the point of the face, with the normal of the polygon, and whether
# the polygon is a line next to an axis.
CORNER, CROSSING, BELOW = range(3)
POINT, SECOND, TILTED, LINE = 4, 16, 32, 64
_INSIDE = 1e-15
_SAME = 1e-14  # square of the distance of points that are one, in parts of the face


@dt.data_oriented(frozen=True)
class Polygons:
    """Contacts of polygons.

    A polygon is a tuple of arrays: its points, and for each the side that begins there: that of the
    polygon itself, or -1 - k for side k of the face that clipped it.

    Args:
        shapes: The shapes of the geoms.
        corners: The largest number of corners of a face.
    """

    def __init__(self, shapes: Shapes, corners: int) -> None:
        self.shapes, self.corners = shapes, 2 * max(corners, 4)

    @dt.func
    def polygon(self):
        """Return a polygon without points."""
        return dt.local(self.corners, vec3), dt.local(self.corners, int)

    @dt.func
    def normal(self, m, g, face):
        """Return the normal of a face, in the frame of its geom."""
        return m.hull_normal[m.hull_faceadr[m.geom_hull[g]] + face]

    @dt.func
    def sides(self, m, g, face):
        """Return the number of sides of a face."""
        f = m.hull_faceadr[m.geom_hull[g]] + face
        return m.hull_cornadr[f + 1] - m.hull_cornadr[f]

    @dt.func
    def corner(self, m, g, face, k):
        """Return a corner of a face, in the frame of its geom, clockwise; k may go round."""
        hull = m.geom_hull[g]
        f = m.hull_faceadr[hull] + face
        last = m.hull_cornadr[f + 1] - 1
        v = m.hull_corn[last - k % (last + 1 - m.hull_cornadr[f])]
        found = m.hull_vert[m.hull_vertadr[hull] + v]
        if m.geom_type[g] != MESH:
            found = self.shapes.scale(m, g) * found
        return found

    @dt.func
    def clip(self, origin, inward, side, given, count, result):
        """Cut a polygon at a plane.

        Args:
            origin, inward: A point of the plane, and its normal.
            side: The number of the side of the face.
            given, count: The polygon.
            result: Result: the part of it.

        Returns:
            The number of points of the result.
        """
        found = 0
        points, sides, cut, cut_sides = given[0], given[1], result[0], result[1]
        for i in range(count):
            j = 0 if i == count - 1 else i + 1
            p, q = points[i], points[j]
            a, b = inward.dot(p - origin), inward.dot(q - origin)
            if (a > -_INSIDE) != (b > -_INSIDE) and found < self.corners:
                cut[found] = p + (q - p) * (a / (a - b))
                cut_sides[found] = -1 - side if a > b else sides[i]
                found += 1
            if b > -_INSIDE and found < self.corners:
                cut[found] = q
                cut_sides[found] = sides[j]
                found += 1
        return found

    @dt.func
    def clipped(self, m, g, face, place, axes, given, count, spare):
        """Cut a polygon at the planes through the sides of a face, and leave it where it was.

        Args:
            m: The parameters of the model.
            g, face, place, axes: The face: geom, number, centre and orientation of the geom.
            given, count: The polygon, which is replaced.
            spare: Memory for another one.

        Returns:
            The number of its points.
        """
        n = axes @ self.normal(m, g, face)
        points, sides, cut, cut_sides = given[0], given[1], spare[0], spare[1]
        for side in range(self.sides(m, g, face)):
            origin = place + axes @ self.corner(m, g, face, side)
            end = place + axes @ self.corner(m, g, face, side + 1)
            inward = (end - origin).cross(n)
            count = self.clip(origin, inward / inward.norm(), side, given, count, spare)
            for k in range(count):
                points[k] = cut[k]
                sides[k] = cut_sides[k]
        return count

    @dt.func
    def record(
        self,
        m,
        pair,
        second,
        flags,
        faces,
        edge,
        offset,
        places,
        axes,
        point,
        before,
        after,
        found,
        s,
    ):
        """Write the feature of a point of a clipped polygon to slot s.

        Args:
            m, pair: The parameters of the model, and the geoms.
            second: 1 if the face that clips is of the second geom.
            flags: TILTED or 0.
            faces: The face that clips, and the polygon, or -1 if it is an edge.
            edge: The direction of that edge, in the frame of its geom.
            offset: Of a line next to an axis from it.
            places, axes: Centres and orientations of the geoms.
            point: The point.
            before, after: The sides that end and begin there.
            found: The features.
            s: The slot.
        """
        c, p = pair[0], pair[1]
        place_c, place_p, axes_c, axes_p = places[0], places[1], axes[0], axes[1]
        if second == 1:
            c, p = p, c
            place_c, place_p, axes_c, axes_p = place_p, place_c, axes_p, axes_c
        n = self.normal(m, c, faces[0])
        local = axes_c.transpose() @ (point - place_c)
        local -= n * n.dot(local - self.corner(m, c, faces[0], 0))
        code, way, normal = CORNER, edge, n
        if faces[1] >= 0:
            normal = self.normal(m, p, faces[1])
        if before < 0 and after < 0:
            code = BELOW
        elif before < 0 or after < 0:
            code = CROSSING
            own, cut = max(before, after), -1 - min(before, after)
            side = self.corner(m, c, faces[0], cut + 1) - self.corner(m, c, faces[0], cut)
            found[6][s] = side.cross(n)
            if faces[1] >= 0:
                way = self.corner(m, p, faces[1], own + 1) - self.corner(m, p, faces[1], own)
        found[0][s] = THERE + POLYGON + code * POINT + second * SECOND + flags
        if offset.norm_sqr() > 0.0:
            found[0][s] += LINE
        found[1][s] = n
        found[2][s] = (axes_p.transpose() @ (point - offset - place_p)) / self.shapes.scale(m, p)
        found[3][s] = local / self.shapes.scale(m, c)
        found[4][s] = normal
        found[5][s] = way

    @dt.func
    def contact(self, m, pair, code, found, s, offset, thick, places, axes):
        """Return distance, point and normal of the contact of such a feature.

        Args:
            m, pair: The parameters of the model, and the geoms.
            code: Of the feature.
            found, s: The features, and the slot.
            offset, thick: Of a LINE from the axis, and how much of its length is margin.
            places, axes: Centres and orientations of the geoms.
        """
        c, p = pair[0], pair[1]
        place_c, place_p, axes_c, axes_p = places[0], places[1], axes[0], axes[1]
        sign = 1.0
        if part_of(code, SECOND, 2) == 1:
            c, p, sign = p, c, -1.0
            place_c, place_p, axes_c, axes_p = place_p, place_c, axes_p, axes_c
        n, tilted = axes_c @ found[1][s], axes_p @ found[4][s]
        point = place_p + offset + axes_p @ (self.shapes.scale(m, p) * found[2][s])
        below = place_c + axes_c @ (self.shapes.scale(m, c) * found[3][s])
        kind = part_of(code, POINT, 4)
        if kind == BELOW:
            point = below + n * (tilted.dot(point - below) / tilted.dot(n))
        elif kind == CROSSING:
            way, side = axes_p @ found[5][s], axes_c @ found[6][s]
            point -= way * (side.dot(point - below) / side.dot(way))
        dist = n.dot(point - below)
        if part_of(code, TILTED, 2) == 1:
            point -= dist * n
            n, dist = -tilted, -dist * n.dot(tilted)
            point += dist * n
        return dist + thick, point - (0.5 * (dist - thick)) * n, sign * n
