"""Grids: contents and gradients of exchanges against the whole grid in NumPy."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from tests.distributed import grids
from tests.ranks import ranks

SIZES = [(1, "torch"), (2, "torch"), (3, "torch"), (4, "torch"), (3, "mpi")]


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
