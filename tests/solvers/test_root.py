"""Roots by Newton's method, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from tests.solvers.oracles import differences, number


@dt.kernel
def square_root(y, r, x):
    r[None] = y[None] * y[None] - x[None]


@dt.kernel
def take(y, loss):
    loss[None] += y[None]


@dt.kernel
def chain(x, r, k, force):
    """Springs between neighbours, which stiffen, between two walls."""
    for i in x:
        left = x[i] - (x[i - 1] if i > 0 else 0.0)
        right = (x[i + 1] if i + 1 < x.shape[0] else 0.0) - x[i]
        r[i] += k[i + 1] * (right + right**3) - k[i] * (left + left**3) + force[i]


@dt.kernel
def weigh(x, w, loss):
    for i in x:
        loss[None] += w[i] * ti.sin(x[i])


@pytest.mark.parametrize(("x", "y", "slope"), [(2.0, 1.0, 0.3535533906), (4.0, 3.0, 0.25)])
def test_cr8_newton_finds_the_root_and_its_derivative(x: float, y: float, slope: float) -> None:
    unknown, parameter, loss = number(y), number(x), number(0.0)
    with dt.Tape(loss):
        result = dt.root(square_root, unknown, args=(parameter,))
        take(unknown, loss)
    assert result.converged and result.target == "solution" and result.iterations <= 7
    assert unknown[None] == pytest.approx(x**0.5, rel=1e-14)
    assert parameter.grad[None] == pytest.approx(slope, abs=1e-10)
    assert unknown.grad[None] == 0.0


def springs(dtype: Any, n: int = 12) -> dict[str, dt.Field]:
    rng = np.random.default_rng(1)
    kind = np.float64 if dtype == ti.f64 else np.float32
    return {
        "k": dt.from_numpy(rng.uniform(0.5, 2.0, n + 1).astype(kind), grad=True),
        "force": dt.from_numpy(rng.uniform(-1.0, 3.0, n).astype(kind), grad=True),
        "w": dt.from_numpy(rng.uniform(-1.0, 1.0, n).astype(kind), grad=True),
        "x": dt.zeros(n, dtype, grad=True),
        "loss": dt.zeros((), dtype, grad=True),
    }


def equilibrium(f: dict[str, dt.Field]) -> Any:
    result = dt.root(chain, f["x"], args=(f["k"], f["force"]))
    weigh(f["x"], f["w"], f["loss"])
    return result


def test_an_equilibrium_is_differentiated_by_all_parameters() -> None:
    f = springs(ti.f64)
    with dt.Tape(f["loss"]):
        result = equilibrium(f)
    assert result.converged and result.residual < 1e-11
    found = {name: f[name].grad.to_numpy() for name in ("k", "force", "w")}

    def run() -> float:
        f["loss"].fill(0.0)
        equilibrium(f)
        return f["loss"][None]

    for name, gradient in found.items():
        np.testing.assert_allclose(gradient, differences(run, f[name]), rtol=1e-6, atol=1e-9)
    single = springs(ti.f32)
    with dt.Tape(single["loss"]):
        assert equilibrium(single).converged
    for name, gradient in found.items():
        np.testing.assert_allclose(single[name].grad.to_numpy(), gradient, rtol=1e-3, atol=1e-4)


@dt.kernel
def push(force, x):
    for i in x:
        force[i] += 0.1 * x[i]


@pytest.mark.parametrize("options", [{}, {"memory": 2500}])
def test_in_a_loop_of_launches(options: Any) -> None:
    def program(f: dict[str, dt.Field]) -> None:
        for _ in range(4):
            equilibrium(f)
            push(f["force"], f["x"])

    f = springs(ti.f64, 5)
    with dt.Tape(f["loss"], **options):
        program(f)
    found = f["k"].grad.to_numpy()
    start = springs(ti.f64, 5)["force"].to_numpy()

    def run() -> float:
        f["loss"].fill(0.0)
        f["x"].fill(0.0)
        f["force"].from_numpy(start)
        program(f)
        return f["loss"][None]

    np.testing.assert_allclose(found, differences(run, f["k"]), rtol=1e-6, atol=1e-9)


def test_a_solver_may_stand_inside_the_function_of_another() -> None:
    # z = sqrt(x) inside y^3 = 1 + x z, which is y^3 = 1 + x^1.5.
    x, y, z, loss = number(2.0), number(1.0), dt.full((), 1.0, ti.f64), number(0.0)

    @dt.kernel
    def cube(y, out, z):
        out[None] = (1.0 + x[None] * z[None]) / (y[None] * y[None])

    def g(y: dt.Field, out: dt.Field) -> None:
        dt.root(square_root, z, args=(x,))
        cube(y, out, z)

    @dt.kernel
    def mean(y, out, new):
        out[None] = 0.7 * y[None] + 0.3 * new[None]

    new = dt.zeros((), ti.f64)

    def damped(y: dt.Field, out: dt.Field) -> None:
        g(y, new)
        mean(y, out, new)

    with dt.Tape(loss):
        dt.fixed_point(damped, y, diff="solution")
        take(y, loss)
    assert y[None] == pytest.approx((1 + 2.0**1.5) ** (1 / 3), rel=1e-9)
    slope = (1 + 2.0**1.5) ** (-2 / 3) / 3 * 1.5 * 2.0**0.5
    assert x.grad[None] == pytest.approx(slope, rel=1e-8)


@dt.kernel
def no_root(y, r):
    r[None] = y[None] * y[None] + 1.0


@dt.kernel
def hostile(y, r):
    r[None] = ti.log(y[None])


def test_what_does_not_converge_says_so() -> None:
    y = dt.full((), 0.0, ti.f64)
    with pytest.warns(dt.NotConverged, match="the Jacobian is singular, or nearly so"):
        assert not dt.root(no_root, y).converged
    y.fill(0.3)
    with pytest.warns(dt.NotConverged, match="dt.root: NOT converged after 3 iterations"):
        dt.root(no_root, y, max_iter=3)
    with pytest.raises(dt.SolverError, match=r"Newton's direction|singular|50 iterations"):
        dt.root(no_root, y, strict=True)
    y.fill(-1.0)
    with pytest.warns(dt.NotConverged, match="f is not finite"):
        dt.root(hostile, y)


def test_a_line_search_brings_far_starts_home() -> None:
    y, x = number(8.0), number(0.0)

    @dt.kernel
    def arc(y, r, x):
        r[None] = ti.atan2(y[None], 1.0) - x[None]

    assert dt.root(arc, y, args=(x,), atol=1e-12).converged  # pure Newton steps diverge here
    assert abs(y[None]) < 1e-12


def test_where_the_jacobian_is_singular_the_adjoint_says_so() -> None:
    y, x, loss = number(0.0), number(0.0), number(0.0)
    with pytest.warns(dt.NotConverged, match="The adjoint of dt.root did not converge"):
        with dt.Tape(loss):
            assert dt.root(square_root, y, args=(x,)).converged
            take(y, loss)


@dt.kernel
def beam(x, r, stiffness, load):
    """A beam of small pieces between two walls: the fourth difference balances the load."""
    n = x.shape[0]
    for i in x:
        total = load[i]
        for step in ti.static((-2, -1, 0, 1, 2)):
            j = i + step
            weight = ti.static((6.0, -4.0, 1.0)[abs(step)])
            total -= weight * stiffness[None] * (x[j] if j >= 0 and j < n else 0.0)
        r[i] = total


def test_few_unknowns_are_found_however_stiff_they_are() -> None:
    """GMRES that has to start again stalls on them: their condition number is 3e6."""
    n = 100
    x, stiffness = dt.zeros(n, ti.f64, grad=True), number(2.0)
    load, loss = dt.full(n, 1e-5, ti.f64, grad=True), number(0.0)
    weights = dt.from_numpy(np.cos(np.arange(n)))
    with dt.Tape(loss):
        result = dt.root(beam, x, args=(stiffness, load))
        weigh(x, weights, loss)
    assert result.converged and result.iterations <= 3
    rows = [6.0 * np.eye(n)]
    for step, weight in ((1, -4.0), (2, 1.0)):
        rows += [weight * np.eye(n, k=step), weight * np.eye(n, k=-step)]
    matrix = 2.0 * sum(rows)
    solution = np.linalg.solve(matrix, np.full(n, 1e-5))
    np.testing.assert_allclose(x.to_numpy(), solution, rtol=1e-9)
    bar = np.linalg.solve(matrix, np.cos(np.arange(n)) * np.cos(solution))
    np.testing.assert_allclose(load.grad.to_numpy(), bar, rtol=1e-8)
    assert stiffness.grad[None] == pytest.approx(-np.sum(bar) * 1e-5 / 2.0, rel=1e-8)
