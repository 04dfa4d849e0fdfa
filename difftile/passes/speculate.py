"""Programs without the code for loops that are longer than usual, and when a launch may run them.

`exceeds(a, b)` tells whether a is greater than b, and may be true where it is not: code for longer
loops is right for shorter ones as well. The usual form of a program takes each such test for false,
and is right where the sizes and integers of a launch keep a from exceeding b. The general form
takes them for true.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any, TypeAlias

from difftile.ir.nodes import (
    Array,
    Block,
    Const,
    For,
    Let,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Value,
    Var,
)
from difftile.ir.types import BOOL
from difftile.ir.walk import bound, definitions, operands, walk
from difftile.ops.build import OpBuilder
from difftile.passes.fold import Folding
from difftile.passes.intervals import Intervals
from difftile.records import dataclass

Test: TypeAlias = tuple[Value, Value]
"""Integers, of which the first must not exceed the second."""


@dataclass(frozen=True, slots=True)
class Usual:
    """The usual form of a program.

    Args:
        program: The program.
        tests: What must hold in a launch.
        values: The statements that the integers follow from, loops without their bodies.
        params: The arrays, by their shapes, and the numbers that these begin with.
    """

    program: Program
    tests: tuple[Test, ...]
    values: Block
    params: tuple[Array | Var, ...]

    def holds(self, given: Mapping[Array | Var, Any]) -> bool:
        """Tell whether a launch may run this form, by shapes of arrays and values of numbers."""
        intervals = Intervals(self.values, given)
        pairs = [(intervals.of(first), intervals.of(second)) for first, second in self.tests]
        return all(a is not None and b is not None and a[1] <= b[0] for a, b in pairs)


def speculate(program: Program) -> Usual | None:
    """Return the usual form of a program; None if the general one is all there is."""
    false = _tests_of(program)
    while false:
        deciding = _Deciding(false)
        usual = deciding.program(program)
        values, params = _origins(usual, deciding.tests.values())
        # But for overflow, bounds are known for all integers or for none.
        given = {p: (1,) * p.type.ndim if isinstance(p, Array) else 1 for p in params}
        intervals = Intervals(values, given)
        unbounded = {
            out
            for out, test in deciding.tests.items()
            if any(intervals.of(operand) is None for operand in test)
        }
        if not unbounded:
            return Usual(usual, tuple(deciding.tests.values()), values, params)
        false -= unbounded
    return None


def general(program: Program) -> Program:
    """Return the general form of a program."""
    return _Deciding(frozenset()).program(program) if _tests_of(program) else program


def _tests_of(program: Program) -> frozenset[Var]:
    return frozenset(s.out for s in walk(program.body) if isinstance(s, Let) and s.op == "exceeds")


class _Deciding(Folding):
    """Takes some tests for false, which are noted with their operands, and the others for true."""

    def __init__(self, false: Set[Var]) -> None:
        super().__init__(OpBuilder())
        self._false = false
        self.tests: dict[Var, Test] = {}

    def rule(self, stmt: Stmt) -> None:
        if not (isinstance(stmt, Let) and stmt.op == "exceeds"):
            super().rule(stmt)
            return
        self.env[stmt.out] = Const(stmt.out not in self._false, BOOL)
        if stmt.out in self._false:
            first, second = stmt.args
            self.tests[stmt.out] = first, second


def _origins(program: Program, tests: Iterable[Test]) -> tuple[Block, tuple[Array | Var, ...]]:
    """Return the statements that integers follow from, and the parameters these begin with."""
    origin: dict[Var, Stmt] = {}
    for stmt in walk(program.body):
        origin.update(dict.fromkeys((*definitions(stmt), *bound(stmt)), stmt))
    found: dict[int, Stmt] = {}
    params: dict[Array | Var, None] = {}
    due = [value for test in tests for value in test if isinstance(value, Var)]
    while due:
        value = due.pop()
        stmt = origin.get(value)
        if stmt is None:
            params[value] = None
            continue
        if id(stmt) in found:
            continue
        if isinstance(stmt, For):
            bare = replace(stmt, carries=(), inits=(), outs=(), body=_EMPTY)
        elif isinstance(stmt, ParallelFor):
            bare = replace(stmt, body=_EMPTY)
        elif isinstance(stmt, (Let, Size)):
            bare = stmt
        else:
            continue  # it has no bounds
        found[id(stmt)] = bare
        if isinstance(stmt, Size):
            params[stmt.array] = None
        due += [operand for operand in operands(bare) if isinstance(operand, Var)]
    return Block(tuple(found.values())), tuple(params)


_EMPTY = Block(())
