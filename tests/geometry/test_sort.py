"""`dt.sort` and `dt.prefix_sum`, beside NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import difftile as dt
from difftile import ti


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.float32])
@pytest.mark.parametrize("n", [1, 2, 300])
def test_numbers_are_sorted_with_the_order_of_equal_ones_kept(dtype: type, n: int) -> None:
    rng = np.random.default_rng(n)
    keys = (rng.integers(-20, 20, n) * (1 << 26)).astype(np.int32).astype(dtype)
    field = dt.from_numpy(keys)
    order = dt.sort(field).to_numpy()
    assert order.tolist() == np.argsort(keys, kind="stable").tolist()
    assert field.to_numpy().tolist() == keys[order].tolist()


def test_infinities_and_what_is_no_number_have_a_place() -> None:
    field = dt.from_numpy(np.array([np.nan, np.inf, 0.0, -0.0, -np.inf, 1e-45, -1.0], np.float32))
    assert dt.sort(field).to_numpy().tolist() == [4, 6, 3, 2, 5, 1, 0]


def test_what_cannot_be_sorted_is_refused() -> None:
    for keys in (dt.zeros(3, ti.f64), dt.zeros((2, 2), ti.i32), dt.zeros(2, dt.vec(2, ti.f32))):
        with pytest.raises(dt.FieldError, match="32-bit numbers of shape"):
            dt.sort(keys)
    with pytest.raises(dt.FieldError, match="has no derivative"):
        dt.sort(dt.zeros(3, ti.f32, grad=True))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_counts_become_the_sums_of_those_before(dtype: type) -> None:
    counts = np.random.default_rng(1).integers(0, 9, 500).astype(dtype)
    field = dt.from_numpy(counts)
    assert dt.prefix_sum(field) == counts.sum()
    assert field.to_numpy().tolist() == (np.cumsum(counts) - counts).tolist()


def test_sums_that_do_not_fit_and_other_fields_are_refused() -> None:
    counts = dt.full(3, 1 << 30, dtype=ti.i32)
    with pytest.raises(dt.FieldError, match=r"is 3,221,225,472; make them a field of i64"):
        dt.prefix_sum(counts)
    assert counts.to_numpy().tolist() == [1 << 30] * 3
    assert dt.prefix_sum(dt.full(3, 1 << 30, dtype=ti.i64)) == 3 << 30
    with pytest.raises(dt.FieldError, match="integers of shape"):
        dt.prefix_sum(dt.zeros(3))
