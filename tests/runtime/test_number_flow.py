"""Numbers that flow through Python from one launch to the next, with their derivatives."""

from __future__ import annotations

import copy
import gc
import math
import os
import pickle
import random
import statistics
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt


@dt.kernel
def limit(x) -> float:
    """Return the step size that an explicit method may take."""
    m = 0.0
    for i in x:
        m += x[i] * x[i]
    return 1 / m


@dt.kernel
def step(x, h: float):
    for i in x:
        x[i] += h * ti.sin(x[i])


@dt.kernel
def unannotated(x, h):
    h *= 2
    for i in x:
        x[i] += 0.5 * h * ti.sin(x[i])


@dt.kernel
def several(x, n: int):
    s, t = 0.0, 0.0
    for i in x:
        s += ti.sin(x[i])
        t += x[i] ** 3
    return s, n + 1, t / n


@dt.kernel
def energy(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


@dt.kernel
def running(x, n) -> float:
    total = 0.0
    for i in x:
        total += x[i] * ti.atomic_add(n[None], 1)
    return total


def rollout(x: Any, loss: Any) -> None:
    """Take steps whose sizes depend on the state."""
    for k in range(6):
        h = limit(x)
        assert h > 0
        step(x, 0.5 * h + h**2 - min(h, 0.3) / 3 if k % 2 else abs(-h) % 0.9)
        unannotated(x, h)
        a, n, b = several(x, 3)
        assert n == 4
        step(x, h=np.exp(-a) / (1 + np.float64(2) * b))
    energy(x, loss)


def reference(start: Any) -> Any:
    """Return the loss of the rollout, in NumPy."""
    x = start
    for k in range(6):
        h = 1 / np.sum(x * x)
        if k % 2:
            x = x + (0.5 * h + h**2 - (h if h.real < 0.3 else 0.3) / 3) * np.sin(x)
        else:
            x = x + (h - 0.9 * math.floor(h.real / 0.9)) * np.sin(x)
        x = x + h * np.sin(x)
        a, b = np.sum(np.sin(x)), np.sum(x**3) / 3
        x = x + np.exp(-a) / (1 + 2 * b) * np.sin(x)
    return np.sum(x * x)


START = np.linspace(0.3, 0.9, 5)


def slopes(f: Callable[[Any], Any], start: Any) -> Any:
    """Return the gradient of a function of NumPy by the complex step."""
    return np.array([f(start + 1e-30j * unit).imag / 1e-30 for unit in np.eye(start.size)])


def field(values: Any) -> Any:
    return dt.from_numpy(np.asarray(values, np.float64), grad=True)


def loss_of(x: Any) -> Any:
    loss: Any = dt.zeros((), ti.f64, grad=True)
    rollout(x, loss)
    return loss


@pytest.mark.parametrize("options", [{}, {"memory": "30 kB"}, {"snapshots": 60}, {"inner": True}])
def test_steps_of_a_computed_size_on_a_tape(options: dict[str, Any]) -> None:
    x, loss = field(START), field(0.0)
    inner = dt.checkpoint(rollout) if options.pop("inner", False) else rollout
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with dt.Tape(loss, **options):
            inner(x, loss)
    assert loss[None] == pytest.approx(reference(START), rel=1e-14)
    npt.assert_allclose(x.grad.to_numpy(), slopes(reference, START), rtol=1e-12)


def test_a_tape_does_not_change_the_numbers() -> None:
    plain, x, loss = field(START), field(START), field(0.0)

    def run(x: Any) -> None:
        rollout(x, loss)
        step(x, np.float32(0.3) * limit(x))
        step(x, np.float16(0.3) / (1 + np.sin(limit(x))))

    run(plain)
    with dt.Tape():
        run(x)
    npt.assert_allclose(plain.to_numpy(), x.to_numpy(), rtol=4e-16)


def test_transformations() -> None:
    want = slopes(reference, START)
    npt.assert_allclose(dt.grad(loss_of)(START), want, rtol=1e-12)
    npt.assert_allclose(dt.vjp(loss_of, START)[1](2.0)[0], 2 * want, rtol=1e-12)
    along = np.cos(np.arange(5))
    npt.assert_allclose(dt.jvp(loss_of, (START,), (along,))[1], want @ along, rtol=1e-12)
    npt.assert_allclose(dt.linearize(loss_of, START)[1](along), want @ along, rtol=1e-12)
    npt.assert_allclose(dt.jacfwd(loss_of)(START), want, rtol=1e-12)
    eps = 1e-5 * along
    bend = (dt.grad(loss_of)(START + eps) - dt.grad(loss_of)(START - eps)) / 2e-5
    npt.assert_allclose(dt.hvp(loss_of, (START,), (along,))[0], bend, rtol=1e-6)
    npt.assert_allclose(dt.hessian(loss_of)(START) @ along, bend, rtol=1e-6)


def test_functions_that_return_numbers() -> None:
    def f(x: Any) -> Any:
        return limit(x) * x[1]

    def refer(x: Any) -> Any:
        return x[1] / np.sum(x * x)

    want, along = slopes(refer, START), np.cos(np.arange(5))
    found, slope = dt.value_and_grad(f)(START)
    assert found == pytest.approx(refer(START), rel=1e-14)
    npt.assert_allclose(slope, want, rtol=1e-12)
    npt.assert_allclose(dt.jvp(f, (START,), (along,)), (refer(START), want @ along), rtol=1e-12)
    both, pull = dt.vjp(lambda x: {"a": f(x), "b": [limit(x)]}, START)
    assert both == {"a": pytest.approx(refer(START)), "b": [pytest.approx(1 / np.sum(START**2))]}
    both["b"][0] = 0.0
    npt.assert_allclose(pull({**both, "a": 3.0})[0], 3 * want, rtol=1e-12)
    bend = [dt.grad(f)(START + s * 1e-5 * along) for s in (-1, 1)]
    npt.assert_allclose(dt.hessian(f)(START) @ along, (bend[1] - bend[0]) / 2e-5, rtol=1e-6)
    x, loss = field(START), field(0.0)
    with dt.Tape(loss):  # a gradient inside
        energy(dt.grad(f)(x), loss)
    ends = [np.sum(slopes(refer, START + s * 1e-5 * along) ** 2) for s in (-1, 1)]
    npt.assert_allclose(x.grad.to_numpy() @ along, (ends[1] - ends[0]) / 2e-5, rtol=1e-6)
    npt.assert_allclose(
        dt.vjp(lambda x: np.cbrt(limit(x)), START)[1](1.0)[0],
        slopes(lambda x: np.sum(x * x) ** (-1 / 3), START),
    )
    with pytest.warns(dt.GradientCut), pytest.raises(dt.LaunchError, match="a constant for every"):
        dt.vjp(lambda x: np.arcsinh(limit(x)), START)[1](1.0)


def test_gradcheck() -> None:
    x, loss = dt.from_numpy(START.astype(np.float32), grad=True), dt.zeros((), ti.f32, grad=True)

    def run() -> None:
        loss.fill(0.0)
        rollout(x, loss)

    assert dt.gradcheck(run, outputs=loss)


def test_many_steps() -> None:
    x, loss = field([0.1, 0.2]), field(0.0)

    def run(x: Any) -> None:
        time = 0.0
        for _ in range(1000):
            h = 1e-3 * limit(x)
            step(x, h * np.exp(-time))
            time = time + h

    def refer(start: Any) -> Any:
        x, time = start, 0.0
        for _ in range(1000):
            h = 1e-3 / np.sum(x * x)
            x = x + h * np.exp(-time) * np.sin(x)
            time = time + h
        return np.sum(x * x)

    for memory in (None, "1 MB"):
        x.from_numpy([0.1, 0.2])
        loss.fill(0.0)
        with dt.Tape(loss, memory=memory):
            run(x)
            energy(x, loss)
        npt.assert_allclose(x.grad.to_numpy(), slopes(refer, np.array([0.1, 0.2])), rtol=1e-10)


# Fields as numbers


def test_a_field_where_a_number_is_expected() -> None:
    x, h, want = field(START), field(0.3), field(START)
    step(want, 0.3)
    with dt.Tape() as tape:
        step(x, h)
    npt.assert_array_equal(x.to_numpy(), want.to_numpy())
    tape.backward({x: 1.0})
    npt.assert_allclose(h.grad[None], np.sin(START).sum(), rtol=1e-14)
    h.grad.fill(0.0)
    x.from_numpy(START)
    x.grad.fill(1.0)
    step.bwds(x, h)
    npt.assert_allclose(h.grad[None], np.sin(START).sum(), rtol=1e-14)
    single = dt.from_numpy(START.astype(np.float32))
    step(single, h)  # read as a number, it widens nothing
    assert step.source().count("f64_0d") and "f64_1d" not in step.source()


@dt.kernel
def adds_itself(x, h: float, n: int):
    for i in range(n):
        x[None] += h


def test_a_number_is_read_before_the_kernel_writes_its_field() -> None:
    x, n = field(2.0), dt.full((), 3, ti.i32)
    with dt.Tape() as tape:
        adds_itself(x, x, n)
    assert x[None] == 8
    tape.backward({x: 1.0})
    assert x.grad[None] == 4
    adds_itself(x, 1, 2)
    assert x[None] == 10


def test_fields_that_hold_no_number() -> None:
    x, h = field(START), field([0.1, 0.2])
    with pytest.raises(dt.LaunchError, match="'h' is one number, not <field f64"):
        step(x, h)
    with pytest.raises(dt.LaunchError, match="'n' is an integer, not <field f64"):
        adds_itself(field(0.0), 1.0, field(3.0))
    with pytest.raises(dt.LaunchError, match="'h' is one number, not <field"):
        step(x, dt.zeros((), ti.math.vec3))


# Values


def test_value_holds_a_number() -> None:
    x = field(START)
    with dt.Tape() as tape:
        h = limit(x)
        one, two = dt.value(h), dt.value(3 * h + x[1], ti.f32)
    assert (one.dtype, two.dtype) == (ti.f64, ti.f32)
    assert one[None] == h
    tape.backward({one: 2.0, two: 1.0})
    want = 5 * slopes(lambda x: 1 / np.sum(x * x), START)
    npt.assert_allclose(x.grad.to_numpy(), want + np.eye(5)[1], rtol=1e-12)
    assert dt.value(one) is one
    assert [dt.value(v)[None] for v in (2, 2.5, np.float32(3))] == [2, 2.5, 3]
    for wrong in (True, "a", x, None):
        with pytest.raises(dt.FieldError, match=r"dt.value\(\) takes a number"):
            dt.value(wrong)
    with pytest.raises(dt.FieldError, match="makes fields of"):
        dt.value(1.0, ti.i32)


def test_elements_that_python_reads() -> None:
    x, a = field(START), field([[1.0, 2.0], [3.0, 4.0]])
    with dt.Tape() as tape:
        old = x[2]
        step(x, a[1, 0] * old)
    tape.backward({x: 1.0})
    assert a.grad[1, 0] == pytest.approx(START[2] * np.sin(START).sum(), rel=1e-14)
    with pytest.warns(dt.GradientCut, match="'h' of kernel 'step' depends on <field"), dt.Tape():
        old = x[2]
        step(x, 0.5)
        step(x, old)  # written since


def test_an_element_written_since_is_a_constant_in_its_expression_alone() -> None:
    x, a, b = field(START), field([2.0, 3.0]), field([5.0])
    with dt.Tape() as tape:
        old, kept = a[0], b[0]
        a[0] = 7.0
        h = old * kept + old
        with pytest.warns(dt.GradientCut, match="written after Python had read it") as found:
            step(x, h)
    assert found[0].filename == __file__
    tape.backward({x: 1.0})
    assert a.grad.tolist() == [0.0, 0.0]
    assert b.grad[0] == pytest.approx(2.0 * np.sin(START).sum(), rel=1e-14)


@dt.func
def poly(a, b: float):
    return a * a * b


def test_funcs_of_numbers() -> None:
    x, y = field(START), field([1.0, 2.0])
    with dt.Tape() as tape:
        h = limit(x)
        scaled = poly(y, h) + h * y
        number = dt.value(poly(h, 2.0))
    assert scaled.dtype == ti.f64
    tape.backward({scaled: 1.0, number: 1.0})
    h = 1 / np.sum(START**2)
    slope = slopes(lambda x: 1 / np.sum(x * x), START)
    npt.assert_allclose(x.grad.to_numpy(), slope * (5 + 3 + 4 * h), rtol=1e-6)
    npt.assert_allclose(y.grad.to_numpy(), 2 * np.array([1, 2]) * h + h, rtol=1e-12)


# Vectors and matrices


@dt.kernel
def squares(x) -> ti.types.vector(3, ti.f64):
    s = ti.Vector([0.0, 0.0, 0.0])
    for i in x:
        s += x[i] * x[i]
    return s


@dt.kernel
def products(x) -> ti.types.matrix(2, 2, ti.f64):
    return ti.Matrix([[x[0][0] * x[1][1], x[0][1]], [x[2][0] ** 2, x[1][0]]])


@dt.kernel
def along(x, h: ti.types.vector(3, ti.f64)):
    for i in x:
        x[i] += h * ti.sin(x[i])


@dt.kernel
def scale(x, h: float):
    for i in x:
        x[i] *= h


@dt.kernel
def energy_of_vectors(x, loss):
    for i in x:
        loss[None] += x[i].dot(x[i])


VECTORS = np.linspace(0.2, 0.9, 9).reshape(3, 3)


def vectors(x: Any) -> Any:
    loss: Any = dt.zeros((), ti.f64, grad=True)
    g, m = squares(x), products(x)
    along(x, g)
    scale(x, m[1, 0] * g[-1] + m[0, 1] / g[0])
    energy_of_vectors(x, loss)
    return loss


def test_vectors_and_matrices() -> None:
    def refer(flat: Any) -> Any:
        x = flat.reshape(3, 3)
        g = (x * x).sum(0)
        factor = x[2, 0] ** 2 * g[2] + x[0, 1] / g[0]
        return ((x + g * np.sin(x)) ** 2).sum() * factor**2

    want = slopes(refer, VECTORS.reshape(-1)).reshape(3, 3)
    x = dt.from_numpy(VECTORS, dtype=dt.vec(3, ti.f64), grad=True)
    npt.assert_allclose(dt.grad(vectors)(x).to_numpy(), want, rtol=1e-12)
    for memory in (None, "6 kB"):
        x = dt.from_numpy(VECTORS, dtype=dt.vec(3, ti.f64), grad=True)
        with dt.Tape(memory=memory) as tape:
            loss = vectors(x)
        tape.backward({loss: 1.0})
        npt.assert_allclose(x.grad.to_numpy(), want, rtol=1e-12)


def test_values_of_vectors_and_matrices() -> None:
    x = dt.from_numpy(VECTORS, dtype=dt.vec(3, ti.f64), grad=True)
    with dt.Tape() as tape:
        g, m = dt.value(squares(x)), dt.value(products(x))
    tape.backward({g: np.array([1.0, 2.0, 3.0]), m: np.eye(2)})
    want = 2 * VECTORS * [1, 2, 3]
    want[0, 0], want[1] = want[0, 0] + VECTORS[1, 1], want[1] + [1, VECTORS[0, 0], 0]
    npt.assert_allclose(x.grad.to_numpy(), want, rtol=1e-14)
    assert dt.value(np.ones(3)).named() == "<field vec3<f64> (), grad>"
    npt.assert_array_equal(dt.value(np.ones((2, 3), np.float32)).to_numpy(), np.ones((2, 3)))
    with pytest.raises(dt.FieldError, match="vector or matrix of floats"):
        dt.value(np.ones((2, 2, 2)))


def test_vectors_that_python_computes_with_keep_their_derivatives() -> None:
    def run(x: Any) -> Any:
        loss: Any = dt.zeros((), ti.f64, grad=True)
        g, m = squares(x), products(x)
        g[:2][0] = 5.0  # a constant in the place of a component
        along(x, 0.1 * g + np.append(m @ m @ [0.1, 0.2], 0.3))
        scale(x, np.linalg.norm(g) / g.sum() + np.mean(m[0]))
        energy_of_vectors(x, loss)
        return loss

    def refer(flat: Any) -> Any:
        x = flat.reshape(3, 3)
        g = (x * x).sum(0)
        g[0] = 5.0
        m = np.array([[x[0, 0] * x[1, 1], x[0, 1]], [x[2, 0] ** 2, x[1, 0]]])
        x = x + (0.1 * g + np.append(m @ m @ [0.1, 0.2], 0.3)) * np.sin(x)
        factor = np.sqrt((g * g).sum()) / g.sum() + (m[0, 0] + m[0, 1]) / 2
        return (x * x).sum() * factor**2

    want = slopes(refer, VECTORS.reshape(-1)).reshape(3, 3)
    x = dt.from_numpy(VECTORS, dtype=dt.vec(3, ti.f64), grad=True)
    npt.assert_allclose(dt.grad(run)(x).to_numpy(), want, rtol=1e-12)


# Constants, and cuts


def test_constants() -> None:
    x = field(START)
    plain = dt.from_numpy(START)
    assert type(limit(x)) is float
    with dt.Tape() as tape:
        assert type(limit(plain)) is float
        with dt.no_grad():
            assert type(limit(x)) is float
        h = limit(x)
        assert type(h) is dt.Number
        step(plain, dt.stop_grad(h))
        with dt.no_grad():
            step(x, h)
    tape.backward({x: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), 1.0)
    step(x, h)
    with dt.Tape() as tape:  # a number of another tape is a constant
        step(x, h)
        step(x, h * limit(x))
    tape.backward({x: 1.0})


def test_a_result_without_an_adjoint_is_a_number_that_cuts() -> None:
    x, n = field(START), dt.zeros((), ti.i32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with dt.Tape():
            assert 0 < running(x, n) < 20
    with pytest.warns(dt.GradientCut, match="what kernel 'running' returns"), dt.Tape():
        step(x, running(x, n))


@dt.data_oriented
class Body:
    @dt.kernel
    def step(self, x, h: float):
        for i in x:
            x[i] += h


@dt.data_oriented
class Rates:
    def __init__(self, rate: Any) -> None:
        self.rate = rate

    @dt.kernel
    def move(self, x):
        for i in x:
            x[i] += self.rate


def with_rate(x: Any) -> None:
    Rates(limit(x)).move(x)


@dt.custom_op
def shift(x, h):
    step(x, h)


@shift.backward
def _(x, h, result):
    x.grad_out.copy_from(x.grad_in)


@pytest.mark.parametrize(
    "cut",
    [
        lambda x: shift(x, h=limit(x)),
        lambda x: step(x, np.arcsinh(limit(x))),
        lambda x: Body().step(x, math.sqrt(limit(x))),
        lambda x: dt.value(np.heaviside(limit(x), 1.0)),
        lambda x: step(x, x.to_numpy().max()),
        lambda x: float(x[0]),
        lambda x: np.float64(x[0]),
        lambda x: np.array([x[0], 1.0], float),
        lambda x: np.zeros(2).fill(x[0]),
        lambda x: statistics.mean([x[0], x[1]]),
        lambda x: int(x[0]) + int(x[1]),
        lambda x: round(x[0], 2),
        lambda x: copy.deepcopy({"h": x[0]}),
        lambda x: pickle.dumps([x[0]]),
        lambda x: np.asarray(x) + 1.0,
        lambda x: x.tolist(),
        lambda x: np.interp(x[0], [0.0, 1.0], [1.0, 2.0]),
        lambda x: np.add(np.zeros(2), x[0], out=np.zeros(2)),
        lambda x: ti.math.vec2(x[0], 1.0),
    ],
)
def test_a_cut_is_reported_at_the_line(cut: Callable[[Any], object]) -> None:
    with warnings.catch_warnings(record=True) as found, dt.Tape():
        warnings.simplefilter("always")
        cut(field(START))
    assert [one.category for one in found] == [dt.GradientCut]
    assert (found[0].filename, found[0].lineno) == (__file__, cut.__code__.co_firstlineno)


def test_a_number_that_a_kernel_takes_from_outside_is_a_constant() -> None:
    def loss_of(x: Any) -> Any:
        with_rate(x)
        loss: Any = dt.zeros((), ti.f64, grad=True)
        energy(x, loss)
        return loss

    with pytest.warns(dt.GradientCut, match="that a kernel takes from outside"):
        dt.grad(loss_of)(START)
    with pytest.warns(dt.GradientCut, match="that a kernel takes from outside"):
        dt.jvp(loss_of, (START,), (START,))
    x = field(START)
    with pytest.warns(dt.GradientCut, match="that a kernel takes") as found, dt.Tape():
        with_rate(x)
    assert found[0].filename == __file__
    with pytest.warns(dt.GradientCut, match="the argument 'h' of <custom op"):
        dt.grad(lambda x: (shift(x, limit(x)), dt.value(limit(x)))[1])(START)


def test_a_number_keeps_neither_field_nor_tape() -> None:
    x = field(START)
    with dt.Tape() as tape:
        kept = [limit(x), 2 * x[1]]
    alive = weakref.ref(x), weakref.ref(tape)
    del x, tape
    gc.collect()
    assert alive[1]() is None
    assert len(kept) == 2


# Random expressions

UNARY: list[Callable[[Any], Any]] = [
    lambda a: -a,
    np.sin,
    lambda a: np.exp(-a * a),
    lambda a: np.sqrt(a * a + 1),
    lambda a: np.tanh(a) / 2,
    lambda a: np.log(2 + np.square(a)),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - 0.5 * b,
    lambda a, b: a * b,
    lambda a, b: a / (1 + b * b),
    lambda a, b: a if a.real < b.real else b,
    lambda a, b: (1 + a * a) ** (b / 3),
    lambda a, b: 2**a - b,
]


def expression(numbers: list[Any], rng: random.Random) -> Any:
    """Return a number computed from some by random operations; some results are used again."""
    numbers = list(numbers)
    for _ in range(rng.randint(1, 8)):
        if rng.random() < 0.4:
            numbers.append(rng.choice(UNARY)(rng.choice(numbers)))
        else:
            numbers.append(rng.choice(BINARY)(rng.choice(numbers), rng.choice(numbers)))
    return numbers[-1] * 0.1 + rng.choice(numbers) * 0.05


def test_random_expressions() -> None:
    for seed in range(int(os.environ.get("DIFFTILE_NUMBER_PROGRAMS", "40"))):

        def refer(start: Any, seed: int = seed) -> Any:
            x, rng, old = start + 0, random.Random(seed), 0.25 + 0 * start[0]
            for _ in range(3):
                parts = [np.sum(np.sin(x)), np.sum(x**3) / 2, x[1], old]
                old = expression([*parts, rng.uniform(-1, 1) + 0 * x[0]], rng)
                x = x + old * np.sin(x)
            return np.sum(x * x)

        def run(x: Any, loss: Any, seed: int = seed) -> None:
            rng, old = random.Random(seed), 0.25
            for _ in range(3):
                first, _, second = several(x, 2)
                old = expression([first, second, x[1], old, rng.uniform(-1, 1)], rng)
                step(x, old)
            energy(x, loss)

        x, loss = field(START), field(0.0)
        with dt.Tape(loss, memory=[None, "20 kB"][seed % 2]):
            run(x, loss)
        npt.assert_allclose(loss[None], refer(START), rtol=1e-12, err_msg=f"program {seed}")
        want = slopes(refer, START)
        npt.assert_allclose(x.grad.to_numpy(), want, rtol=1e-9, err_msg=f"program {seed}")


@pytest.mark.parametrize("rounded", [lambda a: np.round(a, 8), np.rint, lambda a: round(a, 8)])
def test_a_number_that_is_rounded_loses_its_derivative_aloud(rounded: Any) -> None:
    x = dt.full(3, 0.75, ti.f64, grad=True)
    with dt.Tape():
        with pytest.warns(dt.GradientCut, match=r"rint|rounded"):
            rounded(x[1])
        assert np.floor(x[1]) == 0.0  # whose derivative is zero, as that of comparisons
