"""The adjoint of `while`: programs that run as Python both ways, and kernels."""

from __future__ import annotations

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile import meaning
from difftile.ad.reverse import reverse
from difftile.ir.derived import Bar
from difftile.ir.nodes import Array, Block, Const, ParallelFor, Program, Var, While
from difftile.ir.types import F64, I32, FieldType
from difftile.ops.build import OpBuilder
from difftile.ops.check import check
from difftile.passes.optimise import simplify
from difftile.schedule.finish import finish
from tests.targets import host


def _program(threshold: float) -> tuple[Program, Array, Array]:
    """y = x; while y < threshold: y = 1.07 * y + 0.01 * y * y / threshold."""
    x, out = Array("x", FieldType(F64, 1)), Array("out", FieldType(F64, 1))
    b = OpBuilder()
    i = Var("i", I32)
    with b.region() as body:
        start = b.load(x, (i,))
        y, after = Var("y", F64), Var("y", F64)
        with b.region() as test:
            below = b.call("lt", y, Const(threshold, F64))
        with b.region() as step:
            square = b.call("mul", b.call("mul", y, y), Const(0.01 / threshold, F64))
            grown = b.call("add", b.call("mul", y, Const(1.07, F64)), square)
        b.append(
            While(
                (y,), (start,), Block(tuple(test), (below,)), Block(tuple(step), (grown,)), (after,)
            )
        )
        b.store(out, (i,), b.call("mul", after, after))
    n = b.size(x, 0)
    b.append(ParallelFor((i,), (Const(0, I32),), (n,), Block(tuple(body))))
    return Program("grow", (x, out), b.block()), x, out


@pytest.mark.parametrize("threshold", [1.0, 50.0, 1e6, 1e40])
def test_gradient_agrees_with_the_complex_step(threshold: float) -> None:
    program, x, out = _program(threshold)
    check(program)
    values = np.array([0.3, 0.9, 2.0, 0.011])
    fields = {x: values + 1e-30j, out: np.zeros(4, complex)}
    meaning.run(program, fields, complex_step=True)
    slopes = fields[out].imag / 1e-30
    adjoint = reverse(program, frozenset((x, out)))
    code = finish(simplify(adjoint.program, checked=True), host(8), checked=True)
    arrays = {x: values, out: np.zeros(4)}
    bars = adjoint.of(Bar)
    arrays |= {bars[x]: np.zeros(4), bars[out]: np.ones(4)}
    meaning.run(code, {p: arrays[p] for p in code.params if isinstance(p, Array)})
    np.testing.assert_allclose(arrays[bars[x]], slopes, rtol=1e-12)


@dt.kernel
def first_above(x, limit, at, y):
    for i in y:
        found = x.shape[0]
        for k in range(i, x.shape[0]):
            if x[k] > limit[i]:
                found = k
                break
        at[i] = found
        y[i] = 2 * x[i]


@dt.kernel
def halvings(x, at, y):
    for i in y:
        found, left = 0, x[i]
        while left > 1.0:
            found += 1
            left *= 0.5
        at[i] = found
        y[i] = 2 * x[i]


def test_a_loop_that_is_left_early_runs_again_only_where_it_is_needed() -> None:
    x, y = dt.from_numpy(np.arange(8.0), grad=True), dt.zeros(8, ti.f64, grad=True)
    limit, at = dt.full(8, 5.0, ti.f64, grad=True), dt.zeros(8, ti.i32)
    with dt.Tape() as tape:
        first_above(x, limit, at, y)
    tape.backward({y: 1.0})
    assert at.to_numpy().tolist() == [6] * 7 + [7]
    assert x.grad.to_numpy().tolist() == [2.0] * 8
    assert "while" in first_above.source() and "while" not in first_above.source("adjoint")
    # Nor is a 'while': it has ended once with these values.
    with dt.Tape() as tape:
        halvings(x, at, y)
    tape.backward({y: 1.0})
    assert "while" in halvings.source() and "while" not in halvings.source("adjoint")
    assert x.grad.to_numpy().tolist() == [2.0] * 8
