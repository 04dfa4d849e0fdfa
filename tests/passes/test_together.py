"""Threads in a warp combine their contributions to one element: conditions and results.

Warps are a matter of CUDA; here each thread stands for a warp of its own.
"""

from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.compile import compiled
from difftile.runtime.kernel import Kernel
from difftile.schedule.apply import apply
from difftile.schedule.finish import finish
from difftile.schedule.grids import Grid, Grids
from difftile.schedule.schedule import Schedule
from difftile.schedule.target import Target
from difftile.substrate import variants
from difftile.substrate.emit import emit
from tests.device_arrays import threads_alone
from tests.targets import device

GRIDS = Grids(full=Grid(32), several=Grid(64), few=Grid(32), private=Grid(32), sharing=Grid(32))


@pytest.fixture(autouse=True)
def as_on_a_gpu() -> Iterator[None]:
    def finished(program: Any, *_: Any) -> Any:
        return finish(program, device(8), checked=True)

    def on_gpu(program: Any, *_: Any) -> Any:
        return apply(program, Schedule(), Target(grids=GRIDS))

    def source(made: Any, *_: Any, **options: Any) -> Any:
        return emit(made, Schedule(), Target(grids=GRIDS))

    with (
        mock.patch.object(compiled, "finish", finished),
        mock.patch.object(variants, "apply", on_gpu),
        mock.patch.object(variants, "emit", source),
        threads_alone(),
    ):
        yield


def field(*shape: int) -> dt.Field:
    rng = np.random.default_rng(sum(shape))
    return dt.from_numpy(rng.uniform(0.5, 1.5, shape), dtype=ti.f32, grad=True)


def kernel(body: Any) -> Kernel:
    """A freshly compiled kernel, in the mode of the fixture."""
    return dt.kernel(body)


def by_rows(a, x, order, y):
    for i, j in a:
        y[order[i]] += a[i, j] * x[j]


def test_rows_are_summed_together_and_columns_are_not() -> None:
    a, x, y = field(5, 40), field(40), field(5)
    expected = y.to_numpy() + a.to_numpy() @ x.to_numpy()
    rows = kernel(by_rows)
    order = dt.from_numpy(np.arange(5, dtype=np.int32))
    rows(a, x, order, y)
    np.testing.assert_allclose(y.to_numpy(), expected, rtol=1e-6)
    assert rows.source().count("warps.total") == 1
    y.grad.fill(1.0)
    rows.bwds(a, x, order, y)
    np.testing.assert_allclose(x.grad.to_numpy(), a.to_numpy().sum(0), rtol=1e-6)
    assert "warps" not in rows.source("adjoint")


def gathered(table, order, starts, weights, image):
    for t, k in ti.ndrange(starts.shape[0] - 1, weights.shape[0]):
        for s in range(starts[t], starts[t + 1]):
            g = order[s]
            if weights[k] > 1.0:
                w = weights[k] * table[g]
                if w > 1.2:
                    image[g] += w
                else:
                    image[g] += 2.0 * w
                if k > 3:
                    image[order[s + 1]] += w


def test_what_leaves_branches() -> None:
    table, weights, image = field(6), field(33), dt.zeros(6, ti.f32)
    order = dt.from_numpy(np.array([0, 2, 1, 5, 3, 4, 0], np.int32))
    starts = dt.from_numpy(np.array([0, 3, 3, 6], np.int32))
    wanted = np.zeros(6)
    numbers = table.to_numpy().astype(float), weights.to_numpy().astype(float)
    places = order.to_numpy()
    for k, weight in enumerate(numbers[1]):
        for s in range(6) if weight > 1 else ():
            w = weight * numbers[0][places[s]]
            wanted[places[s]] += w if w > 1.2 else 2 * w
            wanted[places[s + 1]] += w if k > 3 else 0.0
    sums = kernel(gathered)
    sums(table, order, starts, weights, image)
    np.testing.assert_allclose(image.to_numpy(), wanted, rtol=1e-5)
    # The place of the last one is known only in its branch, where it may be out of range.
    assert sums.source().count("warps.total") == 1
    assert sums.source().count("image[") == 2


def own_bounds(counts, y):
    for i, j in ti.ndrange(counts.shape[0], counts.shape[1]):
        for _ in range(counts[i, j]):
            y[i % 2] += 1.0


def test_threads_that_part_add_for_themselves() -> None:
    counts = dt.from_numpy(np.arange(12, dtype=np.int32).reshape(3, 4))
    y = dt.zeros(2, ti.f32)
    loops = kernel(own_bounds)
    loops(counts, y)
    assert y.to_numpy().tolist() == [0 + 1 + 2 + 3 + 8 + 9 + 10 + 11, 4 + 5 + 6 + 7]


def squares(image, loss):
    for i in ti.grouped(image):
        loss[None] += image[i] * image[i]


@pytest.mark.parametrize("shape", [(1, 7, 9), (3, 4), (50,)])
def test_sums_into_one_element_are_cut_along_all_axes(shape: tuple[int, ...]) -> None:
    image, loss = field(*shape), dt.zeros((), ti.f32, grad=True)
    norm = kernel(squares)
    norm(image, loss)
    np.testing.assert_allclose(loss[None], np.sum(image.to_numpy() ** 2), rtol=1e-5)
    assert "for block in range(8):" in norm.source()
    loss.grad.fill(1.0)
    norm.bwds(image, loss)
    np.testing.assert_allclose(image.grad.to_numpy(), 2 * image.to_numpy(), rtol=1e-6)
