"""Differential equations: their solutions, and both derivatives of those."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.runtime.kernel import Kernel
from difftile.solvers.rungekutta import Equation, Outputs, RungeKutta, TimeStep
from difftile.solvers.state import State
from difftile.solvers.tableaux import METHODS, Tableau

Array = npt.NDArray[Any]


@dt.kernel
def decay(t: float, y, dy, k):
    for i in y:
        dy[i] -= k[None] * y[i]


@dt.kernel
def pendulum(t: float, q, v, dq, dv, gravity, drag: float):
    for i in q:
        dq[i] = v[i]
        dv[i] = -gravity[None] * ti.sin(q[i]) - drag * v[i] + ti.cos(3.0 * t)


@dt.kernel
def van_der_pol(t: float, y, dy, mu):
    for i in y:
        dy[i].x = y[i].y
        dy[i].y = mu[None] * (1.0 - y[i].x ** 2) * y[i].y - y[i].x


@dt.kernel
def double(x, y):
    for i in x:
        y[i] = 2.0 * x[i] * x[i]


@dt.kernel
def squares(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


def scalar(value: float, *, grad: bool = True) -> dt.Field:
    return dt.full((), value, ti.f64, grad=grad)


def swing(q: Array, v: Array, gravity: complex, drag: float, t: float) -> tuple[Array, Array]:
    return v, -gravity * np.sin(q) - drag * v + np.cos(3.0 * t)


def reference(
    tableau: Tableau, steps: Sequence[TimeStep], rate: Callable[[float, Array], Array], y: Array
) -> Array:
    """Take steps of a method in NumPy, with complex numbers if y is of those."""
    for step in steps:
        rates: list[Array] = []
        for node, row in zip(tableau.nodes, tableau.rows, strict=True):
            at = y + step.h * sum((a * k for a, k in zip(row, rates, strict=True)), np.zeros(()))
            rates.append(rate(step.t + node * step.h, at))
        y = y + step.h * sum(b * k for b, k in zip(tableau.weights, rates, strict=True))
    return y


# Solutions


@pytest.mark.parametrize(
    ("steps", "value", "by_k"), [(10, 0.196874, -0.231617), (100, 0.220609, -0.223968)]
)
def test_cr4_euler_differentiates_the_steps(steps: int, value: float, by_k: float) -> None:
    y, k = dt.ones(1, ti.f64, grad=True), scalar(1.5)
    with dt.Tape() as tape:
        dt.odeint(decay, y, 0.0, 1.0, args=(k,), method="euler", steps=steps)
    tape.backward({y: 1.0})
    assert y[0] == pytest.approx(value, abs=5e-7)
    assert k.grad[None] == pytest.approx(by_k, abs=5e-7)
    assert y.grad[0] == pytest.approx(y[0], rel=1e-14)


@pytest.mark.parametrize("adjoint", ["discrete", "continuous"])
def test_cr4_exact_derivative_at_tight_tolerances(adjoint: str) -> None:
    y, k = dt.ones(1, ti.f64, grad=True), scalar(1.5)
    with dt.Tape() as tape:
        dt.odeint(decay, y, 0.0, 1.0, args=(k,), rtol=1e-10, atol=1e-12, adjoint=adjoint)
    tape.backward({y: 1.0})
    assert y[0] == pytest.approx(np.exp(-1.5), rel=1e-9)
    assert k.grad[None] == pytest.approx(-0.223130, abs=5e-7)
    assert k.grad[None] == pytest.approx(-np.exp(-1.5), rel=1e-9)
    assert y.grad[0] == pytest.approx(y[0], rel=1e-9)


def follow(tableau: Tableau, steps: int) -> tuple[float, float]:
    """Return the errors of sin and cos at the end of equal steps, and in the midst of the last."""
    q, v = dt.zeros(1, ti.f64), dt.ones(1, ti.f64)
    out = State([dt.zeros((1, 1), ti.f64), dt.zeros((1, 1), ti.f64)])
    h = 2.0 / steps

    def rate(t: float, q: Any, v: Any, dq: Any, dv: Any) -> None:
        dq.copy_from(v)
        dv.from_numpy(-q.to_numpy())

    run = RungeKutta(tableau, Equation(rate, ()), State([q, v]), Outputs([2.0 - 0.4 * h], out))
    run.follow(TimeStep(n * h, h) for n in range(steps))
    middle = out.leaves[0][0, 0] - np.sin(2.0 - 0.4 * h)
    return abs(q[0] - np.sin(2.0)) + abs(v[0] - np.cos(2.0)), abs(middle)


@pytest.mark.parametrize("method", METHODS)
def test_errors_fall_with_the_order_of_the_method(method: str) -> None:
    tableau = METHODS[method]
    coarse, fine = follow(tableau, 20), follow(tableau, 40)
    orders = np.log2(np.array(coarse) / fine)
    assert orders[0] == pytest.approx(tableau.order, abs=0.15)
    assert orders[1] > min(tableau.order, 5) - 0.3


def test_errors_follow_the_tolerance() -> None:
    errors = []
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10):
        y, mu = dt.from_numpy(np.array([[2.0, 0.0]]), dtype=ti.math.vec2), scalar(3.0)
        result = dt.odeint(van_der_pol, y, 0.0, 8.0, args=(mu,), rtol=rtol, atol=rtol)
        assert result.converged and result.t == 8.0
        errors.append(y.to_numpy()[0])
    gaps = np.abs(np.array(errors[:-1]) - errors[-1]).max(axis=1)
    assert np.all(gaps < 50 * np.array([1e-4, 1e-6, 1e-8]))
    assert np.all(gaps[1:] < 0.2 * gaps[:-1])


def test_result_says_what_was_done() -> None:
    y = dt.ones(3, ti.f64)
    result = dt.odeint(decay, y, 0, 1, args=(scalar(1.5),), method="rk4", steps=4)
    assert repr(result) == "<odeint rk4: t = 1 after 4 steps, 16 evaluations>"
    y = dt.ones(3, ti.f64)
    result = dt.odeint(decay, y, 0, 1, args=(scalar(1.5),), first_step=1.0)
    assert result.rejected == 2
    assert repr(result).startswith("<odeint dopri5: t = 1 after ")
    assert "steps (2 rejected), " in repr(result)
    # A stage more at the first step, and six at each: the last one serves the next step too.
    assert result.evaluations == 1 + 6 * (result.steps + result.rejected)


def test_time_runs_backwards_too_and_not_at_all() -> None:
    y, k = dt.ones(2, ti.f64), scalar(0.7)
    dt.odeint(decay, y, 1.0, -1.0, args=(k,), rtol=1e-9)
    np.testing.assert_allclose(y.to_numpy(), np.exp(1.4), rtol=1e-8)
    assert dt.odeint(decay, y, 1.0, 1.0, args=(k,)).steps == 0
    np.testing.assert_allclose(y.to_numpy(), np.exp(1.4), rtol=1e-8)


@dt.kernel
def fall(t: float, p, dp, wind):
    for i in p:
        dp[i].pos = p[i].vel
        dp[i].vel = wind[None] - p[i].drag * p[i].vel
        dp[i].drag = 0.0


def test_state_may_be_structs_vectors_matrices_and_single_numbers() -> None:
    Ball = ti.types.struct(pos=ti.math.vec3, vel=ti.math.vec3, drag=ti.f64)
    balls = dt.field(Ball, 4, grad=True)
    balls.vel.fill(1.0)
    balls.drag.fill(0.5)
    wind = dt.zeros((), dt.vec(3, ti.f32), grad=True)
    clock, turn = scalar(0.0), dt.zeros((2, 2), dt.mat(2, 2, ti.f64), grad=True)
    turn.fill(np.eye(2))

    def rhs(t, p, clock, turn, dp, d_clock, d_turn):
        fall(t, p, dp, wind)
        tick(d_clock)
        rotate(turn, d_turn)

    with dt.Tape() as tape:
        result = dt.odeint(rhs, (balls, clock, turn), 0.0, 2.0, rtol=1e-6, atol=1e-6)
    assert result.converged
    np.testing.assert_allclose(balls.vel.to_numpy(), np.exp(-1.0), rtol=1e-5)
    assert clock[None] == pytest.approx(2.0, rel=1e-12)
    np.testing.assert_allclose(turn.to_numpy()[1, 1], _rotation(2.0), atol=1e-5)
    tape.backward({balls.pos: 1.0, turn: 1.0})
    # pos = (1 - exp(-drag t)) / drag, and its derivative by drag
    by_drag = 3 * ((2 * 0.5 + 1) * np.exp(-1.0) - 1) / 0.25
    np.testing.assert_allclose(balls.drag.grad.to_numpy(), by_drag, rtol=1e-4)
    np.testing.assert_allclose(balls.pos.grad.to_numpy(), 1.0, rtol=1e-6)
    np.testing.assert_allclose(
        turn.grad.to_numpy()[0, 0], _rotation(2.0).T @ np.ones((2, 2)), atol=1e-5
    )


@dt.kernel
def tick(d_clock):
    d_clock[None] = 1.0


@dt.kernel
def rotate(turn, d_turn):
    for i, j in turn:
        d_turn[i, j] = ti.Matrix([[0.0, -1.0], [1.0, 0.0]]) @ turn[i, j]


def _rotation(angle: float) -> Array:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


# The discrete adjoint


def loss_of(q: dt.Field, v: dt.Field) -> dt.Field:
    loss = scalar(0.0)
    squares(q, loss)
    squares(v, loss)
    return loss


Q, V = np.array([1.0, -0.4, 0.2]), np.array([0.1, 0.6, -0.8])


def solve(gravity: float = 2.0, q: Array = Q, *, grad: bool = True, **options: Any) -> list[Any]:
    """Double the positions, swing, and return the loss and the fields."""
    start, swinging = dt.from_numpy(q, grad=grad), dt.zeros(3, ti.f64, grad=grad)
    speed, g = dt.from_numpy(V, grad=grad), scalar(gravity, grad=grad)
    with dt.Tape() as tape:
        double(start, swinging)
        result = dt.odeint(pendulum, (swinging, speed), 0.0, 2.0, args=(g, 0.1), **options)
        loss = loss_of(swinging, speed)
    return [loss, start, speed, g, tape, result]


def gradient(**options: Any) -> tuple[Array, float]:
    loss, start, speed, g, tape, _ = solve(**options)
    tape.backward(loss)
    found = [one.grad.to_numpy().ravel() for one in (start, speed, g)]
    return np.concatenate(found), loss[None]


@pytest.mark.parametrize(
    ("method", "options"),
    [("euler", {"steps": 50}), ("rk4", {"steps": 20}), ("dopri5", {"rtol": 1e-5, "first_step": 2})],
)
def test_discrete_adjoint_is_the_derivative_of_the_steps(method: str, options: Any) -> None:
    """Against the complex step through a program of the same steps in NumPy."""
    taken: list[TimeStep] = []
    follow = RungeKutta.follow

    def noted(self: RungeKutta, steps: Any) -> None:
        taken.extend(steps)
        follow(self, taken)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RungeKutta, "follow", noted)
        found, loss = gradient(method=method, **options)
    assert sum(step.h for step in taken) == pytest.approx(2.0)

    def run(parameters: Array) -> complex:
        q, v, g = parameters[:3], parameters[3:6], parameters[6]
        y = np.concatenate([2.0 * q * q, v])

        def rate(t: float, y: Array) -> Array:
            return np.concatenate(swing(y[:3], y[3:], g, 0.1, t))

        return np.sum(reference(METHODS[method], taken, rate, y) ** 2)

    at = np.array([*Q, *V, 2.0])
    steps = 1e-30j * np.eye(7)
    assert loss == pytest.approx(run(at), rel=1e-13)
    expected = [run(at + step).imag / 1e-30 for step in steps]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_discrete_adjoint_agrees_with_differences() -> None:
    eps = 1e-3
    options: dict[str, Any] = {"method": "rk4", "steps": 30}
    found, _ = gradient(**options)

    def by_gravity(n: int) -> float:
        return solve(2.0 + n * eps, **options)[0][None]

    def by_start(n: int) -> float:
        return solve(q=Q + n * eps * np.eye(3)[1], **options)[0][None]

    for place, loss in ((6, by_gravity), (1, by_start)):
        values = [weight * loss(n) for n, weight in ((1, 45), (2, -9), (3, 1))]
        values += [-weight * loss(-n) for n, weight in ((1, 45), (2, -9), (3, 1))]
        assert found[place] == pytest.approx(sum(values) / (60 * eps), rel=1e-8)


def test_discrete_adjoint_is_the_same_within_any_memory() -> None:
    def run(**tape_options: Any) -> tuple[Array, dt.Tape]:
        q, v = dt.from_numpy(np.tile(Q, 40), grad=True), dt.from_numpy(np.tile(V, 40), grad=True)
        g, loss = scalar(2.0), scalar(0.0)
        with dt.Tape(loss, **tape_options) as tape:
            for start in (0.0, 1.0):
                dt.odeint(pendulum, (q, v), start, start + 1.0, args=(g, 0.1), rtol=1e-7)
            squares(q, loss)
        return np.concatenate([q.grad.to_numpy(), v.grad.to_numpy(), [g.grad[None]]]), tape

    whole, tape = run()
    limited, small = run(memory=tape.peak_nbytes // 3)
    np.testing.assert_allclose(limited, whole, rtol=1e-13)
    assert small.recomputed and small.peak_nbytes <= tape.peak_nbytes // 3


@dt.kernel
def root(t: float, y, dy, k):
    for i in y:
        dy[i] = -k[None] * ti.sqrt(y[i])  # no number once a step leads below zero


def test_rejected_steps_leave_no_trace() -> None:
    y, k = dt.full(1, 1.0, ti.f64, grad=True), scalar(1.0)
    with dt.Tape() as tape:
        result = dt.odeint(root, y, 0.0, 1.9, args=(k,), first_step=1.9, rtol=1e-9, atol=1e-12)
    assert result.rejected > 0
    tape.backward({y: 1.0})
    exact = (1.0 - 0.95) ** 2  # sqrt y falls as 1 - k t / 2
    assert y[0] == pytest.approx(exact, rel=1e-6)
    assert k.grad[None] == pytest.approx(-1.9 * np.sqrt(exact), rel=1e-6)


def test_outputs_on_the_way_carry_gradients() -> None:
    times = [0.0, 0.31, 0.5, 1.0]
    for options in ({"method": "rk4", "steps": 40}, {"rtol": 1e-9, "atol": 1e-11}):
        for adjoint in ("discrete", "continuous"):
            y, k = dt.ones(2, ti.f64, grad=True), scalar(1.5)
            out = dt.zeros((4, 2), ti.f64, grad=True)
            with dt.Tape() as tape:
                dt.odeint(
                    *(decay, y, 0.0, 1.0),
                    **{"args": (k,), "at": times, "out": out, "adjoint": adjoint, **options},
                )
            exact = np.exp(-1.5 * np.array(times))
            np.testing.assert_allclose(out.to_numpy()[:, 1], exact, rtol=1e-6)
            seed = np.array([1.0, 2.0, 3.0, 4.0])
            tape.backward({out: np.stack([seed, 0 * seed], axis=1), y: np.array([0.0, 1.0])})
            slope = -np.array(times) * exact
            assert k.grad[None] == pytest.approx(seed @ slope + slope[-1], rel=1e-6)
            np.testing.assert_allclose(y.grad.to_numpy(), [seed @ exact, exact[-1]], rtol=1e-6)


@dt.kernel
def launch(speed, q, v):
    for i in speed:
        q[i] = 0.0
        v[i] = speed[i]


@dt.kernel
def miss(q, r):
    for i in q:
        r[i] = q[i] - 0.5


def test_shooting_is_a_root_of_a_solution() -> None:
    """The speed that leads the pendulum to an angle, and its derivative by gravity."""
    q, v, speed = (dt.zeros(1, ti.f64, grad=True) for _ in range(3))
    gravity, loss = scalar(9.81), scalar(0.0)

    def shoot(speed, r):
        launch(speed, q, v)
        dt.odeint(pendulum, (q, v), 0.0, 0.3, args=(gravity, 0.0), rtol=1e-9, atol=1e-11)
        miss(q, r)

    def solve() -> float:
        speed.fill(1.0)
        assert dt.root(shoot, speed).converged
        return speed[0] ** 2

    with dt.Tape(loss):
        solve()
        squares(speed, loss)
    found = gravity.grad[None]
    eps = 1e-4
    ends = []
    for sign in (1.0, -1.0):
        gravity[None] = 9.81 + sign * eps
        ends.append(solve())
    assert found == pytest.approx((ends[0] - ends[1]) / (2 * eps), rel=1e-6)


# The continuous adjoint


def test_continuous_adjoint_tends_to_the_discrete_one() -> None:
    gaps = []
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10):
        options: dict[str, Any] = {"rtol": rtol, "atol": 1e-2 * rtol}
        discrete, _ = gradient(**options)
        continuous, _ = gradient(adjoint="continuous", **options)
        gaps.append(np.abs(discrete - continuous).max() / np.abs(discrete).max())
    assert gaps[0] < 1e-2 and gaps[-1] < 1e-8
    assert np.all(np.array(gaps[1:]) < 0.2 * np.array(gaps[:-1]))
    by_steps = [
        np.abs(
            gradient(method="rk4", steps=n)[0]
            - gradient(method="rk4", steps=n, adjoint="continuous")[0]
        ).max()
        for n in (20, 40)
    ]
    assert np.log2(by_steps[0] / by_steps[1]) > 3.7


def test_continuous_adjoint_of_van_der_pol() -> None:
    found = {}
    for adjoint in ("discrete", "continuous"):
        y = dt.from_numpy(np.array([[2.0, 0.0], [1.0, 1.0]]), dtype=ti.math.vec2, grad=True)
        mu = scalar(0.8)
        with dt.Tape() as tape:
            dt.odeint(
                *(van_der_pol, y, 0.0, 3.0),
                **{"args": (mu,), "rtol": 1e-10, "atol": 1e-12, "adjoint": adjoint},
            )
        tape.backward({y: np.array([[1.0, 2.0], [-1.0, 0.5]])})
        found[adjoint] = [*y.grad.to_numpy().ravel(), mu.grad[None]]
    np.testing.assert_allclose(found["continuous"], found["discrete"], rtol=1e-7)


def test_memory_of_the_continuous_adjoint_does_not_grow() -> None:
    held = {}
    for adjoint in ("discrete", "continuous"):
        for steps in (10, 80):
            _, _, _, _, tape, _ = solve(method="rk4", steps=steps, adjoint=adjoint)
            held[adjoint, steps] = tape.nbytes
            tape.release()
    assert held["continuous", 10] == held["continuous", 80]
    assert held["continuous", 80] < held["discrete", 10] < held["discrete", 80] / 6


def test_times_may_have_gradients() -> None:
    """The derivative by the end is the rate there, and by the start minus that of the state."""
    y, k, start, end = dt.ones(1, ti.f64, grad=True), scalar(1.5), scalar(0.2), scalar(1.0)
    with dt.Tape() as tape:
        dt.odeint(decay, y, start, end, args=(k,), rtol=1e-10, atol=1e-12, adjoint="continuous")
    tape.backward({y: 1.0})
    exact = np.exp(-1.2)
    assert end.grad[None] == pytest.approx(-1.5 * exact, rel=1e-8)
    assert start.grad[None] == pytest.approx(1.5 * exact, rel=1e-8)
    with dt.Tape(), pytest.raises(dt.LaunchError, match="takes times for constants"):
        dt.odeint(decay, y, 0.0, end, args=(k,))
    dt.odeint(decay, y, 0.0, end, args=(k,))  # without a tape it is a number


@dt.kernel
def pull(q, force, k):
    for i in q:
        force[i] = -k[None] * q[i]


@dt.kernel
def move(v, force, dq, dv):
    for i in v:
        dq[i] = v[i]
        dv[i] = force[i]


@pytest.mark.parametrize("adjoint", ["discrete", "continuous"])
def test_parameters_and_scratch_fields_may_change_meanwhile(adjoint: str) -> None:
    """The reverse reads the old contents of parameters, and leaves current contents unchanged."""
    q, v = dt.ones(2, ti.f64, grad=True), dt.zeros(2, ti.f64, grad=True)
    k, force = scalar(2.0), dt.zeros(2, ti.f64, grad=True)

    def rhs(t, q, v, dq, dv):
        pull(q, force, k)
        move(v, force, dq, dv)

    with dt.Tape() as tape:
        dt.odeint(rhs, (q, v), 0.0, 1.0, rtol=1e-9, atol=1e-11, adjoint=adjoint)
        k.fill(99.0)
        force.fill(7.0)
        with dt.no_grad():
            final = q.to_numpy()
    tape.backward({q: 1.0})
    w = np.sqrt(2.0)
    np.testing.assert_allclose(final, np.cos(w), rtol=1e-7)
    assert k.grad[None] == pytest.approx(-2 * np.sin(w) / (2 * w), rel=1e-6)
    np.testing.assert_allclose(v.grad.to_numpy(), np.sin(w) / w, rtol=1e-6)
    assert k[None] == 99.0 and force[0] == 7.0
    np.testing.assert_array_equal(q.to_numpy(), final)


@dt.kernel
def relax(t: float, y, dy, k):
    for i in y:
        dy[i] = -k[None] * (y[i] - ti.cos(t))


def relaxed(k: complex, t: float) -> complex:
    """Return the solution of y' = -k (y - cos t) from y(0) = 1."""
    return (np.exp(-k * t) + k * k * np.cos(t) + k * np.sin(t)) / (k * k + 1)


def test_an_equation_that_forgets_is_not_integrated_backwards_in_silence() -> None:
    def run(**options: Any) -> float:
        y, k = dt.ones(1, ti.f64, grad=True), scalar(20.0)
        with dt.Tape() as tape:
            dt.odeint(relax, y, 0.0, 1.0, args=(k,), adjoint="continuous", rtol=1e-5, **options)
        tape.backward({y: 1.0})
        return k.grad[None]

    exact = relaxed(20.0 + 1e-30j, 1.0).imag / 1e-30
    with pytest.warns(dt.NotConverged, match="the state at t = 0 is off by .* tolerances"):
        astray = run()
    stored = run(at=list(np.linspace(0.0, 1.0, 41)), out=dt.zeros((41, 1), ti.f64))
    assert stored == pytest.approx(exact, rel=1e-4)
    assert abs(astray - exact) > 10 * abs(stored - exact)


# Errors


@dt.kernel
def explode(t: float, y, dy):
    for i in y:
        dy[i] = y[i] * y[i]


@dt.kernel
def nothing(t: float, y, dy):
    for i in y:
        dy[i] = ti.log(y[i] - 2.0)


def test_singular_and_infinite_solutions_are_errors() -> None:
    y = dt.ones(2, ti.f64)
    with pytest.raises(dt.SolverError, match="cannot go on at t = 1: it would need steps of"):
        dt.odeint(explode, y, 0.0, 2.0)
    assert np.isfinite(y.to_numpy()).all()
    y.fill(1.0)
    with pytest.raises(dt.SolverError, match=r"not finite after 200 steps\. Take more steps"):
        dt.odeint(explode, y, 0.0, 20.0, method="rk4", steps=200)
    y.fill(1.0)
    with pytest.raises(dt.SolverError, match="at t = 0: the right-hand side is not finite there"):
        dt.odeint(nothing, y, 0.0, 1.0)
    y.fill(np.inf)
    with pytest.raises(dt.SolverError, match="at t = 0: the state is not finite there"):
        dt.odeint(explode, y, 0.0, 1.0)


def test_too_many_steps_are_said() -> None:
    y, k = dt.ones(1, ti.f64, grad=True), scalar(3.0)
    with pytest.warns(dt.NotConverged, match=r"stopped at t = 0\.\d+, before 9: .*, max_steps="):
        with dt.Tape() as tape:
            result = dt.odeint(decay, y, 0.0, 9.0, args=(k,), max_steps=5)
    assert not result.converged and 0 < result.t < 1
    assert repr(result).endswith(", not converged>")
    assert y[0] == pytest.approx(np.exp(-3.0 * result.t), rel=1e-5)
    tape.backward({y: 1.0})
    assert k.grad[None] == pytest.approx(-result.t * y[0], rel=1e-5)
    y.fill(1.0)
    end = scalar(9.0)
    with pytest.warns(dt.NotConverged, match="stopped at t = "):
        with dt.Tape() as tape:
            dt.odeint(decay, y, 0.0, end, args=(k,), max_steps=5, adjoint="continuous")
    tape.backward({y: 1.0})
    assert end.grad[None] == 0.0  # it was not reached, and a little later makes no difference
    assert k.grad[None] == pytest.approx(-result.t * y[0], rel=1e-4)


def test_a_state_may_be_solved_without_a_tape_before() -> None:
    """The fields that a solution works in are found again, and have gradients on a tape only."""
    y, k = dt.ones(1, ti.f64, grad=True), scalar(1.5)
    for taped in (False, True):
        y.fill(1.0)
        with dt.Tape() if taped else contextlib.nullcontext() as tape:
            dt.odeint(decay, y, 0.0, 1.0, args=(k,), method="rk4", steps=8)
    assert tape is not None
    tape.backward({y: 1.0})
    assert k.grad[None] == pytest.approx(-y[0], rel=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "rk5"}, "method is not 'rk5'; did you mean 'rk4'?"),
        ({"method": "leapfrog"}, "it is one of euler, rk4, dopri5."),
        ({"method": "rk4"}, "'rk4' takes a number of steps, steps=100, not None."),
        ({"method": "rk4", "steps": 0}, "not 0."),
        ({"method": "rk4", "steps": 9, "rtol": 1e-3}, "and has no rtol."),
        ({"steps": 9}, "'dopri5' chooses its steps by rtol and atol."),
        ({"rtol": 0.0}, "rtol is above 0, not 0.0."),
        ({"max_steps": 0}, "max_steps is an integer from 1 on, not 0."),
        ({"adjoint": "both"}, "adjoint is 'discrete' or 'continuous', not 'both'."),
        ({"at": [0.5]}, "'at' says when, and 'out' where to store the state; give both."),
        ({"at": [0.5, 0.2], "out": "rows"}, "the times 'at' lead from t0 = 0 to t1 = 1."),
        ({"at": [0.5, 2.0], "out": "rows"}, "the times 'at' lead from t0 = 0 to t1 = 1."),
        ({"at": [0.5], "out": "rows"}, "give it elements f64 and the shape (1, 3)."),
    ],
)
def test_arguments_that_do_not_go_together(options: dict[str, Any], message: str) -> None:
    y, k = dt.ones(3, ti.f64), scalar(1.0)
    if "out" in options:
        options = {**options, "out": dt.zeros((2, 3), ti.f64)}
    with pytest.raises(dt.LaunchError) as caught:
        dt.odeint(decay, y, 0.0, 1.0, args=(k,), **options)
    assert str(caught.value).startswith("dt.odeint: ") and message in str(caught.value)


def test_states_and_times_that_are_none() -> None:
    y = dt.ones(3, ti.f64)
    for state, message in (
        (dt.zeros(3, ti.i32), "holds integers"),
        (1.0, "The state is a field, or a tuple of fields, not"),
        ((y, y.view(3, 1)), "The state has two fields with the same memory; give each its own."),
        ((), "this one is empty"),
    ):
        with pytest.raises(dt.FieldError, match=message):
            dt.odeint(decay, state, 0.0, 1.0)
    for time in (None, np.nan, y):
        with pytest.raises(dt.LaunchError, match="t1 is a finite number, or a field of one"):
            dt.odeint(decay, y, 0.0, time)


def test_right_hand_sides_that_do_what_they_must_not() -> None:
    y, early, late = dt.ones(1, ti.f64, grad=True), scalar(1.0), scalar(1.0)

    def changes_state(t, y, dy):
        y.fill(1.0)

    def reads_late(t, y, dy):
        decay(t, y, dy, early if t < 0.5 else late)

    with dt.Tape(), pytest.raises(dt.LaunchError, match="Let it write only the rates"):
        dt.odeint(changes_state, y, 0.0, 1.0, adjoint="continuous")
    with dt.Tape() as tape:
        dt.odeint(reads_late, y, 0.0, 1.0, adjoint="continuous")
    with pytest.raises(dt.DifftileError, match=r"uses <field f64 \(\), grad> at t = .*'args'"):
        tape.backward({y: 1.0})


def test_a_state_without_gradient_cuts_it_aloud() -> None:
    y, k, loss = dt.ones(1, ti.f64), scalar(1.0), scalar(0.0)
    for adjoint in ("discrete", "continuous"):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("default")
            with dt.Tape():
                dt.odeint(decay, y, 0.0, 1.0, args=(k,), adjoint=adjoint)
                squares(y, loss)
        assert [one.category for one in said] == [dt.GradientCut], adjoint


def test_a_solution_found_again_prepares_no_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    y, k = dt.ones(3, ti.f64, grad=True), scalar(0.7)
    loss = scalar(0.0)

    def solve() -> None:
        y.fill(1.0)
        loss.fill(0.0)
        with dt.Tape(loss):
            dt.odeint(decay, y, 0.0, 5.0, args=(k,))
            squares(y, loss)

    for _ in range(3):
        solve()
    prepared: list[object] = []
    prepare = Kernel._prepare
    monkeypatch.setattr(
        Kernel, "_prepare", lambda self, *given: prepared.append(self) or prepare(self, *given)
    )
    solve()
    assert not prepared
