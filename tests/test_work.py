"""Which launches one thread runs: by what they are estimated to take."""

from __future__ import annotations

from typing import Any

import pytest

import difftile as dt
from difftile.passes.optimise import finish
from difftile.substrate.work import work_of


@dt.kernel
def scale(x, y):
    for i in x:
        y[i] = 2.0 * x[i]


@dt.kernel
def scatter(x, y):
    for i in x:
        y[int(x[i])] += x[i]


@pytest.mark.parametrize(
    ("kernel", "n", "threads"),
    [(scale, 1 << 10, []), (scale, 1 << 20, [2, 16]), (scatter, 1 << 20, [16])],
)
def test_launches_that_threads_share(kernel: Any, n: int, threads: list[int]) -> None:
    x, y = dt.zeros(n), dt.zeros(n)
    kernel(x, y)
    (launch,) = kernel._latest.launches
    work = work_of(finish(launch.stage.program, 32))
    key = work.key((x, y))
    assert [n for n in (1, 2, 16) if not work.is_for_one(key, n)] == threads
