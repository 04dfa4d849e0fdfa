"""Gaussians on their way to ranks that draw, on one tape again and again: within a limit, too."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import difftile as dt
from tests.distributed import deliveries
from tests.ranks import ranks

# Gaussians, images of a step, steps: images for all ranks, or for one; ranks without gaussians.
CASES = {"many": (60, 3, 30), "one image": (60, 1, 100), "few": (3, 4, 30)}
_FIRST = [("many", 1), ("few", 4)]
_SLOW = [(case, size) for case in CASES for size in (1, 2, 3, 4) if (case, size) not in _FIRST]


@cache
def wanted(case: str) -> Any:
    """Return the loss and the gradients without a delivery, in one process."""
    dt.init(default_fp="f64", cpu_max_num_threads=1)
    return deliveries.unrolled(*CASES[case], 0, plain=True)


@pytest.mark.parametrize(
    ("case", "size"), [*_FIRST, *(pytest.param(*one, marks=pytest.mark.slow) for one in _SLOW)]
)
def test_gradients_are_those_of_one_process_within_a_limit(case: str, size: int) -> None:
    loss, gradients, _ = wanted(case)
    assert all(one.any() for one in gradients.values())
    for part in (0, 3):
        results = ranks(size).run(deliveries.unrolled, *CASES[case], part)
        for found, parts, again in results:
            assert found == pytest.approx(loss, rel=1e-12)
            assert (again > 0) == (part > 0)
            for name, right in gradients.items():
                most = 1e-12 * np.abs(right).max()
                np.testing.assert_allclose(parts[name], right, rtol=0, atol=most, err_msg=name)
