"""Memory shared by fields and arrays, beside copies of it and beside fields that share nothing."""

from __future__ import annotations

import numpy as np

import difftile as dt
from benchmarks.interop_rows.row import Row, Sides, timed

N = 1_000_000


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


def _import() -> Sides:
    a = np.ones(N, np.float32)
    assert np.shares_memory(np.from_dlpack(dt.from_dlpack(a)), a)
    return Sides(timed(lambda: dt.from_numpy(a)), timed(lambda: dt.from_dlpack(a)))


def _export() -> Sides:
    x = dt.ones(N)
    assert np.array_equal(np.from_dlpack(x), x.to_numpy())
    return Sides(timed(x.to_numpy), timed(lambda: np.from_dlpack(x)))


def _launch() -> Sides:
    a, b = np.ones(1000, np.float32), np.zeros(1000, np.float32)
    shared = dt.from_dlpack(a), dt.from_dlpack(b)
    own = dt.ones(1000), dt.zeros(1000)
    for pair in (own, shared):
        square(*pair)
    assert np.array_equal(b, own[1].to_numpy())
    return Sides(timed(lambda: square(*own)), timed(lambda: square(*shared)))


def _tape() -> Sides:
    a = np.ones(1000, np.float32)
    y = dt.zeros(1000, grad=True)
    shared, own = dt.from_dlpack(a, grad=True), dt.ones(1000, grad=True)

    def reverse(x: dt.Field) -> None:
        with dt.Tape() as tape:
            square(x, y)
        tape.backward({y: 1.0})

    for x in (own, shared):
        reverse(x)
    assert np.array_equal(shared.grad.to_numpy(), own.grad.to_numpy())
    return Sides(timed(lambda: reverse(own)), timed(lambda: reverse(shared)))


ROWS = {
    "import": Row("a field of an array, 1,000,000 numbers: copy, share", _import),
    "export": Row("an array of a field, 1,000,000 numbers: copy, share", _export),
    "launch": Row("a launch on shared fields, 1,000 numbers", _launch),
    "tape": Row("a tape and its reverse on a shared field", _tape),
}
