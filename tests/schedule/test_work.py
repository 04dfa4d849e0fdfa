"""Launches that run on one thread, chosen by their estimated cost."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import KernelError
from difftile.ir.nodes import Program
from difftile.ir.parse import parse
from difftile.schedule.finish import finish
from difftile.schedule.speed import SCALAR, Speed
from difftile.schedule.vectorise_functions import vectorise_functions
from difftile.schedule.work import Work, _Estimate, work_of
from difftile.substrate import CompiledProgram
from difftile.substrate import compile as compiling
from difftile.substrate.compiler import backend
from tests.targets import device, host


@dt.kernel
def scale(x, y):
    for i in x:
        y[i] = 2.0 * x[i]


@dt.kernel
def scatter(x, y):
    for i in x:
        y[int(x[i])] += x[i]


@dt.kernel
def squares(x, y):
    for i in x:
        y[0] += x[i] * x[i]


@dt.kernel
def waves(x, y):
    for i in x:
        y[i] = ti.sin(x[i])


@dt.kernel
def of_triangles(x, y):
    for i in y:
        for j in range(i):
            y[i] += x[j]


@pytest.mark.parametrize(
    ("kernel", "n", "threads"),
    [
        (scale, 1 << 10, []),
        (scale, 1 << 20, [2, 16]),
        (scatter, 1 << 20, [16]),
        (squares, 1 << 10, []),
        (squares, 1 << 22, [2, 16]),
        (of_triangles, 1 << 6, []),
        (of_triangles, 1 << 13, [2, 16]),
    ],
)
def test_launches_that_threads_share(kernel: Any, n: int, threads: list[int]) -> None:
    x, y = dt.zeros(n), dt.zeros(n)
    kernel(x, y)
    (stage,) = kernel._latest.stages
    work = work_of(finish(stage.program, host(32)))
    key = work.key((x, y))
    assert [n for n in (1, 2, 16) if not work.is_for_one(key, n)] == threads


def with_polynomials(program: Program) -> Program:
    return vectorise_functions(
        program, backend().vector_math.polynomials, serial=True, reorders=True
    ).program


@pytest.mark.parametrize(
    ("kernel", "program", "least"),
    [
        # A multiplication and an addition at least, for each element or pair.
        (squares, lambda p: finish(p, host(32)), 2 * 100_000),
        (squares, lambda p: finish(p, host(512)), 2 * 100_000),
        (waves, with_polynomials, 2 * 100_000),
        (of_triangles, lambda p: finish(p, host(32)), 100_000 * 99_999 / 2),
    ],
)
def test_the_loops_of_blocks_are_counted(kernel: Any, program: Any, least: float) -> None:
    """The bounds of a block's loop follow from its number: n elements in all."""
    few, many = dt.zeros(2), dt.zeros(100_000)
    kernel(few, dt.zeros(2))
    (stage,) = kernel._latest.stages
    work = work_of(program(stage.program))
    amount = work.amount(work.key((many, many)))
    assert least <= amount <= 8 * least


@dt.kernel
def copies(x, y):
    for i in x:
        y[i] = x[i]


@dt.kernel
def sines(x, y):
    for i in x:
        y[i] = ti.sin(x[i])


@dt.kernel
def in_turn(x, y):
    for i in x:
        value = x[i]
        for j in range(1000):
            value = 0.5 * value * value + x[j]
        y[i] = value


def test_loops_of_vectors_are_estimated_by_their_time() -> None:
    """Vectors take a sixth of the time, a function what some tens of additions take."""
    x, y = dt.zeros(2000), dt.zeros(2000)

    def steps(kernel: Any, speed: Speed) -> float:
        kernel(x, y)
        (stage,) = kernel._latest.stages
        work = work_of(finish(stage.program, host(32)), speed)
        return work._estimate(work.key((x, y))).total / 2000

    fast, calls = Speed(True, True, {"sin"}), Speed(True, True, ())
    assert steps(copies, fast) < steps(copies, SCALAR) / 4
    assert steps(sines, fast) < 10
    assert steps(sines, calls) == steps(sines, SCALAR) > 50
    assert steps(in_turn, fast) == steps(in_turn, SCALAR) > 1000


def test_the_time_to_wake_threads_is_measured_where_it_decides() -> None:
    asked: list[float] = []

    def waking(nanoseconds: float) -> Any:
        return lambda: asked.append(nanoseconds) or nanoseconds

    x, y = dt.zeros(2), dt.zeros(2)
    scale(x, y)
    latest = scale._latest
    assert latest is not None
    (stage,) = latest.stages
    work = work_of(finish(stage.program, host(32)))
    for n, choices in ((1 << 10, [True, True]), (1 << 18, [False, True]), (1 << 26, [False] * 2)):
        key = work.key([SimpleNamespace(shape=(n,))] * 2)
        assert [work.is_for_one(key, 2, None, waking(ns)) for ns in (6e3, 6e5)] == choices
    assert asked == [6e3, 6e5]


def test_work_is_estimated_once_for_a_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    estimated: list[object] = []
    amount = Work.amount
    monkeypatch.setattr(Work, "amount", lambda self, *a: estimated.append(self) or amount(self, *a))
    x, y = dt.ones(8, grad=True), dt.zeros(8, grad=True)
    for _ in range(3):
        with dt.Tape() as tape:
            scale(x, y)
        tape.backward({y: np.ones(8)})
    assert len(estimated) == len({id(one) for one in estimated})


@dt.kernel
def counts(x, n: int):
    for _ in range(n):
        x[0] += 1.0


def test_iterations_of_a_launch_that_is_prepared_are_counted() -> None:
    x = dt.zeros(4, ti.f64)
    for n in (10, 20):
        counts(x, n)
    with pytest.raises(KernelError, match="iterations in one launch"):
        counts(x, 2**31 - 1)
    assert x[0] == 30.0


def test_numbers_choose_the_variant_of_each_launch_that_is_prepared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Work, "is_for_one", lambda _, key, *others: 4 in key)
    code = CompiledProgram(
        parse("""
program f(x: field<f64, 1>, n: i32)
  parallel for i in 0:i32..n:
    a: f64 = sin(2.0:f64)
    x[i] = a
""")
    )
    x = dt.zeros(6, ti.f64)
    prepared = code.settled([x.buffer, 4])
    for n in (4, x.shape[0]):
        prepared.launch([x.buffer, n])
        expected = np.where(np.arange(x.shape[0]) < n, math.sin(2.0), 0.0)
        np.testing.assert_allclose(x.to_numpy(), expected, rtol=1e-14)
    assert [one.serial for one in code.variants.known] == [True, False]


@dt.kernel
def folded(x, n: int):
    for _ in range((n * 65536 + 3) % 7):
        x[0] += 1.0
    for k in range(ti.cast(n * 65536, ti.u8)):
        x[1] += 1.0
    for k in range(n + 2147483647 - n - 2147483642):
        x[2] += 1.0


def test_what_a_loop_is_not_counted_by_may_wrap_around() -> None:
    x = dt.zeros(4, ti.f64)
    folded(x, 65536)
    assert x.tolist() == [3.0, 0.0, 5.0, 0.0]
    counts(x, 4)
    with pytest.raises(KernelError, match=r"49000000"):
        squared(x, 70_000)


@dt.kernel
def squared(x, n: int):
    for _ in range(n * n):
        x[0] += 1.0


@dt.kernel
def pairs(x, n: int):
    for i, j in ti.ndrange(n, n):
        x[(i + j) % 4] += 1.0


@dt.kernel
def energy(x, n: int):
    for i, j in ti.ndrange(n, n):
        x[0] += ti.sin(0.1 * i) * j


@pytest.mark.parametrize("kernel", [pairs, energy])
@pytest.mark.parametrize("flat", [False, True])
def test_iterations_that_32_bits_cannot_count_are_refused(kernel: Any, flat: bool) -> None:
    """A GPU counts the iterations over all axes in one number, also those of a sum's blocks."""
    x = dt.zeros(4)
    kernel(x, 10)
    (stage,) = kernel._latest.stages
    work = work_of(finish(stage.program, device(32, warps=False) if flat else host(32)))
    work.check(work.key((x, 46_000)), flat=flat)
    if flat:
        with pytest.raises(KernelError, match="2147488281"):
            work.check(work.key((x, 46_341)), flat=flat)
    else:
        work.check(work.key((x, 46_341)), flat=flat)


@dt.kernel
def between(x, first: int, last: int):
    for i in range(first, last):
        x[i - first] = 1.0


def test_loops_of_a_device_end_where_their_steps_can_be_counted() -> None:
    x = dt.zeros(4)
    between(x, 1, 4)
    (stage,) = between._latest.stages
    work = work_of(finish(stage.program, device(32, warps=False)))
    work.check(work.key((x, 2**31 - 9000, 2**31 - 8996)), flat=True)
    with pytest.raises(KernelError, match="iterations in one launch"):
        work.check(work.key((x, 2**31 - 9, 2**31 - 5)), flat=True)


@dt.kernel
def first_rows(x, y, n: int):
    for i in range(n):
        for j in range(n - i):
            y[i] += x[i + j]


def test_launches_with_ever_new_numbers_keep_little() -> None:
    x, y = dt.ones(100), dt.zeros(100)
    first_rows(x, y, 1)
    (stage,) = first_rows._latest.stages
    program = stage.primal.code
    with mock.patch.object(compiling, "_MOST_KEYS", 8):
        for n in range(100):
            first_rows(x, y, n)
            assert len(program._launchers) <= 8 and len(program._known) <= 8
    wanted = sum(np.maximum(n - np.arange(100), 0) for n in [1, *range(100)])
    assert y.to_numpy().tolist() == wanted.tolist()


def test_an_estimate_visits_only_what_bounds_follow_from() -> None:
    x, y = dt.ones(100), dt.zeros(100)
    first_rows(x, y, 3)
    (stage,) = first_rows._latest.stages
    work = work_of(stage.program)
    visited: list[str] = []
    let = _Estimate.let

    def counted(self: Any, out: Any, op: str, args: Any) -> None:
        visited.append(op)
        let(self, out, op, args)

    with mock.patch.object(_Estimate, "let", counted):
        assert work.amount((7,)) > 7
        work.check((7,), flat=False)
    assert visited == ["sub", "sub"]  # once each
