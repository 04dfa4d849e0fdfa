"""Tables of sensors of distances: the pairs of geoms that each of them compares."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from difftile.worlds.kinds import GAPS, GEOM, PLANE


def gap_tables(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the pairs of geoms of sensors of distances.

    `gap_adr` and `gap_num`, the pairs of each sensor; `gap_geom1` and `gap_geom2`, of which the
    first has the smaller type, and `gap_swapped`, 1 where that is the reference. Two planes have
    no distance.
    """
    rows: list[tuple[int, int, int]] = []
    counts = np.zeros(len(arrays["sensor_type"]), np.int32)
    types = arrays["geom_type"]
    for s in np.isin(arrays["sensor_type"], GAPS).nonzero()[0]:
        for one in _geoms(arrays, s, "obj"):
            for other in _geoms(arrays, s, "ref"):
                swapped = types[one] > types[other]
                if types[one] != PLANE or types[other] != PLANE:
                    rows.append((other, one, 1) if swapped else (one, other, 0))
                    counts[s] += 1
    table = np.array(rows, np.int32).reshape(-1, 3)
    found = {f"gap_{name}": table[:, k].copy() for k, name in enumerate(_COLUMNS)}
    return {**found, "gap_adr": np.cumsum(counts) - counts, "gap_num": counts}


def _geoms(arrays: Mapping[str, np.ndarray], s: int, which: str) -> list[int]:
    """Return the geoms that a sensor compares: one, or all of a body."""
    kind, index = (int(arrays[f"sensor_{which}{part}"][s]) for part in ("type", "id"))
    found = [index] if kind == GEOM else np.flatnonzero(arrays["geom_bodyid"] == index).tolist()
    return found if all(0 <= g < len(arrays["geom_type"]) for g in found) else []


_COLUMNS = ("geom1", "geom2", "swapped")
