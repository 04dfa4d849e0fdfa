"""Poisson's equation in space on ranks: derivatives equal those of one process on plain fields."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.distributed import poisson
from tests.ranks import ranks

TAPES: tuple[dict[str, Any], ...] = ({"memory": 16.0}, {})


@cache
def plain() -> poisson.Arrays:
    """The derivatives in one process."""
    return poisson.derivatives(False)


def check(found: poisson.Arrays) -> None:
    """Compare derivatives with those of one process, for each tape."""
    for name, values in found.items():
        if name.startswith("again"):
            assert (values > 0) == (name == "again 0")
            continue
        expected = plain()[name.replace("1", "0")]
        scale = np.abs(expected).max()
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12 * scale, err_msg=name)


def test_one_rank() -> None:
    check(poisson.derivatives(True, TAPES))


@pytest.mark.parametrize(
    ("size", "engine", "tapes"),
    [
        (3, "torch", TAPES),
        (2, "torch", TAPES),
        (4, "torch", TAPES),
        (3, "mpi", TAPES),
        (4, "mpi", TAPES),
    ],
)
@pytest.mark.slow  # smoke solves its equations on ranks, too
def test_ranks(size: int, engine: str, tapes: tuple[dict[str, Any], ...]) -> None:
    for found in ranks(size, engine).run(poisson.derivatives, True, tapes):
        check(found)
