"""L-BFGS, its line search, and SciPy's minimisers."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.optim import line_search
from difftile.optim.objective import Objective, Point
from difftile.optim.parameters import parameters_of


@dt.kernel
def rosenbrock(x, loss):
    for k in range(x.shape[0] - 1):
        loss[None] += 100 * (x[k + 1] - x[k] ** 2) ** 2 + (1 - x[k]) ** 2


@dt.kernel
def barrier(x, loss):
    for k in x:
        loss[None] += x[k] - ti.log(x[k])


@dt.kernel
def fall(y, v):
    for i in y:
        v[i] -= 0.1
        y[i] += 0.1 * v[i]


@dt.kernel
def miss(y, loss):
    for i in y:
        loss[None] += (y[i] - 3.0 - i) ** 2


class Problem:
    """A loss over fields, and how often it was computed."""

    def __init__(self, launch: Callable[..., object], *fields: dt.Field) -> None:
        self.fields, self.calls = fields, 0
        self.launch = launch
        self.loss = dt.zeros((), fields[0].dtype, grad=True)

    def __call__(self) -> dt.Field:
        self.calls += 1
        self.loss.fill(0.0)
        with dt.Tape(self.loss):
            self.launch(*self.fields, self.loss)
        return self.loss


def valley(n: int, dtype: Any = ti.f64) -> Problem:
    x = dt.zeros(n, dtype, grad=True)
    x.from_numpy(np.resize([-1.2, 1.0], n))
    return Problem(rosenbrock, x)


# L-BFGS


@pytest.mark.parametrize("n", [2, 30])
def test_lbfgs_finds_the_end_of_the_valley(n: int) -> None:
    problem = valley(n)
    optimiser = dt.optim.LBFGS(problem.fields)
    while not optimiser.finished:
        value = optimiser.step(problem)
    assert optimiser.reason.startswith("converged")
    assert value < 1e-15
    np.testing.assert_allclose(problem.fields[0].to_numpy(), 1.0, atol=1e-7)
    assert problem.calls < (60 if n == 2 else 300)


def test_lbfgs_ends_where_single_precision_does() -> None:
    problem = valley(10, ti.f32)
    optimiser = dt.optim.LBFGS(problem.fields, iterations=500, tol=0.0)
    assert optimiser.step(problem) < 1e-10
    assert optimiser.finished
    np.testing.assert_allclose(problem.fields[0].to_numpy(), 1.0, atol=1e-5)


def test_lbfgs_on_a_quadratic_takes_no_more_steps_than_it_has_dimensions() -> None:
    @dt.kernel
    def bowl(x, loss):
        for i in x:
            loss[None] += 0.5 * (i + 1) ** 2 * (x[i] - i) ** 2

    x = dt.zeros(4, ti.f64, grad=True)
    problem = Problem(bowl, x)
    optimiser = dt.optim.LBFGS(x, tol=1e-6)
    optimiser.step(problem)
    assert optimiser.finished
    np.testing.assert_allclose(x.to_numpy(), [0, 1, 2, 3], atol=1e-6)
    assert optimiser.steps <= 16


@pytest.mark.parametrize("start", [0.01, 50.0])
def test_a_trial_without_a_loss_was_too_far(start: float) -> None:
    x = dt.full(3, start, ti.f64, grad=True)
    problem = Problem(barrier, x)
    optimiser = dt.optim.LBFGS(
        x, lr=1000.0
    )  # the first trial is outside the domain of the logarithm
    assert optimiser.step(problem) == pytest.approx(3.0)
    np.testing.assert_allclose(x.to_numpy(), 1.0, atol=1e-6)


def test_what_is_moved_may_be_changed_by_the_launches() -> None:
    """The fields hold where the simulation begins; it ends elsewhere, in place."""
    y, v = dt.zeros(2, ti.f64, grad=True), dt.zeros(2, ti.f64, grad=True)

    def shoot(y, v, loss):
        y.fill(0.0)
        for _ in range(20):
            fall(y, v)
        miss(y, loss)

    problem = Problem(shoot, y, v)
    optimiser = dt.optim.LBFGS(v)
    with pytest.raises(ZeroDivisionError):
        optimiser.step(lambda: problem()[None] / 0)  # pyrefly: ignore[division-by-zero]
    assert not v.to_numpy().any()
    assert optimiser.step(problem) == pytest.approx(0.0, abs=1e-12)
    # 20 steps fall by 0.01 * (1 + ... + 20) = 2.1, and fly 2 seconds
    np.testing.assert_allclose(v.to_numpy(), [(3 + 2.1) / 2, (4 + 2.1) / 2], rtol=1e-6)


def test_lbfgs_goes_on_exactly_where_it_was_saved(tmp_path: Path) -> None:
    one, other = valley(6), valley(6)
    optimiser = dt.optim.LBFGS(one.fields, iterations=5, history=3)
    optimiser.step(one)
    np.savez(tmp_path / "state.npz", **optimiser.state_dict())
    other.fields[0].copy_from(one.fields[0])
    again = dt.optim.LBFGS(other.fields, iterations=5, history=3)
    with np.load(tmp_path / "state.npz") as state:
        assert state["moves"].shape == (3, 6)
        again.load_state_dict(state)
    assert optimiser.step(one) == again.step(other)
    assert again.steps == 10
    assert (one.fields[0].to_numpy() == other.fields[0].to_numpy()).all()
    fresh = dt.optim.LBFGS(one.fields)
    fresh.load_state_dict(dt.optim.LBFGS(one.fields).state_dict())
    assert fresh.steps == 0


def test_lbfgs_refuses_a_history_that_none_can_be() -> None:
    one = valley(6)
    optimiser = dt.optim.LBFGS(one.fields, iterations=5, history=3)
    optimiser.step(one)
    saved = optimiser.state_dict()
    moves, turns = saved["moves"], saved["turns"]
    for changes in (
        {"moves": moves[:2]},
        {"moves": -moves},
        {"turns": 0 * turns},
        {"turns": 1e200 * turns, "moves": 1e200 * moves},
        {"turns": turns * np.nan},
    ):
        with pytest.raises(dt.LaunchError, match=r"LBFGS: load_state_dict\(\)"):
            optimiser.load_state_dict({**saved, **changes})
        np.testing.assert_array_equal(optimiser.state_dict()["moves"], moves)


def test_an_error_inside_leaves_the_point_that_was_reached() -> None:
    problem = valley(2)
    x, reached = problem.fields[0], []

    def f() -> dt.Field:
        if problem.calls == 10:
            raise KeyboardInterrupt
        problem()
        reached.append((problem.loss[None], x.to_numpy().tolist()))
        return problem.loss

    with pytest.raises(KeyboardInterrupt):
        dt.optim.LBFGS(x).step(f)
    assert x.to_numpy().tolist() == min(reached)[1]


def test_a_search_meets_the_strong_wolfe_conditions() -> None:
    """On functions of one number, from lengths far too short and far too long."""
    functions: list[tuple[Callable[[float], float], Callable[[float], float]]] = [
        (lambda a: (a - 3.0) ** 2, lambda a: 2 * (a - 3.0)),
        (lambda a: -a / (a * a + 2.0), lambda a: (a * a - 2.0) / (a * a + 2.0) ** 2),
        (lambda a: math.exp(min(a, 700)) - 5 * a, lambda a: math.exp(min(a, 700)) - 5.0),
        (lambda a: math.sin(a + 2.0), lambda a: math.cos(a + 2.0)),
    ]
    for value, slope in functions:

        def at(
            x: Any, value: Callable[[float], float] = value, slope: Callable[..., float] = slope
        ) -> Point:
            return Point(x, value(float(x[0])), np.array([slope(float(x[0]))]))

        start = at(np.zeros(1))
        assert start.gradient[0] < 0.0
        for first in (1e-3, 1.0, 1e3):
            found = line_search.search(at, start, np.ones(1), first)
            assert found is not None
            length = float(found.x[0])
            assert found.value <= start.value + 1e-4 * length * start.gradient[0]
            assert abs(found.gradient[0]) <= 0.9 * abs(start.gradient[0])


def test_a_search_uphill_finds_nothing() -> None:
    start = Point(np.zeros(1), 0.0, np.ones(1))
    uphill = line_search.search(lambda x: Point(x, float(x[0]), np.ones(1)), start, np.ones(1), 1.0)
    assert uphill is None


# SciPy

has_scipy = pytest.mark.skipif(
    importlib.util.find_spec("scipy") is None, reason="SciPy is not installed"
)


@has_scipy
@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS", "CG", "trust-constr", "SLSQP"])
def test_scipy_finds_the_end_of_the_valley(method: str) -> None:
    problem = valley(2)
    result = dt.optim.scipy_minimize(problem, problem.fields, method=method)
    assert result.success
    np.testing.assert_allclose(problem.fields[0].to_numpy(), 1.0, atol=1e-3)
    assert (problem.fields[0].to_numpy() == result.x).all()


@has_scipy
def test_scipy_without_gradients_needs_no_tape() -> None:
    x = dt.from_numpy(np.array([0.5, 0.5], np.float32))
    loss = dt.zeros((), ti.f32)

    def f() -> float:
        loss.fill(0.0)
        rosenbrock(x, loss)
        return loss[None]

    result = dt.optim.scipy_minimize(f, x, method="Nelder-Mead", tol=1e-3)
    assert result.success
    np.testing.assert_allclose(x.to_numpy(), 1.0, atol=0.05)


@has_scipy
def test_scipy_keeps_within_bounds_of_fields() -> None:
    @dt.kernel
    def bowls(x, p, loss):
        for i in x:
            loss[None] += (x[i] - 2.0) ** 2 + p[i].pos.norm_sqr() + (p[i].mass - 1.0) ** 2

    particle = ti.types.struct(pos=ti.types.vector(2, ti.f64), mass=ti.f64)
    x, p = dt.zeros(2, ti.f64, grad=True), dt.field(particle, 2, grad=True)
    p.pos.fill(5.0)
    problem = Problem(bowls, x, p)
    least = np.array([[1.0, -1.0], [-1.0, 2.0]])
    bounds = {x: (None, np.array([0.5, 9.0])), p.pos: (least, None), p.mass: None}
    result = dt.optim.scipy_minimize(problem, (x, p), bounds=bounds)
    assert result.success
    np.testing.assert_allclose(x.to_numpy(), [0.5, 2.0], atol=1e-4)
    np.testing.assert_allclose(p.pos.to_numpy(), np.maximum(least, 0.0), atol=1e-4)
    np.testing.assert_allclose(p.mass.to_numpy(), 1.0, atol=1e-4)


@has_scipy
def test_scipy_that_is_interrupted_leaves_the_best() -> None:
    problem = valley(2)
    losses: list[float] = []

    def stop(x: np.ndarray) -> None:
        losses.append(problem.loss[None])
        if len(losses) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dt.optim.scipy_minimize(problem, problem.fields, callback=stop)
    assert problem()[None] <= min(losses)


def test_without_scipy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("scipy", "scipy.optimize"):
        monkeypatch.setitem(sys.modules, module, None)  # importing it raises ModuleNotFoundError
    problem = valley(2)
    with pytest.raises(ImportError, match=r"pip install difftile\[scipy\]"):
        dt.optim.scipy_minimize(problem, problem.fields)


def test_what_bends_down_is_not_remembered() -> None:
    """So a state that is saved there can be loaded."""
    x, loss = dt.from_numpy(np.array([0.1, 0.2]), grad=True), dt.zeros((), ti.f64, grad=True)

    @dt.kernel
    def hill(x, loss):
        for i in x:
            loss[None] -= x[i] ** 2

    def f() -> Any:
        loss.fill(0.0)
        with dt.Tape(loss):
            hill(x, loss)
        return loss

    optimiser = dt.optim.LBFGS(x, iterations=1)
    optimiser.step(f)
    assert optimiser.steps == 1
    optimiser.load_state_dict(optimiser.state_dict())


def test_a_point_whose_array_changes_is_another_point() -> None:
    x, loss = dt.from_numpy(np.array([1.0, 2.0]), grad=True), dt.zeros((), ti.f64, grad=True)

    @dt.kernel
    def bowl(x, loss):
        for i in x:
            loss[None] += x[i] ** 2

    def f() -> Any:
        loss.fill(0.0)
        with dt.Tape(loss):
            bowl(x, loss)
        return loss

    objective = Objective(f, parameters_of(x, "test"), "test")
    place = np.array([1.0, 2.0])
    assert objective.at(place).value == 5.0
    place += 1.0
    assert objective.at(place).value == 13.0
