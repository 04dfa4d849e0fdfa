"""Reads and writes from Python on open tapes: numbers carry derivatives, and cuts are reported.

Random programs of `tests/tape_programs.py`, in which Python computes with what it reads, are right,
or warn at the line where a derivative leaves; and they do not warn where there is none.
"""

from __future__ import annotations

import copy
import gc
import json
import math
import numbers
import operator
import os
import pickle
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from tests.host_programs import run


@dt.kernel
def energy(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


@dt.kernel
def lengths(v, loss):
    for i in v:
        loss[None] += v[i].dot(v[i])


@dt.kernel
def double(x, y):
    for i in x:
        y[i] = 2.0 * x[i]


@dt.kernel
def scaled(x, h: float, loss):
    for i in x:
        loss[None] += h * x[i]


def field(values: Any, *, grad: bool = True) -> dt.Field:
    return dt.from_numpy(np.array(values, np.float64), grad=grad)


# Plain numbers and arrays, which cut gradients

X, Y, LOSS, PLAIN = "x", "y", "loss", "plain"

CUTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "twice an array": lambda f: f[Y].from_numpy(2 * f[X].to_numpy()),
    "a list": lambda f: f[Y].from_numpy([2 * v for v in f[X].tolist()]),
    "a part": lambda f: f[Y][:1].from_numpy(f[X][1:].to_numpy()),
    "an assigned part": lambda f: f[Y].__setitem__(slice(0, 2), np.sin(f[X])),
    "an element of a field without gradient": lambda f: f[PLAIN].__setitem__(0, f[X][0]),
    "a mean": lambda f: f[Y].fill(f[X].to_numpy().mean()),
    "a norm": lambda f: f[Y].fill(np.linalg.norm(f[X])),
    "a product with an array": lambda f: f[Y].from_numpy(np.ones(2) * f[X]),
    "an array of plain numbers": lambda f: f[Y].from_numpy(np.full(2, f[X][0], float)),
    "math": lambda f: f[Y].fill(math.sqrt(f[X][0])),
    "a field without gradient": lambda f: f[PLAIN].from_numpy(f[X].to_numpy()),
    "a new field": lambda f: dt.from_numpy(f[X].to_numpy(), grad=True),
    "a new field of one value": lambda f: dt.full((), f[LOSS][None], ti.f64),
    "a result in its place": lambda f: f[LOSS].__setitem__(None, float(f[LOSS][None]) / 4),
}


@pytest.mark.parametrize("name", CUTS)
def test_what_becomes_plain_is_reported_at_its_line(name: str) -> None:
    at = {
        X: field([1, 2]),
        Y: field([0, 0]),
        LOSS: field(0.0),
        PLAIN: field([1, 1], grad=False),
    }
    line = CUTS[name].__code__.co_firstlineno
    with pytest.warns(dt.GradientCut, match="The gradient is cut") as found, dt.Tape(at[LOSS]):
        energy(at[X], at[LOSS])
        CUTS[name](at)
    assert [(one.filename, one.lineno) for one in found] == [(__file__, line)]
    CUTS[name](at)  # without a tape
    with dt.Tape(at[LOSS]):
        energy(at[X], at[LOSS])
        with dt.no_grad():
            CUTS[name](at)


def test_the_warning_of_a_number_that_becomes_plain() -> None:
    x, loss = field([1, 2]), field(0.0)
    with pytest.warns(dt.GradientCut) as found, dt.Tape(loss):
        energy(x, loss)
        for _ in range(3):
            scaled(x, math.sqrt(loss[None]), loss)  # once for the line
    assert [str(one.message) for one in found] == [
        "The gradient is cut: a number converted to a plain one depends on <field f64 (), grad>.\n"
        "  Note: Derivatives follow numbers that a kernel returns, or that Python reads from a "
        "field not written again since, through Python's operators and NumPy's functions.\n"
        "  Hint: compute with operators and NumPy's functions, 'np.sqrt(a)' for 'math.sqrt(a)', "
        "and pass the result to a kernel as an argument of its own; if a constant is meant, "
        "dt.stop_grad(a)."
    ]


# Not reported


def test_what_a_launch_has_replaced_since_may_be_overwritten() -> None:
    x, loss = field([1, 2]), field(0.0)
    with dt.Tape(loss):
        energy(x, loss)
        print(loss[None])
        loss.fill(0.0)
        energy(x, loss)
        loss[None] = 3.0
        energy(x, loss)
    np.testing.assert_allclose(x.grad.to_numpy(), [2, 4])


def test_what_an_operation_has_written_since_is_no_constant() -> None:
    @dt.custom_op
    def double(x: dt.In, y: dt.Out) -> None:
        y.from_numpy(2 * x.to_numpy())

    @double.backward
    def _(x: Any, y: Any) -> None:
        x.grad_out.add_numpy(2 * y.grad_in.to_numpy())

    x, y, loss = field([1, 2]), field([0, 0]), field(0.0)
    with pytest.warns(dt.GradientCut, match="an array read by Python"), dt.Tape(loss):
        y.fill(1.0)
        double(x, y)
        x.from_numpy(np.sin(y.to_numpy()))
        energy(x, loss)


def test_sums_start_anew_after_they_were_read() -> None:
    x, loss = field([1, 2]), field(0.0)
    with dt.Tape(loss):
        for _ in range(2):
            energy(x, loss)
            print(f"{loss[None]:.3f} {loss[None]} %.3f %d" % (loss[None], loss[None]))
            loss[None] = 0.0
        energy(x, loss)
        assert loss[None] == 5.0
    np.testing.assert_allclose(x.grad.to_numpy(), [2, 4])
    x[0] = float(x[0]) + 1.0  # a parameter, before the next tape
    with dt.Tape(loss):
        x[1] = dt.stop_grad(x[1]) + 1.0  # and no result on it
        loss.fill(0.0)
        energy(x, loss)


def test_constants_are_written_after_reads() -> None:
    x, target, loss = field([1, 2]), field([0, 0], grad=False), field(0.0)
    rate, steps = field(1.0, grad=False), dt.zeros((), ti.i32)
    history: list[Any] = []
    with dt.Tape(loss):
        for k in range(3):
            energy(x, loss)
            history += [loss[None], x.detach().to_numpy(), f"{loss[None]:.3f}"]
            rate[None] = rate[None] / 2
            target.from_numpy(np.full(2, float(k)))
            target[0] = 3.0
            steps[None] = int(dt.stop_grad(loss[None]))
            steps[None] += 1
            x[1] = 2.0
            if loss[None] > 1e3:
                loss.fill(0.0)
    assert rate[None] == 0.125
    npt.assert_array_equal(x.grad.to_numpy(), [6, 4])
    npt.assert_array_equal([float(v) for v in history[::3]], [5, 10, 15])


def test_what_holds_constants_is_read_as_constants() -> None:
    x, y, loss = field([1, 2]), field([0, 0]), field(0.0)
    with dt.Tape(loss):
        y.fill(2.0)
        assert type(y[0]) is float
        x.from_numpy(3 * y.to_numpy())
        double(x, y)
        assert isinstance(y[0], dt.Number)
        loss[None] = 0.0
        loss[None] += 1.0
        x[1] = 5.0
        y[0] = 0.5 * x[1]
        x[:1] = x[1:].to_numpy()
        energy(y, loss)
    npt.assert_array_equal(loss[None], 1 + 2.5**2 + 12**2)
    npt.assert_array_equal(x.to_numpy(), [5, 5])


def test_numbers_of_one_tape_are_constants_of_the_next() -> None:
    x, y, loss = field([1, 2]), field([0, 0]), field(0.0)
    with dt.Tape(loss):
        energy(x, loss)
        kept = [x[0], x[1] * 1.0]
    loss.fill(0.0)
    with dt.Tape(loss):
        y.from_numpy([2 * float(one) for one in kept])
        energy(y, loss)
        assert type(kept[0] + 1.0) is float
    npt.assert_array_equal(loss[None], 20)


TO_ITSELF: dict[str, Callable[[Any], Any]] = {
    "all": lambda x: x.copy_from(x),
    "all as a part": lambda x: x.__setitem__(slice(None), x[:]),
    "a part": lambda x: x.__setitem__(slice(1, 3), x[1:3]),
    "every other element": lambda x: x[::2].copy_from(x[::2]),
    "backwards": lambda x: x[::-1].copy_from(x[::-1]),
    "another shape": lambda x: x.view(2, 2).copy_from(x.view(2, 2)),
    "an element": lambda x: x.__setitem__(1, x[1]),
}


def kept(write: Callable[[Any], Any]) -> Any:
    """Return which elements keep their derivative: those that a write does not touch."""
    marks = np.zeros(4)
    write(_Marked(marks))
    return 1.0 - marks


class _Marked:
    """Stands for a field, and marks what is written."""

    def __init__(self, marks: Any) -> None:
        self.marks = marks

    def __getitem__(self, index: Any) -> Any:
        return _Marked(self.marks[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.marks[index] = 1.0

    def copy_from(self, other: Any) -> None:
        self.marks[...] = 1.0

    def view(self, *shape: int) -> Any:
        return _Marked(self.marks.reshape(shape))


@pytest.mark.parametrize("name", TO_ITSELF)
def test_a_field_that_is_copied_to_itself_under_no_grad_is_constant(name: str) -> None:
    write, start = TO_ITSELF[name], np.array([1.0, 2.0, 3.0, 4.0])
    expected = 2.0 * start * kept(write)

    def cut(x: Any) -> Any:
        with dt.no_grad():
            write(x)
        loss = dt.zeros((), dtype=ti.f64, grad=True)
        energy(x, loss)
        return loss

    for limit in ({}, {"snapshots": 3}):
        x = field(start)
        with dt.Tape(**limit) as tape:
            loss = cut(x)
        tape.backward(loss)
        npt.assert_array_equal(x.grad.to_numpy(), expected)
    npt.assert_array_equal(dt.grad(cut)(start), expected)
    npt.assert_allclose(dt.jvp(cut, start, np.ones(4))[1], expected.sum())
    npt.assert_array_equal(dt.hvp(cut, start, np.ones(4)), 2.0 * kept(write))


def test_elements_copied_to_themselves_under_no_grad_are_constant() -> None:
    v = dt.zeros(3, dtype=dt.vec(2, ti.f64), grad=True)
    v.fill(1.0)
    loss = field(0)
    with dt.Tape(loss):
        with dt.no_grad():
            v[1] = v[1]
        lengths(v, loss)
    npt.assert_array_equal(v.grad.to_numpy(), [[2, 2], [0, 0], [2, 2]])


@pytest.mark.parametrize("name", [name for name in TO_ITSELF if name != "an element"])
def test_a_field_that_is_copied_to_itself_keeps_its_derivative(name: str) -> None:
    def same(x: Any) -> Any:
        TO_ITSELF[name](x)
        loss = dt.zeros((), dtype=ti.f64, grad=True)
        energy(x, loss)
        return loss

    npt.assert_array_equal(dt.grad(same)(np.ones(4)), 2 * np.ones(4))
    npt.assert_allclose(dt.jvp(same, np.ones(4), np.ones(4))[1], 8.0)


def test_a_detached_field_that_is_copied_to_its_origin_is_constant() -> None:
    x, loss = field([1, 2]), field(0)
    with dt.Tape(loss):
        x.copy_from(x.detach())
        energy(x, loss)
    npt.assert_array_equal(x.grad.to_numpy(), [0, 0])


def test_reads_under_no_grad_are_plain() -> None:
    x, y, loss = field([1, 2]), field([0, 0]), field(0.0)
    with dt.Tape(loss):
        with dt.no_grad():
            top = x.to_numpy().max()
            assert type(x[0]) is float
        y.fill(top)
        energy(y, loss)
    assert type(top) is np.float64


def test_a_gradient_that_a_field_without_one_has_cut_is_reported_where_it_is_read() -> None:
    x, y, z, loss = field([1, 2]), field([0, 0]), field([0, 0], grad=False), field(0.0)
    with pytest.warns(dt.GradientCut, match="field 'y' has none and is read again"), dt.Tape(loss):
        double(x, z)
        y.from_numpy(2 * z.to_numpy())
        energy(y, loss)
    other = field([0, 0], grad=False)
    with pytest.warns(dt.GradientCut, match="field 'y' has none and is read again"), dt.Tape(loss):
        double(x, z)
        other[0] = 2 * z[0]
        energy(other, loss)
        energy(x, loss)


def test_a_number_that_a_launch_takes_for_a_constant_is_reported() -> None:
    x, loss = field([1, 2]), field(0.0)
    for _ in range(2):
        with (
            pytest.warns(dt.GradientCut, match="number 'h' of kernel 'scaled' depends on") as found,
            dt.Tape(loss),
        ):
            h = x[0]
            x[0] = 3.0
            scaled(x, 0.5 * h, loss)
        assert found[0].filename == __file__
    x.from_numpy([1, 2])
    with dt.Tape(loss):
        scaled(x, dt.stop_grad(x[0]), loss)
        with dt.no_grad():
            scaled(x, x[0], loss)
    npt.assert_array_equal(x.grad.to_numpy(), [1, 1])


# Transformations, which learn what varies only when asked


def through_python(x: dt.Field) -> dt.Field:
    y, loss = dt.zeros(2, ti.f64), dt.zeros((), ti.f64)
    y.from_numpy(2 * x.to_numpy())
    energy(y, loss)
    return loss


LINE = through_python.__code__.co_firstlineno + 2


def beside_python(x: dt.Field) -> dt.Field:
    y, loss = dt.zeros(2, ti.f64), dt.zeros((), ti.f64)
    y.from_numpy(2 * y.to_numpy() + 1)
    energy(y, loss)
    loss[None] = loss[None] - 2.0
    energy(x, loss)
    print(loss[None])
    y.fill(1.0)
    return loss


ONE = np.array([1.0, 2.0])
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: dt.grad(f)(ONE),
    "value_and_grad": lambda f: dt.value_and_grad(f)(ONE)[1],
    "vjp": lambda f: dt.vjp(f, ONE)[1](1.0)[0],
    "jvp": lambda f: np.array([dt.jvp(f, (ONE,), (row,))[1] for row in np.eye(2)]),
    "jacfwd": lambda f: dt.jacfwd(f)(ONE),
    "hvp": lambda f: dt.hvp(f, (ONE,), (ONE,))[0],
    "hessian": lambda f: dt.hessian(f)(ONE) @ ONE,
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transformations_report_what_becomes_plain(name: str) -> None:
    with pytest.warns(dt.GradientCut, match="an array read by Python") as found:
        TRANSFORMS[name](through_python)
    assert {(one.filename, one.lineno) for one in found} == {(__file__, LINE)}
    npt.assert_allclose(TRANSFORMS[name](beside_python), 2 * ONE)


# Numbers


def test_numbers_are_real_numbers_and_no_floats() -> None:
    x = field([2.0, 3.0])
    with dt.Tape():
        a, b = x[0], x[1]
        assert isinstance(a, numbers.Real) and not isinstance(a, float)
        assert type(a) is dt.Number and type(2 * a) is dt.Number
        assert {a: 1}[2.0] == 1 and a == 2 and a != b and a < b <= 3 and bool(a)
        assert f"{a:.2f} {a} {a!r} %s %.1f" % (a, b) == "2.00 2.0 2.0 2.0 3.0"
        assert [a.real, a.imag, a.conjugate(), a.is_integer()] == [2, 0, 2, True]
        assert (type(a // 1), a // 1, 7 // a, divmod(a, 2)) == (float, 2, 3, (1, 0))
        assert np.isfinite(a) and np.sign(b) == 1 and np.floor(b) == 3
        assert sorted([b, a]) == [2, 3] and sum([a, b]) == 5 and max(a, b) is b
        with pytest.raises(AttributeError, match="has no attribute 'detach'"):
            a.detach()
        for other in ("text", None, [1.0]):
            assert a != other
            with pytest.raises(TypeError):
                a + other
        with pytest.warns(dt.GradientCut, match="a number that is copied"):
            assert type(copy.copy(a)) is float
        with pytest.warns(dt.GradientCut):
            assert type(pickle.loads(pickle.dumps(a))) is float
        with pytest.warns(dt.GradientCut, match="combined with one of another kind"):
            assert a * 1j == 2j
        with pytest.raises(TypeError, match="not JSON serializable"):
            json.dumps(a)
    assert json.dumps(float(a)) == "2.0" and type(a + 1) is float
    assert dt.Number("2.5") == 2.5 and type(dt.Number()) is float


def test_lists_and_arrays_of_numbers() -> None:
    x = field([2.0, 3.0])
    with dt.Tape():
        a, b = x[0], x[1]
        made = {
            "mean": np.mean([a, b]),
            "max": np.max([a, b]),
            "min": np.array([a, 9.0]).min(),
            "sum": np.sum([a, b, 1]),
            "prod": np.prod([a, b]),
            "dot": np.dot([a, b], [1.0, 2.0]),
            "stack": np.stack([a, b])[1],
            "concatenate": np.concatenate([[a], [b]])[0],
            "norm": np.linalg.norm([a, b]),
            "std": np.std([a, b]),
            "cumsum": np.cumsum([a, b])[1],
            "where": np.where(b > a, a, b)[()],
            "clip": np.clip(a, 0.0, 10.0),
            "outer": np.outer([a, b], [1.0, 2.0])[1, 1],
            "einsum": np.einsum("i,i", [a, b], [1.0, 1.0]),
            "cross": np.cross([a, 0.0, 0.0], [0.0, b, 0.0])[2],
            "matmul": (np.array([[a, 0.0], [0.0, b]]) @ np.ones(2))[1],
            "array": (np.arange(3.0) * a)[2],
            "in place": np.add.reduce([a, b]),
            "sqrt": np.sqrt([a, b])[1],
            "linspace": np.linspace(0.0, a, 3)[1],
            "full": np.full(3, a)[1],
            "polyval": np.polyval([1.0, 2.0], a),
            "float64": np.float64(2.0) * a,
            "mean of one": np.mean(a),
            "vector": ti.Vector([a, b])[0],
        }
        plain = [name for name, one in made.items() if type(one) is not dt.Number]
        assert not plain
    want = {"mean": 2.5, "prod": 6, "dot": 8, "norm": 13**0.5, "std": 0.5, "cross": 6, "array": 4}
    for name, value in want.items():
        assert made[name] == pytest.approx(value)


REFLECTED: dict[float, Callable[[Any], Any]] = {
    -1.0: lambda a: 2.0 - a,
    -0.75: lambda a: 3.0 / a,
    4.0 * math.log(2.0): lambda a: 2.0**a,
    -3.0: lambda a: 7.0 % a,
    -0.25: lambda a: np.float64(1.0) / a,
    -2.0: lambda a: np.float64(1.0) - 2 * a,
}


@pytest.mark.parametrize("slope", REFLECTED)
def test_numbers_on_the_right_have_the_derivatives_of_the_operator(slope: float) -> None:
    x = field([2.0])
    with dt.Tape() as tape:
        end = dt.value(REFLECTED[slope](x[0]))
    tape.backward({end: 1.0})
    assert x.grad[0] == pytest.approx(slope, rel=1e-14)


def test_kept_numbers_keep_neither_field_nor_tape() -> None:
    x = field([1, 2])
    with dt.Tape() as tape:
        kept = [x[0], 2 * x[1]]
    alive = weakref.ref(x), weakref.ref(tape)
    del x, tape
    gc.collect()
    assert [one() for one in alive] == [None, None]
    assert kept == [1, 4]


# Numbers that are written with their gradients


def test_numbers_are_written_with_their_gradients() -> None:
    start = np.array([0.5, 1.5, 2.5])

    def run(x: Any, single: Any) -> Any:
        y, a, loss = dt.zeros_like(x), dt.zeros((2, 2), ti.f64, grad=True), field(0.0)
        energy(x, loss)
        loss[None] = loss[None] / 4
        loss[None] += x[1] * 0.5
        y.fill(loss[None])
        y[1] = x[0] * x[1]
        y[1] -= y[2] * 3
        a[1, 0] = 2 * np.sin(y[1])
        x[2] = a[1, 0] + x[0]
        single[None] = x[2]
        x[0] = single[None]
        energy(x, loss)
        energy(y, loss)
        return loss

    def refer(given: Any) -> Any:
        x = given + 0
        loss = np.sum(x * x) / 4 + x[1] * 0.5
        y = np.array([loss, x[0] * x[1] - 3 * loss, loss])
        x[2] = 2 * np.sin(y[1]) + x[0]
        x[0] = x[2]
        return loss + np.sum(x * x) + np.sum(y * y)

    want = np.array([refer(start + 1e-30j * e).imag / 1e-30 for e in np.eye(3)])
    for memory in (None, "4 kB"):
        x, single = field(start), dt.zeros((), ti.f64, grad=True)
        with dt.Tape(memory=memory) as tape:
            loss = run(x, single)
        npt.assert_allclose(loss[None], refer(start), rtol=1e-14)
        tape.backward({loss: 1.0})
        npt.assert_allclose(x.grad.to_numpy(), want, rtol=1e-12)

    def f(x: Any) -> Any:
        return run(x, dt.zeros((), ti.f64))

    npt.assert_allclose(dt.grad(f)(start), want, rtol=1e-12)
    npt.assert_allclose(dt.jvp(f, (start,), (np.ones(3),))[1], want.sum(), rtol=1e-12)
    bend = [dt.grad(f)(start + s * 1e-5) for s in (-1, 1)]
    npt.assert_allclose(dt.hessian(f)(start).sum(1), (bend[1] - bend[0]) / 2e-5, rtol=1e-6)


# Arithmetic of fields


def test_arithmetic_of_fields_is_recorded() -> None:
    x, k, loss = field([1, 2]), field(3.0), field(0.0)

    def run(x: dt.Field, k: dt.Field) -> dt.Field:
        total: Any = dt.zeros((), ti.f64, grad=True)
        energy(2 * x + k - 1, total)
        total /= 4
        total *= k
        total += k**2 - 1 / k
        total -= -k / np.float64(2)
        total **= 2
        return total

    dt.gradcheck(run, (x, k), strict=True)
    with dt.Tape(loss):
        energy(x, loss)
        same = loss
        loss /= 4
    assert loss is same
    npt.assert_array_equal(x.grad.to_numpy(), [0.5, 1])


def loss_of_numbers(reg: Any, loss: Any, n: Any) -> Any:
    """Combine numbers by every operator, with numbers of Python and of NumPy on both sides."""
    found = loss / n + 0.5 * reg - np.float32(2) ** -reg + (3 - loss) * np.float64(0.25)
    found += abs(-loss * reg) ** 1.5 / (1 + found**2)
    found = -(+found) % 7 + 2**33 / (loss * 10**10) + 5.5 % (reg + np.int64(1))
    found *= found - True
    found /= np.float64(3)
    found -= reg
    return found**2 - reg ** (loss / 2) + 2**found


def test_numbers_in_fields_are_combined_as_by_numpy() -> None:
    values: dict[str, Any] = {"reg": 0.7, "loss": 1.3, "n": 4}

    def at(name: str, value: Any) -> Any:
        return {**values, name: value}

    for types in ((ti.f64,) * 3, (ti.f64, ti.f32, ti.i32), (ti.f32, ti.f64, ti.f64)):
        fields: dict[str, Any] = {
            name: dt.full((), value, type_, grad=type_ != ti.i32)
            for (name, value), type_ in zip(values.items(), types, strict=True)
        }
        for name, one in fields.items():
            values[name] = 4 if name == "n" else np.float64(one[None])
        with dt.Tape() as tape:
            total = loss_of_numbers(**fields)
        rtol = 1e-12 if types == (ti.f64,) * 3 else 1e-5
        npt.assert_allclose(total[None], loss_of_numbers(**values), rtol=rtol)
        tape.backward({total: 1.0})
        for name in ("reg", "loss"):
            h = 1e-5 * values[name]
            ends = [loss_of_numbers(**at(name, values[name] + s * h)) for s in (-2, -1, 1, 2)]
            slope = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
            npt.assert_allclose(fields[name].grad[None], slope, rtol=max(rtol, 1e-9))


def test_second_derivatives_of_numbers_in_fields() -> None:
    def f(reg: Any, loss: Any) -> Any:
        return loss_of_numbers(reg, loss, 4)

    start = (np.array(0.7), np.array(1.3))
    bend = dt.hessian(f)(*start)
    slope = dt.grad(f)
    ends = [slope(start[0] + h, start[1]) for h in (-1e-5, 1e-5)]
    npt.assert_allclose(bend, (ends[1] - ends[0]) / 2e-5, rtol=1e-6)


def test_fields_are_not_compared() -> None:
    x = field(1.0)
    compare: list[Callable[[], object]] = [
        lambda: x < 1,
        lambda: x >= 1.5,
        lambda: x > field(2.0),
        lambda: x <= np.float64(1),
        lambda: np.less_equal(np.float64(1), x),
        lambda: min(x, 0.0),
        lambda: x < [1.0],
        lambda: dt.field(ti.types.struct(a=ti.f32), 2) < 1,
    ]
    for one in compare:
        with pytest.raises(dt.FieldError, match=r"only numbers can be: read them, 'x\[None\] "):
            one()
    assert (field([1, 2]) < np.array([2, 1])).tolist() == [True, False]


class _Tensor:
    """An array of another library."""

    def __dlpack__(self) -> object:
        raise AssertionError

    def __repr__(self) -> str:
        return "tensor"


NUMBERS = [
    *(3.0, 3, True, 1j, Fraction(1, 2), np.float32(3), np.zeros(2), np.array(3.0), _Tensor()),
    *([1.0, 2.0], (1, 2), [[1, 2], [3, 4]], [np.zeros(2)], dt.ti.Vector([1.0, 2.0])),
]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_fields_are_no_numbers(number: Any) -> None:
    x, p = field([1, 2]), dt.field(ti.types.struct(a=ti.f32), 2)
    pairs = [(x, number), (number, x), (x[:1], number), (number, x[:1]), (p, number)]
    for word, compare in (("==", operator.eq), ("!=", operator.ne)):
        for operands in pairs:
            with pytest.raises(dt.FieldError, match=f"compared by '{word}'.*write 'x is y'"):
                compare(*operands)


def test_fields_equal_themselves_only() -> None:
    x, y = field([1, 2]), field([1, 2])
    for other in (y, x[:1], None, "x", np.str_("x"), object(), [x], [], [[]], {}, dt.randn):
        assert not x == other and x != other
        assert not other == x and other != x
    same = x
    assert x == same and not x != same and x[:1] == x[:1] and x[:1] != x[1:]
    assert np.equal(x, x) and not np.equal(x, y) and np.not_equal(x, y)


def test_containers_of_fields_are_compared() -> None:
    x, y = field([1, 2]), field([1, 2])
    assert [x, y] == [x, y] and [x, y] != [y, x] and (x, 1.0) == (x, 1.0)
    assert y in [x, y] and x not in [y] and [x, y].index(y) == 1
    assert {x: 1, 3: 2, 0.5: 3}[x] == 1 and 3 not in {x, y} and len({x, y, x}) == 2
    assert _Pair(x, 1.0) == _Pair(x, 1.0) and _Pair(x, 1.0) != _Pair(y, 1.0)
    assert {_Pair(x, 1.0): 5}[_Pair(x, 1.0)] == 5
    assert x in [x, 1.0]  # the first that is looked at
    with pytest.raises(dt.FieldError, match="write 'x is y'"):
        _ = x in [1.0, x]


@dataclass(frozen=True)
class _Pair:
    field: Any
    number: float


def test_launches_take_numbers_and_arrays_where_fields_were() -> None:
    @dt.kernel
    def add(x, h):
        for i in x:
            x[i] += h[0]

    x, h = field([0.0]), field([1.0, 2.0])
    for given in (h, [1.0, 2.0], np.ones(1), h[:1], [1.0, 2.0], h, h[:1], np.ones(1), h):
        add(x, given)
    assert x.tolist() == [9.0]


def test_parts_are_updated_in_place() -> None:
    x, loss = field([1, 2, 3]), field(0.0)
    with dt.Tape(loss):
        x[1:] *= 2.0
        x[:1] += x[2:]
        energy(x[:2], loss)
    npt.assert_array_equal(x.to_numpy(), [7, 4, 6])
    npt.assert_array_equal(x.grad.to_numpy(), [14, 16, 28])


def test_arithmetic_goes_by_the_kernel_language() -> None:
    v = dt.from_numpy(np.ones((3, 2), np.float32), dtype=dt.vec(2, ti.f32))
    npt.assert_array_equal((v * dt.ones(3) - 0.5 * v).to_numpy(), np.full((3, 2), 0.5))
    whole = dt.full(3, 4, ti.i32)
    assert [(whole * 2).dtype, (whole / 3).dtype, (0.5 * dt.ones(3)).dtype] == [
        ti.i32,
        ti.f32,
        ti.f32,
    ]
    with pytest.raises(TypeError):
        _ = v + "text"
    with pytest.raises(dt.KernelError):
        whole += 0.5
    with pytest.raises(dt.LaunchError, match="shapes of its arguments do not go together"):
        _ = whole + dt.ones(4)


def test_with_arrays_numpy_computes() -> None:
    x = field([1, 2])
    for found in (x - np.ones(2), np.ones(2) * x, np.sin(x), np.stack([x, x])):
        assert type(found) is np.ndarray
    assert np.mean(x) == 1.5
    assert (np.ones(2) < x).tolist() == [False, True]
    _ = x * x
    npt.assert_array_equal((np.float64(2.0) * x).to_numpy(), [2, 4])


# Random programs


def test_random_programs_are_right_or_warn_where_python_cuts_a_gradient() -> None:
    said: list[str] = []
    wrong, reported = run(range(int(os.environ.get("DIFFTILE_HOST_PROGRAMS", "120"))), said.append)
    assert not wrong, "\n".join(said)
    assert reported > 20
