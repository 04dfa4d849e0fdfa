"""Fields of every number type: read, written, cast, and differentiated where they are floats."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile import meaning
from difftile.ir.build import Builder
from difftile.ir.nodes import Array, Block, Const, ParallelFor, Program, Var
from difftile.ir.types import (
    BOOL,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    FieldType,
    Scalar,
    numpy_dtype,
)
from difftile.ops.check import check
from difftile.substrate import CompiledProgram

_FLOATS = [ti.f16, ti.f32, ti.f64]
_SIGNED = [ti.i8, ti.i16, ti.i32, ti.i64]
_UNSIGNED = [ti.u8, ti.u16, ti.u32, ti.u64]


@dt.kernel
def arithmetic(x, y, z, total, at):
    for i in x:
        y[i] = x[i] + x[i - 1 if i > 0 else 0]
        z[i] = x[i] * 2 + 0.5
        total[None] += x[i]
        if i > 0 and x[i - 1] > 2:  # reads nothing before the first element
            at[i] = x[i - 1]


def _dtype(type_: Any) -> np.dtype[Any]:
    return dt.field(type_, 1).to_numpy().dtype


@pytest.mark.parametrize("type_", [*_FLOATS, *_SIGNED, *_UNSIGNED], ids=str)
def test_arithmetic_of_a_type(type_: Any) -> None:
    given = np.array([0, 1, 3, 50, 60], _dtype(type_))
    x = dt.from_numpy(given)
    y, z, total = dt.field(type_, 5), dt.zeros(5, dtype=ti.f64), dt.field(type_, ())
    at = dt.zeros(5, dtype=type_)
    arithmetic(x, y, z, total, at)
    assert y.to_numpy().dtype == given.dtype
    np.testing.assert_array_equal(y.to_numpy(), [0, 1, 4, 53, 110])
    np.testing.assert_array_equal(z.to_numpy(), [0.5, 2.5, 6.5, 100.5, 120.5])
    np.testing.assert_array_equal(at.to_numpy(), [0, 0, 0, 3, 50])
    assert total[None] == 114


@pytest.mark.parametrize("type_", [*_SIGNED, *_UNSIGNED], ids=str)
def test_integers_wrap_where_they_are_stored(type_: Any) -> None:
    limits = np.iinfo(_dtype(type_))
    x = dt.from_numpy(np.array([limits.max, limits.min], _dtype(type_)))
    wrapped = dt.field(type_, 2)

    @dt.kernel
    def beyond(x, wrapped):
        for i in x:
            wrapped[i] = x[i] + x[1 - i] + x[i]

    beyond(x, wrapped)
    with np.errstate(over="ignore"):
        expected = x.to_numpy() + x.to_numpy()[::-1] + x.to_numpy()
    np.testing.assert_array_equal(wrapped.to_numpy(), expected)


def test_an_image_of_bytes_goes_beyond_255_in_between() -> None:
    image = dt.from_numpy(np.array([0, 100, 200, 255], np.uint8))
    half, bright = dt.zeros(4, dtype=ti.u8), dt.zeros(4)

    @dt.kernel
    def lighten(image, half, bright):
        for i in image:
            half[i] = (image[i] * 2 + 100) // 4
            bright[i] = image[i] / 255 + (1 if image[i] > 150 else 0)

    lighten(image, half, bright)
    np.testing.assert_array_equal(half.to_numpy(), [25, 75, 125, 152])
    np.testing.assert_allclose(bright.to_numpy(), [0, 100 / 255, 200 / 255 + 1, 2], rtol=1e-6)


def test_bools_are_stored_and_tested() -> None:
    x = dt.from_numpy(np.array([-1.0, 0.0, 2.0]), grad=True)
    inside, y = dt.field(ti.u1, 3), dt.zeros(3, dtype=ti.f64, grad=True)

    @dt.kernel
    def mask(x, inside):
        for i in x:
            inside[i] = 0 <= x[i] < 3

    @dt.kernel
    def masked(x, inside, y):
        for i in x:
            y[i] = x[i] * x[i] if inside[i] else 0.0

    mask(x, inside)
    with dt.Tape() as tape:
        masked(x, inside, y)
    tape.backward({y: 1.0})
    assert inside.to_numpy().tolist() == [False, True, True]
    np.testing.assert_array_equal(x.grad.to_numpy(), [0, 0, 4])


@pytest.mark.parametrize("type_", _FLOATS, ids=str)
def test_gradient_of_a_type(type_: Any) -> None:
    """Half precision is for storage: arithmetic, its adjoint included, is in single."""
    dtype = _dtype(type_)
    given = np.linspace(0.5, 1.5, 64).astype(dtype)
    x = dt.from_numpy(given, grad=True)
    total = dt.field(type_, (), grad=True)

    @dt.kernel
    def energy(x, total):
        for i in x:
            total[None] += 0.1 * ti.sin(x[i]) * x[i]

    with dt.Tape(total):
        energy(x, total)
    wide = given.astype(np.float64)
    eps = float(np.finfo(dtype).eps)
    value = float(np.sum(0.1 * np.sin(wide) * wide))
    slopes = 0.1 * (np.sin(wide) + wide * np.cos(wide))
    assert x.grad.to_numpy().dtype == dtype
    assert abs(float(total[None]) - value) <= 64 * eps * value
    np.testing.assert_allclose(x.grad.to_numpy().astype(float), slopes, rtol=2 * eps)


def test_half_precision_rounds_once() -> None:
    x = dt.from_numpy(np.array([1.0, 2.0], np.float16))
    y, v = dt.field(ti.f16, 2), dt.field(ti.types.vector(2, ti.f16), 2)

    @dt.kernel
    def long_sum(x, y, v):
        for i in x:
            total = x[i]
            for _ in range(3000):
                total += 0.0001 * x[i]
            y[i] = total
            v[i] = ti.math.vec2(total, x[i] / 3)
            v[i].x += 1

    long_sum(x, y, v)
    exact = np.array([1.3, 2.6])
    np.testing.assert_array_equal(y.to_numpy(), exact.astype(np.float16))
    found = v.to_numpy()
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found[:, 1], (np.array([1, 2]) / 3).astype(np.float16))
    np.testing.assert_allclose(found[:, 0], exact + 1, rtol=1e-3)


def test_whole_powers_with_negative_exponents_are_cut() -> None:
    base = dt.from_numpy(np.array([1, -1, -1, 2, -3, 5], np.int32))
    power = dt.from_numpy(np.array([-7, -3, -2, -1, -2, 0], np.int32))
    result = dt.zeros(6, dtype=ti.i32)

    @dt.kernel
    def powers(base, power, result):
        for i in base:
            result[i] = base[i] ** power[i]

    powers(base, power, result)
    assert result.to_numpy().tolist() == [1, -1, 1, 0, 0, 1]


def test_bits_of_a_float_cut_the_gradient() -> None:
    x = dt.from_numpy(np.array([2.0, 3.0]), grad=True)
    y = dt.zeros(2, dtype=ti.f64, grad=True)

    @dt.kernel
    def bits(x, y):
        for i in x:
            y[i] = x[i] * ti.bit_cast(ti.bit_cast(x[i], ti.i64), ti.f64)

    with dt.Tape() as tape:
        bits(x, y)
    tape.backward({y: 1.0})
    np.testing.assert_array_equal(y.to_numpy(), [4, 9])
    np.testing.assert_array_equal(x.grad.to_numpy(), [2, 3])


_SCALARS = (F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, BOOL)


def _numbers(scalar: Scalar) -> list[Any]:
    """Return numbers of a type that others round, cut or wrap."""
    if scalar == BOOL:
        return [True, False]
    if scalar in (F32, F64):
        return [0.0, 0.1, 0.99999999999, 3.0000001, 100.7, 300.5, 16777217.0]
    size = numpy_dtype(scalar).itemsize
    return [0, 1, 100, *([40000] if size > 2 else []), *([2**24 + 1, 2**30] if size > 2 else [])]


def _is_defined(number: Any, scalar: Scalar) -> bool:
    """Tell whether a cast to a type is defined: an integer that is made of a float holds it."""
    if not isinstance(number, np.floating) or scalar in (F32, F64, BOOL):
        return True
    return bool(number <= np.iinfo(numpy_dtype(scalar)).max)


def test_casts_of_casts_are_those_of_numpy() -> None:
    """Taichi leaves out some of two casts in a row, whatever the one in the middle does."""
    triples = [t for t in itertools.product(_SCALARS, repeat=3) if not t[0] == t[1] == t[2]]
    for first in _SCALARS:
        x, y = Array("x", FieldType(first, 1)), Array("y", FieldType(F64, 2))
        chains = [chain[1:] for chain in triples if chain[0] == first]
        b, index = Builder(), Var("i", I32)
        with b.region() as body:
            read = b.load(x, (index,))
            for k, (second, third) in enumerate(chains):
                once = b.let("cast", (read,), second)
                twice = b.let("cast", (once,), third)
                number = b.let("cast", (twice,), F64)
                b.store(y, (index, Const(k, I32)), number)
        given = np.array(_numbers(first), numpy_dtype(first))
        n = Const(len(given), I32)
        b.append(ParallelFor((index,), (Const(0, I32),), (n,), Block(tuple(body))))
        program = check(Program("casts", (x, y), b.block()))
        wanted = np.zeros((len(given), len(chains)))
        with np.errstate(invalid="ignore"):
            meaning.run(program, {x: given, y: wanted})
        fields = dt.from_numpy(given), dt.from_numpy(np.zeros_like(wanted))
        CompiledProgram(program).launch([field.buffer for field in fields])
        found = fields[1].to_numpy()
        for (row, number), (k, (second, third)) in itertools.product(
            enumerate(given), enumerate(chains)
        ):
            with np.errstate(invalid="ignore"):
                middle = number.astype(numpy_dtype(second))
            if _is_defined(number, second) and _is_defined(middle, third):
                assert found[row, k] == wanted[row, k], (number, first, second, third)


@dt.kernel
def mixed(h, s, d, i, k, y):
    for n in y:
        if n == 0:
            y[n] = dt.exact(s[None] * 0.1)
        elif n == 1:
            y[n] = dt.exact(s[None] * d[None] + 0.1)
        elif n == 2:
            y[n] = dt.exact(h[None] * 0.1 + 0.3)
        elif n == 3:
            y[n] = dt.exact(i[None] * 0.1)
        elif n == 4:
            y[n] = dt.exact(i[None] / 3)
        elif n == 5:
            y[n] = dt.exact(k[None] * s[None])
        elif n == 6:
            y[n] = dt.exact(s[None] + i[None])
        elif n == 7:
            y[n] = 1 if s[None] == d[None] else 0
        elif n == 8:
            y[n] = dt.exact(ti.sqrt(s[None]) / 3)
        elif n == 9:
            y[n] = dt.exact(ti.sqrt(i[None]))
        elif n == 10:
            y[n] = dt.exact(ti.exp(ti.math.sign(d[None])))
        elif n == 11:
            y[n] = dt.exact((0.1 if i[None] > 0 else s[None]) * d[None])
        elif n == 12:
            y[n] = dt.exact(0.1 + 0.2)


def test_mixed_types_are_computed_in_the_documented_one() -> None:
    h, s, d, i = np.float16(0.3), np.float32(0.1), np.float64(0.1), np.int32(16777217)
    k = np.int64(2**40 + 12345)
    f32, f64 = np.float32, np.float64
    wanted = [
        s * f32(0.1),
        f64(s) * d + 0.1,
        f32(h) * f32(0.1) + f32(0.3),
        f64(i) * 0.1,
        f64(i) / 3,
        f32(k) * s,
        s + f32(i),
        0.0,
        np.sqrt(s) / f32(3),
        np.sqrt(f64(i)),
        np.exp(1.0),
        f64(f32(0.1)) * d,
        0.1 + 0.2,
    ]
    y = dt.from_numpy(np.zeros(len(wanted)))
    mixed(*(dt.from_numpy(np.array(number)) for number in (h, s, d, i, k)), y)
    assert y.to_numpy().tolist() == [float(number) for number in wanted]
