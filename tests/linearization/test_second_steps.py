"""Second derivatives through steps that a tape does not see the inside of, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt

pytestmark = pytest.mark.usefixtures("poisoned_memory")

START = np.array([0.4, -0.3, 0.7, 0.2])


@dt.kernel
def energy(x, y, out):
    """Add up a function that is nonlinear in both fields."""
    for i in y:
        out[None] += ti.sin(x[i]) * y[i] + y[i] ** 3


def number(step: Callable[[Any, Any], None]) -> Callable[[Any], Any]:
    """Return the function x -> energy(x, step(x))."""

    def f(x: Any) -> Any:
        y, out = dt.zeros_like(x), dt.zeros((), ti.f64)
        step(x, y)
        energy(x, y, out)
        return out

    return f


def check(f: Callable[[Any], Any], x: Any = START, *, rtol: float = 1e-8) -> None:
    """Compare each way to second derivatives with fourth-order differences of the gradient."""
    gradient, e = dt.grad(f), 1e-3

    def column(unit: Any) -> Any:
        near = gradient(x + e * unit) - gradient(x - e * unit)
        far = gradient(x + 2 * e * unit) - gradient(x - 2 * e * unit)
        return (8 * near - far) / (12 * e)

    numeric = np.stack([column(unit) for unit in np.eye(len(x))], axis=1)
    scale = np.max(np.abs(numeric))
    found = dt.hessian(f)(x)
    np.testing.assert_allclose(found, numeric, rtol=0, atol=rtol * scale)
    np.testing.assert_allclose(found, found.T, rtol=0, atol=rtol * scale)
    v = np.linspace(0.5, -1.0, len(x))
    np.testing.assert_allclose(dt.hvp(f, x, v), found @ v, rtol=0, atol=rtol * scale)
    _, tangent = dt.jvp(gradient, x, v)
    np.testing.assert_allclose(tangent, found @ v, rtol=0, atol=rtol * scale)
    twice = dt.grad(lambda z: dotted(gradient(z), dt.from_numpy(v)))(x)
    np.testing.assert_allclose(twice, found @ v, rtol=0, atol=rtol * scale)


def check_product(f: Callable[[Any], Any], *, rtol: float = 1e-8, e: float = 1e-3) -> None:
    """Compare one product with the Hessian with differences of the gradient."""
    gradient, v = dt.grad(f), np.array([0.5, -1.0, 0.3, 0.8])
    near = gradient(START + e * v) - gradient(START - e * v)
    far = gradient(START + 2 * e * v) - gradient(START - 2 * e * v)
    numeric = (8 * near - far) / (12 * e)
    atol = rtol * np.max(np.abs(numeric))
    np.testing.assert_allclose(dt.hvp(f, START, v), numeric, rtol=0, atol=atol)


@dt.kernel
def dot(a, b, out):
    for i in a:
        out[None] += a[i] * b[i]


def dotted(a: Any, b: Any) -> Any:
    out = dt.zeros((), ti.f64)
    dot(a, b, out)
    return out


# Kernels with rules


@dt.kernel
def softened(x, y):
    for i in x:
        y[i] = ti.exp(ti.sin(x[i]))


@softened.backward
def _(x, y):
    for i in x:
        x.grad_out[i] += ti.cos(x[i]) * y.after[i] * y.grad_in[i]


@dt.kernel
def squeezed(x):
    for i in range(1, 3):  # the other elements pass
        x[i] = x[i] / (1.0 + x[i] ** 2)


@squeezed.backward
def _(x):
    for i in range(1, 3):
        below = 1.0 + x.before[i] ** 2
        x.grad_out[i] += (1.0 - x.before[i] ** 2) / below**2 * x.grad_in[i]


@dt.kernel
def cubed(x, y):
    for i in x:
        y[i] = x[i] ** 3


@cubed.backward
def _(x, y):
    for i in x:
        x.grad_out[i] += 3 * x[i] ** 2 * y.grad_in[i]


@cubed.forward
def _(x, y):
    for i in x:
        y.grad_in[i] = 3 * x[i] ** 2 * x.grad_out[i]


@dt.kernel
def scattered(x, to, y):
    for i in x:
        y[to[i]] = x[i] ** 2


@scattered.backward
def _(x, to, y):
    for i in x:
        x.grad_out[i] += 2 * x[i] * y.grad_in[to[i]]


def all_with_rules(x: Any, y: Any) -> None:
    softened(x, y)
    squeezed(y)
    z, to = dt.zeros_like(x), dt.from_numpy(np.array([2, 0, 3, 1], np.int32))
    cubed(y, z)
    scattered(z, to, y)
    y *= x
    y /= 3.0


def test_kernels_with_rules() -> None:
    """Rules of either kind, in place, of scattered stores, and arithmetic of fields between."""
    check(number(all_with_rules))


def test_tangents_by_the_transpose_of_a_backward() -> None:
    def run(x: Any) -> Any:
        y = dt.zeros_like(x)
        all_with_rules(x, y)
        return y

    v, w = np.linspace(-1, 2, 4), np.linspace(0.3, 1, 4)
    _, tangent = dt.jvp(run, START, v)
    _, pull = dt.vjp(run, START)
    assert abs(w @ tangent - pull(w)[0] @ v) < 1e-12
    np.testing.assert_allclose(dt.jacfwd(run)(START), dt.jacrev(run)(START), atol=1e-12)


def test_explicit_tangents_by_the_transpose_of_a_backward() -> None:
    x, y = (dt.from_numpy(START, grad=True) for _ in range(2))
    x.grad.from_numpy(np.array([1.0, 2.0, 3.0, 4.0]))
    softened.fwds(x, y)
    expected = np.exp(np.sin(START)) * np.cos(START) * [1, 2, 3, 4]
    np.testing.assert_allclose(y.grad.to_numpy(), expected, rtol=1e-14)
    twisted.fwds(x, y)
    np.testing.assert_allclose(y.grad.to_numpy(), np.cosh(START) * [1, 2, 3, 4], rtol=1e-14)
    x.grad.fill(1.0)
    squeezed.fwds(x)
    inside = (1 - START[1:3] ** 2) / (1 + START[1:3] ** 2) ** 2
    np.testing.assert_allclose(x.grad.to_numpy(), [1, *inside, 1], rtol=1e-14)


def test_a_forward_rule_reads_what_the_backward_does_not() -> None:
    @dt.kernel
    def exponential(x, y):
        for i in x:
            y[i] = ti.exp(x[i])

    @exponential.backward
    def _(x, y):
        for i in x:
            x.grad_out[i] += y.after[i] * y.grad_in[i]

    @exponential.forward
    def _(x, y):
        for i in x:
            y.grad_in[i] = ti.exp(x.before[i]) * x.grad_out[i]

    check(number(exponential))


# Custom operations


@dt.custom_op
def twisted(x: dt.In, y: dt.Out):
    y.from_numpy(np.sinh(x.to_numpy()))


@dt.kernel
def twist_back(x, y_bar, x_bar):
    for i in x:
        x_bar[i] += 0.5 * (ti.exp(x[i]) + ti.exp(-x[i])) * y_bar[i]


@twisted.backward
def _(x, y):
    twist_back(x, y.grad_in, x.grad_out)


@dt.custom_op
def smoothed(x: dt.InOut, weight):
    x.from_numpy(weight * np.convolve(x.to_numpy(), [0.25, 0.5, 0.25], "same"))


@smoothed.backward
def _(x, weight):
    x.grad_out.add_numpy(weight * np.convolve(x.grad_in.to_numpy(), [0.25, 0.5, 0.25], "same"))


@smoothed.forward
def _(x, weight):
    x.grad_in.from_numpy(weight * np.convolve(x.grad_out.to_numpy(), [0.25, 0.5, 0.25], "same"))


@dt.custom_op
def multiplied(x: dt.In, y: dt.In, z: dt.InOut):
    """z += x y."""
    z.from_numpy(z.to_numpy() + x.to_numpy() * y.to_numpy())


@multiplied.forward
def _(x, y, z):
    dots = x.grad_out.to_numpy() * y.to_numpy() + x.to_numpy() * y.grad_out.to_numpy()
    z.grad_in.from_numpy(z.grad_out.to_numpy() + dots)


@multiplied.backward
def _(x, y, z):
    multiplied(z.grad_in, y, x.grad_out)
    multiplied(z.grad_in, x, y.grad_out)
    z.grad_out += z.grad_in


def test_custom_operations() -> None:
    """A backward of kernels and no forward, a linear one in NumPy, one of other operations."""

    def step(x: Any, y: Any) -> None:
        twisted(x, y)
        smoothed(y, 1.5)
        z = dt.zeros_like(y)
        z.copy_from(y)
        multiplied(x, y, z)
        y[1:3].copy_from(z[2:4])

    check(number(step))


def test_a_backward_that_computes_in_python_is_refused() -> None:
    @dt.custom_op
    def rooted(x: dt.In, y: dt.Out):
        y.from_numpy(np.sqrt(x.to_numpy()))

    @rooted.backward
    def _(x, y):
        x.grad_out.add_numpy(0.5 * y.grad_in.to_numpy() / y.to_numpy())

    start = np.array([1.0, 2.0])
    with pytest.raises(dt.TapeError, match=r"write '@rooted\.forward' above 'def _\(x, y\)"):
        dt.hvp(number(rooted), start, np.ones(2))

    @rooted.forward
    def _(x, y):
        y.grad_in.from_numpy(0.5 * x.grad_out.to_numpy() / y.to_numpy())

    with pytest.raises(dt.TapeError, match=r"second derivative of custom op 'rooted'") as caught:
        dt.hvp(number(rooted), start, np.ones(2))
    assert "write the backward of 'rooted' with kernels" in str(caught.value)


@pytest.mark.parametrize("how", ["float", "saved", "nonlinear", "tape"])
def test_nothing_slips_through_a_backward(how: str) -> None:
    """Conversions, saved numbers, clipped gradients, tapes inside."""

    @dt.custom_op
    def squared(x: dt.In, y: dt.Out):
        y.from_numpy(x.to_numpy() ** 2)
        return x.to_numpy()

    def by_float(x: Any, y: Any) -> None:
        for i in range(len(START)):
            x.grad_out[i] = 2.0 * float(x[i]) * float(y.grad_in[i])

    def by_saved(x: Any, y: Any, saved: Any) -> None:
        x.grad_out.add_numpy(2 * saved * y.grad_in.to_numpy())

    def by_clipping(x: Any, y: Any) -> None:
        x.grad_out.add_numpy(np.clip(y.grad_in.to_numpy(), -0.1, 0.1))

    def by_tape(x: Any, y: Any) -> None:
        own, loss = dt.zeros_like(x, grad=True), dt.zeros((), ti.f64, grad=True)
        own.copy_from(x)
        with dt.Tape(loss):
            dot(own, own, loss)
        x.grad_out.add_numpy(own.grad.to_numpy() * y.grad_in.to_numpy())

    rules = {"float": by_float, "saved": by_saved, "nonlinear": by_clipping, "tape": by_tape}
    squared.backward(rules[how])

    @squared.forward
    def _(x, y):
        y.grad_in.from_numpy(2 * x.to_numpy() * x.grad_out.to_numpy())

    with pytest.raises(dt.TapeError, match="second derivative of custom op 'squared'"):
        dt.hvp(number(squared), START, np.ones(4))


# Solvers


@dt.kernel
def relax(y, out, x):
    for i in y:
        near = y[i - 1] if i > 0 else 0.0
        out[i] = 0.4 * ti.cos(y[i]) * x[i] + 0.2 * near * y[i] + x[i]


@dt.kernel
def residual(y, r, x):
    for i in y:
        near = y[i - 1] if i > 0 else 0.0
        r[i] = y[i] ** 3 + 2.0 * y[i] + 0.5 * x[i] * near - ti.exp(x[i])


@dt.kernel
def apply(v, out, x):
    for i in v:
        left = v[i - 1] if i > 0 else 0.0
        right = v[i + 1] if i < v.shape[0] - 1 else 0.0
        out[i] = (3.0 + x[i] ** 2) * v[i] - left - right


def by_iteration(x: Any, y: Any) -> None:
    dt.fixed_point(relax, y, args=(x,), diff="solution", tol=1e-14)


def by_iterations(x: Any, y: Any) -> None:
    with_few = {"diff": "algorithm", "max_iter": 40, "tol": 1e-15}
    dt.fixed_point(relax, y, args=(x,), **with_few)


def by_root(x: Any, y: Any) -> None:
    dt.root(residual, y, args=(x,), tol=1e-12, adjoint_tol=1e-13)


def by_system(x: Any, y: Any) -> None:
    b = dt.zeros_like(x)
    b.copy_from(x)
    b *= x
    dt.linear_solve(apply, b, y, args=(x,), tol=1e-14)


def by_root_of_root(x: Any, y: Any) -> None:
    """A root of a function that solves a linear system for its unknown."""

    z = dt.zeros_like(y)

    def outer(y: Any, r: Any, x: Any) -> None:
        dt.linear_solve(apply, y, z, args=(x,), tol=1e-14)
        residual(z, r, x)

    y.fill(2.0)
    dt.root(outer, y, args=(x,), tol=1e-12, adjoint_tol=1e-13)


@pytest.mark.filterwarnings("ignore::difftile.NotConverged")  # of iterations at rounding errors
@pytest.mark.parametrize("solve", [by_iteration, by_iterations, by_root, by_system])
def test_solvers(solve: Callable[[Any, Any], None]) -> None:
    check(number(solve), rtol=1e-7)


def test_a_root_of_a_function_that_solves_a_system() -> None:
    check_product(number(by_root_of_root), rtol=1e-7)


# Differential equations


@dt.kernel
def swing(t, angle, speed, d_angle, d_speed, x):
    for i in angle:
        d_angle[i] = speed[i] + 0.1 * x[i] * ti.sin(t)
        d_speed[i] = -(1.0 + x[i] ** 2) * ti.sin(angle[i]) - 0.05 * speed[i]


@pytest.mark.parametrize(
    ("options", "rtol"),
    [
        ({"adjoint": "discrete", "method": "rk4", "steps": 6}, 1e-8),
        ({"adjoint": "continuous", "rtol": 1e-6, "atol": 1e-8}, 1e-4),
        ({"adjoint": "continuous", "method": "rk4", "steps": 12}, 1e-3),
    ],
)
def test_differential_equations(options: dict[str, Any], rtol: float) -> None:
    """With a state of two fields that depends on x, a parameter, and rows on the way."""

    def step(x: Any, y: Any) -> None:
        speed, rows = dt.zeros_like(x), [dt.zeros((2, 4), ti.f64) for _ in range(2)]
        speed.copy_from(x)
        y.copy_from(x)
        y *= x
        dt.odeint(swing, (y, speed), 0.0, 1.5, args=(x,), at=[0.5, 1.0], out=rows, **options)
        y += rows[0][0, :] * rows[1][1, :]

    check_product(number(step), rtol=rtol, e=2e-3 if rtol < 1e-6 else 1e-2)


def test_a_varying_end_of_a_solution_is_refused() -> None:
    def step(x: Any, y: Any) -> None:
        speed, end = dt.zeros_like(x), dt.zeros((), ti.f64)
        y.copy_from(x)
        first(x, end)
        dt.odeint(swing, (y, speed), 0.0, end, args=(x,), adjoint="continuous")

    with pytest.raises(dt.TapeError, match="second derivatives with the continuous adjoint"):
        dt.hvp(number(step), START, np.ones(4))


@dt.kernel
def first(x, end):
    end[None] = 1.0 + x[0]


# Python between launches


@dt.kernel
def size(x):
    total = 0.0
    for i in x:
        total += x[i] ** 2
    return ti.sqrt(total + 1.0)


@dt.kernel
def stretched(x, h: float, y):
    for i in x:
        y[i] = ti.sin(h * x[i]) * x[(i + 1) % x.shape[0]]


def test_numbers_copies_fills_and_arithmetic_of_fields() -> None:
    """What Python does between launches, numbers that kernels return included."""

    def f(x: Any) -> Any:
        y, loss, part = dt.zeros_like(x), dt.zeros((), ti.f64), dt.zeros((), ti.f64)
        h = 0.5 * size(x) + x[1]
        stretched(x, h, y)
        y[2] = 0.3
        y *= x
        part.copy_from(dotted(y, x))
        x.copy_from(y)
        y.fill(0.0)
        y[1:3].copy_from(x[0:2])
        y += 2.0 * x
        energy(x, y, loss)
        return loss / 3.0 + 0.5 * part**2

    check(f)


def test_a_field_that_a_step_overwrites_after_it_was_read() -> None:
    """Tangents of what a launch has read are kept while a step writes others in their place."""

    @dt.kernel
    def twice(x, y):
        for i in x:
            y[i] = 2 * x[i]

    @dt.custom_op
    def doubled(x: dt.In, y: dt.Out):
        y.from_numpy(2 * x.to_numpy())

    @doubled.backward
    def _(x, y):
        twice(y.grad_in, x.grad_out)

    @doubled.forward
    def _(x, y):
        twice(x.grad_out, y.grad_in)

    @dt.kernel
    def square(x, y):
        for i in x:
            y[i] = x[i] ** 2

    def f(x: Any) -> Any:
        y, out = dt.zeros_like(x), dt.zeros((), ti.f64)
        square(x, y)
        energy(x, y, out)
        doubled(x, y)
        energy(x, y, out)
        return out

    check(f)
