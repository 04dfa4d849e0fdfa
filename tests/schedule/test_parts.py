"""The parts that parallel loops on the CPU are cut into: text that is run here as Python."""

from __future__ import annotations

import itertools
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.ir.printer import Names
from difftile.schedule.steps import Spread
from difftile.substrate.parallel import LoopPart, Range, open_part
from tests import harness

TI = SimpleNamespace(max=max, min=min, cast=lambda number, _: number, i32=None, i64=None)


def parts_of(
    lengths: tuple[int, ...], starts: tuple[int, ...], threads: int
) -> list[Counter[object]]:
    """Return the iterations of each part that has some."""
    indices = [f"i{k}" for k in range(len(lengths))]
    axes = [
        Range(str(start), str(start + length), str(length) if length >= 0 else f"({length})")
        for start, length in zip(starts, lengths, strict=True)
    ]
    part = LoopPart("part", threads)
    lines = open_part(Names(frozenset(indices)), indices, axes, part)
    depth = 0
    text: list[str] = []
    for line in [*part.opened(), *lines, f"done[part // 512][{', '.join(indices)},] += 1"]:
        text.append("    " * depth + line)
        depth += line.endswith(":")
    done = [Counter[object]() for _ in range(part.parts)]
    exec("\n".join(text), {"ti": TI, "done": done})
    return [one for one in done if one]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_iteration_is_in_one_part(threads: int) -> None:
    extents = (-3, 0, 1, 2, 3, 5, 8, 9, 17, 40), (-1, 0, 1, 2, 3, 9, 30), (-1, 0, 1, 2, 5)
    every = (itertools.product(some, repeat=axes) for axes, some in enumerate(extents, 1))
    for lengths in itertools.chain(*every):
        starts = tuple((-2, 0, 7)[k] for k in range(len(lengths)))
        parts = parts_of(lengths, starts, threads)
        boxes = [range(start, start + n) for start, n in zip(starts, lengths, strict=True)]
        assert sum(parts, Counter()) == Counter(itertools.product(*boxes))


@pytest.mark.parametrize(
    ("lengths", "parts"),
    [
        ((1000,), 8),
        ((3,), 3),
        ((1, 1000), 8),
        ((3, 1000), 6),
        ((4, 1), 4),
        ((3, 5, 7), 6),
        ((1, 1, 9), 8),
    ],
)
def test_few_rows_are_cut_along_the_next_axis(lengths: tuple[int, ...], parts: int) -> None:
    sizes = [one.total() for one in parts_of(lengths, (0,) * len(lengths), 2)]
    assert len(sizes) == parts
    assert max(sizes) <= 1.6 * min(sizes) + 2


@dt.kernel
def rows(x, y):
    for i, j in x:
        y[i, j] = 2.0 * x[i, j] + i - j


@dt.kernel
def inside(x, y):
    for i, j in ti.ndrange((1, x.shape[0] - 1), (2, x.shape[1])):
        y[i, j] = x[i - 1, j] - x[i + 1, j - 2]


@dt.kernel
def ragged(x, y):
    for i, j in x:
        for k in range(i, j):
            y[i, j] += x[i, k]


@dt.kernel
def row_sums(x, y):
    for i, j in x:
        y[i, 0] += x[i, j] * x[i, j]


@dt.kernel
def squares(x, y):
    for i, j in x:
        y[0, 0] += x[i, j] * x[i, j]
        y[0, 1] += x[i, j] * i


@dt.kernel
def extremes(x, y):
    for i, j in x:
        ti.atomic_max(y[0, 0], x[i, j])
        ti.atomic_min(y[0, 1], x[i, j])


REFERENCES = {
    rows: lambda x, y, i, j: 2.0 * x + i - j,
    inside: lambda x, y, i, j: _inside(x, y),
    ragged: lambda x, y, i, j: np.array(
        [[x[a, a:b].sum() for b in range(x.shape[1])] for a in range(x.shape[0])]
    ),
    row_sums: lambda x, y, i, j: _into(y, (slice(None), 0), (x * x).sum(1)),
    squares: lambda x, y, i, j: _into(y, (0, slice(2)), [(x * x).sum(), (x * i).sum()]),
    extremes: lambda x, y, i, j: _into(y, (0, slice(2)), [max(0.0, x.max()), min(0.0, x.min())]),
}


def _into(y: np.ndarray, where: Any, values: Any) -> np.ndarray:
    y = y.copy()
    y[where] = values
    return y


def _inside(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    y = y.copy()
    if x.shape[0] > 2:
        y[1:-1, 2:] = x[:-2, 2:] - x[2:, :-2]
    return y


@pytest.mark.parametrize("kernel", REFERENCES, ids=lambda kernel: kernel.__name__)
def test_loops_over_few_rows(kernel: Any) -> None:
    """Shapes that are cut along the first axis, along both, and unevenly."""
    for shape in ((1, 2), (1, 700), (2, 3), (3, 129), (5, 64), (9, 2), (100, 3)):
        values = np.random.default_rng(5).normal(size=shape)
        x, y = dt.from_numpy(values, ti.f64), dt.zeros(shape, ti.f64)
        with harness.many_threads(), harness.vectors():
            kernel(x, y)
        expected = REFERENCES[kernel](values, np.zeros(shape), *np.indices(shape))
        np.testing.assert_allclose(y.to_numpy(), expected, rtol=1e-12, atol=1e-12)


@dt.kernel
def between(x, y, first: int, last: int):
    for i, j, k in ti.ndrange((first, last), (-1, x.shape[1] - 1), (first, x.shape[2])):
        y[None] += x[i, j + 1, k]


def test_ranges_that_are_empty_along_an_axis() -> None:
    values = np.random.default_rng(5).normal(size=(4, 5, 67))
    x, y = dt.from_numpy(values, ti.f64), dt.zeros((), ti.f64)
    for first, last in ((0, 4), (1, 3), (3, 3), (3, 1), (70, 0)):
        y.fill(0.0)
        with harness.many_threads(), harness.vectors():
            between(x, y, first, last)
        expected = values[first:last, :, first:].sum() if first < last else 0.0
        np.testing.assert_allclose(y[None], expected, rtol=1e-12, atol=1e-12)


@dt.kernel
def deviations(x, scale, y):
    for i in y:
        mean = 0.0
        for j in range(x.shape[1]):
            mean += x[i, j]
        mean /= x.shape[1]
        squares, above = 0.0, 0.0
        for j in range(i, x.shape[1]):
            d = scale[i] * (x[i, j] - mean)
            squares += d * d
            if d > 0.0:
                above += d
        y[i] = ti.sqrt(squares / x.shape[1]) + above


def deviations_of(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    d = scale[:, None] * (x - x.mean(1, keepdims=True)) * np.triu(np.ones(x.shape))
    return np.sqrt((d * d).sum(1) / x.shape[1]) + np.maximum(d, 0.0).sum(1)


@pytest.mark.parametrize("shape", [(1, 3), (2, 100), (3, 7), (4, 1001), (40, 50)])
def test_long_sums_of_few_iterations(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    values, scales, seeds = rng.normal(size=shape), rng.normal(size=shape[0]), np.arange(shape[0])
    x, scale = (dt.from_numpy(one, ti.f64, grad=True) for one in (values, scales))
    y = dt.zeros(shape[0], ti.f64, grad=True)
    with harness.many_threads(), harness.vectors():
        with dt.Tape() as tape:
            deviations(x, scale, y)
        tape.backward({y: seeds})
    np.testing.assert_allclose(y.to_numpy(), deviations_of(values, scales), rtol=1e-12)
    latest = deviations._latest
    assert latest is not None
    (stage,) = latest.stages
    spread = [one.numbers_of(Spread) for one in stage.primal.code.variants.known]
    assert bool(spread[-1]) == (shape[0] <= 4)
    direction = rng.normal(size=shape)
    slope = (
        deviations_of(values + 1e-6 * direction, scales)
        - deviations_of(values - 1e-6 * direction, scales)
    ) / 2e-6
    np.testing.assert_allclose((x.grad.to_numpy() * direction).sum(), seeds @ slope, rtol=1e-6)


def test_a_long_sum_of_one_iteration_keeps_its_digits() -> None:
    """Pieces of it are shorter than it is, and added up in double precision."""

    @dt.kernel
    def total(x, y):
        for i in y:
            for j in range(x.shape[0]):
                y[i] += x[j] / 3.0

    x, y = dt.full(1_000_000, 0.7), dt.zeros(1)
    total(x, y)
    np.testing.assert_allclose(y[0], 1e6 * float(np.float32(0.7)) / 3.0, rtol=2e-5)


def test_few_long_rows_of_polynomials() -> None:
    """Loops along rows have two copies there, and rows are blocks of columns."""

    @dt.kernel
    def waves(x, y):
        for i, j in x:
            y[i, j] = ti.sin(x[i, j])

    values = np.random.default_rng(5).normal(size=(3, 5000))
    values[1, 4000] = 1e30
    x, y = dt.from_numpy(values, ti.f64), dt.zeros((3, 5000), ti.f64)
    with harness.many_threads(), harness.vectors():
        waves(x, y)
    np.testing.assert_allclose(y.to_numpy(), np.sin(values), rtol=1e-13)
    latest = waves._latest
    assert latest is not None
    (stage,) = latest.stages
    assert [one.numbers_of(Spread) for one in stage.primal.code.variants.known] == [{0}]
