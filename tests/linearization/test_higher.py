"""Derivatives of third and higher order, against differences and numbers known by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from tests.linearization import test_second_steps as steps
from tests.linearization.test_second_steps import START, dotted, number
from tests.solvers.test_forward import minimum
from tests.tape_ops import blend
from tests.transforms.test_nested_transforms import blended, weighed

pytestmark = pytest.mark.usefixtures("poisoned_memory")

V, W = np.array([0.5, -1.0, 0.3, 0.8]), np.array([-0.2, 0.7, 1.1, 0.4])

Number = Callable[[Any], Any]


def differences(f: Callable[[Any], Any], x: Any, along: Any, e: float) -> Any:
    """Return the derivative of a function along a vector, by fourth-order differences."""
    near, far = f(x + e * along) - f(x - e * along), f(x + 2 * e * along) - f(x - 2 * e * along)
    return (8 * near - far) / (12 * e)


def check(
    f: Number, x: Any = START, v: Any = V, w: Any = W, *, rtol: float = 1e-8, e: float = 1e-3
) -> None:
    """Compare D3 f [v, w, .] in each nesting of modes with differences of products."""
    fields = [dt.from_numpy(one) for one in (v, w)]
    numeric = differences(lambda z: dt.hvp(f, z, v), x, w, e)
    atol = rtol * np.max(np.abs(numeric))
    gradient = dt.grad(f)
    ways = {
        "reverse over forward over reverse": dt.grad(lambda z: dotted(dt.hvp(f, z, v), fields[1])),
        "forward over forward over reverse": lambda z: dt.jvp(lambda y: dt.hvp(f, y, v), z, w)[1],
        "forward over reverse over reverse": lambda z: dt.hvp(
            lambda y: dotted(gradient(y), fields[0]), z, w
        ),
        "reverse over forward over forward": dt.grad(
            lambda z: dt.jvp(lambda y: dt.jvp(f, y, fields[0])[1], z, fields[1])[1]
        ),
    }
    for name, way in ways.items():
        np.testing.assert_allclose(way(x), numeric, rtol=0, atol=atol, err_msg=name)


def test_kernels_in_place_and_functions_of_fields_from_outside() -> None:
    def energy(z: Any) -> Any:
        return weighed(blended(z, dt.full((), 1.3, ti.f64)), dt.from_numpy(W[:3]))

    check(energy, START[:3], V[:3], W[:3])


def test_kernels_with_rules() -> None:
    check(number(steps.all_with_rules))


def test_custom_operations() -> None:
    """A backward of kernels and no forward, a linear one in NumPy, one of other operations.

    What the last one writes is only found out as it runs.
    """

    def step(x: Any, y: Any) -> None:
        steps.twisted(x, y)
        steps.smoothed(y, 1.5)
        z = dt.zeros_like(y)
        z.copy_from(y)
        steps.multiplied(x, y, z)
        y[1:3].copy_from(z[2:4])
        blend(x, y)

    check(number(step))


def test_checkpoints_and_tapes_with_a_limit() -> None:
    """A checkpoint runs again in each sweep, and a tape's memory holds derivatives as steps."""

    @dt.checkpoint
    def stretch(x: Any, y: Any) -> None:
        for _ in range(3):
            steps.cubed(x, y)
            y *= 0.5
            x.copy_from(y)
            x += 0.2

    def step(x: Any, y: Any) -> None:
        own = dt.zeros_like(x)
        own.copy_from(x)
        stretch(own, y)

    f = number(step)
    check(f)
    expected = dt.grad(lambda z: dotted(dt.hvp(f, z, V), dt.from_numpy(W)))(START)
    for limit in ({}, {"memory": 4000}):
        x, w = dt.from_numpy(START, grad=True), dt.from_numpy(W)
        loss = dt.zeros((), ti.f64, grad=True)
        with dt.Tape(loss, **limit):
            moved = dt.zeros_like(x, grad=True)
            moved.copy_from(x)
            steps.dot(dt.hvp(f, moved, V), w, loss)
        np.testing.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-11)


@pytest.mark.filterwarnings("ignore::difftile.NotConverged")  # of iterations at rounding errors
@pytest.mark.parametrize("solve", [steps.by_iteration, steps.by_root, steps.by_system])
def test_solvers(solve: Callable[[Any, Any], None]) -> None:
    check(number(solve), rtol=1e-6)


def test_second_derivatives_of_minima() -> None:
    """By all parameters; those of the energy are third ones."""

    @dt.kernel
    def split(z, k, load):
        for i in k:
            k[i] = z[i] ** 2
            load[i] = ti.exp(z[i + 3])

    def f(z: Any) -> Any:
        k, load = dt.zeros(3, ti.f64), dt.zeros(3, ti.f64)
        split(z, k, load)
        return weighed(minimum(k, load), dt.from_numpy(W[:3]))

    x, v = np.array([1.2, 0.9, 1.5, 0.1, 0.4, -0.2]), np.linspace(-1, 1, 6)
    numeric = differences(dt.grad(f), x, v, 1e-3)
    atol = 1e-6 * np.max(np.abs(numeric))
    np.testing.assert_allclose(dt.hvp(f, x, v), numeric, rtol=0, atol=atol)
    hessian = dt.hessian(f)(x)
    np.testing.assert_allclose(hessian @ v, numeric, rtol=0, atol=atol)
    np.testing.assert_allclose(hessian, hessian.T, rtol=0, atol=atol)


def test_the_second_derivative_of_a_minimum_is_known_by_hand() -> None:
    """The minimum of k x^4 / 4 - b x is at (b / k)^(1/3)."""

    @dt.kernel
    def quartic(x, e, p):
        e[None] += 0.25 * p[0] * x[None] ** 4 - p[1] * x[None]

    def f(p: Any) -> Any:
        x = dt.full((), 1.0, ti.f64)
        dt.minimize_implicit(quartic, x, args=(p,), tol=1e-14)
        return x

    k, b = 2.0, 3.0
    root = (b / k) ** (1 / 3)
    expected = [
        [root * 4 / 9 / k**2, -root / 9 / (k * b)],
        [-root / 9 / (k * b), -root * 2 / 9 / b**2],
    ]
    np.testing.assert_allclose(dt.hessian(f)(np.array([k, b])), expected, rtol=1e-9)
    (along,) = dt.jvp(lambda p: dt.jvp(f, p, np.eye(2)[0])[1], np.array([k, b]), np.eye(2)[1])[1:]
    np.testing.assert_allclose(along, expected[0][1], rtol=1e-9)


def test_the_fifth_derivative() -> None:
    @dt.kernel
    def power(x, y):
        y[None] = x[None] ** 7

    def f(x: Any) -> Any:
        y = dt.zeros((), ti.f64)
        power(x, y)
        return y

    fifth = f
    expected, factor = 1.3**7, 7
    for order in range(1, 6):
        fifth = dt.grad(fifth) if order % 2 else _along_one(fifth)
        expected *= factor / 1.3
        factor -= 1
        if order > 2:
            np.testing.assert_allclose(fifth(1.3), expected, rtol=1e-12)


def _along_one(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: dt.jvp(f, x, 1.0)[1]


def test_tangents_along_two_directions_by_rules_in_python() -> None:
    """A forward rule that computes with contents in NumPy, and a backward of kernels."""

    @dt.custom_op
    def cosine(x: dt.In, y: dt.Out):
        y.from_numpy(np.cos(x.to_numpy()))

    @dt.kernel
    def sine_back(x, y_bar, x_bar):
        for i in x:
            x_bar[i] -= ti.sin(x[i]) * y_bar[i]

    @cosine.backward
    def _(x, y):
        sine_back(x, y.grad_in, x.grad_out)

    @cosine.forward
    def _(x, y):
        y.grad_in.from_numpy(-np.sin(x.to_numpy()) * x.grad_out.to_numpy())

    def f(x: Any) -> Any:
        y = dt.zeros_like(x)
        cosine(x, y)
        return y

    _, found = dt.jvp(lambda x: dt.jvp(f, x, V)[1], START, W)
    np.testing.assert_allclose(found, -np.cos(START) * V * W, rtol=1e-12)


def test_tangents_along_two_directions_through_a_solution_of_an_equation() -> None:
    """Forward mode of the continuous adjoint computes in Python as well."""

    def f(x: Any) -> Any:
        y, speed = dt.zeros_like(x), dt.zeros_like(x)
        y.copy_from(x)
        options = {"adjoint": "continuous", "method": "rk4", "steps": 12}
        dt.odeint(steps.swing, (y, speed), 0.0, 1.0, args=(x,), **options)
        return y

    _, found = dt.jvp(lambda x: dt.jvp(f, x, V)[1], START, W)
    numeric = differences(lambda x: dt.jvp(f, x, V)[1], START, W, 1e-2)
    np.testing.assert_allclose(found, numeric, rtol=0, atol=1e-3 * np.max(np.abs(numeric)))


def test_a_third_derivative_that_is_not_known_is_refused() -> None:
    def step(x: Any, y: Any) -> None:
        speed = dt.zeros_like(x)
        y.copy_from(x)
        dt.odeint(steps.swing, (y, speed), 0.0, 0.5, args=(x,), adjoint="continuous")

    with pytest.raises(dt.TapeError, match=r"A third derivative of dt\.odeint is needed here"):
        dt.grad(lambda z: dotted(dt.hvp(number(step), z, V), dt.from_numpy(W)))(START)


# Tangents of what does not vary


@dt.kernel
def quartic(x, out):
    for i in x:
        out[None] += x[i] ** 4


def fourth_powers(x: Any) -> Any:
    out = dt.zeros((), ti.f64)
    quartic(x, out)
    return out


def test_tangents_that_are_made_inside_are_constants() -> None:
    x, ones = np.array([1.0, 2.0]), np.ones(2)
    first = lambda q: dt.jvp(fourth_powers, q, dt.ones(2, ti.f64))[1]  # noqa: E731
    second = lambda q: dt.jvp(first, q, ones)[1]  # noqa: E731
    assert float(dt.jvp(second, x, ones)[1]) == 72.0
    np.testing.assert_allclose(dt.jacfwd(second)(x), [24.0, 48.0])


class Scaled(dt.Step):
    """y = k x^2, with all of its rules; the one of the second derivative takes memory."""

    def __init__(self, x: Any, k: Any, y: Any) -> None:
        super().__init__("scaled", reads={"x": x, "k": k}, writes={"y": y})
        self.x, self.k, self.y = x, k, y

    def run(self) -> None:
        self.y.from_numpy(self.k.to_numpy() * self.x.to_numpy() ** 2)

    def reverse(self, then: Any, saved: Any) -> None:
        x, k, bar = then[self.x], then[self.k], then[self.y].grad_in.to_numpy()
        x.grad_out.add_numpy(2.0 * k.to_numpy() * x.to_numpy() * bar)
        if k.grad_out is not None:
            k.grad_out.add_numpy(x.to_numpy() ** 2 * bar)

    def derivative(self, at: Any, saved: Any) -> bool:
        if len(at) > 2:
            return False
        then, dot = at
        self.reverse(then, saved)
        dt.full(2, 9.0, ti.f64)
        x, k, bar = then[self.x].to_numpy(), then[self.k].to_numpy(), then[self.y].grad_in
        x_dot, k_dot, bar_dot = dot[self.x], dot[self.k], dot[self.y].grad_in
        assert not k_dot.to_numpy().any()
        both = k * x_dot.to_numpy() * bar.to_numpy() + k * x * bar_dot.to_numpy()
        x_dot.grad_out.add_numpy(2.0 * (k_dot.to_numpy() * x * bar.to_numpy() + both))
        if dot[self.k].grad_out is not None:
            product = 2.0 * x * x_dot.to_numpy() * bar.to_numpy() + x**2 * bar_dot.to_numpy()
            dot[self.k].grad_out.add_numpy(product)
        return True

    def push(self, at: Any, saved: Any) -> bool:
        if len(at) > 1:
            return False
        x, k = at[0][self.x], at[0][self.k]
        pushed = 2.0 * k.to_numpy() * x.to_numpy() * x.grad_out.to_numpy()
        if k.grad_out is not None:
            pushed += k.grad_out.to_numpy() * x.to_numpy() ** 2
        at[0][self.y].grad_in.from_numpy(pushed)
        return True


def test_fields_of_a_step_that_do_not_vary_have_tangents_of_zeros() -> None:
    k = dt.full(2, 1.0, ti.f64)

    def squares(x: Any) -> Any:
        y, out = dt.zeros_like(x), dt.zeros((), ti.f64)
        Scaled(x, k, y)()
        total(y, out)
        return out

    found = dt.hvp(squares, np.array([1.0, 2.0]), np.ones(2))
    np.testing.assert_array_equal(found, [2.0, 2.0])


@dt.kernel
def total(y, out):
    for i in y:
        out[None] += y[i]
