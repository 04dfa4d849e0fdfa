"""Material points on several ranks: equal to one process, which knows no ranks."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.distributed import mpm
from tests.ranks import ranks

PLANE, SPACE = (2, 16, 60, 40), (3, 6, 40, 12)  # dimensions, nodes a side, particles, steps
LIMIT = 160_000  # bytes on each rank
COMPILES = pytest.mark.slow(reason="each rank compiles")


@cache
def plane() -> Any:
    return mpm.in_one_process(*PLANE)


@cache
def space() -> Any:
    return mpm.on_ranks(*SPACE, (1, 1, 1), False)


def _check(found: Any, wanted: Any) -> None:
    for loss, x, gradients, *_ in found:
        assert abs(loss - wanted[0]) <= 1e-12 * abs(wanted[0])
        np.testing.assert_allclose(x, wanted[1], rtol=0.0, atol=1e-12)
        for one, right in zip(gradients, wanted[2], strict=True):
            size = np.abs(right).max()
            assert size > 0.01
            np.testing.assert_allclose(one, right, rtol=0.0, atol=1e-12 * max(1.0, size))


@pytest.mark.parametrize(
    ("boxes", "engine"),
    [
        ((1, 1), ""),
        ((3, 1), "torch"),
        pytest.param((2, 1), "torch", marks=COMPILES),
        pytest.param((2, 2), "torch", marks=COMPILES),
        pytest.param((3, 1), "mpi", marks=COMPILES),
    ],
)
def test_plane_with_walls(boxes: tuple[int, ...], engine: str) -> None:
    size = boxes[0] * boxes[1]
    given = (*PLANE, boxes, True)
    found = ranks(size, engine).run(mpm.on_ranks, *given) if engine else [mpm.on_ranks(*given)]
    _check(found, plane())
    counts = np.array([one[3] for one in found])
    assert (counts.sum(axis=0) == PLANE[2]).all()
    if size > 1:  # particles leave and come back, and the ranks at the ends are empty for a while
        assert (np.diff(counts, axis=1) > 0).any() and (np.diff(counts, axis=1) < 0).any()


@pytest.mark.parametrize(
    "boxes",
    [pytest.param(boxes, marks=COMPILES) for boxes in [(1, 3, 1), (2, 1, 1), (2, 1, 2)]],
)
def test_ring_in_space(boxes: tuple[int, ...]) -> None:
    """Boxes are narrower than the halos of their neighbours, or just as wide."""
    found = ranks(int(np.prod(boxes))).run(mpm.on_ranks, *SPACE, boxes, False)
    _check(found, space())


def test_plane_within_memory() -> None:
    found = ranks(3).run(mpm.on_ranks, *PLANE, (3, 1), True, LIMIT)
    _check(found, plane())
    assert len({one[4] for one in found}) == 1 and found[0][4] > 0
