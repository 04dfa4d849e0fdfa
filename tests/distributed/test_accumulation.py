"""Halos are added to their owners: against sums over the whole grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.distributed import accumulations
from tests.ranks import ranks

# Shape, ranks, halo, periodic: corners, uneven boxes, halos wider than a neighbour or the grid.
CASES: dict[int, Sequence[tuple[Any, ...]]] = {
    1: [((4, 5), (1, 1), 1, True), ((3,), (1,), 5, True), ((3, 2, 2), (1, 1, 1), 1, (1, 0, 1))],
    2: [((5, 3), (2, 1), 2, (False, True)), ((7,), (2,), 1, False), ((4, 4), (1, 2), 3, True)],
    3: [((5, 7), (1, 3), (1, 3), False), ((4,), (3,), 3, True), ((4, 3, 2), (3, 1, 1), 2, False)],
    4: [((5, 6), (2, 2), 2, True), ((5, 6), (4, 1), (2, 1), (False, True)), ((4,), (4,), 6, True)],
}


@pytest.mark.parametrize(
    "size", [1, 3, *(pytest.param(size, marks=pytest.mark.slow) for size in (2, 4))]
)
def test_accumulation_is_the_transpose_of_an_exchange(size: int) -> None:
    cases = CASES[size]
    found = (
        [accumulations.accumulated(cases, 3)]
        if size == 1
        else ranks(size).run(accumulations.accumulated, cases, 3)
    )
    for k, case in enumerate(cases):
        _check(case, [one[k] for one in found])


def _check(case: tuple[Any, ...], parts: Sequence[Any]) -> None:
    shape, periodic = case[0], np.broadcast_to(case[3], len(case[0]))
    for field in range(3):
        tail = parts[0][2][field].shape[len(shape) :]
        sums, seeds = np.zeros((*shape, *tail)), np.zeros((*shape, *tail))
        for part in parts:
            where, inside, own = _cells(part, shape, periodic)
            before, seed = part[2][field], part[4][field]
            np.add.at(sums, tuple(where[inside].T), before[inside])
            seeds[tuple(where[own].T)] = seed[own]
        for part in parts:
            where, inside, own = _cells(part, shape, periodic)
            _, _, before, after, seed, grads = (
                one[field] if i > 1 else one for i, one in enumerate(part)
            )
            np.testing.assert_allclose(after[own], sums[tuple(where[own].T)], rtol=0, atol=1e-13)
            assert not after[inside & ~own].any()
            assert (after[~inside] == before[~inside]).all()
            assert (grads[inside] == seeds[tuple(where[inside].T)]).all()
            assert (grads[~inside] == seed[~inside]).all()


def _cells(part: Any, shape: Sequence[int], periodic: Any) -> tuple[Any, Any, Any]:
    """Return the cell of each element, whether it is in the domain, and whether a rank owns it."""
    origin, inner, before = part[:3]
    local = np.moveaxis(np.indices(before[0].shape), 0, -1)
    where = local + np.array(origin)
    inside = np.all(periodic | ((where >= 0) & (where < np.array(shape))), axis=-1)
    width = (np.array(before[0].shape) - np.array(inner)) // 2
    own = np.all((local >= width) & (local < width + np.array(inner)), axis=-1)
    return where % np.array(shape), inside, own
