"""Robots of material points on several ranks: equal to their scene, which knows no ranks."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.distributed import robots
from tests.ranks import ranks

STEPS = {2: 30, 3: 12}
LIMIT = 800_000  # bytes on each rank
CLOSE = {"f64": 1e-12, "f32": 2e-5}  # of the largest entry
COMPILES = pytest.mark.slow(reason="each rank compiles")


@cache
def alone(dim: int, type_: str) -> Any:
    return robots.in_one_process(dim, STEPS[dim], type_)


def check(found: Any, dim: int, type_: str) -> None:
    """Compare the results of ranks with those of one process."""
    loss, x, gradients = alone(dim, type_)
    for one in found:
        assert abs(one[0] - loss) <= CLOSE[type_]
        np.testing.assert_allclose(one[1], x, rtol=0.0, atol=CLOSE[type_])
        for gradient, right in zip(one[2], gradients, strict=True):
            size = np.abs(right).max()
            assert size > 1e-6
            np.testing.assert_allclose(gradient, right, rtol=0.0, atol=CLOSE[type_] * size)
    counts = np.array([one[3] for one in found])
    assert (counts.sum(axis=0) == len(x)).all()
    if len(found) > 1:
        assert np.abs(np.diff(counts, axis=1)).sum() >= 0.2 * len(x)  # borders are crossed


@pytest.mark.parametrize(
    ("boxes", "engine", "type_"),
    [
        ((2, 1), "torch", "f64"),
        ((2, 2), "torch", "f64"),
        ((3, 1), "torch", "f32"),
        ((3, 1), "mpi", "f64"),
    ],
)
@COMPILES
def test_robot(boxes: tuple[int, int], engine: str, type_: str) -> None:
    given = 2, STEPS[2], type_, boxes
    found = ranks(boxes[0] * boxes[1], engine).run(robots.on_ranks, *given, patience=300.0)
    check(found, 2, type_)


@COMPILES
def test_robot_within_memory() -> None:
    given = 2, STEPS[2], "f64", (3, 1)
    found = ranks(3).run(robots.on_ranks, *given, LIMIT, patience=300.0)
    check(found, 2, "f64")
    assert len({one[4] for one in found}) == 1 and found[0][4] > 0


@pytest.mark.parametrize(
    ("boxes", "engine", "type_"),
    [
        ((2, 1, 1), "torch", "f64"),
        ((2, 1, 2), "torch", "f64"),
        ((2, 1, 1), "torch", "f32"),
        ((2, 1, 1), "mpi", "f64"),
    ],
)
@COMPILES
def test_robot_in_space(boxes: tuple[int, int, int], engine: str, type_: str) -> None:
    given = 3, STEPS[3], type_, boxes
    check(ranks(int(np.prod(boxes)), engine).run(robots.on_ranks, *given, patience=300.0), 3, type_)
