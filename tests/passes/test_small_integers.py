"""Kernels with integers of 8 and 16 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16])
def test_small_integers_follow_numpy(kind: Any) -> None:
    """Taichi computes `//` of 8 bits wrongly, and ends the process over `max` and `abs`."""

    @dt.kernel
    def compute(x, y, out):
        for i in x:
            a, b = x[i], y[i]
            out[i, 0] = a // b
            out[i, 1] = a % b
            out[i, 2] = ti.max(a, b)
            out[i, 3] = ti.min(a, b)
            out[i, 4] = ti.abs(a)
            out[i, 5] = a**b
            out[i, 6] = ti.math.clamp(a, b, b)
            out[i, 7] = ti.max(a, b, 3)

    given = np.array([2, -1, 7, -7, 100]).astype(kind), np.array([1, 1, 2, 2, 3]).astype(kind)
    x, y = map(dt.from_numpy, given)
    out = dt.zeros((5, 8), ti.i32)
    compute(x, y, out)
    a, b = given
    wanted = [a // b, a % b, np.maximum(a, b), np.minimum(a, b), abs(a), a**b, b]
    expected = np.stack([*(one.astype(int) for one in wanted), np.maximum(wanted[2], 3)], axis=1)
    np.testing.assert_array_equal(out.to_numpy(), expected)
