"""Contacts of a model as a compiled kernel, from the frames of its geoms."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti, worlds
from difftile.worlds.collide import Collision
from difftile.worlds.quaternions import mat3, vec3


@dt.data_oriented(frozen=True)
class Narrow:
    """Contacts of models of some sizes."""

    def __init__(self, sizes: Any) -> None:
        self.collision, self.ngeom = Collision(sizes), sizes.ngeom
        self.npair = sum(sizes.collisions)

    @dt.func
    def run(self, m, xpos, xmat, out):
        """Write distance, point and normal of all slots, and if there is a contact."""
        places, axes = dt.local(self.ngeom, vec3), dt.local(self.ngeom, mat3)
        for g in range(self.ngeom):
            places[g] = xpos[g]
            axes[g] = xmat[g]
        for c in range(self.npair):
            found = self.collision.convex.nearest.features.empty()
            if ti.static(self.collision.featured):
                self.collision.find(m, c, 0.0, places, axes, found)
            for s in range(m.collision_slot[c], m.collision_slot[c + 1]):
                reach = self.collision.margins(m, s)[1]
                dist, point, frame = self.collision.contact(m, s, reach, places, axes, found)
                out[s, 7] = 0.0
                if dist < reach:
                    out[s, 7] = 1.0
                out[s, 0] = dist
                for k in range(3):
                    out[s, 1 + k] = point[k]
                    out[s, 4 + k] = frame[0, k]


@dt.kernel
def narrow(one, m, xpos, xmat, out):
    """Compute the contacts of a state; see `Narrow.run`."""
    for _ in range(1):
        one.run(m, xpos, xmat, out)


_of = cache(Narrow)


class Contacts:
    """Contacts of states of a model.

    Args:
        model: The model.
    """

    def __init__(self, model: worlds.Model) -> None:
        f64 = ti.f64
        self.funcs, self.m = _of(model.sizes), model.parameters(f64)
        self.xpos = dt.zeros(model.sizes.ngeom, dtype=dt.vec(3, f64))
        self.xmat = dt.zeros(model.sizes.ngeom, dtype=dt.mat(3, 3, f64))
        self.out = dt.zeros((model.sizes.nslot, 8), dtype=f64)

    def of(self, data: Any) -> np.ndarray:
        """Return distance, point and normal of the contacts of a state of MuJoCo."""
        self.xpos.from_numpy(np.array(data.geom_xpos))
        self.xmat.from_numpy(np.array(data.geom_xmat).reshape(-1, 3, 3))
        narrow(self.funcs, self.m, self.xpos, self.xmat, self.out)
        rows = self.out.to_numpy()
        return rows[rows[:, 7] > 0, :7]
