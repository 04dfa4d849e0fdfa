"""Signed distances of geoms, with gradients: `GeomDistances`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import make_dataclass
from functools import cache
from typing import Any, final

import numpy as np

import difftile as dt
from difftile import ti
from difftile.worlds.distance_query import DistanceQuery
from difftile.worlds.hulls import hull_tables
from difftile.worlds.kinds import HFIELD, PLANE, SDF, type_name
from difftile.worlds.quaternions import vec3, vec4
from difftile.worlds.simulation import Worlds


@dt.kernel
def measure_distances(query, m, qpos, distance, points):
    """Compute distances of pairs of geoms; see `GeomDistances`."""
    xpos, xquat = dt.local(query.nbody, vec3), dt.local(query.nbody, vec4)
    anchor, axis = dt.local(query.njnt, vec3), dt.local(query.njnt, vec3)
    query.kinematics.frames(m, qpos, xpos, xquat, anchor, axis)
    for k in range(distance.shape[0]):
        dist, x1, x2 = query.between(m, m.query_geom1[k], m.query_geom2[k], xpos, xquat)
        distance[k] = dist
        if m.query_swapped[k] == 0:
            points[k, 0] = x1
            points[k, 1] = x2
        else:
            points[k, 0] = x2
            points[k, 1] = x1


@final
class GeomDistances:
    """Signed distances of pairs of geoms of worlds, as `mj_geomDistance` has them, with gradients.

    `measure` computes them for the present state; a tape records it. Where the nearest features of
    a pair change, the distance has a kink, and its points may jump.

    Args:
        sim: The worlds.
        pairs: The geoms of each pair, by name or index. They need not be able to collide.

    Attributes:
        distance: Of each pair, (worlds, pairs) [m]; the depth of an overlap is negative.
        points: The points of the first and the second geom between which it is, (worlds, pairs, 2)
            of vec3 [m].
        funcs: `DistanceQuery`, whose func `between` kernels may call with the parameters `m`.

    Raises:
        FieldError: A pair is of two planes, or has a height field or an SDF.
        KeyError: There is no geom of this name.

    Source: GJK, EPA, and the implicit function theorem; see `gjk` and `features`.
    """

    def __init__(self, sim: Worlds, pairs: Sequence[tuple[str | int, str | int]]) -> None:
        model, rows = sim.model, []
        types = model.arrays["geom_type"]
        for pair in pairs:
            one, other = (model.id("geom", g) if isinstance(g, str) else g for g in pair)
            kinds = sorted((int(types[one]), int(types[other])))
            if kinds == [PLANE, PLANE] or HFIELD in kinds or SDF in kinds:
                names = " and ".join(type_name("geom_type", k) for k in kinds)
                raise dt.FieldError(
                    f"GeomDistances: no distance of {names}; geoms of pairs are convex, and one of "
                    "them may be a plane."
                )
            swapped = types[one] > types[other]
            rows.append((other, one, 1) if swapped else (one, other, 0))
        table = np.array(rows, np.int32).reshape(-1, 3)
        geoms = np.unique(table[:, :2])
        tables = {f"query_{name}": table[:, k] for k, name in enumerate(_COLUMNS)}
        tables |= hull_tables(model.arrays, geoms.tolist())
        self.sim, self.m = sim, _with_tables(sim, tables)
        self.funcs = _query(model.sizes, frozenset(int(types[g]) for g in geoms))
        count, of_point = len(table), dt.vec(3, sim.dtype)
        self.distance = dt.field(sim.dtype, (count, sim.worlds), grad=True).transpose()
        self.points = dt.field(of_point, (2, count, sim.worlds), grad=True).transpose()
        own = tuple(f"m.{name}" for name in sim.per_world)
        batched = ("qpos", "distance", "points", *own)
        self._measure = dt.batch(measure_distances, sim.worlds, shared="m", batched=batched)

    def measure(self) -> None:
        """Compute `distance` and `points` of the present state."""
        self._measure(self.funcs, self.m, self.sim.qpos, self.distance, self.points)


_COLUMNS = ("geom1", "geom2", "swapped")
_query = cache(DistanceQuery)


def _with_tables(sim: Worlds, tables: dict[str, Any]) -> Any:
    """Return the parameters of worlds with other tables of hulls, and those of pairs."""
    given = {name: getattr(sim.m, name) for name in sim.m.__dataclass_fields__}
    for name, table in tables.items():
        real = table.dtype.kind == "f"
        kind = dt.vec(3, sim.dtype) if real else ti.i32
        given[name] = dt.field(kind, (len(table),))
        given[name].from_numpy(np.array(table, float if real else np.int32))
    members = {"struct_of_fields": True, "__module__": __name__}
    return make_dataclass("QueryParameters", given, namespace=members, frozen=True, eq=False)(
        **given
    )
