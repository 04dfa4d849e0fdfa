"""SciPy's minimisers on functions that are differentiated for them: Hessians, bounds, constraints.

Every derivative that SciPy is given is compared with differences and with dense Hessians.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.optim.differentiated import Differentiated
from difftile.optim.parameters import parameters_of

optimize: Any = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")


@dt.kernel
def valley(x, loss):
    for k in range(x.shape[0] - 1):
        loss[None] += 100 * (x[k + 1] - x[k] ** 2) ** 2 + (1 - x[k]) ** 2


@dt.kernel
def valley_sum(x) -> ti.f64:
    total = ti.cast(0.0, ti.f64)
    for k in range(x.shape[0] - 1):
        total += 100 * (x[k + 1] - x[k] ** 2) ** 2 + (1 - x[k]) ** 2
    return total


@dt.kernel
def relax(x, v, k):
    for i in x:
        v[i] -= 0.2 * k[None] * ti.sin(x[i])
    for i in x:
        x[i] += 0.2 * v[i]


@dt.kernel
def miss(x, k, loss):
    for i in x:
        loss[None] += (x[i] - 0.3 * i) ** 2 + 0.1 * k[None] ** 4


@dt.kernel
def stretch(p, length):
    for i in length:
        length[i] = (p[i + 1] - p[i]).norm_sqr()


@dt.kernel
def height(p, loss):
    for i in p:
        loss[None] += p[i].y + 0.01 * p[i].norm_sqr() ** 2


class Descent:
    """A function without a tape that overwrites what it starts from."""

    def __init__(self, dtype: Any = ti.f64, n: int = 4) -> None:
        self.x = dt.from_numpy(np.linspace(0.5, -0.7, n), dtype)
        self.k = dt.full((), 0.8, dtype=dtype)
        self.v = dt.zeros(n, dtype)
        self.loss = dt.zeros((), dtype)
        self.calls = 0

    @property
    def fields(self) -> dict[str, dt.Field]:
        return {"x": self.x, "k": self.k}

    def __call__(self) -> dt.Field:
        self.calls += 1
        self.v.fill(0.0)
        self.loss.fill(0.0)
        for _ in range(5):
            relax(self.x, self.v, self.k)
        miss(self.x, self.k, self.loss)
        return self.loss


def valley_of(dtype: Any = ti.f64, n: int = 4) -> tuple[dt.Field, Callable[[], Any]]:
    x = dt.from_numpy(np.resize([-1.2, 1.0], n), dtype)
    loss = dt.zeros((), dtype)

    def f() -> dt.Field:
        loss.fill(0.0)
        valley(x, loss)
        return loss

    return x, f


def differences(f: Callable[[np.ndarray], Any], x: np.ndarray, h: float) -> np.ndarray:
    """Return central differences of the fourth order, the axes of the result first."""
    columns: list[np.ndarray] = []
    for unit in np.eye(len(x)):
        near, far = (np.asarray(f(x + s * h * unit)) for s in (1, 2))
        back, further = (np.asarray(f(x - s * h * unit)) for s in (1, 2))
        columns.append((8 * (near - back) - (far - further)) / (12 * h))
    return np.stack(columns, -1)


@pytest.mark.parametrize(("dtype", "tol"), [(ti.f64, 1e-9), (ti.f32, 2e-4)])
def test_derivatives_are_those_of_differences(dtype: Any, tol: float) -> None:
    wide, problem = Descent(), Descent(dtype)
    exact = Differentiated(wide, parameters_of(wide.fields, "f", grads=False), "f")
    private = Differentiated(problem, parameters_of(problem.fields, "f", grads=False), "f")
    x = np.array([0.5, 0.1, -0.25, -0.75, 0.875])  # are numbers of both types
    gradient = private.jacobian(x)[0]
    np.testing.assert_allclose(
        gradient, differences(lambda y: exact.values(y)[0], x, 1e-3), rtol=tol, atol=tol
    )
    hessian = private.curve(x, np.eye(5), np.ones(1))
    expected = differences(lambda y: exact.jacobian(y)[0], x, 1e-3)
    np.testing.assert_allclose(hessian, expected, rtol=10 * tol, atol=10 * tol)
    for k, column in enumerate(np.eye(5)):
        np.testing.assert_allclose(
            private.curve(x, column, np.full(1, 2.0)), 2 * hessian[:, k], rtol=tol, atol=tol
        )
    assert problem.calls == 1  # one run for all that


@pytest.mark.parametrize(
    "method", ["L-BFGS-B", "SLSQP", "TNC", "Newton-CG", "trust-ncg", "trust-krylov", "trust-exact"]
)
def test_functions_without_a_tape(method: str) -> None:
    x, f = valley_of()
    result = dt.optim.scipy_minimize(f, x, method=method, tol=1e-7)
    assert result.success, result.message
    np.testing.assert_allclose(x.to_numpy(), 1.0, atol=1e-3)
    assert (x.to_numpy() == result.x).all() and not x.has_grads


def test_second_derivatives_save_iterations() -> None:
    counts: list[int] = []
    for more in ({}, {"hess": optimize.BFGS()}):
        x, f = valley_of(n=6)
        x.fill(0.5)
        options = {"gtol": 1e-9, "maxiter": 3000}
        found = dt.optim.scipy_minimize(f, x, method="trust-constr", options=options, **more)
        assert found.success and found.fun < 1e-10
        counts.append(found.nit)
    assert counts[0] < counts[1]


@pytest.mark.parametrize("dtype", [ti.f32, ti.f64])
def test_functions_that_overwrite_their_start(dtype: Any) -> None:
    problem = Descent(dtype)
    result = dt.optim.scipy_minimize(problem, problem.fields, method="trust-ncg", tol=1e-5)
    assert result.success and np.linalg.norm(result.jac) < 1e-5
    reached = np.append(problem.x.to_numpy(), problem.k.to_numpy())
    np.testing.assert_array_equal(reached, result.x.astype(reached.dtype))
    assert problem()[None] == pytest.approx(result.fun, rel=1e-6)


def test_numbers_that_kernels_return() -> None:
    x = dt.from_numpy(np.array([-1.2, 1.0]))

    def f() -> Any:
        return 0.5 * valley_sum(x) + 1.0

    result = dt.optim.scipy_minimize(f, x, method="trust-exact")
    assert result.success and result.fun == pytest.approx(1.0)
    np.testing.assert_allclose(x.to_numpy(), 1.0, atol=1e-6)


def test_checkpoints_loops_of_steps_and_rows() -> None:
    """Steps of other kinds are differentiated twice as well."""

    @dt.kernel
    def pull(place, weight, loss):
        for i in place:
            loss[None] += (place[i].norm_sqr() - weight[i]) ** 2 + (weight[i] - 1.0) ** 2

    rows = dt.Rows(
        place=dt.from_numpy(np.ones((3, 2)), dt.vec(2, ti.f64)),
        weight=dt.from_numpy(np.array([2.0, 3.0, 4.0])),
    )
    loss = dt.zeros((), ti.f64)

    @dt.checkpoint
    def again() -> None:
        pull(rows.place, rows.weight, loss)

    def f() -> dt.Field:
        loss.fill(0.0)
        again()
        for _ in dt.steps(3):
            pull(rows.place, rows.weight, loss)
        return loss

    result = dt.optim.scipy_minimize(f, rows, method="trust-ncg", tol=1e-6)
    assert result.success and result.fun < 1e-12
    np.testing.assert_allclose(rows.weight.to_numpy(), 1.0, atol=1e-6)


def test_a_loss_that_is_not_finite_is_too_far() -> None:
    @dt.kernel
    def barrier(x, loss):
        for k in x:
            loss[None] += x[k] - ti.log(x[k])

    x, loss = dt.full(3, 4.0, dtype=ti.f64), dt.zeros((), ti.f64)
    values: list[float] = []

    def f() -> dt.Field:
        loss.fill(0.0)
        barrier(x, loss)
        values.append(dt.stop_grad(loss[None]))
        return loss

    result = dt.optim.scipy_minimize(f, x, method="L-BFGS-B")
    assert result.success
    np.testing.assert_allclose(x.to_numpy(), 1.0, atol=1e-4)


def test_functions_with_a_tape_keep_it() -> None:
    x = dt.from_numpy(np.array([-1.2, 1.0]), grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    calls: list[int] = []

    def f() -> dt.Field:
        calls.append(1)
        loss.fill(0.0)
        with dt.Tape(loss):
            valley(x, loss)
        return loss

    result = dt.optim.scipy_minimize(f, x, method="Newton-CG")  # SciPy takes differences
    assert result.success and len(calls) <= result.nfev + result.njev
    with pytest.raises(dt.LaunchError, match="'trust-ncg' needs second derivatives, and the func"):
        dt.optim.scipy_minimize(f, x, method="trust-ncg")

    def hessp(at: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.array(
            [
                (1200 * at[0] ** 2 - 400 * at[1] + 2) * p[0] - 400 * at[0] * p[1],
                -400 * at[0] * p[0] + 200 * p[1],
            ]
        )

    x.from_numpy(np.array([-1.2, 1.0]))
    result = dt.optim.scipy_minimize(f, x, method="trust-ncg", hessp=hessp)
    assert result.success
    np.testing.assert_allclose(x.to_numpy(), 1.0, atol=1e-4)


# Bounds and constraints


def test_bounds_of_each_component() -> None:
    p = dt.from_numpy(np.full((3, 2), 5.0), dt.vec(2, ti.f64))
    k = dt.full(2, 5.0, dtype=ti.f64)
    total = dt.zeros((), ti.f64)

    @dt.kernel
    def bowls(p, k, total):
        for i in p:
            total[None] += p[i].norm_sqr()
        for i in k:
            total[None] += k[i] ** 2

    def f() -> dt.Field:
        total.fill(0.0)
        bowls(p, k, total)
        return total

    several: list[tuple[Any, Any, Any]] = [
        ({p: ([None, 1.0], None), k: None}, [[0, 1]] * 3, [0, 0]),
        ({"p": ([[1, None], [None, None], [2, -1]], [None, None]), "k": ([2.0, None], 7.0)},
         [[1, 0], [0, 0], [2, 0]], [2, 0]),
        ((None, dt.from_numpy(np.array([-3.0, -1.0]))), [[-3, -1]] * 3, [-3, -1]),
        ((1.0, None), np.ones((3, 2)), np.ones(2)),
    ]  # fmt: skip
    for bounds, first, second in several:
        result = dt.optim.scipy_minimize(f, {"p": p, "k": k}, bounds=bounds)
        assert result.success
        np.testing.assert_allclose(p.to_numpy(), first, atol=1e-6)
        np.testing.assert_allclose(k.to_numpy(), second, atol=1e-6)
    dt.optim.scipy_minimize(f, {"p": p, "k": k}, bounds=optimize.Bounds(np.arange(8.0)))
    np.testing.assert_allclose(p.to_numpy().ravel(), np.arange(6.0), atol=1e-6)
    wrong: list[tuple[Any, str]] = [
        (([1.0, 2.0, 3.0], None), r"arrays of shape \(3, 2\), not of \(3,\)"),
        ((None, np.nan), "leave no number at index"),
        ((2.0, 1.0), "they are 2 and 1"),
        ((1.0,), "a pair"),
    ]
    for bounds, message in wrong:
        with pytest.raises(dt.LaunchError, match=message):
            dt.optim.scipy_minimize(f, {"p": p, "k": k}, bounds=bounds)
    with pytest.raises(dt.FieldError, match="no array of"):
        dt.optim.scipy_minimize(f, p, bounds=("low", None))


def chain_of(dtype: Any) -> tuple[dt.Field, Callable[[], Any], Callable[[], Any]]:
    p = dt.from_numpy(np.array([[0.0, 0.0], [0.4, 0.2], [1.0, -0.1], [1.4, 0.1]]), dt.vec(2, dtype))
    length, loss = dt.zeros(3, dtype), dt.zeros((), dtype)

    def lengths() -> dt.Field:
        stretch(p, length)
        return length

    def f() -> dt.Field:
        loss.fill(0.0)
        height(p, loss)
        return loss

    return p, f, lengths


@pytest.mark.parametrize("method", ["trust-constr", "SLSQP"])
def test_constraints_on_what_kernels_compute(method: str) -> None:
    """A chain of three rods hangs from a nail: neighbours stay at their distance."""
    p, f, lengths = chain_of(ti.f64)
    nail = optimize.LinearConstraint(np.eye(2, 8), 0.0, 0.0)
    rods = dt.optim.Constraint(lengths, 0.25, [0.25, 0.25, 0.25])
    options = {"maxiter": 300}
    result = dt.optim.scipy_minimize(f, p, method=method, constraints=[nail, rods], options=options)
    assert result.success or result.status in (1, 2), result.message
    found = p.to_numpy()
    np.testing.assert_allclose(found[0], 0.0, atol=1e-8)
    np.testing.assert_allclose(lengths().to_numpy(), 0.25, atol=1e-6)
    np.testing.assert_allclose(found[:, 1], [0.0, -0.5, -1.0, -1.5], atol=1e-3)


def test_derivatives_of_constraints() -> None:
    p, _, lengths = chain_of(ti.f64)
    function = Differentiated(lengths, parameters_of(p, "f", grads=False), "f")
    x = np.random.default_rng(0).normal(size=8)
    expected = differences(function.values, x, 1e-3)
    np.testing.assert_allclose(function.jacobian(x), expected, atol=1e-9)
    weights = np.array([1.0, -2.0, 0.5])
    hessian = differences(lambda y: weights @ function.jacobian(y), x, 1e-3)
    np.testing.assert_allclose(function.curve(x, np.eye(8), weights), hessian, atol=1e-9)

    def wide() -> tuple[Any, ...]:
        field = lengths()
        return field, p, field, field[1:]

    several = Differentiated(wide, parameters_of(p, "f", grads=False), "f")
    found = several.jacobian(x)  # more rows than columns: pushed
    rows = [function.jacobian(x), np.eye(8), function.jacobian(x), function.jacobian(x)[1:]]
    np.testing.assert_allclose(found, np.concatenate(rows), atol=1e-12)


def test_open_and_wrong_bounds_of_constraints() -> None:
    p, f, lengths = chain_of(ti.f64)
    rods = dt.optim.Constraint(lengths, [None, 0.04, None], [0.09, None, 0.16])
    inside = dict(bounds=(-1.0, 1.0), method="SLSQP")
    result = dt.optim.scipy_minimize(f, p, constraints=rods, **inside)
    assert result.success
    found = lengths().to_numpy()
    assert found[0] <= 0.09 + 1e-6 and found[1] >= 0.04 - 1e-6 and found[2] <= 0.16 + 1e-6
    rods = dt.optim.Constraint(lengths, [0.0, 0.04, 0.1], [None, 0.04, 0.2])  # of both kinds
    assert dt.optim.scipy_minimize(f, p, constraints=rods, **inside).success
    assert lengths()[1] == pytest.approx(0.04, abs=1e-6)
    with pytest.raises(dt.LaunchError, match=r"constraints: bounds are numbers or arrays of shape"):
        dt.optim.scipy_minimize(f, p, constraints=dt.optim.Constraint(lengths, np.ones(2)))
    with pytest.raises(dt.TapeError, match=r"returned 3\.0, through which no derivative passes"):
        dt.optim.scipy_minimize(f, p, constraints=dt.optim.Constraint(lambda: 3.0, 1.0))


def test_functions_that_give_no_derivative() -> None:
    x = dt.zeros(3, ti.f64)
    with pytest.raises(dt.TapeError, match=r"the function returned 0\.5"):
        dt.optim.scipy_minimize(lambda: 0.5, x)
    with pytest.raises(dt.LaunchError, match="the function returns the loss"):
        dt.optim.scipy_minimize(lambda: x, x)
    loss = dt.zeros((), ti.f64, grad=True)

    def taped() -> dt.Field:
        loss.fill(0.0)
        with dt.Tape(loss):
            valley(x, loss)
        return loss

    with (
        pytest.warns(dt.GradientCut),
        pytest.raises(dt.FieldError, match="has no gradient to follow"),
    ):
        dt.optim.scipy_minimize(taped, x)


def test_after_an_interruption_the_best_is_there() -> None:
    x, f = valley_of()
    losses: list[float] = []

    def stop(at: np.ndarray) -> None:
        losses.append(f()[None])
        if len(losses) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dt.optim.scipy_minimize(f, x, callback=stop)
    assert f()[None] <= min(losses)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, r"converged after \d+ iterations and \d+ evaluations: .*; {rest}"),
        (
            {"bounds": ([None, None, 0.1, None], 0.5)},
            r"converged after \d+ iterations and \d+ evaluations: .*; {bounded}",
        ),
        (
            {"options": {"maxiter": 1}},
            r"stopped after 1 iteration and \d+ evaluations: STOP: .*; {rest}",
        ),
        ({"method": "Nelder-Mead", "tol": 1e-3}, r"converged after .* evaluations: [^;]*"),
        (
            {"method": "trust-ncg"},
            r"converged after \d+ iterations and \d+ evaluations: .*; {rest}",
        ),
    ],
    ids=["L-BFGS-B", "bounds", "limit", "Nelder-Mead", "trust-ncg"],
)
def test_reason(options: dict[str, Any], text: str) -> None:
    x, f = valley_of()
    result = dt.optim.scipy_minimize(f, x, **options)
    rest = r"the largest component of the gradient is [\d.e+-]+"
    bounded = rest.replace("gradient is", "gradient within the bounds is")
    pattern = text.replace("{rest}", rest).replace("{bounded}", bounded)
    assert re.fullmatch(pattern, result.reason), result.reason
    if result.success and "; " in result.reason:
        assert float(result.reason.rpartition(" ")[2]) < 1e-2
