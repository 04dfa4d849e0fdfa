"""Old values that are mostly zero are kept as the box that is not."""

from __future__ import annotations

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.substrate import pool
from difftile.substrate.packing import pack


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8, np.int64])
@pytest.mark.parametrize("shape", [(64,), (9, 16), (16, 9, 2), (7, 8, 9), (6, 5, 8, 3)])
def test_contents_come_back_bit_by_bit(shape: tuple[int, ...], dtype: type) -> None:
    rng = np.random.default_rng(len(shape))
    packed = 0
    for _ in range(40):
        values = np.zeros(shape, dtype)
        box = tuple(slice(a, a + int(rng.integers(0, 4))) for a in rng.integers(0, shape))
        values[box] = rng.integers(-2, 3, values[box].shape)
        found = pack(values)
        if found is None:
            continue
        packed += 1
        assert found.values.size <= values.size / 2
        back = np.ones(shape, dtype)
        found.unpack(back)
        np.testing.assert_array_equal(back, values)
    assert packed > 10


@pytest.mark.parametrize("odd", [np.nan, -0.0, np.inf])
def test_every_number_but_positive_zero_counts(odd: float) -> None:
    values = np.zeros((8, 8), np.float32)
    values[2, 5] = odd
    found = pack(values)
    assert found is not None
    assert found.box == (slice(2, 3), slice(5, 6))
    assert found.values.tobytes() == np.float32(odd).tobytes()


def test_dense_contents_are_not_packed() -> None:
    assert pack(np.ones((8, 8), np.float32)) is None
    half = np.ones((8, 8), np.float32)
    half[:3] = 0.0
    assert pack(half) is None


@dt.kernel
def splash(x, grid, at: int):
    for i, j in grid:
        grid[i, j] = 0.0
    for k in x:
        grid[at + k, at] += x[k] * x[k]
    for i, j in grid:
        grid[i, j] = grid[i, j] * grid[i, j]
    for k in x:
        x[k] += 0.1 * ti.sin(grid[at + k, at])


@dt.kernel
def total(x, loss):
    for k in x:
        loss[None] += x[k]


@pytest.mark.compiled  # the compiler's launches hold the arguments of the last one
def test_tape_keeps_what_is_not_zero_and_its_gradient_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = dt.from_numpy(np.array([0.3, 0.7, 1.1]), dtype=ti.f64, grad=True)
    x, grid = dt.zeros_like(start), dt.zeros((96, 96), dtype=ti.f64, grad=True)
    loss = dt.zeros((), dtype=ti.f64, grad=True)
    gradients, peaks = [], []
    for least in (pool._WORTH_PACKING, 1 << 40):
        monkeypatch.setattr(pool, "_WORTH_PACKING", least)
        loss.fill(0.0)
        with dt.Tape() as tape:
            x.copy_from(start)
            for step in range(20):
                splash(x, grid, 3 + step)
            total(x, loss)
        peaks.append(tape.nbytes)
        for _ in range(2):  # the second time they are unpacked already
            start.grad.fill(0.0)
            tape.backward(loss, keep=True)
            gradients.append(start.grad.to_numpy())
        tape.release()
        assert tape.nbytes == 0
    assert peaks[0] < peaks[1] / 10
    for other in gradients[1:]:
        np.testing.assert_array_equal(other, gradients[0])


@pytest.mark.compiled  # the compiler's launches hold the arguments of the last one
def test_runs_go_on_after_their_old_contents_are_packed() -> None:
    start = dt.from_numpy(np.array([0.3, 0.7, 1.1]), dtype=ti.f64, grad=True)
    x, grid = dt.zeros_like(start), dt.zeros((96, 96), dtype=ti.f64, grad=True)
    loss, gradients = dt.zeros((), dtype=ti.f64, grad=True), list[np.ndarray]()
    for _ in range(3):  # each finds the buffers of the last one in the context of the launch
        loss.fill(0.0)
        start.grad.fill(0.0)
        with dt.Tape(loss):
            x.copy_from(start)
            dt.repeat(lambda t: splash(x, grid, 3 + t), 20)
            total(x, loss)
        gradients.append(start.grad.to_numpy())
    for other in gradients[1:]:
        np.testing.assert_array_equal(other, gradients[0])
