"""How often adjoints run the bodies of loops again: the table of `docs/loops.md`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile import meaning
from difftile.ad.reverse import reverse
from difftile.ir.nodes import Array, Let, Stmt, Var
from difftile.passes.optimise import simplify
from difftile.schedule.finish import finish
from tests.targets import host


@dt.kernel
def counted(x, y, n: int):
    for i in x:
        s = 0.5
        for _ in range(n):
            s = 0.9 * ti.sin(s) + 0.1 * x[i]
        y[i] = s


@dt.kernel
def until(x, y, n: int):
    for i in x:
        s = 0.5
        k = 0
        while k < n:
            s = 0.9 * ti.sin(s) + 0.1 * x[i]
            k += 1
        y[i] = s


@dt.kernel
def nested(x, y, n: int):
    for i in x:
        s = 0.5
        for _ in range(n):
            t = s
            for _ in range(10):
                t = 0.9 * ti.sin(t) + 0.1 * x[i]
            s = t * t
        y[i] = s


def _runs(kernel: Any, n: int) -> int:
    """Return how often the adjoint computes the sine, which only forward runs need."""
    x = dt.from_numpy(np.array([0.7]), grad=True)
    y = dt.zeros(1, dtype=ti.f64, grad=True)
    kernel(x, y, n)
    program = kernel._latest.stages[0].program
    by_name = {p.name: p for p in program.params}
    adjoint = reverse(program, frozenset((by_name["x"], by_name["y"])))
    code = finish(simplify(adjoint.program), host(8))
    fields = {p: np.ones(1) for p in code.params if isinstance(p, Array)}
    numbers = {p: n for p in code.params if isinstance(p, Var)}
    count = 0

    def watch(stmt: Stmt, _: meaning.Machine) -> None:
        nonlocal count
        count += isinstance(stmt, Let) and stmt.op == "sin"

    meaning.run(code, fields, numbers, watch=watch)
    return count


@pytest.mark.parametrize(
    ("kernel", "n", "most"),
    [
        (counted, 10, 1.0),
        (counted, 128, 1.0),
        (counted, 2000, 2.0),
        (counted, 3000, 3.0),
        (until, 10, 1.0),
        (until, 128, 1.0),
        (until, 2000, 2.0),
        (until, 3000, 3.0),
    ],
)
def test_forward_runs_of_one_loop(kernel: Any, n: int, most: float) -> None:
    assert _runs(kernel, n) <= most * n


@pytest.mark.parametrize(("n", "most"), [(30, 2.0), (300, 3.0)])
def test_forward_runs_of_a_loop_in_a_loop(n: int, most: float) -> None:
    assert _runs(nested, n) <= most * n * 10
