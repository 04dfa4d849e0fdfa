"""Which geoms are near each other, by the balls around them."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import BOX, CAPSULE, CYLINDER, ELLIPSOID, MESH, SPHERE

UNBOUNDED = 1e10  # the radius of planes [m]


@dt.func
def bound(m, g):
    """Return the radius of a ball around the centre of a geom that holds it [m]."""
    kind, size = m.geom_type[g], m.geom_size[g]
    found = UNBOUNDED
    if kind == SPHERE:
        found = size[0]
    elif kind == CAPSULE:
        found = size[0] + size[1]
    elif kind == BOX:
        found = size.norm()
    elif kind == CYLINDER:
        found = ti.sqrt(size[0] * size[0] + size[1] * size[1])
    elif kind == ELLIPSOID:
        found = size.max()
    elif kind == MESH:
        found = m.geom_rbound[g]
    return found


@dt.func
def near(m, g1, g2, reach, geom_xpos):
    """Return whether the balls around two geoms are within reach of each other."""
    radius = bound(m, g1) + bound(m, g2) + reach
    return (geom_xpos[g1] - geom_xpos[g2]).norm_sqr() <= radius * radius
