"""Readings of sensors of the distance of geoms."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.distance_query import DistanceQuery
from difftile.worlds.topology import Sizes


@dt.data_oriented(frozen=True)
class GapSensors:
    """Readings of the distances of geoms, for models of some sizes.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.query = DistanceQuery(sizes, frozenset(sizes.measured))

    @dt.func
    def pair(self, m, k, bodies):
        """Return the distance of a pair of geoms, and the points of both between which it is."""
        dist, x1, x2 = self.query.between(m, m.gap_geom1[k], m.gap_geom2[k], bodies[0], bodies[1])
        start, end = x1, x2
        if m.gap_swapped[k] == 1:
            start, end = x2, x1
        return dist, start, end

    @dt.func
    def nearest(self, m, s, bodies):
        """Return the distance that a sensor measures, and the points between which it is [m].

        From its cutoff on it is the cutoff, and the points are 0.
        """
        dist, which = m.sensor_cutoff[s], -1
        for k in range(m.gap_adr[s], m.gap_adr[s] + m.gap_num[s]):
            found = self.pair(m, k, bodies)[0]
            if found < dist:
                dist, which = found, k
        start, end = ti.Vector([0.0, 0.0, 0.0]), ti.Vector([0.0, 0.0, 0.0])
        if which >= 0:
            dist, start, end = self.pair(m, which, bodies)
        return dist, start, end
