"""Integer divisions that end no process: divisors that may be zero are replaced where they are.

A processor stops a program that divides an integer by zero, or the least integer by -1. Here, as in
NumPy, a quotient by zero is zero, and so is the remainder; the least integer by -1 is itself.
"""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import Block, Const, Let, Program, Size, Stmt, Value, Var
from difftile.ir.types import BOOL, FLOATS, integer_limits, scalar_of
from difftile.ir.walk import walk, with_blocks
from difftile.ops.build import OpBuilder
from difftile.passes.instrument import components
from difftile.passes.intervals import Intervals

DIVISIONS = {"floordiv": "//", "mod": "%", "raw_div": "ti.raw_div", "raw_mod": "ti.raw_mod"}
"""Operations that divide integers, as they are written."""
_REMAINDERS = ("mod", "raw_mod")


def safe_divisions(program: Program) -> Program:
    """Return the program with no division by zero."""
    return replace(program, body=_Divisions(program).block(program.body))


def divisor_of(stmt: Stmt) -> Value | None:
    """Return what a statement divides integers by; None for others, and for literals but zero."""
    if not isinstance(stmt, Let) or stmt.op not in DIVISIONS:
        return None
    divisor = stmt.args[1]
    if scalar_of(stmt.out.type) in FLOATS or (isinstance(divisor, Const) and divisor.value):
        return None
    return divisor


def is_zero(b: OpBuilder, divisor: Value) -> Value:
    """Append whether an integer, or a component of several, is zero."""
    found = b.expr(Const(False, BOOL))
    for part in components(b, divisor):
        found = found | b.expr(part).eq(0)
    return found.value


class _Divisions:
    def __init__(self, program: Program) -> None:
        self.b = OpBuilder()
        self.intervals = Intervals(program.body)
        self.defs = {s.out: s for s in walk(program.body) if isinstance(s, (Let, Size))}

    def block(self, block: Block) -> Block:
        with self.b.region() as stmts:
            for stmt in block.stmts:
                self.b.span = stmt.span
                if isinstance(stmt, Let) and self.may_stop(stmt):
                    self.divide(stmt)
                else:
                    self.b.append(with_blocks(stmt, self.block))
        return replace(block, stmts=tuple(stmts))

    def may_stop(self, stmt: Let) -> bool:
        """Tell whether a division may stop the program."""
        if stmt.op not in DIVISIONS or scalar_of(stmt.out.type) in FLOATS:
            return False
        divisor = stmt.args[1]
        if isinstance(divisor, Const):
            return divisor.value in (0, -1)
        ends = self.intervals.of(divisor)
        is_other = ends is not None and (ends[0] > 0 or ends[1] < -1)
        return not is_other and not self.is_positive(divisor)

    def is_positive(self, value: Value) -> bool:
        """Tell whether an integer is certainly above zero; sums and products may wrap around."""
        if isinstance(value, Const):
            return value.value > 0
        match self.defs.get(value):
            case Size():  # there are no fields without elements
                return True
            case Let(op="max", args=args):
                return any(map(self.is_positive, args))
            case Let(op="min", args=args):
                return all(map(self.is_positive, args))
            case _:
                return False

    def divide(self, stmt: Let) -> None:
        dividend, divisor = map(self.b.expr, stmt.args)
        scalar = scalar_of(stmt.out.type)
        is_zero = divisor.eq(0)
        stops = is_zero
        least, _ = integer_limits(scalar)
        if least < 0:
            stops = is_zero | (divisor.eq(-1) & dividend.eq(least))
        safe = stops.select(Const(1, stmt.args[1].type), divisor).value
        if stmt.op in _REMAINDERS:
            self.b.append(replace(stmt, args=(stmt.args[0], safe)))
            return
        quotient = Var(stmt.out.name, stmt.out.type)
        self.b.append(replace(stmt, out=quotient, args=(stmt.args[0], safe)))
        result = Const(0, stmt.out.type)
        self.b.append(Let(stmt.out, "select", (is_zero.value, result, quotient), stmt.span))
