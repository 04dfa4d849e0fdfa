"""Contacts of two boxes, as MuJoCo 4 has them (`mjc_BoxBox`).

The axis along which the boxes are furthest apart is a normal of a face of one, or perpendicular to
an edge of either (Gottschalk, Lin and Manocha 1996). A face has contacts with the face of the other
box that looks at it most, clipped by its sides; edges have one.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.features import OWNER2, PINNED, THERE, WAYS
from difftile.worlds.polygons import Polygons

_SLACK = 1e-13  # of the separation, in sums of sizes, for rounding
_PARALLEL = 1e-16  # the square of the sine up to which edges have no axis
_BIAS = 1e-6  # by which an edge must be better than a face
_ALIKE, _FUDGE = 0.99, 0.05  # an edge within 8 degrees of a face must be better by 5 percent
_SAME = 1e-14  # square of the distance of points that are one, in sizes of the face
_FAR = 1e10


@dt.func
def overlap(axis, apart, axes, size1, size2):
    """Return how far two boxes are apart along an axis [m]."""
    reach = 0.0
    for k in ti.static(range(3)):
        reach += size1[k] * abs(axes[0][:, k].dot(axis)) + size2[k] * abs(axes[1][:, k].dot(axis))
    return abs(axis.dot(apart)) - reach


@dt.data_oriented(frozen=True)
class BoxPairs:
    """Features of two boxes.

    Args:
        polygons: The polygons of the geoms.
    """

    def __init__(self, polygons: Polygons) -> None:
        self.polygons = polygons

    @dt.func
    def axis(self, k, axes):
        """Return axis k: 0 to 5 the normals of faces, 6 + 3 i + j of edges; 0 for parallel ones."""
        found = axes[0][:, k % 3]
        if k >= 6:
            found = axes[0][:, (k - 6) // 3].cross(axes[1][:, (k - 6) % 3])
            square = found.norm_sqr()
            if square >= _PARALLEL:
                found /= ti.sqrt(square)
            else:
                found *= 0.0
        elif k >= 3:
            found = axes[1][:, k - 3]
        return found

    @dt.func
    def separating(self, m, pair, reach, apart, axes):
        """Return the axis of the contact, and how far the boxes are apart along it; -1 if too far.

        Args:
            m, pair: The parameters of the model, and the geoms.
            reach: The distance up to which there are contacts [m].
            apart: The centre of the first box less that of the second.
            axes: Their orientations.
        """
        size1, size2 = m.geom_size[pair[0]], m.geom_size[pair[1]]
        most = reach + _SLACK * (size1.sum() + size2.sum())
        best, of_face, found, face = -_FAR, -_FAR, -1, -1
        far = False
        for k in range(15):
            way = self.axis(k, axes)
            if way.norm_sqr() > 0.5:
                sep = overlap(way, apart, axes, size1, size2)
                if sep > most:
                    far = True
                if k < 6:
                    if sep > best:
                        best, found = sep, k
                        of_face, face = sep, k
                elif sep - _BIAS * abs(sep) > best and sep > of_face:
                    best, found = sep, k
        if found >= 6:
            alike = abs(self.axis(found, axes).dot(self.axis(face, axes)))
            if alike > _ALIKE and best < of_face + _FUDGE * abs(of_face) + 1e-15:
                found = face
        if far:
            found = -1
        return found

    @dt.func
    def find(self, m, s, pair, reach, places, axes, found):
        """Write the features of two boxes from slot s on.

        Args:
            m, pair, reach, axes: As for `separating`.
            s: The first slot.
            places: The centres of the boxes.
            found: The features.
        """
        k = self.separating(m, pair, reach, places[0] - places[1], axes)
        if k >= 6:
            self.edges(m, s, pair, reach, (k - 6) // 3, (k - 6) % 3, places, axes, found)
        elif k >= 3:
            self.face(m, s, pair, 1, k - 3, reach, places, axes, found)
        elif k >= 0:
            self.face(m, s, pair, 0, k, reach, places, axes, found)

    @dt.func
    def edges(self, m, s, pair, reach, i, j, places, axes, found):
        """Write the feature of two edges, along axis i of the first box and j of the second."""
        size1, size2 = m.geom_size[pair[0]], m.geom_size[pair[1]]
        u, v = axes[0][:, i], axes[1][:, j]
        n, apart = self.axis(6 + 3 * i + j, axes), places[0] - places[1]
        if n.dot(apart) > 0.0:
            n = -n
        one, other = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
        for k in ti.static(range(3)):
            if k != i:
                one[k] = 1.0 if axes[0][:, k].dot(n) >= 0.0 else -1.0
            if k != j:
                other[k] = -1.0 if axes[1][:, k].dot(n) >= 0.0 else 1.0
        gap = axes[1] @ (size2 * other) - axes[0] @ (size1 * one) - apart
        b = u.dot(v)
        x, y = u.dot(gap), v.dot(gap)
        free = (x - b * y) / (1.0 - b * b)
        at1 = ti.math.clamp(free, -size1[i], size1[i])
        at2 = ti.math.clamp(b * at1 - y, -size2[j], size2[j])
        pinned = 0
        if at1 != free or at2 != b * at1 - y:
            pinned = 1
        at1 = ti.math.clamp(x + b * at2, -size1[i], size1[i])
        one[i] = at1 / size1[i]
        other[j] = at2 / size2[j]
        dist = n.dot(gap + v * at2 - u * at1)
        if dist <= reach + _SLACK * (size1.sum() + size2.sum()):
            way1, way2 = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
            way1[i] = 1.0
            way2[j] = 1.0
            found[0][s] = THERE + 2 * WAYS + OWNER2 + pinned * PINNED
            found[1][s] = n
            found[2][s] = one
            found[3][s] = other
            found[4][s] = way1
            found[5][s] = way2

    @dt.func
    def face(self, m, s, pair, second, k, reach, places, axes, found):
        """Write the features of a face of a box, along its axis k, with the other box.

        Args:
            m, s, pair, reach, places, axes, found: As for `find`.
            second: 1 if the face is of the second box.
            k: Its axis.
        """
        c, p, place, other = pair[0], pair[1], places[0], places[1]
        axes_c, axes_p = axes[0], axes[1]
        if second == 1:
            c, p, place, other = p, c, other, place
            axes_c, axes_p = axes_p, axes_c
        n = axes_c[:, k]
        face = 2 * k
        if n.dot(other - place) < 0.0:
            face += 1
            n = -n
        facing = axes_p.transpose() @ n
        best = 0
        for j in ti.static(range(1, 3)):
            if abs(facing[j]) > abs(facing[best]):
                best = j
        polygon = 2 * best
        if facing[best] > 0.0:
            polygon += 1
        given, spare = self.polygons.polygon(), self.polygons.polygon()
        points, sides, accepted = given[0], given[1], spare[0]
        for corner in range(4):
            points[corner] = other + axes_p @ self.polygons.corner(m, p, polygon, corner)
            sides[corner] = corner
        count = self.polygons.clipped(m, c, face, place, axes_c, given, 4, spare)
        origin = place + axes_c @ self.polygons.corner(m, c, face, 0)
        same = _SAME * m.geom_size[c].norm_sqr()
        kept = 0
        for i in range(count):
            point = points[i]
            height = n.dot(point - origin)
            if height <= reach and kept < 8:
                again = False
                for n_kept in range(kept):
                    between = point - accepted[n_kept]
                    between -= n * n.dot(between)
                    if between.norm_sqr() < same:
                        again = True
                if not again:
                    accepted[kept] = point
                    before = sides[count - 1 if i == 0 else i - 1]
                    self.polygons.record(
                        m,
                        pair,
                        second,
                        0,
                        (face, polygon),
                        n,
                        0.0 * n,
                        places,
                        axes,
                        point,
                        before,
                        sides[i],
                        found,
                        s + kept,
                    )
                    kept += 1
