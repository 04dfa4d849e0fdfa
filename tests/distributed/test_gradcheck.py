"""`dt.gradcheck` on fields of grids: on one rank as anywhere, on several for what is local."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from tests.ranks import RanksFailed, ranks


@dt.kernel
def matrix(v: Any, out: Any, k: Any):
    for i, j in ti.ndrange((2, v.shape[0] - 2), (2, v.shape[1] - 2)):
        around = v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1]
        out[i, j] = (5.0 + k[i, j]) * v[i, j] - around


@dt.kernel
def square(x: Any, loss: Any):
    for at in ti.grouped(x):
        loss[None] += x[at] ** 2


class Program:
    """Steps of all kinds on a grid."""

    def __init__(self) -> None:
        self.grid = dist.Grid((6, 5), halo=2, periodic=(True, False))
        self.b, self.k, self.x = (self.grid.field(ti.f32, grad=True) for _ in range(3))
        self.loss = dt.zeros((), ti.f32, grad=True)
        rng = np.random.default_rng(1)
        for one in (self.b, self.k):
            one.from_global(rng.random((6, 5)) + 0.5)

    def local(self) -> None:
        self.loss.fill(0.0)
        square(self.b.inner, self.loss)

    def whole(self) -> None:
        self.grid.exchange(self.b, self.k)
        dt.linear_solve(matrix, self.b, self.x, args=(self.k,), tol=1e-13, adjoint_tol=1e-13)
        with self.grid.exchanging(self.x):
            self.k.copy_from(self.x)
        self.grid.accumulate(self.k)
        self.loss.fill(0.0)
        square(self.x.inner, self.loss)
        square(self.k.inner, self.loss)
        dist.sum(self.loss)


def test_a_check_on_one_rank() -> None:
    program = Program()
    before = program.b.to_global(), program.x.to_global()
    report = dt.gradcheck(program.whole, [program.b, program.k], outputs=program.loss)
    assert report, report
    assert program.b.to_global().dtype == np.float32
    for one, values in zip((program.b, program.x), before, strict=True):
        np.testing.assert_array_equal(one.to_global(), values)


def check(whole: bool) -> tuple[bool, Any, Any]:
    """Check a program, and return whether it passed, and the parameter before and after."""
    program = Program()
    before = program.b.to_numpy()
    try:
        run = program.whole if whole else program.local
        return bool(dt.gradcheck(run, [program.b])), before, program.b.to_numpy()
    finally:
        np.testing.assert_array_equal(program.b.to_numpy(), before)


def test_a_check_of_what_each_rank_computes_by_itself() -> None:
    assert all(passed for passed, *_ in ranks(3).run(check, False))


def test_a_check_that_would_run_exchanges_is_refused_on_several_ranks() -> None:
    with pytest.raises(RanksFailed) as failed:
        ranks(3).run(check, True)
    text = str(failed.value)
    assert text.count("RankError: gradcheck(): 'whole' communicates with other ranks") == 3
    assert "AssertionError" not in text
