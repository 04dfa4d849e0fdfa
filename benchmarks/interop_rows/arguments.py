"""Arrays of NumPy as arguments, beside fields."""

from __future__ import annotations

import numpy as np

import difftile as dt
from benchmarks.interop_rows.row import Row, Sides, timed


@dt.kernel
def step(x, v, h: float):
    for i in x:
        x[i] += h * v[i]


@dt.func
def moved(x, v, h):
    return x + h * v


def _same_arrays() -> Sides:
    x, v = np.zeros(1000), np.ones(1000)
    fields = dt.from_numpy(x), dt.from_numpy(v)
    for given in (fields, (x, v)):
        for _ in range(3):
            step(*given, 0.5)
    assert np.array_equal(x, fields[0].to_numpy()) and x[0] == 1.5
    return Sides(timed(lambda: step(*fields, 0.5)), timed(lambda: step(x, v, 0.5)))


def _slices() -> Sides:
    x, v = np.zeros((1000, 4)), np.ones((1000, 4))
    a, b = x[:, 1], v[:, 2]
    views = dt.from_numpy(x)[:, 1], dt.from_numpy(v)[:, 2]
    step(*views, 0.5)
    step(a, b, 0.5)
    assert np.array_equal(a, views[0].to_numpy())
    return Sides(timed(lambda: step(*views, 0.5)), timed(lambda: step(a, b, 0.5)))


def _new_arrays() -> Sides:
    x, v = np.zeros(1000), np.ones(1000)
    fields = dt.from_numpy(x), dt.from_numpy(v)

    def launched() -> None:
        step(np.zeros(1000), v, 0.5)

    def copied() -> None:
        fields[0].from_numpy(np.zeros(1000))
        step(*fields, 0.5)

    launched()
    copied()
    return Sides(timed(copied), timed(launched))


def _func() -> Sides:
    x, v = np.zeros(1000), np.ones(1000)
    fields = dt.from_numpy(x), dt.from_numpy(v)
    assert np.array_equal(moved(x, v, 0.5), moved(*fields, 0.5).to_numpy())
    return Sides(
        timed(lambda: moved(*fields, 0.5)),
        timed(lambda: moved(x, v, 0.5)),
        {"NumPy": timed(lambda: x + 0.5 * v)},
    )


ROWS = {
    "kernel_arrays": Row("two arrays, the same each time, 1,000 numbers", _same_arrays, most=4.0),
    "kernel_slices": Row("two slices with gaps, the same each time", _slices, most=8.0),
    "kernel_new_arrays": Row("a new array each time, instead of a copy into a field", _new_arrays),
    "func_arrays": Row("a func over arrays, which returns one", _func),
}
