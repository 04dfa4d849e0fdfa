"""States that solutions store on the way, and their gradients, in solvers that run as Python."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from tests.solvers.test_odeint import decay


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@pytest.mark.parametrize("adjoint", ["discrete", "continuous"])
@pytest.mark.parametrize("row", range(3))
def test_each_stored_state_has_its_gradient(row: int, adjoint: str) -> None:
    times = [0.0, 0.5, 1.0]
    y, k = dt.ones(1, ti.f64, grad=True), dt.full((), 0.8, ti.f64, grad=True)
    out = dt.zeros((3, 1), ti.f64, grad=True)
    options = {"method": "rk4", "steps": 10, "at": times, "out": out, "adjoint": adjoint}
    with dt.Tape() as tape:
        dt.odeint(decay, y, 0.0, 1.0, args=(k,), **options)
    exact = np.exp(-0.8 * times[row])
    assert out.to_numpy()[row, 0] == pytest.approx(exact, rel=1e-6)
    seed = np.zeros((3, 1))
    seed[row] = 2.0
    tape.backward({out: seed})
    assert y.grad.to_numpy()[0] == pytest.approx(2.0 * exact, rel=1e-6)
    assert float(k.grad[None]) == pytest.approx(-2.0 * times[row] * exact, rel=1e-5)


def test_a_later_start_leaves_less_time_to_decay() -> None:
    def end(t0: Any, t1: Any) -> Any:
        y, k = dt.ones(1, ti.f64), dt.full((), 0.8, ti.f64)
        options = {"method": "rk4", "steps": 10, "adjoint": "continuous"}
        dt.odeint(decay, y, t0, t1, args=(k,), **options)
        return y

    times = dt.full((), 0.2, ti.f64), dt.full((), 1.0, ti.f64)
    exact = math.exp(-0.8 * 0.8)
    for dots, slope in (((1.0, 0.0), 0.8 * exact), ((0.0, 1.0), -0.8 * exact)):
        _, tangent = dt.jvp(end, times, tuple(dt.full((), one, ti.f64) for one in dots))
        assert tangent.to_numpy()[0] == pytest.approx(slope, rel=1e-5)
