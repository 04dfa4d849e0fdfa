"""Loops over `dt.steps` with communication in their bodies: the same as in Python, by any tape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.distributed import loops
from tests.ranks import ranks

BODIES = ["exchange", "exchanging", "accumulate", "solve", "sum", "migrate"]
QUICK = [("exchanging", 3), ("migrate", 3)]
TAPES: tuple[dict[str, Any], ...] = ({}, {"snapshots": 3})


def check(found: list[dict[str, Any]], alone: list[dict[str, Any]]) -> None:
    """Compare loops with that of Python on one rank."""
    first = alone[0]
    assert np.abs(first["start"]).max() > 1e-3
    for k, one in enumerate(found):
        assert (one["again"] > 0) == (k == len(TAPES))
        for name in ("loss", "p", "start"):
            scale = np.abs(first[name]).max()
            np.testing.assert_allclose(
                one[name], first[name], rtol=0, atol=1e-12 * scale, err_msg=f"{name} {k}"
            )


@pytest.mark.parametrize("body", BODIES)
def test_one_rank(body: str) -> None:
    found = loops.results(body, TAPES)
    check(found, found)


@pytest.mark.parametrize(
    ("body", "size", "engine"),
    [
        pytest.param(body, size, engine, marks=[] if (body, size) in QUICK else pytest.mark.slow)
        for size, engine in [(3, "torch"), (2, "torch"), (4, "mpi")]
        for body in BODIES
    ],
)
def test_ranks(body: str, size: int, engine: str) -> None:
    alone = loops.results(body, ())
    for found in ranks(size, engine).run(loops.results, body, TAPES):
        check(found, alone)
