"""Forms of programs for short loops: they run only where no loop is longer."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile import meaning
from difftile.compile.compiled import compiled
from difftile.ir.nodes import Array, Block, Const, For, If, Program, Value, Var
from difftile.ir.parse import parse
from difftile.ir.types import I32, FieldType
from difftile.ops.build import OpBuilder
from difftile.passes.speculate import speculate
from difftile.substrate import silence

_OPS = ("add", "sub", "mul", "min", "max", "bit_and")


def _drawn(seed: int) -> tuple[Program, Array, tuple[Var, Var]]:
    """Return nested loops over random integers, in which a test leaves a mark."""
    rng = random.Random(seed)
    n, m, mark = Var("n", I32), Var("m", I32), Array("mark", FieldType(I32, 1))
    b = OpBuilder()

    def integer(known: list[Value]) -> Value:
        first = rng.choice(known)
        for _ in range(rng.randrange(3)):
            second = rng.choice([*known, Const(rng.randrange(-3, 9), I32)])
            if rng.random() < 0.05:
                second = Const(2**30, I32)  # sums wrap around
            op = rng.choice(_OPS)
            first = b.call(op, first, Const(7, I32) if op == "bit_and" else second)
        return first

    def level(known: list[Value], depth: int) -> None:
        known = [*known, integer(known)]
        if depth and rng.random() < 0.8:
            index = Var("i", I32)
            start = b.call("max", integer(known), Const(-3, I32))
            stop = b.call("min", integer(known), Const(12, I32))
            with b.region() as stmts:
                level([*known, index], depth - 1)
            b.append(For(index, start, stop, (), (), Block(tuple(stmts)), ()))
        if depth == 0 or rng.random() < 0.5:
            test = b.call("exceeds", integer(known), Const(rng.randrange(20), I32))
            with b.region() as stmts:
                b.store(mark, (Const(0, I32),), Const(1, I32))
            b.append(If(test, Block(tuple(stmts)), Block(()), ()))

    level([n, m], 3)
    return Program("drawn", (mark, n, m), b.block()), mark, (n, m)


def _marked(program: Program, mark: Array, numbers: dict[Var, int]) -> bool:
    contents = np.zeros(1, np.int32)
    with np.errstate(over="ignore"):
        meaning.run(program, {mark: contents}, numbers)
    return bool(contents[0])


@pytest.mark.parametrize("seed", range(60))
def test_no_test_is_true_where_the_usual_form_may_run(seed: int) -> None:
    program, mark, (n, m) = _drawn(seed)
    usual = speculate(program)
    if usual is None:
        return
    for numbers in ({n: a, m: c} for a in (-2, 0, 1, 3, 9) for c in (0, 2, 5)):
        if usual.holds(numbers) and _marked(program, mark, numbers):
            assert _marked(usual.program, mark, numbers)  # by a test that data decide


def test_some_of_them_may_run() -> None:
    forms = [(speculate(program), n, m) for program, _, (n, m) in map(_drawn, range(60))]
    held = [usual.holds({n: 3, m: 2}) for usual, n, m in forms if usual is not None]
    assert sum(held) > 10
    assert not all(held)


@dt.kernel
def grow(x, y, n: int):
    for i in x:
        s = x[i]
        for k in range(n):
            for _ in range(k + i):
                s += 0.001 * ti.sin(3.0 * s) * x[i]  # all iterations matter alike
        y[i] = s


def _slopes(x: Any, n: int) -> Any:
    found = []
    for i, given in enumerate(x):
        s, slope = given, 1.0
        for k in range(n):
            for _ in range(k + i):
                slope += 0.001 * (np.sin(3 * s) + 3 * np.cos(3 * s) * slope * given)
                s += 0.001 * np.sin(3 * s) * given
        found.append(slope)
    return np.array(found)


def test_launches_of_all_lengths_take_turns() -> None:
    x = np.array([0.3, 0.9, 1.4])
    field, y = dt.from_numpy(x, grad=True), dt.zeros(3, ti.f64, grad=True)
    for n in (5, 140, 0, 126, 127, 128, 129, 5):
        field.grad.fill(0.0)
        with dt.Tape() as tape:
            grow(field, y, n)
        tape.backward({y: 1.0})
        np.testing.assert_allclose(field.grad.to_numpy(), _slopes(x, n), rtol=1e-9)


def test_lengths_that_data_decide() -> None:
    @dt.kernel
    def lengths(x, count, y):
        for i in x:
            s = x[i]
            for _ in range(count[i]):
                s += 0.01 * ti.sin(3.0 * s) * x[i]
            y[i] = s

    x, counts = np.array([0.3, 0.9]), np.array([3, 200], np.int32)
    field, y = dt.from_numpy(x, grad=True), dt.zeros(2, ti.f64, grad=True)
    with dt.Tape() as tape:
        lengths(field, dt.from_numpy(counts), y)
    tape.backward({y: 1.0})
    expected = []
    for given, count in zip(x, counts, strict=True):
        s, slope = given, 1.0
        for _ in range(count):
            slope += 0.01 * (np.sin(3 * s) + 3 * np.cos(3 * s) * slope * given)
            s += 0.01 * np.sin(3 * s) * given
        expected.append(slope)
    np.testing.assert_allclose(field.grad.to_numpy(), expected, rtol=1e-10)


def test_a_silenced_program_has_both_forms() -> None:
    program = parse("""\
program f(x: field<f32, 1>, n: i32)
  t: bool = exceeds(n, 4:i32)
  s: f32 = select(t, 2.0:f32, 3.0:f32)
  x[0:i32] = s
  print s
""")
    x = dt.zeros(1)
    code = compiled(program)
    for n, expected in ((3, 3.0), (9, 2.0), (4, 3.0)):
        with silence():
            code.launch([x.storage.buffer, n])
        assert x[0] == expected
