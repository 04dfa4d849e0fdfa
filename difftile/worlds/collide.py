"""Contacts of geoms.

Each pair of geoms that may collide has a fixed number of slots, one for each contact that it can
make: contacts are not moved together, and runs repeat bit for bit. Pairs without a closed form are
searched first, all slots at once (`convex`); a slot is then measured by itself. Distances, points
and frames are MuJoCo's (its documentation, "Computation", "Contact").
"""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.boxes import sphere_of, to_box
from difftile.worlds.convex import Convex
from difftile.worlds.cylinders import on_floor, sphere_on_cylinder
from difftile.worlds.kinds import BOX, CAPSULE, CYLINDER, PLANE
from difftile.worlds.segments import PARALLEL, on_parallels, on_segments
from difftile.worlds.topology import COLLISIONS, FEATURED

ZERO = ti.Vector([0.0, 0.0, 0.0])
FAR = 1e10  # the distance in a slot without a contact [m]
LEAST_FRICTION = 1e-5
LEAST_MIX = 1e-15


@dt.func
def frame_of(normal, hint, least):
    """Return the frame of a contact, rows n, t1, t2, with t1 near `hint` if that is not zero.

    t1 is along x if `hint` is normal to the surface, up to the rounding `least`.
    """
    t = hint
    if hint.norm_sqr() < 0.25:
        t = ti.Vector([0.0, 1.0, 0.0])
        if abs(normal[1]) >= 0.5:
            t = ti.Vector([0.0, 0.0, 1.0])
    t = t - normal * normal.dot(t)
    t1 = ti.Vector([1.0, 0.0, 0.0])
    if t.norm_sqr() > least * least:
        t1 = t / t.norm()
    t2 = normal.cross(t1)
    return ti.Matrix(
        [[normal[0], normal[1], normal[2]], [t1[0], t1[1], t1[2]], [t2[0], t2[1], t2[2]]]
    )


@dt.data_oriented(frozen=True)
class Collision:
    """Contacts of the slots of a model, and the parameters of their pairs.

    Funcs take the model `m`, whose table of slots has the geoms of each, its place among the slots
    of its pair, and the explicit pair or -1. Only the kinds of pairs are compiled that occur.
    """

    def __init__(self, sizes: Any) -> None:
        spheres, capsules, boxes, *segments, parallels, balls, rods = sizes.collisions[:8]
        tubes, self.tubes = sizes.collisions[8], sizes.collisions[9] > 0
        self.convex = Convex(sizes)
        self.featured = self.convex.any
        self.first_slot = sum(
            n * COLLISIONS[kind]
            for kind, n in zip(COLLISIONS, sizes.collisions, strict=True)
            if kind not in FEATURED
        )
        self.planes, self.upright = spheres + capsules + boxes + tubes > 0, tubes > 0
        self.rounds = spheres + capsules > 0
        self.boxes = boxes > 0
        self.segments = sum(segments) + parallels > 0
        self.parallels = parallels > 0
        self.solids, self.rods = balls + rods > 0, rods > 0
        self.explicit_pairs = sizes.explicit
        self.nrow = sizes.nrow

    @dt.func
    def find(self, m, c, beyond, geom_xpos, geom_xmat, found):
        """Write the features of a pair that has to be searched; see `Features`.

        Args:
            m: The parameters of the model.
            c: The pair.
            beyond: How much further than in the model contacts reach [m].
            geom_xpos, geom_xmat: Frames of geoms.
            found: Result, from `Features.empty`.
        """
        if c >= self.convex.first:
            reach = self.margins(m, m.collision_slot[c])[1]
            half = 0.5 * reach
            self.convex.find(m, c, reach + beyond, half, geom_xpos, geom_xmat, found)

    @dt.func
    def contact(self, m, s, reach, geom_xpos, geom_xmat, found):
        """Return the contact in slot s: distance [m], point [m], frame with rows n, t1, t2.

        The distance is FAR where there is none within `reach`. The features of its pair are found.
        """
        g1, g2 = m.slot_geom1[s], m.slot_geom2[s]
        p1, p2 = geom_xpos[g1], geom_xpos[g2]
        z1, z2 = geom_xmat[g1][:, 2], geom_xmat[g2][:, 2]
        least = m.rounding[None]
        dist, point, normal, hint = FAR, p2, z1, ZERO
        known = False
        if ti.static(self.featured):
            if s >= self.first_slot:
                known, place = True, m.slot_place[s]
                if found[0][place] != 0:
                    dist, point, normal = self.convex.contact(
                        m,
                        place,
                        (g1, g2),
                        0.5 * self.margins(m, s)[1],
                        (p1, p2),
                        (geom_xmat[g1], geom_xmat[g2]),
                        found,
                    )
        if not known:
            dist, point, normal, hint = self.closed(m, s, reach, (p1, p2), (z1, z2), geom_xmat[g2])
        return dist, point, frame_of(normal, hint, least)

    @dt.func
    def closed(self, m, s, reach, places, thirds, axes):
        """Return distance, point, normal and a hint for its tangent, of a pair with a closed form.

        Args:
            m, s, reach: As for `contact`.
            places, thirds: The centres of the geoms, and their third axes.
            axes: The orientation of the second.
        """
        g1, g2 = m.slot_geom1[s], m.slot_geom2[s]
        p1, p2, z1, z2 = places[0], places[1], thirds[0], thirds[1]
        size1, size2, place = m.geom_size[g1], m.geom_size[g2], m.slot_place[s]
        one, other = m.geom_type[g1], m.geom_type[g2]
        dist, point, normal, hint = FAR, p2, z1, ZERO
        if ti.static(self.planes):
            if one == PLANE:
                dist, point, hint = self.on_plane(m, s, reach, p1, z1, p2, axes, size2)
        if ti.static(self.segments):
            if one != PLANE and other != BOX and other != CYLINDER:
                half1, half2 = 0.0, 0.0
                if one == CAPSULE:
                    half1 = size1[1]
                if other == CAPSULE:
                    half2 = size2[1]
                dist, point, normal = self.of_segments(
                    z1, z2, half1, half2, p1, p2, size1[0], size2[0], place, m.rounding[None]
                )
        if ti.static(self.tubes):
            if one != PLANE and other == CYLINDER:
                dist, point, normal = sphere_on_cylinder(p1, z1, size1[0], p2, z2, size2)
        if ti.static(self.solids):
            if one != PLANE and other == BOX:
                arm = ZERO
                if one == CAPSULE:
                    arm = z1 * size1[1]
                dist, point, normal = self.on_box(p1, arm, size1[0], p2, axes, size2, place)
        return dist, point, normal, hint

    @dt.func
    def on_box(self, p1, arm, radius, p2, axes, size, place):
        """Return distance, point and normal of a contact of a sphere or a capsule with a box."""
        local = axes.transpose() @ (p1 - p2)
        there = place == 0
        if ti.static(self.rods):
            if arm.norm_sqr() > 0.0:
                half = axes.transpose() @ arm
                x, there_is = sphere_of(local, half, size, place)
                local += half * x
                there = there_is
        height, way = to_box(local, size)
        dist = FAR
        if there:
            dist = height - radius
        normal = axes @ way
        return dist, p2 + axes @ local + normal * (radius + 0.5 * (height - radius)), normal

    @dt.func
    def on_plane(self, m, s, reach, origin, normal, centre, axes, size):
        """Return distance and point of a contact with a plane, and a hint for its tangent."""
        kind, place = m.geom_type[m.slot_geom2[s]], m.slot_place[s]
        height = normal.dot(centre - origin)
        dist, point, hint = FAR, centre, ZERO
        if ti.static(self.boxes):
            if kind == BOX:
                dist, point = self.corner(height, normal, centre, axes, size, reach, place)
        if ti.static(self.upright):
            if kind == CYLINDER:
                dist, point = on_floor(height, normal, centre, axes, size, place)
        if ti.static(self.rounds):
            if kind != BOX and kind != CYLINDER:
                arm = ZERO
                if kind == CAPSULE:
                    hint = axes[:, 2]
                    arm = hint * (size[1] * (1.0 - 2.0 * place))
                dist = height + normal.dot(arm) - size[0]
                point = centre + arm - normal * (size[0] + 0.5 * dist)
        return dist, point, hint

    @dt.func
    def of_segments(self, z1, z2, half1, half2, p1, p2, r1, r2, place, least):
        """Return distance, point and normal of the contact of two spheres or capsules.

        Args:
            z1, z2: Their third axes.
            half1, half2: Half of the length of the axis of a capsule, 0 for a sphere [m].
            p1, p2, r1, r2: Centres and radii.
            place: 0 or 1; only capsules that are parallel have a second contact.
            least: What is rounding; see `Model.parameters`.
        """
        across = z1.cross(z2)
        square = across.norm_sqr()  # of the sine of the angle between the axes
        parallel = False
        if ti.static(self.parallels):
            parallel = half1 > 0.0 and half2 > 0.0 and square <= PARALLEL
        dist, point, normal = FAR, p1, ti.Vector([1.0, 0.0, 0.0])
        if parallel or place == 0:
            a1, a2 = z1 * half1, z2 * half2
            x1, x2 = 0.0, 0.0
            if parallel:
                x1, x2 = on_parallels(a1, a2, p1 - p2, place)
            else:
                x1, x2 = on_segments(a1, a2, p1 - p2, True)
            # Centres first: their difference is exact where it is small, and axes may nearly cross.
            between = (p2 - p1) + (a2 * x2 - a1 * x1)
            apart, inner = between.norm(), min(half1, half2)
            # Axes that cross have the direction of their product, which is known better than that
            # between two points next to each other; centres in one place have it by definition.
            crossing = not parallel and abs(x1) < 1.0 and abs(x2) < 1.0
            crossing = crossing and apart * apart < square * inner * inner
            if square > least * least and (crossing or apart <= least):
                normal = across / ti.sqrt(square)
                if between.dot(normal) < -least:
                    normal = -normal
            elif apart > least:
                normal = between / apart
            dist = apart - r1 - r2
            point = p1 + a1 * x1 + normal * (r1 + 0.5 * dist)
        return dist, point, normal

    @dt.func
    def corner(self, height, normal, centre, axes, size, reach, place):
        """Return distance and point of a corner of a box on a plane, one of the four that count.

        These are the first, signs of x fastest, that are below the centre and within reach.
        """
        before = 0
        dist, point = FAR, centre
        for k in range(place + 1):
            sign = ti.Vector([2.0 * (k % 2), 2.0 * (k // 2 % 2), 2.0 * (k // 4)]) - 1.0
            arm = axes @ (sign * size)
            below = normal.dot(arm)
            counts = below <= 0.0 and height + below <= reach
            if k == place and counts and before < 4:
                dist = height + below
                point = centre + arm - normal * (0.5 * dist)
            if counts:
                before += 1
        return dist, point

    @dt.func
    def margins(self, m, s):
        """Return the distances below which slot s has rows, and a contact [m]."""
        g1, g2 = m.slot_geom1[s], m.slot_geom2[s]
        margin = m.geom_margin[g1] + m.geom_margin[g2]
        gap = m.geom_gap[g1] + m.geom_gap[g2]
        if ti.static(self.explicit_pairs):
            pair = m.slot_pair[s]
            if pair >= 0:
                margin = m.pair_margin[pair]
                gap = m.pair_gap[pair]
        return margin, margin + gap

    @dt.func
    def surface(self, m, s):
        """Return the parameters of slot s: number of dimensions, frictions, solref, solimp.

        Those of the geom of higher priority; at a tie, dimensions and frictions are the larger, and
        solref and solimp mixed by `solmix`. There is a friction for each row but the first: two
        along the tangents, one about the normal, two about the tangents.
        """
        g1, g2 = m.slot_geom1[s], m.slot_geom2[s]
        d1, d2 = m.geom_condim[g1], m.geom_condim[g2]
        f1, f2 = m.geom_friction[g1], m.geom_friction[g2]
        ref1, ref2 = m.geom_solref[g1], m.geom_solref[g2]
        imp1, imp2 = m.geom_solimp[g1], m.geom_solimp[g2]
        dim, rub, ref, imp = max(d1, d2), ti.max(f1, f2), ti.min(ref1, ref2), imp1
        rank1, rank2 = m.geom_priority[g1], m.geom_priority[g2]
        if rank1 > rank2:
            dim, rub, ref, imp = d1, f1, ref1, imp1
        elif rank2 > rank1:
            dim, rub, ref, imp = d2, f2, ref2, imp2
        else:
            mix1, mix2 = m.geom_solmix[g1], m.geom_solmix[g2]
            part = 0.5
            if mix1 >= LEAST_MIX and mix2 >= LEAST_MIX:
                part = mix1 / (mix1 + mix2)
            elif mix1 >= LEAST_MIX:
                part = 1.0
            elif mix2 >= LEAST_MIX:
                part = 0.0
            imp = part * imp1 + (1.0 - part) * imp2
            if ref1[0] > 0.0 and ref2[0] > 0.0:
                ref = part * ref1 + (1.0 - part) * ref2
        five = ti.Vector([rub[0], rub[0], rub[1], rub[2], rub[2]])
        if ti.static(self.explicit_pairs):
            pair = m.slot_pair[s]
            if pair >= 0:
                dim = m.pair_dim[pair]
                five = m.pair_friction[pair]
                ref = m.pair_solref[pair]
                imp = m.pair_solimp[pair]
        friction = ti.Vector.zero(float, self.nrow - 1)
        for k in ti.static(range(self.nrow - 1)):
            friction[k] = ti.max(five[k], LEAST_FRICTION)
        return dim, friction, ref, imp
