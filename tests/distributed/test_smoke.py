"""Smoke on ranks: the gradient equals that of one process on plain fields, which wrap around."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.distributed import smokes
from tests.ranks import RanksFailed, ranks

TAPES: tuple[dict[str, Any], ...] = ({}, {"memory": 5.0})


@cache
def plain() -> dict[str, Any]:
    """The results of one process."""
    return smokes.gradients(False)[0]


def check(found: list[dict[str, Any]]) -> None:
    """Check results against those of one process."""
    for k, one in enumerate(found):
        for name in ("loss", "smoke", "v0"):
            expected = plain()[name]
            np.testing.assert_allclose(
                one[name], expected, rtol=0, atol=1e-12 * np.abs(expected).max(), err_msg=name
            )
        assert (one["again"] > 0) == (k > 0)


def test_one_rank() -> None:
    assert np.abs(plain()["v0"]).max() > 1e-3
    check(smokes.gradients(True, TAPES))


@pytest.mark.parametrize(
    ("size", "engine"),
    [
        (3, "torch"),
        pytest.param(2, "torch", marks=pytest.mark.slow),
        pytest.param(4, "torch", marks=pytest.mark.slow),
        pytest.param(2, "mpi", marks=pytest.mark.slow),
        pytest.param(4, "mpi", marks=pytest.mark.slow),
    ],
)
def test_ranks(size: int, engine: str) -> None:
    for found in ranks(size, engine).run(smokes.gradients, True, TAPES):
        check(found)


def test_a_flow_that_outruns_its_halos_is_refused() -> None:
    with pytest.raises(ValueError, match=r"The flow goes .* cells in a step, and halos allow 1"):
        smokes.gradients(True, ({},), 1)
    with pytest.raises(RanksFailed) as failed:
        ranks(3).run(smokes.gradients, True, ({},), 1)
    assert str(failed.value).count("The flow goes") >= 3
