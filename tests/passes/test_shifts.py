"""Shifts by any number of bits, also by the width and more, and by negative numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import IndexOutOfRange
from difftile.substrate import current_session
from tests.passes.test_divisions import TYPES


@pytest.fixture(autouse=True)
def usual_session() -> Iterator[None]:
    yield
    if not current_session().compiles:
        dt.init(arch="cpu")


@dt.kernel
def shifted(a, by, left, right, logical):
    for i in a:
        left[i] = a[i] << by[i]
        right[i] = a[i] >> by[i]
        logical[i] = ti.bit_shr(a[i], by[i])


@pytest.mark.compiled
@pytest.mark.parametrize("arch", ["cpu", "python"])
@pytest.mark.parametrize("dtype", TYPES)
def test_all_shifts_of_extreme_integers(dtype: Any, arch: str) -> None:
    dt.init(arch=arch)
    limits = np.iinfo(TYPES[dtype])
    some = [limits.min, limits.min + 3, -7, -1, 0, 1, 5, 100, limits.max]
    amounts = [limits.min, -33, -1, 0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, limits.max]
    pairs = [
        (n, by) for n in some for by in amounts if min(n, by) >= limits.min and by <= limits.max
    ]
    a, by = (np.array(one, TYPES[dtype]) for one in zip(*pairs, strict=True))
    found = [dt.zeros(len(pairs), dtype=dtype) for _ in range(3)]
    shifted(dt.from_numpy(a), dt.from_numpy(by), *found)
    bits = 2**limits.bits
    within = [0 <= by < limits.bits for _, by in pairs]
    wanted = [
        [n << by if ok else 0 for (n, by), ok in zip(pairs, within, strict=True)],
        [n >> by if ok else -(n < 0) for (n, by), ok in zip(pairs, within, strict=True)],
        [(n % bits) >> by if ok else 0 for (n, by), ok in zip(pairs, within, strict=True)],
    ]
    for field, numbers in zip(found, wanted, strict=True):
        wrapped = [(n - int(limits.min)) % bits + int(limits.min) for n in numbers]
        np.testing.assert_array_equal(field.to_numpy(), wrapped)


@pytest.mark.compiled
def test_an_index_shifted_by_the_width_is_the_one_that_was_checked() -> None:
    @dt.kernel
    def power(y, n: int):
        for i in range(1):
            y[1 << n] += 1.0

    field = dt.zeros(4)
    power(field[:2], 33)  # not y[1 << 1], which is another element of the field
    np.testing.assert_array_equal(field.to_numpy(), [1, 0, 0, 0])
    with pytest.raises(IndexOutOfRange):
        power(field[:2], 1)


@dt.kernel
def vectors_shifted(y, by):
    for i in y:
        y[i] = (y[i] << by[i]) + (y[i] >> 40)


@pytest.mark.compiled
def test_vectors_shifted_by_vectors() -> None:
    y, by = (dt.zeros(1, dtype=ti.types.vector(3, ti.i32)) for _ in range(2))
    y.from_numpy(np.array([[3, -3, 5]], np.int32))
    by.from_numpy(np.array([[1, 32, -1]], np.int32))
    vectors_shifted(y, by)
    np.testing.assert_array_equal(y.to_numpy(), [[6, -1, 0]])
