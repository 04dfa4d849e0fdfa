"""Derivatives of solvers by boundary values, which are in halos that no rank owns."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.distributed import split_boundaries as problems
from tests.ranks import ranks

CASES: list[tuple[Callable[..., None], tuple[Any, ...]]] = [
    (problems.root, ()),
    (problems.linear, ()),
    (problems.fixed_point, ()),
    (problems.minimum, ()),
    (problems.heat, ("discrete",)),
    (problems.heat, ("continuous",)),
]
ALONE = [*CASES[:-1], pytest.param(CASES[-1], marks=pytest.mark.slow)]
RUNS = [
    (3, "torch", CASES[0]),
    *(
        pytest.param(size, engine, case, marks=pytest.mark.slow)
        for size, engine in [(3, "torch"), (2, "torch"), (4, "torch"), (3, "mpi")]
        for case in CASES
        if (size, engine, case) != (3, "torch", CASES[0])
    ),
]


def has_second(solve: Callable[..., None]) -> bool:
    """Tell whether a solver has second derivatives."""
    return solve is not problems.minimum


@cache
def plain(solve: Callable[..., None], *options: Any) -> problems.Arrays:
    """The derivatives in one process whose unknown has no rim."""
    return problems.derivatives(False, solve, *options, higher=has_second(solve))


def check(found: problems.Arrays, case: tuple[Callable[..., None], tuple[Any, ...]]) -> None:
    """Compare derivatives with those of one process, to 1e-12."""
    expected = plain(case[0], *case[1])
    outside = np.array(expected["start"])
    outside[1:-1, 1:-1] = 0.0
    assert np.abs(outside).max() > 0.01  # boundary values matter
    for name, values in expected.items():
        scale = max(1.0, float(np.abs(values).max()))
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-12 * scale, err_msg=name)


@pytest.mark.parametrize("case", ALONE, ids=lambda case: "-".join((case[0].__name__, *case[1])))
def test_one_rank(case: tuple[Callable[..., None], tuple[Any, ...]]) -> None:
    solve, options = case
    check(problems.derivatives(True, solve, *options, higher=has_second(solve)), case)


@pytest.mark.parametrize(("size", "engine", "case"), RUNS)
def test_ranks(size: int, engine: str, case: tuple[Callable[..., None], tuple[Any, ...]]) -> None:
    for found in ranks(size, engine).run(run, *case):
        check(found, case)


def run(solve: Callable[..., None], options: tuple[Any, ...]) -> problems.Arrays:
    """Return the derivatives on ranks."""
    return problems.derivatives(True, solve, *options, higher=has_second(solve))
