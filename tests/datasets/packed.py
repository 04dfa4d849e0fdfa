"""Splats as SuperSplat packs them."""

from __future__ import annotations

import numpy as np


def packed(n: int = 300, bounds_of_colour: bool = True, sh: bool = True) -> dict[str, np.ndarray]:
    """A packed file of splats that stand at known places, with exact bounds."""
    low, high = [-1.0, -2.0, -3.0, -5.0, -5.0, -5.0], [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
    names = [f"{e}_{a}{c}" for a in ("", "scale_") for e in ("min", "max") for c in "xyz"]
    values = [*low[:3], *high[:3], *low[3:], *high[3:]]
    if bounds_of_colour:
        names += [f"{e}_{c}" for e in ("min", "max") for c in "rgb"]
        values += [0.0, 0.0, 0.0, 2.0, 2.0, 2.0]
    chunk = np.zeros(-(-n // 256), [(name, "<f4") for name in names])
    chunk[:] = tuple(values)
    kinds = ("position", "rotation", "scale", "color")
    vertex = np.zeros(n, [(f"packed_{kind}", "<u4") for kind in kinds])
    vertex["packed_position"] = (2047 << 21) | (0 << 11) | 2047
    vertex["packed_scale"] = (0 << 21) | (1023 << 11) | 0
    vertex["packed_color"] = (255 << 24) | (0 << 16) | (51 << 8) | 51
    zero = 511 if n else 0
    vertex["packed_rotation"] = (2 << 30) | (zero << 20) | (zero << 10) | zero
    tables = {"chunk": chunk, "vertex": vertex}
    if sh:
        tables["sh"] = np.zeros(n, [(f"f_rest_{k}", "u1") for k in range(9)])
        tables["sh"]["f_rest_3"] = 255
    return tables
