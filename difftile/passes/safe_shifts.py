"""Shifts by any number of bits: processors and compilers define only those below the width.

As in NumPy, all bits have left after a shift by the width or more, and after one by a negative
number: what remains is zero, or the sign where an integer with a sign is shifted to the right.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from difftile.ir.nodes import Block, Const, Let, Program, Var
from difftile.ir.types import numpy_dtype, scalar_of
from difftile.ir.walk import with_blocks
from difftile.ops.build import OpBuilder, zero
from difftile.passes.intervals import Intervals

_SHIFTS = ("shl", "shr", "shr_logical")


def safe_shifts(program: Program) -> Program:
    """Return the program with shifts by less than the width only."""
    return replace(program, body=_Shifts(program).block(program.body))


class _Shifts:
    def __init__(self, program: Program) -> None:
        self.b = OpBuilder()
        self.intervals = Intervals(program.body)

    def block(self, block: Block) -> Block:
        with self.b.region() as stmts:
            for stmt in block.stmts:
                self.b.span = stmt.span
                if isinstance(stmt, Let) and stmt.op in _SHIFTS and not self.is_defined(stmt):
                    self.shift(stmt)
                else:
                    self.b.append(with_blocks(stmt, self.block))
        return replace(block, stmts=tuple(stmts))

    def is_defined(self, stmt: Let) -> bool:
        """Tell whether a shift is certainly by less than the width."""
        by = stmt.args[1]
        if isinstance(by, Const):
            return 0 <= by.value < _bits(stmt)
        ends = self.intervals.of(by)
        return ends is not None and ends[0] >= 0 and ends[1] < _bits(stmt)

    def shift(self, stmt: Let) -> None:
        by, last = self.b.expr(stmt.args[1]), Const(_bits(stmt) - 1, stmt.args[1].type)
        leaves = (by < 0) | (by > last)
        within = leaves.select(last, by).value
        if stmt.op == "shr" and np.iinfo(numpy_dtype(scalar_of(stmt.out.type))).min < 0:
            self.b.append(replace(stmt, args=(stmt.args[0], within)))
            return
        rest = Var(stmt.out.name, stmt.out.type)
        self.b.append(replace(stmt, out=rest, args=(stmt.args[0], within)))
        self.b.append(Let(stmt.out, "select", (leaves.value, zero(rest.type), rest), stmt.span))


def _bits(stmt: Let) -> int:
    return np.iinfo(numpy_dtype(scalar_of(stmt.out.type))).bits
