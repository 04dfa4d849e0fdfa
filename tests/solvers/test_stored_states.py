"""States that solutions store on the way, and their gradients, in solvers that run as Python."""

from __future__ import annotations

from collections.abc import Iterator

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
