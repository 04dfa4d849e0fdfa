"""Kernels that return values to Python."""

from __future__ import annotations

import numpy as np
import taichi as ti

import difftile as dt


@dt.kernel
def total(x) -> float:
    s = 0.0
    for i in x:
        s += x[i] * x[i]
    return s


@dt.kernel
def inferred(x):
    low, n = x[0], 0
    ti.loop_config(serialize=True)
    for i in range(x.shape[0]):
        low = ti.min(low, x[i])
        n += 1
    return low, n, n > 2, ti.Vector([low, 1.0])


@dt.kernel
def declared(x, n: int) -> (ti.f32, int):
    x[1] = 8
    if ti.static(True):
        return x[1] / n, n + 0.9
    x[1] = 0


@dt.kernel
def rotation(angle: float) -> ti.types.matrix(2, 2, ti.f32):
    c, s = ti.cos(angle), ti.sin(angle)
    return ti.Matrix([[c, -s], [s, c]])


@dt.kernel
def stored_and_returned(x, y) -> ti.f64:
    s = 0.0
    for i in x:
        s += x[i] * x[i]
    for i in x:
        x[i] = s
    y[None] = 2 * s * x[1]
    return s


@dt.kernel
def nothing(x) -> None:
    x[0] = 1
    return


def _x(*, grad: bool = False) -> dt.Field:
    return dt.from_numpy(np.array([0.5, -1.0, 2.0]), grad=grad)


def test_numbers_vectors_and_tuples() -> None:
    x = _x()
    assert total(x) == 5.25
    assert type(total(x)) is float
    low, n, many, vector = inferred(x)
    assert (low, n, many) == (-1.0, 3, True)
    assert (type(n), type(many)) == (int, bool)
    np.testing.assert_array_equal(vector, [-1, 1])
    assert declared(x, 3) == (np.float32(8 / 3), 3)
    np.testing.assert_allclose(rotation(0.0), np.eye(2))
    np.testing.assert_allclose(rotation(0.5)[1, 0], np.sin(0.5), rtol=1e-6)
    assert nothing(x) is None
    assert total(x) == 1 + 64 + 4


def test_result_is_of_its_own_launch() -> None:
    first, second = _x(), dt.from_numpy(np.array([1.0]))
    assert [total(f) for f in (first, second, first)] == [5.25, 1.0, 5.25]


def test_tape_says_nothing_where_no_gradient_is_cut() -> None:
    x, y = _x(), dt.zeros((), dtype=ti.f64, grad=True)
    with dt.Tape():
        assert total(x) == 5.25
        assert stored_and_returned(x, y) == 5.25
