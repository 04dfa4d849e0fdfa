"""Programs with probes: where numbers grow too large, and how often kinks are hit.

Both run next to a launch, on copies of its fields. A finished program stays finished: the probes
touch only one-element fields of their own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from difftile.diagnostics import Span
from difftile.ir.facts import has_effects
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Const,
    Let,
    ParallelFor,
    Program,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import (
    BOOL,
    F16,
    F32,
    F64,
    I32,
    I64,
    FieldType,
    numpy_dtype,
    scalar_of,
    shape_of,
)
from difftile.ir.walk import with_blocks, with_stmts
from difftile.ops.build import Expr, OpBuilder
from difftile.ops.formula import tie
from difftile.ops.table import OPS
from difftile.records import dataclass

LAST = 2**31 - 1
_CELL = FieldType(I32, 0)


@dataclass(frozen=True, slots=True)
class Marked:
    """A program that notes which iteration of each parallel loop writes too large a number.

    Args:
        program: The program.
        cells: For each statement at the top level that is watched, by its position, a field that
            then holds `LAST` less the number of the first such iteration, or 0.
    """

    program: Program
    cells: dict[int, Array]


def marked(program: Program, arrays: Collection[Array], limit: float) -> Marked:
    """Return the program with marks at its writes.

    Args:
        program: A finished program.
        arrays: The fields whose writes are watched.
        limit: The largest number that passes; with infinity only other numbers are marked.
    """
    cells: dict[int, Array] = {}
    stmts: list[Stmt] = []
    for k, stmt in enumerate(program.body.stmts):
        watch = _Watch(Array(f"mark_{k}", _CELL), arrays, limit)
        stmts.append(watch.top(stmt))
        if watch.marks:
            cells[k] = watch.cell
    marked = with_stmts(program, stmts)
    return Marked(replace(marked, temps=(*program.temps, *cells.values())), cells)


class _Watch:
    def __init__(self, cell: Array, arrays: Collection[Array], limit: float) -> None:
        self.b = OpBuilder()
        self.cell = cell
        self.arrays = arrays
        self.limit = limit
        self.number: Value = Const(LAST, I32)
        self.marks = 0

    def top(self, stmt: Stmt) -> Stmt:
        """Return a statement of the top level with its marks."""
        if not isinstance(stmt, ParallelFor):
            return stmt
        self.b.span = stmt.span
        with self.b.region() as numbering:
            number = self.b.expr(Const(0, I32))
            for index, start, stop in zip(stmt.indices, stmt.starts, stmt.stops, strict=True):
                extent = self.b.expr(stop) - start
                place = self.b.expr(index) - start
                number = number * extent + place
            self.number = (LAST - number).value
        body = self.block(stmt.body)
        return replace(stmt, body=replace(body, stmts=(*numbering, *body.stmts)))

    def block(self, block: Block) -> Block:
        with self.b.region() as stmts:
            for stmt in block.stmts:
                self.b.append(with_blocks(stmt, self.block))
                if isinstance(stmt, (Store, Accumulate)) and stmt.array in self.arrays:
                    self.b.span = stmt.span
                    self.mark(stmt.value)
        return replace(block, stmts=tuple(stmts))

    def mark(self, value: Value) -> None:
        large = self.b.expr(Const(False, BOOL))
        for part in components(self.b, value):
            large = large | self.is_large(part)
        with self.b.branch(large.value):
            self.b.combine("max", self.cell, (), self.number)
        self.marks += 1

    def is_large(self, number: Value) -> Value:
        """Append the test, on bits: arithmetic may be compiled as if all numbers were finite."""
        b = self.b
        if scalar_of(number.type) == F16:
            number = b.cast(number, F32)
        whole, sign = (I64, 63) if scalar_of(number.type) == F64 else (I32, 31)
        dtype = numpy_dtype(scalar_of(number.type))
        limit = int(np.array(self.limit, dtype).view(numpy_dtype(whole)))
        bits = b.let("bit_cast", (number,), whole)
        size = b.call("bit_and", bits, Const(2**sign - 1, whole))
        test = "ge" if np.isinf(self.limit) else "gt"
        return b.call(test, size, Const(limit, whole))


def components(b: OpBuilder, value: Value) -> list[Value]:
    """Append the extraction of each component of a value and return them."""
    shape = shape_of(value.type)
    if not shape:
        return [value]
    cells = np.ndindex(shape)
    return [b.call("extract", value, *(Const(i, I32) for i in cell)) for cell in cells]


@dataclass(frozen=True, slots=True)
class Counted:
    """A program that counts how often its kinks are hit.

    Args:
        program: The program.
        cells: For each field that counts, the op and its place.
    """

    program: Program
    cells: dict[Array, tuple[str, Span | None]]


def counted_kinks(program: Program, active: Collection[Var]) -> Counted:
    """Return the program with a count of the arguments that are at a kink exactly.

    Args:
        program: A program.
        active: The values that carry a derivative.
    """
    b = OpBuilder()
    cells: dict[tuple[str, Span | None], Array] = {}

    def rewritten(block: Block) -> Block:
        with b.region() as stmts:
            for stmt in block.stmts:
                b.append(with_blocks(stmt, rewritten))
                if isinstance(stmt, Let) and OPS[stmt.op].tie and stmt.out in active:
                    b.span = stmt.span
                    key = (stmt.op, stmt.span)
                    cell = cells.setdefault(key, Array(f"hits_{len(cells)}", _CELL))
                    hit = b.expr(Const(False, BOOL))
                    for part in components(b, tie(b, OPS[stmt.op], stmt.args, stmt.out)):
                        hit = hit | part
                    with b.branch(hit.value):
                        b.accumulate(cell, (), Const(1, I32))
        return replace(block, stmts=tuple(stmts))

    body = rewritten(program.body)
    temps = (*program.temps, *cells.values())
    counted = replace(program, body=body, temps=temps)
    return Counted(counted, {cell: key for key, cell in cells.items()})


def iteration(program: Program, position: int, number: int) -> Program:
    """Return the program with one iteration of one parallel loop as its only effect.

    Args:
        program: The program.
        position: The position of the loop at the top level.
        number: The number of the iteration, counted as `marked` does.
    """
    loop = program.body.stmts[position]
    assert isinstance(loop, ParallelFor)
    pure = [s for s in program.body.stmts[:position] if not has_effects(Block((s,)))]
    b = OpBuilder()
    b.span = loop.span
    rest = b.expr(Const(number, I32))
    starts: list[Expr] = []
    for start, stop in reversed(list(zip(loop.starts, loop.stops, strict=True))):
        extent = b.expr(stop) - start
        starts.insert(0, start + rest % extent)
        rest = rest // extent
    stops = tuple((start + 1).value for start in starts)
    one = replace(loop, starts=tuple(start.value for start in starts), stops=stops)
    return replace(program, body=Block((*pure, *b.stmts, one)))


def beginning(program: Program, position: int) -> Program:
    """Return the program up to a statement of the top level."""
    return replace(program, body=Block(program.body.stmts[:position]))
