"""Sums and sorts of integers against NumPy, for every way of sharing the work."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

import difftile as dt
from difftile import prefix_sums, sorting
from difftile.prefix_sums import Grain, Scan
from difftile.sorting import Sorter

GRAINS = {
    "as measured": None,
    "alone": Grain(1, 1, 8, 1 << 20, 1 << 30),
    "as on a GPU": Grain(1 << 20, 16, 5, 8, 8),
}


@pytest.fixture(params=GRAINS)
def shared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Share work as is done on one device or another."""
    given = GRAINS[request.param]
    if given is not None:
        for module in (prefix_sums, sorting):
            monkeypatch.setattr(module, "grain", lambda: given)
    yield


@pytest.mark.parametrize("n", [1, 2, 17, 1000, 70_001])
def test_sorts_as_numpy(shared: None, n: int) -> None:
    rng = np.random.default_rng(n)
    sorter = Sorter(n)
    for bits, highest in ((32, 2**32), (32, 7), (11, 2**11), (1, 2)):
        check_sort(sorter, rng.integers(0, highest, n, dtype=np.uint32), bits)


def check_sort(sorter: Sorter, keys: npt.NDArray[np.uint32], bits: int) -> None:
    """Sort keys by their lowest bits, and compare with NumPy."""
    n = len(keys)
    values = np.random.default_rng(n).integers(-(2**31), 2**31, n, dtype=np.int32)
    if n:
        sorter.keys[:n].from_numpy(keys)
        sorter.values[:n].from_numpy(values)
    sorter.sort(n, bits)
    order = np.argsort(keys & np.uint32(2**bits - 1), kind="stable")
    np.testing.assert_array_equal(sorter.keys.to_numpy()[:n], keys[order])
    np.testing.assert_array_equal(sorter.values.to_numpy()[:n], values[order])


def test_sorts_by_some_bits_and_into_a_field(shared: None) -> None:
    rng = np.random.default_rng(0)
    n = 300
    sorter, into = Sorter(2 * n), dt.full(n + 5, -1, np.int32)
    keys = rng.integers(0, 2**32, 2 * n, dtype=np.uint32)
    sorter.keys.from_numpy(keys)
    sorter.values.from_numpy(np.arange(2 * n, dtype=np.int32))
    sorter.sort(n, 9, into=into)
    order = np.argsort(keys[:n] & 511, kind="stable")
    np.testing.assert_array_equal(into.to_numpy(), [*order, *[-1] * 5])
    np.testing.assert_array_equal(sorter.keys.to_numpy()[:n], keys[order])


def test_sorting_nothing_leaves_all() -> None:
    sorter = Sorter(3)
    sorter.keys.from_numpy(np.array([3, 1, 2], np.uint32))
    sorter.sort(0)
    assert sorter.keys.to_numpy().tolist() == [3, 1, 2]


def test_makes_room() -> None:
    sorter = Sorter()
    sorter.reserve(10)
    keys = sorter.keys
    sorter.reserve(9)
    assert sorter.capacity == 10 and sorter.keys is keys


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (40, 1), (9001, 3)])
def test_sums_what_comes_before_down_the_columns(shared: None, shape: tuple[int, int]) -> None:
    counts = np.random.default_rng(1).integers(0, 50, shape, dtype=np.int32)
    field = dt.from_numpy(np.pad(counts, ((0, 2), (0, 1)), constant_values=77))
    scan = Scan()
    scan(field, *shape)
    before = np.cumsum(counts.T) - counts.T.ravel()
    found = field.to_numpy()
    np.testing.assert_array_equal(found[:-2, :-1], before.reshape(counts.T.shape).T)
    assert scan.total == counts.sum()
    assert np.all(found[-2:] == 77) and np.all(found[:, -1] == 77)


def test_tables_may_get_wider(shared: None) -> None:
    scan = Scan()
    for columns in (1, 3, 2):
        counts = np.random.default_rng(columns).integers(0, 50, (9001, columns), dtype=np.int32)
        field = dt.from_numpy(counts)
        scan(field, *counts.shape)
        before = np.cumsum(counts.T) - counts.T.ravel()
        np.testing.assert_array_equal(field.to_numpy(), before.reshape(counts.T.shape).T)
        assert scan.total == counts.sum()


def test_a_sum_may_be_beyond_its_counts(shared: None) -> None:
    scan = Scan()
    scan(dt.full((100, 1), 2**30, np.int32), 100)
    assert scan.total == 100 * 2**30
