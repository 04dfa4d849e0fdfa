"""Minima of energies, and how they depend on parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.substrate import current_session
from tests.solvers.oracles import differences, number


@dt.kernel
def chain(x, e, k, rest, force):
    """Springs in the plane between neighbours, the first fixed at the origin."""
    for i in x:
        before = x[i - 1] if i > 0 else ti.Vector([0.0, 0.0])
        length = (x[i] - before).norm()
        e[None] += 0.5 * k[i] * (length - rest[None]) ** 2 - force[None].dot(x[i])
        e[None] += 0.01 * x[i].dot(x[i]) ** 2


@dt.kernel
def weigh(x, w, loss):
    for i in x:
        loss[None] += w[i].dot(ti.sin(x[i]))


@dt.kernel
def quartic(x, e, p):
    e[None] += 0.25 * x[None] ** 4 - p[None] * x[None]


@dt.kernel
def take(x, loss):
    loss[None] += x[None]


def strip(dtype: Any, n: int = 4) -> dict[str, dt.Field]:
    rng = np.random.default_rng(2)
    kind = np.float64 if dtype == ti.f64 else np.float32
    vector = ti.types.vector(2, dtype)
    start = np.array([[0.3 * (i + 1), -0.1 * i] for i in range(n)], kind)
    return {
        "k": dt.from_numpy(rng.uniform(2.0, 4.0, n).astype(kind), grad=True),
        "rest": dt.full((), 0.5, dtype, grad=True),
        "force": dt.from_numpy(np.array([0.2, -0.5], kind), vector, grad=True),
        "w": dt.from_numpy(rng.uniform(-1.0, 1.0, (n, 2)).astype(kind), vector, grad=True),
        "x": dt.from_numpy(start, vector, grad=True),
        "loss": dt.zeros((), dtype, grad=True),
    }


def settle(f: dict[str, dt.Field], **options: Any) -> Any:
    result = dt.minimize_implicit(chain, f["x"], args=(f["k"], f["rest"], f["force"]), **options)
    weigh(f["x"], f["w"], f["loss"])
    return result


PARAMETERS = ("k", "rest", "force", "w")


def test_a_minimum_is_differentiated_by_all_parameters() -> None:
    f = strip(ti.f64)
    with dt.Tape(f["loss"]) as tape:
        result = settle(f)
    assert len(tape) in (0, 2)
    assert result.converged and result.target == "solution" and result.residual < 1e-8
    found = {name: f[name].grad.to_numpy() for name in PARAMETERS}
    assert not f["x"].grad.to_numpy().any()

    def run() -> float:
        f["loss"].fill(0.0)
        settle(f, tol=1e-12)
        return f["loss"][None]

    for name, gradient in found.items():
        np.testing.assert_allclose(gradient, differences(run, f[name]), rtol=1e-6, atol=1e-8)
    single = strip(ti.f32)
    with dt.Tape(single["loss"]):
        assert settle(single).converged
    for name, gradient in found.items():
        np.testing.assert_allclose(single[name].grad.to_numpy(), gradient, rtol=5e-3, atol=1e-3)


@dt.kernel
def lean(force, x):
    force[None] += 0.1 * x[0]


@pytest.mark.parametrize("options", [{}, {"memory": 2000}])
def test_in_a_loop_of_launches(options: Any) -> None:
    def program(f: dict[str, dt.Field]) -> None:
        for _ in range(3):
            settle(f)
            lean(f["force"], f["x"])

    f = strip(ti.f64)
    before = current_session().pool.kept
    with dt.Tape(f["loss"], **options):
        program(f)
    assert current_session().pool.kept == before
    found = f["k"].grad.to_numpy()

    def run() -> float:
        f["loss"].fill(0.0)
        f["force"].from_numpy(np.array([0.2, -0.5]))
        program(f)
        return f["loss"][None]

    np.testing.assert_allclose(found, differences(run, f["k"]), rtol=1e-6, atol=1e-8)


def test_the_derivative_is_known_by_hand() -> None:
    x, p, loss = number(1.0), number(8.0), number(0.0)
    with dt.Tape(loss):
        result = dt.minimize_implicit(quartic, x, args=(p,))
        take(x, loss)
    assert result.converged
    assert x[None] == pytest.approx(2.0, rel=1e-12)
    assert p.grad[None] == pytest.approx(1 / 12, rel=1e-10)  # 1 / (3 x^2)


@dt.kernel
def double_well(x, e):
    e[None] += 0.25 * x[None] ** 4 - 0.5 * x[None] ** 2


def test_it_leaves_negative_curvature() -> None:
    x = dt.full((), 0.05, ti.f64)
    told: list[Any] = []
    assert dt.minimize_implicit(double_well, x, progress=lambda *one: told.append(one)).converged
    assert abs(x[None]) == pytest.approx(1.0, rel=1e-10)
    assert [count for count, _ in told] == list(range(1, len(told) + 1))


@dt.kernel
def slope(x, e):
    e[None] += x[None]


@dt.kernel
def logarithm(x, e):
    e[None] += ti.log(x[None])


def test_what_does_not_converge_says_so() -> None:
    x, p, loss = number(1.0), number(0.0), number(0.0)
    with pytest.warns(dt.NotConverged, match="NOT converged after 5 iterations"):
        dt.minimize_implicit(slope, x, max_iter=5)
    x.fill(-1.0)
    with pytest.raises(dt.SolverError, match="is not finite"):
        dt.minimize_implicit(logarithm, x, strict=True)
    x.fill(0.0)
    with pytest.warns(dt.NotConverged, match="The adjoint of dt.minimize_implicit did not conv"):
        with dt.Tape(loss):  # the curvature of x^4 is zero at the minimum
            assert dt.minimize_implicit(quartic, x, args=(p,)).converged
            take(x, loss)


def test_what_the_energy_leaves_elsewhere_has_a_gradient() -> None:
    p, x, side = number(1.5), number(0.0), number(0.0)

    @dt.kernel
    def aside(x, side, p):
        side[None] = x[None] ** 2 * p[None]

    @dt.kernel
    def bowl(x, e, p):
        e[None] += 0.5 * (x[None] - p[None]) ** 2

    def energy(x: dt.Field, e: dt.Field) -> None:
        aside(x, side, p)
        bowl(x, e, p)

    with dt.Tape(side):
        dt.minimize_implicit(energy, x)
    assert p.grad[None] == pytest.approx(3 * 1.5**2, rel=1e-9)
