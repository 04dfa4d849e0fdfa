"""Derivatives of functions as functions: values known by hand, and each against another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.substrate import current_session


def scalar() -> Any:
    return dt.zeros((), dtype=ti.f64)


@dt.kernel
def multiply(x, y, z):
    z[None] = x[None] * y[None]


@dt.kernel
def cubes(x, y, out):
    out[0] = x[None] ** 3
    out[1] = y[None] ** 2 * x[None]
    out[2] = y[None] ** 3


@dt.kernel
def rosenbrock(x, y):
    y[None] = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


@dt.kernel
def branching(x, y):
    for i in range(10):
        if x[i] > 0:
            y[None] += x[i] * x[i]
        else:
            y[None] += -x[i]


@dt.kernel
def cube(x, y):
    y[None] = x[None] ** 3


def product(x: Any, y: Any) -> Any:
    z = scalar()
    multiply(x, y, z)
    return z


def three(x: Any, y: Any) -> Any:
    out = dt.zeros(3, dtype=ti.f64)
    cubes(x, y, out)
    return out


def valley(x: Any) -> Any:
    y = scalar()
    rosenbrock(x, y)
    return y


def cubed(x: Any) -> Any:
    y = scalar()
    cube(x, y)
    return y


def branched(x: Any) -> Any:
    y = scalar()
    branching(x, y)
    return y


POINT = np.array([1.2, 1.0])


def test_gradients() -> None:  # TR1, TR2
    x = np.array([1, -2, 3, 0, 0.5, -0.5, 2, -1, 4, -3.0])
    value, gradient = dt.value_and_grad(branched)(x)
    assert value == 36.75
    assert isinstance(value, float)
    np.testing.assert_allclose(gradient, [2, -1, 6, -1, 1, -1, 4, -1, 8, -1])
    assert dt.grad(cubed)(2.0) == 12.0
    first, second = dt.grad(product, (0, 1))(3.0, 4.0)
    assert (first, second) == (4.0, 3.0)


def test_kinds_and_nesting_follow_the_arguments() -> None:
    def loss(params: Any, scale: float) -> Any:
        out = three(params["a"], params["b"][0])
        return _summed(out, scale)

    params = {"a": dt.full((), 2.0, ti.f64), "b": [np.float64(3.0)], "c": np.ones(2)}
    found = dt.grad(loss)(params, 10.0)
    assert isinstance(found["a"], dt.Field)
    assert found["a"][None] == 10 * (12 + 9)
    assert found["b"][0] == 10 * (12 + 27)
    np.testing.assert_array_equal(found["c"], [0, 0])
    assert params["a"][None] == 2.0


@dt.kernel
def add_up(x, s: float, y):
    for i in x:
        y[None] += s * x[i]


def _summed(x: Any, scale: float) -> Any:
    y = scalar()
    add_up(x, scale, y)
    return y


def test_cotangents_and_tangents() -> None:  # TR3, TR4, TR5
    value, pull = dt.vjp(three, 2.0, 3.0)
    np.testing.assert_array_equal(value, [8, 18, 27])
    assert pull(np.array([1.0, 0, 0])) == (12.0, 0.0)
    assert pull(np.array([0, 1.0, 0])) == (9.0, 12.0)
    value, tangent = dt.jvp(three, (2.0, 3.0), (1.0, 0.0))
    np.testing.assert_array_equal(tangent, [12, 9, 0])
    np.testing.assert_array_equal(dt.jvp(three, (2.0, 3.0), (0.0, 1.0))[1], [0, 12, 27])
    value, push = dt.linearize(three, 2.0, 3.0)
    np.testing.assert_array_equal(push(1.0, 0.0), [12, 9, 0])
    np.testing.assert_array_equal(push(0.0, 1.0), [0, 12, 27])
    for transform in (dt.jacfwd, dt.jacrev):
        by_x, by_y = transform(three, (0, 1))(2.0, 3.0)
        np.testing.assert_array_equal(np.stack([by_x, by_y], 1), [[12, 0], [9, 12], [0, 27]])


def test_second_derivatives() -> None:  # TR6, TR8
    np.testing.assert_allclose(dt.grad(valley)(POINT), [211.6, -88])
    np.testing.assert_allclose(dt.hessian(valley)(POINT), [[1330, -480], [-480, 200]])
    np.testing.assert_allclose(dt.hvp(valley, POINT, np.array([1.0, 0])), [1330, -480])
    assert dt.grad(dt.grad(cubed))(2.0) == 12.0
    np.testing.assert_allclose(dt.jacrev(dt.grad(valley))(POINT), [[1330, -480], [-480, 200]])


def test_levels_are_not_mixed_up() -> None:  # TR7
    def outer(x: Any) -> Any:
        return product(x, dt.grad(lambda y: product(x, y))(x))

    assert dt.grad(outer)(3.0) == 6.0

    def forward_inside(x: Any) -> Any:
        return product(x, dt.jvp(lambda y: product(x, y), (x,), (1.0,))[1])

    assert dt.grad(forward_inside)(3.0) == 6.0


def test_tangents_inside_gradients() -> None:
    """The derivative of a directional derivative, by the point and by the direction."""

    def along(x: Any, v: Any) -> Any:
        return dt.jvp(valley, x, v)[1]

    by_point, by_direction = dt.grad(along, (0, 1))(POINT, np.array([1.0, 0.0]))
    np.testing.assert_allclose(by_point, [1330, -480])
    np.testing.assert_allclose(by_direction, [211.6, -88])


def test_gradients_on_a_tape() -> None:
    """An inner gradient is a step of an ordinary tape, captured fields included."""
    x = dt.from_numpy(POINT, grad=True)
    k, loss = dt.full((), 2.0, ti.f64, grad=True), dt.zeros((), dtype=ti.f64, grad=True)

    def scaled(x: Any) -> Any:
        return product(valley(x), k)

    with dt.Tape(loss):
        force = dt.grad(scaled)(x)
        add_up(force, 3.0, loss)
    hessian = np.array([[1330, -480], [-480, 200.0]])
    np.testing.assert_allclose(x.grad.to_numpy(), 3 * 2 * hessian.sum(axis=0))
    np.testing.assert_allclose(k.grad.to_numpy(), 3 * (211.6 - 88))


def test_in_place_programs_leave_their_arguments_alone() -> None:
    @dt.kernel
    def kick(x, v):
        for i in x:
            v[i] -= 0.1 * ti.sin(x[i])
        for i in x:
            x[i] += 0.1 * v[i]

    def run(state: Any) -> Any:
        for _ in range(50):
            kick(state["x"], state["v"])
        return _summed(state["x"], 1.0)

    x, v = dt.from_numpy(np.array([0.5, 1.0])), dt.zeros(2, dtype=ti.f64)
    found = dt.grad(run)({"x": x, "v": v})
    np.testing.assert_array_equal(x.to_numpy(), [0.5, 1.0])
    _, tangent = dt.jvp(run, ({"x": x, "v": v},), ({"x": [1.0, 0.0], "v": [0.0, 0.0]},))
    np.testing.assert_allclose(tangent[None], found["x"][0], rtol=1e-12)


def test_tangents_of_copies_between_parts_that_overlap() -> None:
    def shifted(x: Any) -> Any:
        x[1:].copy_from(x[:-1])
        return x

    primal, tangent = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    np.testing.assert_array_equal(dt.jvp(shifted, primal, tangent)[1], [4, 4, 5])
    np.testing.assert_array_equal(dt.jacfwd(shifted)(primal), [[1, 0, 0], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(dt.jacrev(shifted)(primal), [[1, 0, 0], [1, 0, 0], [0, 1, 0]])


def test_no_tangent_passes_a_detached_argument_of_an_operation() -> None:
    @dt.custom_op
    def add(x: dt.In, z: dt.In, y: dt.Out) -> None:
        y.from_numpy(x.to_numpy() + z.to_numpy())

    @add.forward
    def _(x: Any, z: Any, y: Any) -> None:
        y.grad_in.from_numpy(x.grad_out.to_numpy() + z.grad_out.to_numpy())

    @add.backward
    def _(x: Any, z: Any, y: Any) -> None:
        for one in (x, z):
            one.grad_out.add_numpy(y.grad_in.to_numpy())

    def f(x: Any) -> Any:
        y, z = dt.zeros_like(x), dt.zeros_like(x)
        z.copy_from(x)
        add(x.detach(), z, y)
        return y

    x = dt.from_numpy(np.array([1.0, 2.0]), grad=True)
    with dt.Tape():
        value, tangent = dt.jvp(f, x, np.ones(2))
    np.testing.assert_array_equal(value.to_numpy(), [2, 4])
    np.testing.assert_array_equal(tangent.to_numpy(), [1, 1])


def test_what_has_no_derivative() -> None:
    with pytest.raises(dt.LaunchError, match="argument 0 is an array of int64"):
        dt.grad(cubed)(np.arange(3))
    with pytest.raises(dt.LaunchError, match=r"returns a field of shape \(3,\)"):
        dt.grad(three, (0, 1))(1.0, 2.0)
    with pytest.raises(dt.LaunchError, match="returns None"):
        dt.grad(lambda x: None)(1.0)
    with pytest.raises(dt.LaunchError, match="argnums has 2"):
        dt.grad(cubed, 2)(1.0)
    with pytest.raises(dt.FieldError, match=r"has the shape \(3,\)"):
        dt.jvp(valley, POINT, np.ones(3))
    with pytest.raises(dt.LaunchError, match="2 tangents are given for 1 arguments"):
        dt.jvp(valley, (POINT,), (POINT, POINT))
    with pytest.raises(dt.LaunchError, match="a constant for every derivative"):
        dt.vjp(lambda x: 3.0, 1.0)


def test_what_is_handed_through() -> None:
    def with_rest(x: Any) -> Any:
        return cubed(x), {"name": "rest"}

    assert dt.grad(with_rest, has_aux=True)(2.0) == (12.0, {"name": "rest"})
    (value, rest), gradient = dt.value_and_grad(with_rest, has_aux=True)(2.0)
    assert (value, rest["name"], gradient) == (8.0, "rest", 12.0)
    assert dt.vjp(with_rest, 2.0, has_aux=True)[2] == {"name": "rest"}
    assert dt.jvp(with_rest, 2.0, 1.0, has_aux=True)[1] == 12.0


def test_tangents_of_derivatives() -> None:
    """Forward over reverse and forward over forward, as functions of functions."""
    v = np.array([1.0, -2.0])
    hessian = np.array([[1330, -480], [-480, 200.0]])
    _, tangent = dt.jvp(dt.grad(valley), POINT, v)
    np.testing.assert_allclose(tangent, hessian @ v)
    np.testing.assert_allclose(dt.jacfwd(dt.grad(valley))(POINT), hessian)

    def along(x: Any, w: Any) -> Any:
        return dt.jvp(valley, x, w)[1]

    w, w_dot = np.array([0.5, 1.0]), np.array([2.0, 3.0])
    value, tangent = dt.jvp(along, (POINT, w), (v, w_dot))
    np.testing.assert_allclose(value, w @ [211.6, -88])
    np.testing.assert_allclose(tangent, v @ hessian @ w + w_dot @ [211.6, -88])


def test_tangents_pass_host_operations_and_rules() -> None:
    @dt.custom_op
    def double(x: dt.In, y: dt.Out) -> None:
        y.from_numpy(2 * x.to_numpy())

    @double.forward
    def _(x: Any, y: Any) -> None:
        y.grad_in.from_numpy(20 * x.grad_out.to_numpy())

    @dt.kernel
    def triple(x, y):
        for i in x:
            y[i] = 3 * x[i]

    @triple.forward
    def _(x, y):
        for i in x:
            y.grad_in[i] = 30 * x.grad_out[i]

    @triple.backward
    def _(x, y):
        for i in x:
            x.grad_out[i] += 300 * y.grad_in[i]

    def f(x: Any) -> Any:
        y, z = dt.zeros_like(x), dt.zeros_like(x)
        double(x, y)
        triple(y, z)
        return z

    value, tangent = dt.jvp(f, np.array([1.0, 2.0]), np.array([1.0, 0.5]))
    np.testing.assert_array_equal(value, [6, 12])
    np.testing.assert_array_equal(tangent, [600, 300])
    value, push = dt.linearize(f, np.array([1.0, 2.0]))
    np.testing.assert_array_equal(push(np.array([1.0, 0.5])), [600, 300])

    @double.backward
    def _(x: Any, y: Any) -> None:
        x.grad_out.add_numpy(200 * y.grad_in.to_numpy())

    found = dt.grad(lambda x: _summed(f(x), 1.0))(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(found, [60000, 60000])


@dt.kernel
def drag(x, v, k):
    total = 0.0
    for i in x:
        total += x[i]
    for i in range(x.shape[0]):
        f = -k[None] * ti.sin(x[i]) + 0.01 * total
        if i > 0:
            f += x[i - 1] - x[i]
        v[i] += 0.05 * f
    for i in range(x.shape[0]):
        x[i] += 0.05 * v[i]


def settled(x: Any, k: Any) -> Any:
    v = dt.zeros_like(x)
    for _ in range(20):
        drag(x, v, k)
        x[3] = 0.5
        v[1:3].copy_from(x[2:4])
    return x


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_many_rows_and_columns_at_once(chunk: int) -> None:
    """Sums in locals, several stages, writes and copies from Python."""
    x = np.random.default_rng(0).uniform(-1, 1, 12)
    wanted = dt.jacrev(settled, (0, 1), chunk=1)(x, 2.0)
    _, tangent = dt.jvp(settled, (x, 2.0), (np.eye(12)[4], 0.0))
    np.testing.assert_allclose(wanted[0][:, 4], tangent, rtol=1e-12, atol=1e-14)
    for transform in (dt.jacfwd, dt.jacrev):
        found = transform(settled, (0, 1), chunk=chunk)(x, 2.0)
        for block, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(block, other, rtol=1e-12, atol=1e-14)


@dt.kernel
def five_points(x, y):
    for i, j in x:
        y[i, j] = x[i, j] ** 2
        if i > 0:
            y[i, j] += 0.5 * x[i - 1, j]
        if i < x.shape[0] - 1:
            y[i, j] += 2.0 * x[i + 1, j]
        if j > 0:
            y[i, j] -= ti.sin(x[i, j - 1])
        if j < x.shape[1] - 1:
            y[i, j] -= x[i, j + 1] * x[i, j]


def stencil(x: Any) -> Any:
    y = dt.zeros_like(x)
    five_points(x, y)
    return y


def test_sparse_jacobians_by_colours() -> None:
    x = np.random.default_rng(1).uniform(-1, 1, (7, 9))
    dense = dt.jacfwd(stencil)(x).reshape(63, 63)
    pattern = dense != 0
    np.testing.assert_allclose(dt.sparse_jacobian(stencil, pattern)(x), dense, atol=1e-14)
    rows, columns = np.nonzero(pattern)
    values = dt.sparse_jacobian(stencil, (rows, columns), chunk=2)(x)
    np.testing.assert_allclose(values, dense[pattern], atol=1e-14)
    missing = pattern.copy()
    missing[10, 11] = False
    with pytest.raises(dt.LaunchError, match="Row 10 of the Jacobian has a nonzero entry"):
        dt.sparse_jacobian(stencil, missing)(x)
    with pytest.raises(dt.LaunchError, match=r"has the shape \(63, 63\)"):
        dt.sparse_jacobian(stencil, pattern[:5])(x)


def test_results_may_be_parts_of_fields_and_repeat() -> None:
    def function(x: Any) -> Any:
        y = stencil(x)
        return y, y[1:, ::2], {"again": y}, x

    x = np.random.default_rng(1).uniform(-1, 1, (3, 4))
    jacobian = dt.jacfwd(stencil)(x)
    value, pull = dt.vjp(function, x)
    seeds = [np.random.default_rng(k).normal(size=one.shape) for k, one in enumerate(value[:2])]
    (found,) = pull((seeds[0], seeds[1], {"again": 2.0 * seeds[0]}, np.ones((3, 4))))
    total = 3.0 * seeds[0]
    total[1:, ::2] += seeds[1]
    np.testing.assert_allclose(found, np.einsum("abij,ab", jacobian, total) + 1.0, atol=1e-13)
    _, dots = dt.jvp(function, x, seeds[0])
    along = np.einsum("abij,ij", jacobian, seeds[0])
    for dot, wanted in zip(dots[:2], (along, along[1:, ::2]), strict=True):
        np.testing.assert_allclose(dot, wanted, atol=1e-13)
    np.testing.assert_allclose(dots[2]["again"], along, atol=1e-13)
    part = dt.jacrev(lambda x: stencil(x)[0, :])(x)
    np.testing.assert_allclose(part, jacobian[0], atol=1e-13)
    assert dt.grad(lambda x: stencil(x)[2:, 3])(x).shape == (3, 4)

    def nested(x: Any) -> Any:
        _, pull = dt.vjp(lambda y: (stencil(y), stencil(y)[1:]), x)
        (bar,) = pull((np.ones((3, 4)), np.zeros((2, 4))))
        return bar

    wanted = dt.jacrev(dt.grad(lambda x: total_of(stencil(x))))(x)
    np.testing.assert_allclose(dt.jacrev(nested)(x), wanted, atol=1e-13)


@dt.kernel
def sum_up(y, total):
    for i, j in y:
        total[None] += y[i, j]


def total_of(y: Any) -> Any:
    total = scalar()
    sum_up(y, total)
    return total


@dt.func
def normal(x):
    """The distribution function of the normal distribution, by its series around 0."""
    term, total = x, x
    for k in range(1, 80):
        term *= x * x / (2 * k + 1)
        total += term
    return 0.5 + total * ti.exp(-0.5 * x * x) / ti.sqrt(2 * ti.math.pi)


@dt.kernel
def call_price(spot, strike: float, volatility: float, years: float, price):
    spread = volatility * ti.sqrt(years)
    d1 = ti.log(spot[None] / strike) / spread + 0.5 * spread
    price[None] = spot[None] * normal(d1) - strike * normal(d1 - spread)


def test_the_delta_of_an_option() -> None:  # LI2
    """Black and Scholes: the derivative of the option price by the share price."""

    def price(spot: Any) -> Any:
        result = scalar()
        call_price(spot, 100.0, 0.2, 1.0, result)
        return result

    assert dt.grad(price)(100.0) == pytest.approx(0.539828, abs=1e-6)
    assert dt.grad(dt.grad(price))(100.0) == pytest.approx(0.0198476, abs=1e-6)


def test_tangents_keep_nothing_of_launches() -> None:
    held: list[int] = []

    def run(x: Any) -> Any:
        v, k = dt.zeros_like(x), dt.full((), 1.0, ti.f64)
        for _ in range(50):
            drag(x, v, k)
            held.append(current_session().pool.kept)
        return x

    before = current_session().pool.kept
    dt.jvp(run, np.ones(100), np.ones(100))
    assert set(held) == {before}


@dt.kernel
def scaled_into(a, b):
    for i in a:
        b[i] = 1.5 * a[i]


def test_a_launch_on_the_same_fields_that_vary_by_then() -> None:
    def f(x: Any) -> Any:
        a, b = dt.ones(2, dtype=ti.f64), dt.zeros(2, dtype=ti.f64)
        scaled_into(a, b)  # constants so far
        a.copy_from(x)
        scaled_into(a, b)
        return _summed(b, 1.0)

    np.testing.assert_array_equal(dt.grad(f)(np.array([1.0, 2.0])), [1.5, 1.5])


def test_what_varies_late_in_a_run() -> None:
    """A value moves on by a field in each step, against the order of the launches."""

    def f(x: Any, loop: Any) -> Any:
        way = [x, *(dt.zeros(2, dtype=ti.f64) for _ in range(8))]
        for _ in loop:
            for k in reversed(range(8)):
                scaled_into(way[k], way[k + 1])
        return _summed(way[-1], 1.0)

    for loop in (range(20), dt.steps(20)):
        found = dt.grad(f)(np.array([1.0, 2.0]), loop)
        np.testing.assert_allclose(found, [1.5**8, 1.5**8], rtol=1e-14)


def test_numbers_of_constants_pass_by_python() -> None:
    """What is computed under no_grad, or written by Python, is read as a constant."""

    @dt.custom_op
    def double(x: dt.In, y: dt.Out) -> None:
        y.from_numpy(2 * x.to_numpy())

    def by_operation(x: Any) -> Any:
        y, z = dt.zeros_like(x), dt.zeros_like(x)
        with dt.no_grad():
            double(x, y)
        z.from_numpy(np.sin(y.to_numpy()))
        return _weighed(x, z)

    def by_write(x: Any) -> Any:
        z = dt.zeros_like(x)
        with dt.no_grad():
            z.from_numpy(2 * x.to_numpy())
        return _weighed(x, z)

    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(dt.grad(by_operation)(x), np.sin(2 * x))
    np.testing.assert_array_equal(dt.grad(by_write)(x), 2 * x)
    np.testing.assert_array_equal(dt.linearize(by_write, x)[1](np.ones(2)), 6.0)
    np.testing.assert_array_equal(dt.linearize(by_operation, x)[1](np.ones(2)), np.sin(2 * x).sum())


def test_a_part_of_constants_leaves_the_rest_varying() -> None:
    def f(x: Any) -> Any:
        y, z = dt.zeros_like(x), dt.zeros_like(x)
        scaled_into(x, y)
        y[1] = 5.0
        z.from_numpy(np.sin(y.to_numpy()))
        return _weighed(x, z)

    for run in (dt.grad(f), lambda x: dt.linearize(f, x)[1](x), dt.hessian(f)):
        with pytest.warns(dt.GradientCut, match="an array read by Python"):
            run(np.array([1.0, 2.0]))


@dt.kernel
def _add_products(x, z, out):
    for i in x:
        out[None] += x[i] * z[i]


def _weighed(x: Any, z: Any) -> Any:
    out = scalar()
    _add_products(x, z, out)
    return out
