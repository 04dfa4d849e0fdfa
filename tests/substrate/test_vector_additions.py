"""Vectors that are added to elements which iterations share, by the threads of a warp together."""

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from tests.device_arrays import device_arrays, threads_alone
from tests.device_text import device_texts

CASES = [(2, 1), (3, 1), (3, 3), (4, 2), (5, 2), (7, 1), (16, 1)]  # components, axes


@dt.kernel
def add(values, places, least: int, sums):
    for i in values:
        if places[i][0] >= least:
            sums[places[i]] += values[i]


@dt.kernel
def subtract(values, places, least: int, sums):
    for i in values:
        if places[i][0] >= least:
            sums[places[i]] -= values[i]


def run(kernel, components: int, axes: int, n: int, least: int) -> None:
    """Compare sums with NumPy's: small integers, so that their order does not matter."""
    rng = np.random.default_rng(components)
    values = rng.integers(-9, 10, (n, components)).astype(np.float32)
    places = rng.integers(0, 4, (n, axes), np.int32)
    sums = dt.zeros((4,) * axes, dt.vec(components, ti.f32))
    kernel(
        dt.from_numpy(values, dt.vec(components, ti.f32)),
        dt.from_numpy(places, dt.vec(axes, ti.i32)),
        least,
        sums,
    )
    expected = np.zeros((*(4,) * axes, components), np.float32)
    taken = places[:, 0] >= least
    sign = 1 if kernel is add else -1
    np.add.at(expected, tuple(places[taken].T), sign * values[taken])
    np.testing.assert_array_equal(sums.to_numpy(), expected)


def check(components: int, axes: int) -> None:
    for n in (5, 64, 3001):
        for least in (0, 2):  # of the threads of a warp, all add, or some
            run(add, components, axes, n, least)
    run(subtract, components, axes, 3001, 0)


@pytest.mark.compiled
def test_code_for_warps_adds_as_numpy() -> None:
    with threads_alone(), device_arrays(warps=True):
        for components, axes in CASES[::3]:
            check(components, axes)


def test_warps_share_vectors_in_single_precision() -> None:
    for components, dtype, shared in ((3, ti.f32, True), (3, ti.f64, False), (17, ti.f32, False)):
        with device_texts() as texts:
            vector = dt.vec(components, dtype)
            places = dt.zeros(100_000, dt.vec(1, ti.i32))
            add(dt.zeros(100_000, vector), places, 0, dt.zeros(4, vector))
        assert ("warps.add(" in texts["add"]) == shared
