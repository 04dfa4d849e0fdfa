"""The signed distance of two geoms in a kernel: `DistanceQuery`."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.collide import FAR
from difftile.worlds.gjk import APART
from difftile.worlds.kinds import PLANE
from difftile.worlds.kinematics import Kinematics
from difftile.worlds.nearest import Nearest
from difftile.worlds.quaternions import matrix, product, turned
from difftile.worlds.topology import Sizes


@dt.func
def searched(query, m, pair, places, axes, found):
    """Write the nearest features of two geoms to slot 0, without a derivative."""
    query.search(m, pair, places, axes, found)


@searched.backward
def _(query, m, pair, places, axes, found):
    nothing = 0.0 * axes[0]
    return (0.0 * places[0], 0.0 * places[1]), (nothing, nothing)


@dt.data_oriented(frozen=True)
class DistanceQuery:
    """Funcs for kernels: distances of pairs of geoms, for models of some sizes.

    Args:
        sizes: The sizes.
        types: The types of geoms that occur.
    """

    def __init__(self, sizes: Sizes, types: frozenset[int]) -> None:
        self.nearest, self.planes = Nearest(types, 1), PLANE in types
        self.kinematics = Kinematics(sizes)
        self.nbody, self.njnt = sizes.nbody, max(1, sizes.njnt)

    @dt.func
    def between(self, m, one, other, xpos, xquat):
        """Return the signed distance of two geoms, and the points of both between which it is.

        Args:
            m: The parameters, `GeomDistances.m`.
            one, other: The geoms, of which the second is no plane.
            xpos, xquat: Positions and orientations of bodies.
        """
        pair = (one, other)
        p1, r1 = self.frame(m, one, xpos, xquat)
        p2, r2 = self.frame(m, other, xpos, xquat)
        places, axes = (p1, p2), (r1, r2)
        found = self.nearest.features.empty()
        searched(self, m, pair, places, axes, found)
        dist, x1, x2 = FAR, p1, p2
        if found[0][0] != 0:
            dist, point, n = self.nearest.measured(m, 0, pair, places, axes, found)
            x1, x2 = point - n * (0.5 * dist), point + n * (0.5 * dist)
        return dist, x1, x2

    @dt.func
    def frame(self, m, g, xpos, xquat):
        """Return position and orientation of a geom."""
        b = m.geom_bodyid[g]
        place = xpos[b] + turned(xquat[b], m.geom_pos[g])
        return place, matrix(product(xquat[b], m.geom_quat[g]))

    @dt.func
    def search(self, m, pair, places, axes, found):
        """Write the nearest features of two geoms to slot 0."""
        known, weights = self.nearest.search.vertices(), dt.local(4)
        plane = False
        if ti.static(self.planes):
            if m.geom_type[pair[0]] == PLANE:
                plane = True
                self.nearest.on_plane(m, 0, pair, places, axes, known, weights, found)
        if not plane:
            state, _count = self.nearest.touch(m, 0, pair, FAR, places, axes, known, weights, found)
            if state == APART:  # only where they touch without an overlap, and no side is known
                found[0][0] = 0
