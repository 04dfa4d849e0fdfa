"""Convex shapes by their support functions: the point that is furthest in a direction.

A shape is a core and a radius around it: a sphere is a point, a capsule a segment. All others are
their own core. Points of a core are written in parts of its `scale`, so that they follow the sizes
of geoms.
"""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import BOX, CAPSULE, CYLINDER, ELLIPSOID, MESH, SPHERE

# Surfaces on which the furthest point changes with the direction.
FLAT, ROUND, RIM = range(3)
_LEAST = 1e-15


@dt.data_oriented(frozen=True)
class Shapes:
    """Support functions of the types of geoms that occur.

    Args:
        types: The types.
    """

    def __init__(self, types: Any) -> None:
        self.meshes, self.boxes = MESH in types, BOX in types
        self.cylinders, self.ellipsoids = CYLINDER in types, ELLIPSOID in types
        self.smooth = self.cylinders or self.ellipsoids

    @dt.func
    def scale(self, m, g):
        """Return the scale of a core along its axes [m]."""
        kind, size = m.geom_type[g], m.geom_size[g]
        found = ti.Vector([1.0, 1.0, 1.0])
        if kind == BOX or kind == ELLIPSOID:
            found = size
        elif kind == CYLINDER:
            found = ti.Vector([size[0], size[0], size[1]])
        elif kind == CAPSULE:
            found = ti.Vector([1.0, 1.0, size[1]])
        return found

    @dt.func
    def radius(self, m, g):
        """Return the radius around a core [m]."""
        found = 0.0
        if m.geom_type[g] == SPHERE or m.geom_type[g] == CAPSULE:
            found = m.geom_size[g][0]
        return found

    @dt.func
    def furthest(self, m, g, way, start):
        """Return the point of a core that is furthest in a direction, and its number.

        Args:
            m: The parameters of the model.
            g: The geom.
            way: The direction, in the frame of the geom.
            start: The number of a vertex to begin with, -1 if none is known.

        Returns:
            The point, in the frame of the geom [m]; the vertex, the end of a capsule or a cylinder,
            or 0.
        """
        kind, size, found = m.geom_type[g], m.geom_size[g], 0
        point = ti.Vector([0.0, 0.0, 0.0])
        if kind == BOX:
            for k in ti.static(range(3)):
                point[k] = -size[k]
                if way[k] >= 0.0:
                    point[k] = size[k]
                    found += 1 << k
        elif kind == CAPSULE or kind == CYLINDER:
            point[2] = -size[1]
            if way[2] >= 0.0:
                point[2] = size[1]
                found = 1
            if ti.static(self.cylinders):
                across = ti.sqrt(way[0] * way[0] + way[1] * way[1])
                if kind == CYLINDER and across > _LEAST:
                    point[0] = way[0] * size[0] / across
                    point[1] = way[1] * size[0] / across
        if ti.static(self.ellipsoids):
            if kind == ELLIPSOID:
                scaled = size * way
                point = size * scaled / max(scaled.norm(), _LEAST)
        if ti.static(self.meshes):
            if kind == MESH:
                found = self.climb(m, m.geom_hull[g], way, max(start, 0))
                point = m.hull_vert[m.hull_vertadr[m.geom_hull[g]] + found]
        return point, found

    @dt.func
    def climb(self, m, hull, way, start):
        """Return the vertex of a hull that is furthest in a direction, from one to a higher one.

        A hull whose edges are not known is searched from its first vertex to the last.
        """
        first, best = m.hull_vertadr[hull], start
        top = m.hull_vert[first + best].dot(way)
        if m.hull_edgeadr[first] == m.hull_edgeadr[first + 1]:
            for v in range(m.hull_vertnum[hull]):
                height = m.hull_vert[first + v].dot(way)
                if height > top:
                    top, best = height, v
        for _ in range(m.hull_vertnum[hull]):
            before = best
            for e in range(m.hull_edgeadr[first + before], m.hull_edgeadr[first + before + 1]):
                height = m.hull_vert[first + m.hull_edge[e]].dot(way)
                if height > top:
                    top, best = height, m.hull_edge[e]
            if best == before:
                break
        return best

    @dt.func
    def at(self, m, g, normal, part, surface, thick):
        """Return a point of a geom on whose surface the normal is as given, in its frame [m].

        Args:
            m: The parameters of the model.
            g: The geom.
            normal: The outward normal, in the frame of the geom.
            part: The point if the surface is FLAT, in parts of the scale of the core; of a RIM its
                end of the cylinder.
            surface: FLAT, ROUND or RIM.
            thick: Whether the surface is that around the core, by its radius.
        """
        size = m.geom_size[g]
        point = self.scale(m, g) * part
        if ti.static(self.ellipsoids):
            if surface == ROUND:
                scaled = size * normal
                point = size * scaled / scaled.norm()
        if ti.static(self.cylinders):
            if surface == RIM:
                across = size[0] / ti.sqrt(normal[0] * normal[0] + normal[1] * normal[1])
                point = ti.Vector([normal[0] * across, normal[1] * across, size[1] * part[2]])
        if thick:
            point += size[0] * normal
        return point

    @dt.func
    def bend(self, m, g, normal, surface, thick, along, other):
        """Return along^T D other, with D the derivative of `at` by the normal, a symmetric matrix.

        Args:
            m, g, normal, surface, thick: As for `at`.
            along, other: Directions in the frame of the geom, perpendicular to the normal.
        """
        size = m.geom_size[g]
        found = 0.0
        if ti.static(self.ellipsoids):
            if surface == ROUND:
                scaled, a, b = size * normal, size * along, size * other
                length = scaled.norm()
                found = a.dot(b) / length - a.dot(scaled) * b.dot(scaled) / length**3
        if ti.static(self.cylinders):
            if surface == RIM:
                square = normal[0] * normal[0] + normal[1] * normal[1]
                a = normal[0] * along[1] - normal[1] * along[0]
                b = normal[0] * other[1] - normal[1] * other[0]
                found = size[0] * a * b / (square * ti.sqrt(square))
        if thick:
            found += size[0] * along.dot(other)
        return found
