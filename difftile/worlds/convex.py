"""Contacts of convex geoms without a closed form: which of their features touch.

Like MuJoCo 4 (`mjc_Convex`): the contact of least overlap first; where faces or edges of both are
almost parallel there, those of what they share take its place (`manifolds`).
"""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.bounds import near
from difftile.worlds.box_pairs import BoxPairs
from difftile.worlds.features import POLYGON, part_of
from difftile.worlds.gjk import APART
from difftile.worlds.kinds import BOX, CAPSULE, CYLINDER, MESH, PLANE
from difftile.worlds.manifolds import Manifolds
from difftile.worlds.nearest import Nearest
from difftile.worlds.polygons import LINE, SECOND, Polygons
from difftile.worlds.topology import COLLISIONS, FEATURED

SLOTS = 8  # the most that a pair has; the feature of least overlap comes after them


@dt.data_oriented(frozen=True)
class Convex:
    """Features of the pairs of geoms without a closed form, and contacts from them.

    Args:
        sizes: The sizes of the model.
    """

    def __init__(self, sizes: Any) -> None:
        counts = dict(zip(COLLISIONS, sizes.collisions, strict=True))
        kinds = [kind for kind in FEATURED if counts[kind]]
        types = {one for kind in kinds for one in kind}
        self.first = sum(n for kind, n in counts.items() if kind not in FEATURED)
        self.any = bool(kinds)
        self.planes = PLANE in types
        self.boxes = (BOX, BOX) in kinds
        self.general = any(kind != (BOX, BOX) and PLANE not in kind for kind in kinds)
        self.several = sizes.multiccd
        self.lines = any(CAPSULE in kind or CYLINDER in kind for kind in kinds)
        self.nearest = Nearest(types, SLOTS + 1)
        self.polygons = Polygons(self.nearest.shapes, sizes.ncorner)
        self.box_pairs = BoxPairs(self.polygons)
        self.manifolds = Manifolds(self.polygons)

    @dt.func
    def find(self, m, c, reach, half, geom_xpos, geom_xmat, found):
        """Write the features of a pair of geoms, one for each of its slots.

        Args:
            m: The parameters of the model.
            c: The pair.
            reach, half: The distance up to which there are contacts, and half of that in the model,
                without a distance of gradients [m].
            geom_xpos, geom_xmat: Frames of geoms.
            found: The features.
        """
        pair = (m.collision_geom1[c], m.collision_geom2[c])
        s, kinds = 0, (m.geom_type[pair[0]], m.geom_type[pair[1]])
        places = (geom_xpos[pair[0]], geom_xpos[pair[1]])
        axes = (geom_xmat[pair[0]], geom_xmat[pair[1]])
        if ti.static(self.planes):
            if kinds[0] == PLANE:
                self.on_plane(m, s, pair, reach, places, axes, found)
        if kinds[0] != PLANE:
            if near(m, pair[0], pair[1], reach, geom_xpos):
                if ti.static(self.boxes):
                    if kinds[0] == BOX and kinds[1] == BOX:
                        self.box_pairs.find(m, s, pair, reach, places, axes, found)
                if ti.static(self.general):
                    if kinds[0] != BOX or kinds[1] != BOX:
                        self.of_pair(m, s, pair, kinds, reach, half, places, axes, found)

    @dt.func
    def on_plane(self, m, s, pair, reach, places, axes, found):
        """Write the features of a plane with an ellipsoid or a mesh.

        Of a mesh these are its lowest vertex, and the corners of the lowest face around it that are
        within reach and below its centre, four at most (`Manifolds.spread`).
        """
        g, n = pair[1], axes[0][:, 2]
        known, weights = self.nearest.search.vertices(), dt.local(4)
        v, low = self.nearest.on_plane(m, s, pair, places, axes, known, weights, found)
        if low > reach:
            found[0][s] = 0
        elif ti.static(self.nearest.shapes.meshes):
            if m.geom_type[g] == MESH:
                corners, lowest = self.polygons.polygon(), known[2]
                way, height = -(axes[1].transpose() @ n), n.dot(places[1] - places[0])
                count = self.manifolds.lowest(m, g, v, way, corners)
                chosen = self.manifolds.spread(corners, count)
                kept = 1
                for k in range(1, 4):
                    if chosen[k] >= 0:
                        lowest[0] = corners[0][chosen[k]]
                        below = lowest[0].dot(way)
                        if below > 0.0 and height - below <= reach:
                            self.nearest.features.record(
                                m, pair, axes, known, weights, 1, n, found, s + kept
                            )
                            kept += 1

    @dt.func
    def of_pair(self, m, s, pair, kinds, reach, half, places, axes, found):
        """Write the features of a pair that has to be searched."""
        known, weights = self.nearest.search.vertices(), dt.local(4)
        state, count = self.nearest.touch(m, s, pair, reach, places, axes, known, weights, found)
        if state != APART:
            dist, _point, _normal = self.nearest.measured(m, s, pair, places, axes, found)
            if dist >= reach:
                found[0][s] = 0
            if ti.static(self.several):
                if dist < reach and self.manifolds.has_faces(kinds):
                    if ti.static(self.lines):
                        for n in ti.static(range(6)):
                            found[n][SLOTS] = found[n][s]
                    self.manifolds.find(m, s, pair, reach, half, known, count, places, axes, found)

    @dt.func
    def contact(self, m, s, pair, half, places, axes, found):
        """Return distance, point and normal of the contact of slot s, from its feature.

        Args:
            m, s, pair: The parameters of the model, the place of the slot, and the geoms.
            half: Half of the distance up to which the model has contacts [m].
            places, axes: Centres and orientations of the geoms.
            found: The features.
        """
        code = found[0][s]
        dist, point, normal = 0.0, places[0], places[0]
        if part_of(code, POLYGON, 2) == 1:
            offset, thick = 0.0 * places[0], 0.0
            if ti.static(self.lines):
                if part_of(code, LINE, 2) == 1:
                    _dist, _point, n = self.nearest.measured(m, SLOTS, pair, places, axes, found)
                    if part_of(code, SECOND, 2) == 1:
                        thick = self.manifolds.thicker(m, pair[0], half)
                        offset = self.manifolds.offset(m, pair[0], half, n, axes[0])
                    else:
                        thick = self.manifolds.thicker(m, pair[1], half)
                        offset = self.manifolds.offset(m, pair[1], half, -n, axes[1])
            dist, point, normal = self.polygons.contact(
                m, pair, code, found, s, offset, thick, places, axes
            )
        else:
            dist, point, normal = self.nearest.measured(m, s, pair, places, axes, found)
        return dist, point, normal
