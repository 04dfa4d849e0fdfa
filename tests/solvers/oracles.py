"""References for the tests of solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt


def number(value: float, dtype: Any = ti.f64) -> dt.Field:
    return dt.full((), value, dtype, grad=True)


def differences(run: Callable[[], float], field: dt.Field, h: float = 1e-5) -> Any:
    """Return central differences of a number by every number of a field."""
    values = field.to_numpy()
    found = np.zeros_like(values)
    for index in np.ndindex(values.shape):
        ends = []
        for sign in (1, -1):
            moved = values.copy()
            moved[index] += sign * h
            field.from_numpy(moved)
            ends.append(run())
        found[index] = (ends[0] - ends[1]) / (2 * h)
    field.from_numpy(values)
    return found
