"""Derivatives of scalar ops against closed formulas, each at one argument of every kind."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.ops.table import OPS


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@dt.kernel
def angles(a, b, c, y):
    for i in a:
        y[i] = ti.atan2(a[i], b[i])


@dt.kernel
def remainders(a, b, c, y):
    for i in a:
        y[i] = a[i] % b[i]


@dt.kernel
def clamps(a, b, c, y):
    for i in a:
        y[i] = ti.math.clamp(a[i], b[i], c[i])


# The arguments, and the derivative by each of them.
ROWS: list[tuple[Any, tuple[float, float, float], tuple[float, float, float]]] = [
    *((angles, (a, b, 0.0), (b / 5, -a / 5, 0.0)) for a in (1.0, -1.0) for b in (2.0, -2.0)),
    # a - b floor(a / b), as in Python; in C, the quotient is cut towards 0.
    (remainders, (7.0, 2.0, 0.0), (1.0, -3.0, 0.0)),
    (remainders, (-7.0, 2.0, 0.0), (1.0, 4.0, 0.0)),
    (remainders, (7.0, -2.0, 0.0), (1.0, 4.0, 0.0)),
    (remainders, (-7.0, -2.0, 0.0), (1.0, -3.0, 0.0)),
    # At a bound, all goes to the value.
    (clamps, (-1.0, 0.0, 1.0), (0.0, 1.0, 0.0)),
    (clamps, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
    (clamps, (0.5, 0.0, 1.0), (1.0, 0.0, 0.0)),
    (clamps, (1.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
    (clamps, (2.0, 0.0, 1.0), (0.0, 0.0, 1.0)),
]


@pytest.mark.parametrize("kernel", [angles, remainders, clamps], ids=lambda one: one.__name__)
def test_slopes_by_each_argument(kernel: Any) -> None:
    rows = [(at, slopes) for one, at, slopes in ROWS if one is kernel]
    fields = [dt.from_numpy(column, grad=True) for column in np.array([at for at, _ in rows]).T]
    y = dt.zeros(len(rows), ti.f64, grad=True)
    with dt.Tape() as tape:
        kernel(*fields, y)
    tape.backward({y: 1.0})
    for field, expected in zip(fields, zip(*[s for _, s in rows], strict=True), strict=True):
        np.testing.assert_allclose(field.grad.to_numpy(), expected, rtol=1e-15, atol=0)


@dt.kernel
def guarded(x, y):
    for i in x:
        y[i] = ti.select(x[i] > 700.0, 1.0, ti.exp(x[i]))


def test_an_exponential_that_overflows_where_it_is_not_selected_has_no_gradient() -> None:
    x, y = dt.from_numpy(np.array([1.0, 800.0]), grad=True), dt.zeros(2, ti.f64, grad=True)
    with dt.Tape() as tape:
        guarded(x, y)
    tape.backward({y: 1.0})
    np.testing.assert_allclose(x.grad.to_numpy(), [math.e, 0.0], rtol=1e-15)


@dt.kernel
def logarithms(x, y):
    for i in x:
        y[i] = ti.log(x[i]) + x[i] ** 0.5


def test_a_tangent_of_zero_stays_zero_where_the_slope_is_infinite() -> None:
    def f(x: Any) -> Any:
        y = dt.zeros_like(x)
        logarithms(x, y)
        return y

    _, tangent = dt.jvp(f, (np.array([0.0, 0.0, 4.0]),), (np.array([0.0, 1.0, 1.0]),))
    assert tangent.tolist() == [0.0, math.inf, 0.5]


STEP = 1e-30j  # complex


@pytest.mark.parametrize(
    ("op", "at", "slopes"),
    [
        ("pow", (-2.0, 3.0), (12.0, None)),
        ("pow", (-2.0, -1.0), (-0.25, None)),
        ("pow", (-2.0, 0.0), (0.0, None)),
        ("atan2", (1.0, 2.0), (0.4, -0.2)),
        ("atan2", (-1.0, -2.0), (-0.4, 0.2)),
    ],
)
def test_complex_steps_are_slopes(op: str, at: tuple[float, float], slopes: Any) -> None:
    for k, expected in enumerate(slopes):
        if expected is not None:
            moved = [one + STEP * (j == k) for j, one in enumerate(at)]
            slope = np.imag(OPS[op].numpy(*moved)) / STEP.imag
            assert slope == pytest.approx(expected, rel=1e-15)
