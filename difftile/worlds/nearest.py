"""The nearest features of two geoms: searched, polished, and measured."""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.features import Features
from difftile.worlds.gjk import APART, DEEP, ConvexSearch
from difftile.worlds.kinds import CYLINDER, ELLIPSOID
from difftile.worlds.shapes import Shapes

POLISHES = 8  # steps of Newton's method for a normal


@dt.data_oriented(frozen=True)
class Nearest:
    """The nearest features of two convex geoms, or of a plane and one of them.

    Args:
        types: The types of geoms that occur.
        count: The number of features that are kept.
    """

    def __init__(self, types: Any, count: int) -> None:
        self.shapes = Shapes(types)
        self.features, self.search = Features(self.shapes, count), ConvexSearch(self.shapes)

    @dt.func
    def on_plane(self, m, s, pair, places, axes, known, weights, found):
        """Write the feature of a plane and the lowest point of a geom to slot s.

        Args:
            m, s, pair: The parameters of the model, the slot, and the geoms.
            places, axes: Centres and orientations of the geoms.
            known, weights: Memory for a simplex, which becomes that point.
            found: The features.

        Returns:
            The number of the point, and its height above the plane, without a radius [m].
        """
        n = axes[0][:, 2]
        way = -(axes[1].transpose() @ n)
        point, v = self.shapes.furthest(m, pair[1], way, 0)
        lowest, ids = known[2], known[4]
        weights[0] = 1.0
        lowest[0] = point
        ids[0] = v
        self.features.record(m, pair, axes, known, weights, 1, n, found, s)
        return v, n.dot(places[1] - places[0]) - point.dot(way)

    @dt.func
    def touch(self, m, s, pair, reach, places, axes, known, weights, found):
        """Write the feature at the nearest points of two convex geoms to slot s.

        Args:
            m, s, pair, places, axes, found: As for `on_plane`.
            reach: The distance up to which it is needed [m].
            known, weights: Result: the simplex of the feature; see `ConvexSearch`.

        Returns:
            APART, NEAR or DEEP, and the number of vertices of the simplex.
        """
        apart = places[0] - places[1]
        reach += self.shapes.radius(m, pair[0]) + self.shapes.radius(m, pair[1])
        state, count, x = self.search.nearest(m, pair, apart, axes, reach, known, weights)
        normal = -x / x.norm()
        if state == DEEP:
            if self.search.complete(m, pair, apart, axes, known, count):
                close = 16.0 * m.rounding[None]
                if self.curved(m, pair[0]) or self.curved(m, pair[1]):
                    close = 0.1 * ti.sqrt(m.rounding[None])
                normal = self.search.expand(m, pair, apart, axes, close, known, weights)
                count = 3
            else:
                state = APART
        if state != APART:
            self.features.record(m, pair, axes, known, weights, count, normal, found, s)
            parts, ways = (found[2][s], found[3][s]), (found[4][s], found[5][s])
            code, normals = found[0][s], found[1]
            for _ in range(POLISHES):
                before = normals[s]
                after = self.features.normal(m, pair, code, before, parts, ways, apart, axes)
                normals[s] = after
                if (after - before).norm() <= m.rounding[None]:
                    break
        return state, count

    @dt.func
    def curved(self, m, g):
        """Return whether a core is no polytope."""
        return m.geom_type[g] == CYLINDER or m.geom_type[g] == ELLIPSOID

    @dt.func
    def measured(self, m, s, pair, places, axes, found):
        """Return distance, point and normal of the contact of the feature in slot s."""
        return self.features.contact(
            m,
            pair,
            found[0][s],
            found[1][s],
            (found[2][s], found[3][s]),
            (found[4][s], found[5][s]),
            places,
            axes,
        )
