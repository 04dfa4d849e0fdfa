"""Integer divisions by zero, and of the least integer by -1: none of them ends a process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import DivisionByZero
from difftile.substrate import current_session

TYPES = {
    ti.i8: np.int8,
    ti.i16: np.int16,
    ti.i32: np.int32,
    ti.i64: np.int64,
    ti.u8: np.uint8,
    ti.u32: np.uint32,
}


@pytest.fixture(autouse=True)
def usual_session() -> Iterator[None]:
    yield
    if current_session().debug or not current_session().compiles:
        dt.init(arch="cpu")


@dt.kernel
def divided(a, b, quotient, remainder, c_quotient, c_remainder):
    for i in a:
        quotient[i] = a[i] // b[i]
        remainder[i] = a[i] % b[i]
        c_quotient[i] = ti.raw_div(a[i], b[i])
        c_remainder[i] = ti.raw_mod(a[i], b[i])


def in_python(a: int, b: int) -> tuple[int, int, int, int]:
    """Return what the four operations are, without limits."""
    if b == 0:
        return 0, 0, 0, 0
    towards_zero = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a // b, a % b, towards_zero, a - b * towards_zero


@pytest.mark.compiled
@pytest.mark.parametrize("arch", ["cpu", "python"])
@pytest.mark.parametrize("dtype", TYPES)
def test_all_divisions_of_extreme_integers(dtype: Any, arch: str) -> None:
    dt.init(arch=arch)
    limits = np.iinfo(TYPES[dtype])
    some = [limits.min, limits.min + 1, -7, -2, -1, 0, 1, 2, 3, 7, limits.max - 1, limits.max]
    pairs = [(a, b) for a in some for b in some if min(a, b) >= limits.min]
    a, b = (np.array(one, TYPES[dtype]) for one in zip(*pairs, strict=True))
    found = [dt.zeros(len(pairs), dtype=dtype) for _ in range(4)]
    divided(dt.from_numpy(a), dt.from_numpy(b), *found)
    bits = 2**limits.bits
    for field, wanted in zip(
        found, zip(*(in_python(*one) for one in pairs), strict=True), strict=True
    ):
        wrapped = [(n - int(limits.min)) % bits + int(limits.min) for n in wanted]
        np.testing.assert_array_equal(field.to_numpy(), wrapped)


@dt.kernel
def by_numbers(y, p: int, q: int):
    for i in y:
        if i < q:
            y[i] = p // q + p % q


def test_a_division_by_an_argument_that_is_zero_is_refused() -> None:
    y = dt.zeros(3, dtype=ti.i32)

    @dt.kernel
    def direct(y, p: int, q: int):
        for i in y:
            y[i] = p // (q - i)

    with pytest.raises(DivisionByZero, match=r"'//'") as caught:
        direct(y, 7, 2)
    assert isinstance(caught.value, ZeroDivisionError) and "nothing was launched" in str(
        caught.value
    )
    assert not y.to_numpy().any()
    direct(y, 7, 3)
    np.testing.assert_array_equal(y.to_numpy(), [2, 3, 7])
    by_numbers(y, 7, 0)  # no iteration divides
    by_numbers(y, 7, 2)
    np.testing.assert_array_equal(y.to_numpy(), [4, 4, 7])


@dt.kernel
def by_data(y, z):
    for i in y:
        y[i] = ti.select(z[i] != 0, 7 // z[i], -1)


@pytest.mark.parametrize("debug", [False, True])
def test_a_division_by_a_zero_of_a_field(debug: bool) -> None:
    dt.init(arch="cpu", debug=debug)
    y, z = dt.zeros(3, dtype=ti.i32), dt.from_numpy(np.array([3, 0, -2], np.int32))
    if debug:
        with pytest.raises(DivisionByZero, match="the divisor is 0"):
            by_data(y, z)
    else:
        by_data(y, z)
    np.testing.assert_array_equal(y.to_numpy(), [2, -1, -4])


@dt.kernel
def by_vectors(y, z):
    for i in y:
        y[i] = 12 // z[i]


def test_vectors_divided_by_vectors_with_zeros() -> None:
    z = dt.zeros(2, dtype=ti.types.vector(3, ti.i32))
    z.from_numpy(np.array([[1, 0, 5], [-1, -5, 0]], np.int32))
    y = dt.zeros(2, dtype=ti.types.vector(3, ti.i32))
    by_vectors(y, z)
    np.testing.assert_array_equal(y.to_numpy(), [[12, 0, 2], [-12, -3, 0]])


@dt.kernel
def by_results(y, a, b):
    for i in a:
        y[i, 0] = 7 // (ti.max(a[i], 1) * ti.max(b[i], 1))
        y[i, 1] = 7 % (ti.max(a[i], 1) + ti.max(b[i], 1) + 2)
        y[i, 2] = 7 // (a.shape[0] * ti.max(a[i], 1))
        if a[i] > 0:
            for k in range(65536, 65538):
                y[i, 3] += 7 // (k * 65536)


@pytest.mark.compiled
def test_divisors_that_wrap_around_to_zero() -> None:
    most = 2**31 - 1
    a = np.array([65536, most, 2**30, 3], np.int32)
    b = np.array([65536, most, 4, 5], np.int32)
    y = dt.zeros((4, 4), dtype=ti.i32)
    by_results(y, dt.from_numpy(a), dt.from_numpy(b))

    def wrapped(n: int) -> int:
        return (n + 2**31) % 2**32 - 2**31

    wanted = [
        [
            in_python(7, wrapped(p * q))[0],
            in_python(7, wrapped(p + q + 2))[1],
            in_python(7, wrapped(4 * p))[0],
            sum(in_python(7, wrapped(k * 65536))[0] for k in (65536, 65537)),
        ]
        for p, q in zip(a.tolist(), b.tolist(), strict=True)
    ]
    np.testing.assert_array_equal(y.to_numpy(), wanted)
