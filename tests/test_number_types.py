"""Fields of every number type: read, written, cast, and differentiated where they are floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt

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
