"""Forward mode through solvers: against differences, and against their reverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt

Array = npt.NDArray[np.float64]


def check(
    f: Callable[..., Any], *args: Any, h: float = 1e-5, rtol: float = 1e-7, reverse: float = 1e-7
) -> Any:
    """Compare `dt.jvp` with central differences, and with `dt.vjp` by the dot-product test."""
    rng = np.random.default_rng(7)
    points = [np.asarray(one, np.float64) for one in args]
    dots = [rng.normal(size=one.shape) for one in points]
    value, tangent = dt.jvp(f, tuple(points), tuple(dots))
    ends = [
        f(*(dt.from_numpy(a + sign * h * d) for a, d in zip(points, dots, strict=True))).to_numpy()
        for sign in (1, -1)
    ]
    np.testing.assert_allclose(
        tangent, (ends[0] - ends[1]) / (2 * h), rtol=rtol, atol=rtol * np.abs(tangent).max()
    )
    same, pull = dt.vjp(f, *points)
    np.testing.assert_allclose(value, same, rtol=1e-9)
    seed = rng.normal(size=np.shape(value))
    bars = pull(seed)
    bars = bars if isinstance(bars, tuple) else (bars,)
    expected = sum(float(np.vdot(bar, dot)) for bar, dot in zip(bars, dots, strict=True))
    assert np.vdot(seed, tangent) == pytest.approx(expected, rel=reverse)
    return tangent


# Fixed points


@dt.kernel
def cosine(y, out, x):
    for i in y:
        out[i] = 0.5 * ti.cos(y[i]) + x[i]


@dt.kernel
def cosine_in_place(y, x):
    for i in y:
        y[i] = 0.5 * ti.cos(y[i]) + x[i]


@dt.kernel
def squares(y, out):
    for i in y:
        out[i] = y[i] ** 2


def after(y: dt.Field) -> dt.Field:
    out = dt.zeros_like(y)
    squares(y, out)
    return out


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("diff", ["solution", "algorithm"])
def test_fixed_points(diff: str, in_place: bool) -> None:
    def f(x: Any) -> Any:
        y = dt.zeros(3, ti.f64)
        g = cosine_in_place if in_place else cosine
        dt.fixed_point(g, y, args=(x,), diff=diff, in_place=in_place, tol=1e-13)
        return after(y)

    check(f, [0.3, -0.2, 1.0])


def test_the_iterations_are_another_function_than_the_solution() -> None:
    slopes = {}
    for diff in ("solution", "algorithm"):

        def f(x: Any, diff: str = diff) -> Any:
            y = dt.full(1, 0.6866781261375893, ti.f64)
            with pytest.warns(dt.NotConverged):
                dt.fixed_point(cosine, y, args=(x,), diff=diff, max_iter=1, tol=1e-30)
            return y

        slopes[diff] = dt.jvp(f, np.array([0.3]), np.array([1.0]))[1][0]
    assert slopes["solution"] == pytest.approx(0.7593096028, abs=1e-9)
    assert slopes["algorithm"] == 1.0


@dt.kernel
def leave(y, out, x, energy):
    energy[None] = 0.0
    for i in y:
        out[i] = 0.5 * ti.cos(y[i]) + x[i]
    for i in y:
        energy[None] += x[i] * y[i] ** 2


@dt.kernel
def turn(u, p, new_u, new_p, a, b):
    """A vector and a number that depend on each other."""
    for i in u:
        new_u[i] = 0.3 * ti.Vector([ti.sin(u[i].y), p[None] * u[i].x]) + a[i]
    new_p[None] = 0.2 * b[None]
    for i in u:
        new_p[None] += 0.1 * u[i].dot(u[i])


@dt.kernel
def gather(u, p, out):
    for i in u:
        out[i] = u[i].x * p[None] + u[i].y


def test_several_fields_and_what_is_left_elsewhere() -> None:
    def f(a: Any, b: Any) -> Any:
        vector = ti.types.vector(2, ti.f64)
        parts = dt.zeros(2, vector)
        make(a, parts)
        u, p, out = dt.zeros(2, vector), dt.zeros((), ti.f64), dt.zeros(2, ti.f64)
        dt.fixed_point(turn, (u, p), args=(parts, b), diff="solution", tol=1e-13)
        gather(u, p, out)
        return out

    @dt.kernel
    def make(a, parts):
        for i in parts:
            parts[i] = ti.Vector([a[i, 0], a[i, 1]])

    check(f, [[0.3, 0.1], [-0.4, 0.2]], 0.7)

    def with_energy(x: Any) -> Any:
        y, energy = dt.zeros(2, ti.f64), dt.zeros((), ti.f64)
        dt.fixed_point(leave, y, args=(x, energy), diff="solution", tol=1e-13)
        return energy

    check(with_energy, [0.3, 0.8])


# Roots


@dt.kernel
def chain(x, r, k, force):
    """Springs between neighbours, which stiffen, between two walls."""
    for i in x:
        left = x[i] - (x[i - 1] if i > 0 else 0.0)
        right = (x[i + 1] if i + 1 < x.shape[0] else 0.0) - x[i]
        r[i] += k[i + 1] * (right + right**3) - k[i] * (left + left**3) + force[i]


@dt.kernel
def pushed_on(force, x):
    for i in x:
        force[i] += 0.1 * x[i]


def equilibria(k: Any, force: Any) -> Any:
    """Return where a chain rests whose load follows it, after three such steps."""
    x = dt.zeros(force.shape[0], ti.f64)
    for _ in range(3):
        dt.root(chain, x, args=(k, force))
        pushed_on(force, x)
    return x


SPRINGS = [1.0, 0.5, 2.0, 1.5, 0.7]
LOADS = [1.0, -0.5, 2.0, 0.3]


def test_roots_in_a_loop_of_launches() -> None:
    def f(k: Any, force: Any) -> Any:
        own = dt.zeros_like(force)
        own.copy_from(force)
        return equilibria(k, own)

    tangent = check(f, SPRINGS, LOADS)
    value, push = dt.linearize(f, np.array(SPRINGS), np.array(LOADS))
    rng = np.random.default_rng(7)
    np.testing.assert_allclose(push(rng.normal(size=5), rng.normal(size=4)), tangent, rtol=1e-9)
    assert value.shape == (4,)
    by_force = [
        jacobian(f, argnums=1)(dt.from_numpy(np.array(SPRINGS)), np.array(LOADS))
        for jacobian in (dt.jacfwd, dt.jacrev)
    ]
    assert by_force[0].shape == (4, 4)
    np.testing.assert_allclose(by_force[0], by_force[1], rtol=1e-7, atol=1e-9)


@dt.kernel
def square_root(y, r, x):
    r[None] = y[None] * y[None] - x[None]


@dt.kernel
def cubic(y, r, z, x):
    """y^3 = 1 + x z"""
    r[None] = y[None] ** 3 - 1.0 - x[None] * z[None]


@dt.kernel
def shifted(y, x, s):
    s[None] = x[None] + y[None] ** 2


def test_a_root_inside_a_root() -> None:
    # z = sqrt(x + y^2) and y^3 = 1 + x z
    def f(x: Any) -> Any:
        y, z, s = dt.full((), 1.5, ti.f64), dt.full((), 1.0, ti.f64), dt.zeros((), ti.f64)

        def residual(y: Any, r: Any) -> None:
            shifted(y, x, s)
            dt.root(square_root, z, args=(s,))
            cubic(y, r, z, x)

        assert dt.root(residual, y).converged
        return y

    slope = check(f, 2.0) / np.random.default_rng(7).normal()
    y = float(f(dt.full((), 2.0, ti.f64))[None])
    z = (2.0 + y * y) ** 0.5
    assert y**3 == pytest.approx(1.0 + 2.0 * z, rel=1e-10)
    # (3 y^2 - x y / z) y' = z + x / (2 z)
    assert slope == pytest.approx((z + 1.0 / z) / (3.0 * y * y - 2.0 * y / z), rel=1e-9)


def test_where_the_jacobian_is_singular_the_tangent_says_so() -> None:
    def f(x: Any) -> Any:
        y = dt.zeros((), ti.f64)
        dt.root(square_root, y, args=(x,))
        return y

    with pytest.warns(dt.NotConverged, match="The tangent of dt.root did not converge"):
        dt.jvp(f, 0.0, 1.0)


# Linear systems


@dt.kernel
def stiffness(u, out, k):
    n = u.shape[0]
    for i in u:
        left = u[i] - (u[i - 1] if i > 0 else 0.0)
        right = u[i] - (u[i + 1] if i + 1 < n else 0.0)
        out[i] = k[i] * left + k[i + 1] * right


@dt.kernel
def skew(u, out, k):
    n = u.shape[0]
    for i in u:
        out[i] = k[i] * u[i] + 0.3 * k[i + 1] * u[(i + 1) % n]


@dt.kernel
def jacobi(v, out, k):
    for i in v:
        out[i] = v[i] / (k[i] + k[i + 1])


@pytest.mark.parametrize("method", ["cg", "bicgstab", "gmres", "dense"])
def test_linear_systems(method: str) -> None:
    matrix = stiffness if method == "cg" else skew

    def f(k: Any, b: Any) -> Any:
        x = dt.zeros(4, ti.f64)
        near = jacobi if method in ("cg", "bicgstab") else None
        dt.linear_solve(matrix, b, x, args=(k,), method=method, precondition=near, tol=1e-13)
        return after(x)

    check(f, SPRINGS, LOADS)


# Minima


@dt.kernel
def energy(x, e, k, load):
    for i in x:
        e[None] += 0.25 * k[i] * x[i] ** 4 - load[i] * x[i]
        e[None] += 0.1 * (x[i] - x[(i + 1) % x.shape[0]]) ** 2


def minimum(k: Any, load: Any) -> Any:
    x = dt.ones(3, ti.f64)
    dt.minimize_implicit(energy, x, args=(k, load), tol=1e-12)
    return after(x)


def test_minima() -> None:
    check(minimum, [2.0, 1.0, 3.0], [1.0, 2.0, 3.0], rtol=1e-6)


# Differential equations


@dt.kernel
def pendulum(t, q, v, dq, dv, gravity, drive):
    for i in q:
        dq[i] = v[i]
        dv[i] = -gravity[None] * ti.sin(q[i]) + drive[None] * ti.cos(2.0 * t)


@dt.kernel
def last(q, v, rows, out):
    for i in q:
        out[i] = q[i] * v[i]
        for k in range(rows.shape[0]):
            out[i] += rows[k, i] ** 2


def swing(start: Any, gravity: Any, t0: Any, t1: Any, **options: Any) -> Any:
    q, v = dt.zeros_like(start), dt.zeros_like(start)
    q.copy_from(start)
    drive = dt.full((), 0.3, ti.f64)
    angles, speeds = (dt.zeros((2, 2), ti.f64) for _ in range(2))
    out = dt.zeros_like(start)
    dt.odeint(
        pendulum, (q, v), t0, t1, args=(gravity, drive),
        at=[0.2, 0.45], out=(angles, speeds), **options,
    )  # fmt: skip
    last(q, v, angles, out)
    return out


@pytest.mark.parametrize(
    "options",
    [{"rtol": 1e-10, "atol": 1e-12}, {"method": "rk4", "steps": 10}],
    ids=["dopri5", "rk4"],
)
@pytest.mark.parametrize("adjoint", ["discrete", "continuous"])
def test_differential_equations(adjoint: str, options: dict[str, Any]) -> None:
    def f(start: Any, gravity: Any) -> Any:
        return swing(start, gravity, 0.0, 0.6, adjoint=adjoint, **options)

    points, dots = (np.array([0.5, -1.0]), 9.81), (np.array([1.0, 0.4]), -0.7)
    if adjoint == "discrete":
        check(f, *points, rtol=1e-6)
        return
    # The steps are the same, so the tangent is that of the steps; the reverse has its own error.
    tangent = dt.jvp(f, points, dots)[1]
    steps = dt.jvp(lambda *a: swing(*a, 0.0, 0.6, adjoint="discrete", **options), points, dots)[1]
    np.testing.assert_allclose(tangent, steps, rtol=1e-13)
    if "rtol" in options:
        check(f, *points, rtol=1e-6, reverse=1e-6)


def test_the_ends_of_a_solution_vary() -> None:
    options: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12}

    def f(t0: Any, t1: Any, gravity: Any) -> Any:
        start = dt.from_numpy(np.array([0.5, -1.0]))
        return swing(start, gravity, t0, t1, adjoint="continuous", **options)

    check(f, 0.1, 0.6, 9.81, rtol=1e-6, reverse=1e-6)

    def discrete(t1: Any) -> Any:
        start = dt.from_numpy(np.array([0.5, -1.0]))
        return swing(start, dt.full((), 9.81, ti.f64), 0.0, t1)

    for derivative in (dt.jvp, lambda f, x, _: dt.vjp(f, x)):
        with pytest.raises(dt.LaunchError, match="takes times for constants"):
            derivative(discrete, 1.2, 1.0)


@dt.kernel
def decay(t, y, dy, rate):
    for i in y:
        dy[i] = -rate[None] * y[i]


@dt.kernel
def twice(k, rate):
    rate[None] = 2.0 * k[None]


def test_right_hand_sides_with_scratch_fields_and_solvers() -> None:
    """dy/dt = -sqrt(2 k) y."""

    def f(k: Any) -> Any:
        y, double, rate = dt.ones(1, ti.f64), dt.zeros((), ti.f64), dt.ones((), ti.f64)

        def rhs(t: float, y: Any, dy: Any) -> None:
            twice(k, double)
            rate.fill(1.0)
            dt.root(square_root, rate, args=(double,))
            decay(t, y, dy, rate)

        dt.odeint(rhs, y, 0.0, 1.0, adjoint="continuous", method="rk4", steps=20)
        return y

    k = 0.8
    slope = check(f, k, reverse=1e-5) / np.random.default_rng(7).normal()
    assert slope[0] == pytest.approx(-np.exp(-((2 * k) ** 0.5)) / (2 * k) ** 0.5, rel=1e-5)


def test_a_field_that_is_touched_late_is_refused() -> None:
    early, late = dt.ones((), ti.f64), dt.ones((), ti.f64)

    def f(start: Any) -> Any:
        def rhs(t: float, y: Any, dy: Any) -> None:
            decay(t, y, dy, early if t < 0.5 else late)

        dt.odeint(rhs, start, 0.0, 1.0, adjoint="continuous")
        return start

    with pytest.raises(dt.LaunchError, match=r"uses <field f64 \(\)> at t = .*'args'"):
        dt.jvp(f, np.ones(1), np.ones(1))


def test_what_is_left_on_the_way_has_no_tangent_by_the_end() -> None:
    def f(t1: Any) -> Any:
        y, k, rate = dt.ones(1, ti.f64), dt.ones((), ti.f64), dt.zeros((), ti.f64)

        def rhs(t: float, y: Any, dy: Any) -> None:
            twice(k, rate)
            decay(t, y, dy, rate)

        dt.odeint(rhs, y, 0.0, t1, adjoint="continuous", method="rk4", steps=20)
        return y

    with pytest.warns(dt.GradientCut, match="leaves in other fields have no tangent by t1"):
        value, slope = dt.jvp(f, 0.5, 1.0)
    assert slope[0] == pytest.approx(-2.0 * value[0], rel=1e-12)
