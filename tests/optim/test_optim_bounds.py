"""L-BFGS within bounds, and the reasons that it gives for its end."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt
from tests.optim.test_optim_minimize import Problem, valley

Doubles = npt.NDArray[np.float64]


@dt.kernel
def bowl(x, a, b, loss):
    for i in x:
        for j in range(x.shape[0]):
            loss[None] += 0.5 * a[i, j] * x[i] * x[j]
        loss[None] -= b[i] * x[i]


@dt.kernel
def aim(x, s, loss):
    for i in x:
        loss[None] += (x[i] - ti.Vector([3.0, -4.0])).norm_sqr() + (s[None] - 0.7) ** 2


def quadratic(n: int, condition: float, seed: int) -> tuple[Doubles, Doubles]:
    """A random convex quadratic function, and a vector."""
    draw = np.random.default_rng(seed)
    q, _ = np.linalg.qr(draw.normal(size=(n, n)))
    return (q * np.geomspace(1.0, condition, n)) @ q.T, draw.normal(size=n) * 10.0


def solve(optimiser: dt.optim.LBFGS, problem: Problem, steps: int = 50) -> None:
    for _ in range(steps):
        optimiser.step(problem)
        if optimiser.finished:
            return
    raise AssertionError(optimiser.reason)


def check_minimum(x: Doubles, gradient: Doubles, low: Any, high: Any, tol: float) -> None:
    """The conditions of Karush, Kuhn and Tucker, which are enough for a convex function."""
    assert (low <= x).all()
    assert (x <= high).all()
    assert (np.abs(gradient) <= tol)[(low < x) & (x < high)].all()
    assert (gradient >= -tol)[(x == low) & (x < high)].all()
    assert (gradient <= tol)[(x == high) & (low < x)].all()


@pytest.mark.parametrize("condition", [1.0, 1e2, 1e4])
@pytest.mark.parametrize("seed", [0, 1])
def test_minimum_within_bounds_of_each_component(condition: float, seed: int) -> None:
    n = 24
    a, b = quadratic(n, condition, seed)
    draw = np.random.default_rng(seed + 10)
    low, high = np.sort(draw.normal(size=(2, n)), axis=0)
    low[:3], high[3:6] = -math.inf, math.inf
    low[6] = high[6] = 0.25
    x = dt.from_numpy(draw.normal(size=n) * 3.0, grad=True)  # outside
    problem = Problem(bowl, x, dt.from_numpy(a), dt.from_numpy(b))
    # A gradient g lowers the loss, of about 100, by g^2 / (2 condition) at most: in double
    # precision that is to be seen above 2e-7 sqrt(condition).
    tol = 1e-6 * math.sqrt(condition)
    optimiser = dt.optim.LBFGS(x, low=low, high=high, tol=tol)
    solve(optimiser, problem)
    assert optimiser.reason.startswith("converged")
    found = x.to_numpy()
    check_minimum(found, a @ found - b, low, high, tol)
    assert ((found == low) | (found == high)).sum() > 3  # bounds matter
    assert problem.calls < 200


def test_bounds_that_hold_nothing_leave_the_minimum() -> None:
    free, bounded = valley(10), valley(10)
    one, other = dt.optim.LBFGS(free.fields), dt.optim.LBFGS(bounded.fields, low=-50.0, high=50.0)
    solve(one, free)
    solve(other, bounded)
    np.testing.assert_allclose(bounded.fields[0].to_numpy(), free.fields[0].to_numpy(), atol=1e-6)


def test_valley_within_bounds() -> None:
    """As SciPy's L-BFGS-B finds it."""
    optimize: Any = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")
    bounds = [(-2.0, 0.5), (None, 0.2), (0.1, 2.0), (-1.0, None), (-2.0, 2.0), (0.3, 0.3)]
    start = valley(6)
    x0 = np.resize([-1.2, 1.0], 6)
    wanted = optimize.minimize(
        optimize.rosen, x0, jac=optimize.rosen_der, bounds=bounds, tol=1e-14, method="L-BFGS-B"
    ).x
    low, high = ([pair[k] for pair in bounds] for k in (0, 1))
    optimiser = dt.optim.LBFGS(start.fields, low=low, high=high)
    solve(optimiser, start)
    np.testing.assert_allclose(start.fields[0].to_numpy(), wanted, atol=1e-6)


def test_bounds_of_vectors_and_single_numbers() -> None:
    x, s = dt.zeros(3, dt.vec(2), grad=True), dt.zeros((), grad=True)
    loss = dt.zeros((), grad=True)

    def f() -> dt.Field:
        loss.fill(0.0)
        with dt.Tape(loss):
            aim(x, s, loss)
        return loss

    optimiser = dt.optim.LBFGS(
        {"x": x, "s": s},
        low={x: [-9.0, -1.1], s: None},
        high={"x": [[2.9, None], [None, None], [0.1, None]], "s": 0.3},
        tol=1e-5,
    )
    while not optimiser.finished:
        optimiser.step(f)
    found = x.to_numpy()
    np.testing.assert_allclose(found, [[2.9, -1.1], [3.0, -1.1], [0.1, -1.1]], rtol=1e-5)
    # Numbers in single precision do not pass bounds that they cannot hold.
    assert (found[:, 1].astype(np.float64) >= -1.1).all()
    assert float(found[2, 0]) <= 0.1
    assert 0.2999 < float(s[None]) <= 0.3


def test_all_components_held() -> None:
    a, b = quadratic(4, 1.0, 0)
    x = dt.zeros(4, ti.f64, grad=True)
    optimiser = dt.optim.LBFGS(x, low=1.5, high=1.5)
    optimiser.step(Problem(bowl, x, dt.from_numpy(a), dt.from_numpy(b)))
    assert x.to_numpy().tolist() == [1.5] * 4
    assert optimiser.reason == (
        "converged after no iterations: the largest component of the gradient within the bounds "
        "is 0, within tol = 1e-07"
    )


def stiff() -> Problem:
    a, b = quadratic(12, 1e4, 0)
    return Problem(bowl, dt.zeros(12, ti.f64, grad=True), dt.from_numpy(a), dt.from_numpy(b))


_REST = r"the largest component of the gradient is [\d.e+-]+"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tol": 1e-3}, rf"converged after \d+ iterations: {_REST}, within tol = 0\.001"),
        ({"iterations": 3}, rf"not finished after 3 iterations: {_REST}, above tol = 1e-07"),
        (
            {"rtol": 1e-4, "tol": 0.0},
            r"converged after \d+ iterations: the loss fell by [\d.e+-]+ of its value, within "
            rf"rtol = 0\.0001; {_REST}, above tol = 0",
        ),
        (
            {"tol": 0.0},
            rf"stopped after \d+ iterations: no lower loss was found; {_REST}, above tol = 0",
        ),
    ],
)
def test_reasons(options: dict[str, Any], text: str) -> None:
    problem = stiff()
    optimiser = dt.optim.LBFGS(problem.fields[0], **{"iterations": 1000, **options})
    optimiser.step(problem)
    assert re.fullmatch(text, optimiser.reason), optimiser.reason
    assert optimiser.finished == ("not finished" not in text)


def test_fewer_evaluations_with_a_relative_tolerance() -> None:
    counts: list[int] = []
    losses: list[float] = []
    for rtol in (0.0, 1e-8):
        problem = stiff()
        solve(dt.optim.LBFGS(problem.fields[0], rtol=rtol), problem)
        counts.append(problem.calls)
        losses.append(problem.loss[None])
    assert counts[1] < counts[0]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def test_fields_that_bounds_leave_out_have_none() -> None:
    x = dt.zeros(3, dt.vec(2, ti.f64), grad=True)
    s, loss = dt.zeros((), ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)

    def forward() -> dt.Field:
        loss.fill(0.0)
        aim(x, s, loss)
        return loss

    def with_gradient() -> dt.Field:
        with dt.Tape(loss):
            forward()
        return loss

    found: list[tuple[Doubles, float]] = []
    for _ in range(3):
        x.fill(0.0)
        s.fill(0.0)
        if not found:
            optimiser = dt.optim.LBFGS({"x": x, "s": s}, low={"x": -1.0}, high={"x": 2.0})
            while not optimiser.finished:
                optimiser.step(with_gradient)
        elif len(found) == 1:
            dt.optim.scipy_minimize(forward, (x, s), method="L-BFGS-B", bounds={x: (-1.0, 2.0)})
        else:
            descent = dt.optim.SGD((x, s), lr=0.1, low={x: -1.0}, high={x: 2.0})
            for _ in range(200):
                with_gradient()
                descent.step()
        found.append((x.to_numpy(), s.item()))
    for points, number in found:
        np.testing.assert_allclose(points, [[2.0, -1.0]] * 3, atol=1e-12)
        assert abs(number - 0.7) < 1e-6
