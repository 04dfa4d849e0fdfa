"""Transformations on tapes and inside others, with derivatives through their results."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt

pytestmark = pytest.mark.usefixtures("poisoned_memory")

X = np.array([0.6, -0.4, 0.9])
S = np.array([0.7, 1.1, -0.5])


@dt.kernel
def blend(x, k, y):
    for i in x:
        y[i] += ti.sin(x[i]) * x[(i + 1) % 3] * k[None] + x[i] ** 3


@dt.kernel
def weigh(a, b, out):
    for i in a:
        out[None] += ti.tanh(a[i]) * b[i]


@dt.kernel
def weigh_all(a, out):
    for i, j in a:
        out[None] += a[i, j] ** 2 * (1.0 + i + 2.0 * j)


def blended(x: Any, k: Any) -> Any:
    """A function of temporary fields without gradients, which overwrites its argument."""
    y = dt.zeros_like(x)
    blend(x, k, y)
    x.fill(0.0)
    blend(y, k, x)
    return x


def weighed(a: Any, b: Any) -> Any:
    out = dt.zeros((), ti.f64, grad=True)
    weigh(a, b, out)
    return out


def as_field(a: Any) -> Any:
    """Return a Jacobian, which is an array where nothing records it, as a field."""
    return dt.from_numpy(a) if isinstance(a, np.ndarray) else a


def all_weighed(a: Any) -> Any:
    out = dt.zeros((), ti.f64, grad=True)
    weigh_all(as_field(a), out)
    return out


def by_vjp(x: Any, s: Any, k: Any) -> Any:
    """Two pulls, after argument and captured field have changed, and the value."""
    held = dt.zeros_like(k, grad=True)
    held.copy_from(k)
    value, pull = dt.vjp(lambda z: blended(z, held), x)
    x *= 2.0
    held *= 3.0
    (one,) = pull(s)
    (two,) = pull(x)
    return weighed(one, two) + weighed(value, held * s)


def by_linearize(x: Any, s: Any, k: Any) -> Any:
    held = dt.zeros_like(k, grad=True)
    held.copy_from(k)
    value, push = dt.linearize(lambda z: blended(z, held), x)
    x *= 2.0
    held *= 3.0
    return weighed(push(s), push(x)) + weighed(value, held * s)


def by_jvp(x: Any, s: Any, k: Any) -> Any:
    value, tangent = dt.jvp(blended, (x, k), (s, 0.5))
    return weighed(tangent, value) + weighed(s, x)


def by_rows(x: Any, s: Any, k: Any) -> Any:
    return all_weighed(dt.jacrev(blended, chunk=2)(x * s, k))


def by_columns(x: Any, s: Any, k: Any) -> Any:
    jacobian = dt.jacfwd(blended, (0, 1))(x, k)
    return all_weighed(jacobian[0]) + weighed(as_field(jacobian[1]), s)


def by_gradient(x: Any, s: Any, k: Any) -> Any:
    value, slope = dt.value_and_grad(lambda z: weighed(blended(z, k), s))(x)
    return weighed(slope, s) * value


ALL = [by_vjp, by_linearize, by_jvp, by_rows, by_columns, by_gradient]
Nested = Callable[[Any, Any, Any], Any]


def differences(f: Nested) -> list[Any]:
    """Return the derivatives of a function of X, S and 1.3 by fourth-order differences."""
    start = [X, S, np.array(1.3)]

    def value(k: int, unit: Any, step: float) -> float:
        moved = [one + step * unit if k == j else one for j, one in enumerate(start)]
        args = [dt.from_numpy(np.array(one)) for one in moved]
        return float(f(*args)[None])

    found: list[Any] = []
    for k, one in enumerate(start):
        slopes = np.zeros(one.shape)
        for cell in range(one.size):
            unit = np.zeros(one.shape)
            unit.reshape(-1)[cell] = 1.0
            near, far = (value(k, unit, e) - value(k, unit, -e) for e in (1e-3, 2e-3))
            slopes.reshape(-1)[cell] = (8 * near - far) / 12e-3
        found.append(slopes)
    return found


@pytest.mark.parametrize("f", ALL)
def test_derivatives_through_the_results(f: Nested) -> None:
    """In another gradient, pushed from outside, and on tapes with and without a limit."""
    numeric = differences(f)
    args = X, S, 1.3
    for found, expected in zip(dt.grad(f, (0, 1, 2))(*args), numeric, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)
    dots = np.array([1.0, -0.5, 0.3]), np.array([0.2, 0.8, -1.0]), 0.7
    _, tangent = dt.jvp(f, args, dots)
    along = sum(np.sum(a * b) for a, b in zip(numeric, dots, strict=True))
    np.testing.assert_allclose(tangent, along, rtol=1e-7)
    for limit in ({}, {"memory": 4000}):
        fields = [dt.from_numpy(np.array(one), grad=True) for one in args]
        total = dt.zeros((), ti.f64, grad=True)
        with dt.Tape(total, **limit):
            x = dt.zeros(3, ti.f64, grad=True)
            x.copy_from(fields[0])
            total += f(x, *fields[1:])
        for found, expected in zip(fields, numeric, strict=True):
            np.testing.assert_allclose(found.grad.to_numpy(), expected, rtol=1e-7, atol=1e-8)


def test_results_are_those_without_a_tape() -> None:
    for f in ALL:
        plain = f(*(dt.from_numpy(np.array(one)) for one in (X, S, 1.3)))
        with dt.Tape():
            taped = f(*(dt.from_numpy(np.array(one), grad=True) for one in (X, S, 1.3)))
        np.testing.assert_allclose(taped[None], plain[None], rtol=1e-13)


def test_second_derivatives_on_a_tape_are_values() -> None:
    """A product with the Hessian, and the Hessian, and the third derivatives that lead to both."""

    def energy(z: Any) -> Any:
        return weighed(blended(z, dt.full((), 1.3, ti.f64)), dt.from_numpy(S))

    hessian = dt.hessian(energy)(X)
    x, loss = dt.from_numpy(X, grad=True), dt.zeros((), ti.f64, grad=True)
    with dt.Tape() as tape:
        product = dt.hvp(energy, x, dt.from_numpy(S))
        whole = dt.hessian(energy)(x)
        with dt.no_grad():
            np.testing.assert_allclose(product.to_numpy(), hessian @ S, rtol=1e-10)
            np.testing.assert_allclose(whole.to_numpy(), hessian, rtol=1e-10)
        weigh(product, x, loss)
        weigh_all(whole, loss)
    tape.backward(loss)

    def value(step: Any) -> float:
        second = dt.hessian(energy)(X + step)
        weights = 1.0 + np.arange(3)[:, None] + 2.0 * np.arange(3)
        return np.tanh(second @ S) @ (X + step) + np.sum(second**2 * weights)

    for unit, slope in zip(np.eye(3), x.grad.to_numpy(), strict=True):
        near, far = (value(e * unit) - value(-e * unit) for e in (1e-3, 2e-3))
        np.testing.assert_allclose(slope, (8 * near - far) / 12e-3, rtol=1e-7)


def test_parts_of_fields_as_tangents() -> None:
    many = dt.from_numpy(np.concatenate([X, S]), grad=True)
    loss, k = dt.zeros((), ti.f64, grad=True), dt.full((), 1.3, ti.f64)
    with dt.Tape(loss):
        x = dt.zeros(3, ti.f64, grad=True)
        x.copy_from(many[:3])
        _, tangent = dt.jvp(lambda z: blended(z, k), x, many[3:])
        weigh(tangent, k.broadcast_to(3), loss)
    _, pull = dt.vjp(lambda z: blended(z, k), X)
    pushed = dt.jvp(lambda z: blended(z, k), X, S)[1]
    (expected,) = pull(1.3 * (1 - np.tanh(pushed) ** 2))
    np.testing.assert_allclose(many.grad.to_numpy()[3:], expected, rtol=1e-12)


def test_in_single_precision() -> None:
    def f(x: Any) -> Any:
        out = dt.zeros((), ti.f32)
        _, pull = dt.vjp(lambda z: blended(z, dt.full((), 1.3, ti.f32)), x)
        (bar,) = pull(x)
        weigh(bar, x, out)
        return out

    def in_double(x: Any) -> Any:
        _, pull = dt.vjp(lambda z: blended(z, dt.full((), 1.3, ti.f64)), x)
        (bar,) = pull(x)
        return weighed(bar, x)

    found = dt.grad(f)(X.astype(np.float32))
    np.testing.assert_allclose(found, dt.grad(in_double)(X), rtol=2e-5)


def test_a_value_in_a_field_from_outside() -> None:
    """It is both what the function returns and what it writes; gradients come in by either."""
    x, total = dt.from_numpy(X, grad=True), dt.zeros((), ti.f64, grad=True)
    outside = dt.zeros((), ti.f64, grad=True)

    @dt.kernel
    def squares(x, total):
        total[None] = 0.0
        for i in x:
            total[None] += x[i] ** 2

    def f(x: Any) -> Any:
        squares(x, outside)
        return outside

    with dt.Tape(total):
        value, _ = dt.value_and_grad(f)(x)
        total += value
        total += 10.0 * outside
    np.testing.assert_allclose(x.grad.to_numpy(), 11 * 2 * X, rtol=1e-14)


# What Python binds to other values after the call

GLOBAL: dict[str, Any] = {}


@dt.kernel
def cubes(x, k: float, w, y):
    for i in x:
        y[i] += k * w[None] * x[i] ** 3


class Names:
    """Names that a function reads in each way that Python has, with values that differ by number.

    Args:
        how: The way.
    """

    def __init__(self, how: str) -> None:
        self.how = how
        self.held: dict[str, Any] = {}

    def bind(self, number: int) -> None:
        """Bind all names."""
        values = {"factor": 1.0 + number, "turns": 1 + number, "offset": 0.3 * number, "w": None}
        values["w"] = dt.from_numpy(np.array(0.5 + number), grad=True)
        self.held |= values
        GLOBAL.update(values)

    def reader(self) -> Callable[[str], Any]:
        """Return a function that reads a name."""
        if self.how == "global":
            return lambda name: GLOBAL[name]
        if self.how == "attribute":
            return lambda name: self.held[name]
        factor, turns, offset, w = (self.held[n] for n in ("factor", "turns", "offset", "w"))
        found = {"factor": lambda: factor, "turns": lambda: turns, "offset": lambda: offset}
        found["w"] = lambda: w

        def rebind(number: int) -> None:
            nonlocal factor, turns, offset, w
            Names.bind(self, number)
            factor, turns, offset, w = (self.held[n] for n in ("factor", "turns", "offset", "w"))

        self.bind = rebind
        return lambda name: found[name]()


def by_names(read: Callable[[str], Any], x: Any) -> Any:
    y = dt.zeros_like(x)
    y.fill(read("offset"))
    for _ in range(read("turns")):
        cubes(x, read("factor"), read("w"), y)
        y[0] = read("offset")
        cubes(y, 0.5, read("w"), x)
    return x


def summed(y: Any) -> Any:
    out = dt.zeros((), ti.f64, grad=True)
    weigh(y, y, out)
    return out


NESTED: dict[str, Callable[[Callable[..., Any], Any], Any]] = {
    "grad": lambda f, x: dt.grad(lambda z: summed(f(z)))(x),
    "jvp": lambda f, x: dt.jvp(f, x, x)[1],
    "the value of jvp": lambda f, x: dt.jvp(f, x, x)[0],
    "vjp": lambda f, x: dt.vjp(f, x)[1](x)[0],
    "hvp": lambda f, x: dt.hvp(lambda z: summed(f(z)), x, x),
    "linearize": lambda f, x: dt.linearize(f, x)[1](x),
    "jacrev": lambda f, x: dt.jacrev(f)(x)[1],
}


@pytest.mark.parametrize("how", ["global", "closure", "attribute"])
@pytest.mark.parametrize("name", NESTED)
def test_names_that_are_bound_anew_change_no_nested_derivative(name: str, how: str) -> None:
    def outer(x: Any, *, rebinds: bool) -> Any:
        names = Names(how)
        names.bind(1)
        read = names.reader()
        found = NESTED[name](lambda z: by_names(read, z), x)
        if rebinds:
            names.bind(2)
        return summed(found)

    def by_tape(limits: dict[str, Any], *, rebinds: bool) -> Any:
        x = dt.from_numpy(X, grad=True)
        with dt.Tape(**limits) as tape:
            loss = outer(x, rebinds=rebinds)
        tape.backward(loss)
        return x.grad.to_numpy()

    expected = by_tape({}, rebinds=False)
    assert np.any(expected != 0)
    np.testing.assert_array_equal(by_tape({}, rebinds=True), expected)
    np.testing.assert_allclose(by_tape({"snapshots": 3}, rebinds=True), expected, rtol=1e-13)
    for rebinds in (False, True):
        transformed = functools.partial(outer, rebinds=rebinds)
        np.testing.assert_allclose(dt.grad(transformed)(X), expected, rtol=1e-12)
        np.testing.assert_allclose(dt.jvp(transformed, X, S)[1], expected @ S, rtol=1e-11)
