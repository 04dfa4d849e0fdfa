"""Writes from Python that depend on earlier reads: refused where they would cut a gradient.

A read on an open tape is tracked through Python's operators and NumPy. Random programs of
`tests/tape_programs.py`, into which such writes are put, are refused exactly where the write
carries a derivative in the reference.
"""

from __future__ import annotations

import gc
import json
import math
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
from difftile.fields.tracked import HostRead, TrackedArray, TrackedFloat, reads_in, track
from tests.host_programs import run


@dt.kernel
def energy(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


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


# Refused

X, Y, LOSS, PLAIN = "x", "y", "loss", "plain"

WRITES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "twice an array": lambda f: f[Y].from_numpy(2 * f[X].to_numpy()),
    "an array as it is": lambda f: f[Y].from_numpy(f[X].to_numpy()),
    "a list": lambda f: f[Y].from_numpy([2 * v for v in f[X].to_numpy()]),
    "a part": lambda f: f[Y][:1].from_numpy(f[X][1:].to_numpy()),
    "an assigned part": lambda f: f[Y].__setitem__(slice(0, 2), np.sin(f[X].to_numpy())),
    "an element of a part": lambda f: f[Y][:1].__setitem__(0, f[X][0] * f[PLAIN][0]),
    "an element of a field without gradient": lambda f: f[PLAIN].__setitem__(0, f[X][0]),
    "a cube root": lambda f: f[Y].__setitem__(1, np.cbrt(f[X][0])),
    "a mean": lambda f: f[Y].fill(f[X].to_numpy().mean()),
    "a norm": lambda f: f[Y].fill(np.linalg.norm(f[X].to_numpy())),
    "a function of a field": lambda f: f[Y].from_numpy(np.exp(f[X])),
    "a product with an array": lambda f: f[Y].from_numpy(np.ones(2) * f[X]),
    "stacked parts": lambda f: f[Y].from_numpy(np.array([1.0, 2.0]) + np.flip(f[X].to_numpy())),
    "a field without gradient": lambda f: f[PLAIN].from_numpy(f[X].to_numpy()),
    "a new field": lambda f: dt.from_numpy(f[X].to_numpy(), grad=True),
    "a new field of one value": lambda f: dt.full((), f[LOSS][None], ti.f64),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_python_computed_from_fields_with_gradients_is_not_written(name: str) -> None:
    at = {
        X: field([1, 2]),
        Y: field([0, 0]),
        LOSS: field(0.0),
        PLAIN: field([1, 1], grad=False),
    }
    with pytest.raises(dt.TapeError, match="The gradient would be cut"), dt.Tape(at[LOSS]):
        energy(at[X], at[LOSS])
        WRITES[name](at)
    WRITES[name](at)  # without a tape
    with dt.Tape(at[LOSS]):
        energy(at[X], at[LOSS])
        with dt.no_grad():
            WRITES[name](at)


def test_the_error_of_a_write_that_cuts_a_gradient() -> None:
    x, loss = field([1, 2]), field(0.0)
    with pytest.raises(dt.TapeError) as error, dt.Tape(loss):
        energy(x, loss)
        loss.from_numpy(loss.to_numpy() + 1.0)
    assert str(error.value) == (
        "The gradient would be cut: what Python writes into <field f64 (), grad> depends on "
        "<field f64 (), grad>.\n"
        "  Note: Writes from Python are constants for a tape, and so is what Python reads.\n"
        "  Hint: compute it in a kernel, or with fields instead of numbers, such as 'loss /= 4' or "
        "'y.copy_from(2 * x)'; if a constant is meant, write it under 'with dt.no_grad():'."
    )


@pytest.mark.parametrize("plain", [float, lambda v: math.sqrt(float(v)), lambda v: float(2 * v)])
def test_a_result_is_not_replaced_by_a_plain_number(plain: Any) -> None:
    x, loss = field([1, 2]), field(0.0)
    with pytest.raises(dt.TapeError, match="overwrites what it read"), dt.Tape(loss):
        energy(x, loss)
        loss[None] = plain(loss[None]) / 4
    with dt.Tape(loss):
        energy(x, loss)
        with dt.no_grad():
            loss[None] = plain(loss[None]) / 4


# Not refused


def test_what_a_launch_has_replaced_since_may_be_overwritten() -> None:
    x, loss = field([1, 2]), field(0.0)
    with dt.Tape(loss):
        energy(x, loss)
        print(float(loss[None]))
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
    with pytest.raises(dt.TapeError, match="The gradient would be cut"), dt.Tape(loss):
        y.fill(1.0)
        double(x, y)
        x.from_numpy(np.sin(y.to_numpy()))


def test_sums_start_anew_after_they_were_read() -> None:
    x, loss = field([1, 2]), field(0.0)
    with dt.Tape(loss):
        for _ in range(2):
            energy(x, loss)
            print(float(loss[None]))
            loss[None] = 0.0
        energy(x, loss)
        assert float(loss[None]) == 5.0
    np.testing.assert_allclose(x.grad.to_numpy(), [2, 4])
    x[0] = float(x[0]) + 1.0  # a parameter, before the next tape
    with dt.Tape(loss):
        x[1] = float(x[1]) + 1.0  # and no result on it
        loss.fill(0.0)
        energy(x, loss)


def test_constants_are_written_after_reads() -> None:
    x, target, loss = field([1, 2]), field([0, 0], grad=False), field(0.0)
    rate, steps = field(1.0, grad=False), dt.zeros((), ti.i32)
    history: list[Any] = []
    with dt.Tape(loss):
        for k in range(3):
            energy(x, loss)
            history += [loss[None], x.to_numpy(), f"{loss[None]:.3f}"]
            rate[None] = rate[None] / 2
            target.from_numpy(np.full(2, float(k)))
            target[0] = 3.0
            steps[None] = int(loss[None])
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
        assert isinstance(y[0], TrackedFloat)
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
        kept = x.to_numpy()
    loss.fill(0.0)
    with dt.Tape(loss):
        y.from_numpy(2 * kept)
        energy(y, loss)
    npt.assert_array_equal(loss[None], 20)


def test_reads_under_no_grad_are_plain() -> None:
    x, y, loss = field([1, 2]), field([0, 0]), field(0.0)
    with dt.Tape(loss):
        with dt.no_grad():
            top = x.to_numpy().max()
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
    with pytest.warns(dt.GradientCut, match="field 'x' has none and is read again"), dt.Tape(loss):
        double(x, z)
        other.from_numpy(2 * z.to_numpy())
        energy(other, loss)
        energy(x, loss)


def test_a_number_that_a_launch_takes_for_a_constant_is_reported() -> None:
    x, loss = field([1, 2]), field(0.0)
    for _ in range(2):
        with (
            pytest.warns(dt.GradientCut, match="number 'h' of kernel 'scaled' depends on") as found,
            dt.Tape(loss),
        ):
            scaled(x, 0.5 * x.to_numpy().max(), loss)
        assert found[0].filename == __file__
    with dt.Tape(loss):
        scaled(x, float(x[0]), loss)
        with dt.no_grad():
            scaled(x, x[0], loss)
    npt.assert_array_equal(x.grad.to_numpy(), [1, 1])


# Transformations, which learn what varies only when asked


def through_python(x: dt.Field) -> dt.Field:
    y, loss = dt.zeros(2, ti.f64), dt.zeros((), ti.f64)
    y.from_numpy(2 * x.to_numpy())
    energy(y, loss)
    return loss


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
def test_transformations_refuse_what_python_computed_from_what_varies(name: str) -> None:
    with pytest.raises(dt.TapeError, match="The gradient would be cut"):
        TRANSFORMS[name](through_python)
    npt.assert_allclose(TRANSFORMS[name](beside_python), 2 * ONE)


# Tracked values

READS = frozenset([HostRead(None, "x")])


def test_operators_and_numpy_keep_track() -> None:
    f: Any = track(2.0, READS)
    a: Any = track(np.arange(6.0).reshape(2, 3).astype(np.float32), READS)
    one = np.float64(2)
    computed = [
        *(f * 2, 2 * f, f - 1, 1 - f, f + 1, f / 4, 4 / f, f**2, 2**f, f % 1, -f, +f, abs(f)),
        *(np.sin(f), one * f, f * one, f * np.ones(2), np.ones(2) * f, sum([f, f]), max(f, 1.0)),
        *(a * 2, 2 * a, a @ a.T, np.sin(a), a[0], a[0, 0], a[0, 0] * 2, a.T, a.reshape(-1)),
        *(a.sum(), a.mean(), a.std(), a.max(), a.dot(a.T), a.tolist(), a.mean().item(), a.ravel()),
        *(a.copy(), a.astype(float), a.clip(0, 1), a.flatten(), a.take([0]), [v for v in a[0]]),
        *(np.mean(a), np.stack([a, a]), np.concatenate([a, a]), np.where(a > 1, a, 0)),
        *(np.linalg.norm(a), np.einsum("ij->i", a), np.fft.fft(a), np.interp(f, [0, 3], [0, 3])),
        *(np.add.reduce(a), np.add.outer(a, a), np.cumsum(a), np.copy(a), np.zeros_like(a) + a),
        *(np.ones((2, 3), np.float32).__iadd__(a), np.multiply(a, 2, out=np.empty_like(a))),
        *(divmod(a, 2)[1], a.real, np.sort(a), np.pad(a, 1), a.sum().astype(float)),
    ]
    lost = [k for k, value in enumerate(computed) if reads_in(value) != READS]
    assert not lost
    npt.assert_array_equal(a * f, np.arange(6.0).reshape(2, 3) * 2)
    assert (a * f).dtype == np.float32
    assert a.sum().dtype == np.float32
    assert isinstance(f, float)
    assert f"{f:.2f} {f} {f!r} {a[0, 0]} {a.mean():.1f}" == "2.00 2.0 2.0 0.0 2.5"


def test_integers_comparisons_and_plain_numbers_are_not_tracked() -> None:
    f: Any = track(2.0, READS)
    a: Any = track(np.arange(6.0), READS)
    plain = [
        *(a > 1, a.argmax(), np.isfinite(a), int(f), f > 1, bool(f), round(f), f // 1),
        *(float(f), math.sin(f), np.asarray(a), a.astype(int), json.loads(json.dumps([f]))),
        *(pickle.loads(pickle.dumps(f)), pickle.loads(pickle.dumps(a))),
        *(track(np.arange(3), READS), track("text", READS), track(3, READS)),
    ]
    assert not [value for value in plain if reads_in(value)]


def test_an_array_that_is_written_into_tracks_what_is_written() -> None:
    a: Any = track(np.arange(3.0), READS)
    other = HostRead(None, "y")
    a[0] = track(1.0, frozenset([other]))
    assert reads_in(a) == READS | {other}
    assert type(a) is TrackedArray
    a += 1.0
    npt.assert_array_equal(a, [2, 2, 3])


def test_kept_numbers_keep_neither_field_nor_tape() -> None:
    x = field([1, 2])
    with dt.Tape() as tape:
        kept = [x[0], x.to_numpy()]
    alive = weakref.ref(x), weakref.ref(tape)
    del x, tape
    gc.collect()
    assert [one() for one in alive] == [None, None]
    assert all(map(reads_in, kept))


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


def test_random_programs_are_refused_where_python_would_cut_a_gradient() -> None:
    said: list[str] = []
    wrong, refused = run(range(int(os.environ.get("DIFFTILE_HOST_PROGRAMS", "120"))), said.append)
    assert not wrong, "\n".join(said)
    assert refused > 20
