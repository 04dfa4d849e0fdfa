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


@dt.kernel
def found(x, limit: float) -> tuple[int, float]:
    """The first element above a limit; the last place and the sum if there is none."""
    if limit < 0.0:
        return -1, 0
    best = 0.0
    for i in x:
        best += x[i]
    ti.loop_config(serialize=True)
    for i in x:
        if x[i] > limit:
            return i, x[i]
    return x.shape[0], best


@dt.kernel
def undeclared(x, y):
    if x[0] > 1.0:
        return x[0], True
    else:
        s = 2.0 * x[0]
    for i in y:
        y[i] += s
    return 0, y[1] > 1.0


def test_returns_in_branches_and_loops() -> None:
    x = dt.from_numpy(np.array([1.0, 3.0, 5.0]))
    assert found(x, 2.0) == (1, 3.0)
    assert found(x, 4.0) == (2, 5.0)
    assert found(x, 9.0) == (3, 9.0)
    assert found(x, -1.0) == (-1, 0.0)
    y = dt.zeros(3, dtype=ti.f64, grad=True)
    assert undeclared(dt.full(1, 3.0, dtype=ti.f64), y) == (3.0, True)
    x = dt.full(1, 0.75, dtype=ti.f64, grad=True)
    with dt.Tape() as tape:
        assert undeclared(x, y) == (0.0, True)
    tape.backward({y: np.ones(3)})
    assert x.grad[0] == 6
    assert y.to_numpy().tolist() == [1.5, 1.5, 1.5]


@dt.kernel
def squared(a: float, loss):
    loss[None] = a * a


def test_gradient_of_an_early_result() -> None:
    y, loss = dt.zeros(3, dtype=ti.f64, grad=True), dt.zeros((), dtype=ti.f64, grad=True)
    for start, expected in ((3.0, 6.0), (0.75, 0.0)):
        x = dt.full(1, start, dtype=ti.f64, grad=True)
        with dt.Tape(loss):
            result, _ = undeclared(x, y)
            squared(result, loss)
        assert x.grad[0] == expected
