"""Divisions by one divisor: a quotient takes several times as long as a product.

LLVM would do this only where every product may be rounded in its own way, which Taichi does not
allow it. Derived code may be: its formulas are not written by the user.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from difftile.ir.nodes import Block, Const, Let, Program, Stmt, Var
from difftile.ir.types import is_float
from difftile.ir.walk import with_blocks

_FEWEST = 3  # quotients that one reciprocal pays for


def reciprocals(program: Program) -> Program:
    """Return the program with products in place of several divisions by the same number."""
    return replace(program, body=_block(program.body))


def _block(block: Block) -> Block:
    counts = Counter(y for stmt in block.stmts if (y := _divisor(stmt)) is not None)
    stmts: list[Stmt] = []
    known: dict[Var, Var] = {}
    for stmt in block.stmts:
        divisor = _divisor(stmt)
        if divisor is None or counts[divisor] < _FEWEST:
            stmts.append(with_blocks(stmt, _block))
            continue
        if divisor not in known:
            known[divisor] = Var(f"{divisor.name}_inverse", divisor.type)
            one = Const(1.0, divisor.type)
            stmts.append(Let(known[divisor], "div", (one, divisor), stmt.span))
        assert isinstance(stmt, Let)
        stmts.append(replace(stmt, op="mul", args=(stmt.args[0], known[divisor])))
    return Block(tuple(stmts), block.results)


def _divisor(stmt: Stmt) -> Var | None:
    """Return the divisor of a division of numbers."""
    if not isinstance(stmt, Let) or stmt.op != "div" or not is_float(stmt.out.type):
        return None
    divisor = stmt.args[1]
    return divisor if isinstance(divisor, Var) and divisor.type == stmt.out.type else None
