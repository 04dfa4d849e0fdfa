"""Grids: contents and gradients of exchanges against the whole grid in NumPy."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.ranks import current
from tests.distributed import grids
from tests.ranks import ranks

SIZES = [
    (1, "torch"),
    pytest.param(2, "torch", marks=pytest.mark.slow),
    (3, "torch"),
    (4, "torch"),
    (3, "mpi"),
]


def cases(size: int) -> list[tuple[Any, ...]]:
    """Return cases for so many ranks: uneven, wide, narrow, periodic in every combination."""
    rng = random.Random(size)
    found: list[tuple[Any, ...]] = [
        ((size,), (size,), 1, True, "f64"),  # one cell a rank
        ((size,), (size,), 5, True, "f64"),  # images of images
        ((2 * size + 1,), None, 4, False, "f64"),
        ((7, 5), None, (0, 2), (True, False), "f64"),
        ((size + 3, 4), (size, 1), 0, True, "f64"),
    ]
    ways = {1: [1], 2: [1, 2], 3: [1, 3], 4: [1, 2, 4]}[size]
    while len(found) < 24:
        axes = rng.randint(1, 3)
        split = [rng.choice(ways) for _ in range(axes)]
        if math.prod(split) != size:
            continue
        shape = tuple(rng.randint(one, 7) for one in split)
        halo = tuple(rng.choice([0, 1, 1, 2, 3]) for _ in split)
        periodic = tuple(rng.random() < 0.5 for _ in split)
        element = rng.choice(list(grids.ELEMENTS))
        found.append((shape, tuple(split), halo, periodic, element))
    return found


@pytest.mark.parametrize(("size", "engine"), SIZES)
def test_exchanges_agree_with_the_whole_grid(size: int, engine: str) -> None:
    tried = cases(size)
    for found in ranks(size, engine).run(grids.many, tried):
        for case, one in zip(tried, found, strict=True):
            assert one["contents"] == one["global"] == one["from"] == 0.0, (case, one)
            assert one["root"], case
            assert one.get("gradient", 0.0) < 1.0 and one.get("left", 0.0) == 0.0, (case, one)


def test_ranks_that_make_different_grids_are_told_so() -> None:
    texts = ranks(3).run(grids.different)
    assert len(set(texts)) == 1
    grid = "one of shape (8, 8), ranks (3, 1), halo ({0}, {0}), periodic (False, False)"
    first, last = (f"rank {k} {grid.format(width)}" for k, width in ((0, 1), (2, 2)))
    assert texts[0].startswith(f"Ranks make different grids: {first}; {last}. All ranks")


def test_more_ranks_than_cells_are_refused() -> None:
    for text in ranks(3).run(grids.too_many):
        divided, along, wrong = text.split("\n")
        assert divided.startswith("A grid of shape (2,) cannot be divided among 3 ranks")
        assert along.startswith("Along axis 0 there are 3 ranks for 1 cells")
        assert wrong.startswith("A grid with ranks=(1,) needs 1 ranks, and there are 3.")


@dt.kernel
def add_neighbours(u: Any, out: Any) -> None:
    """Add products of the neighbours on a line."""
    for i in ti.ndrange((1, u.shape[0] - 1)):
        out[i] += u[i - 1] * u[i + 1]


def broken_off() -> tuple[list[float], list[float]]:
    """Replay a tape whose first backward pass fails while gradients are on their way back."""
    grid = dist.Grid((8,), halo=1, periodic=True)
    u, w, out = (grid.field(ti.f64, grad=True) for _ in range(3))
    u.from_global(np.arange(8.0) ** 2)
    failures = [RuntimeError("once")]

    @dt.custom_op
    def pause(w: Any, out: Any) -> None:
        out.copy_from(w)

    @pause.backward
    def _(w: Any, out: Any) -> None:
        if failures:
            raise failures.pop()
        w.grad_out.add_numpy(out.grad_in.to_numpy())

    def run(u: dt.Field, w: dt.Field) -> dt.Field:
        result = dt.zeros_like(out)
        with grid.exchanging(u):
            pause(w, result)
        add_neighbours(u, result)
        return result

    _, pull = dt.vjp(run, u, w)
    seed = np.cos(np.arange(out.shape[0])) * (1.0 + current().rank)
    with pytest.raises(RuntimeError, match="once"):
        pull(1.0 + seed)
    first, again = (pull(seed)[0].to_numpy().tolist() for _ in range(2))
    return first, again


@pytest.mark.parametrize("size", [1, 3])
def test_gradients_of_a_pass_that_was_broken_off_are_let_go(size: int) -> None:
    for broken, expected in ranks(size).run(broken_off):
        assert broken == expected
        assert np.any(expected)
