"""Operations of small integers in 32 bits.

Taichi and Quadrants compare numbers of 8 bits wrongly inside `//` and `%`, and end the process over
their `max`, and over `abs` and powers of 16 bits. In 32 bits the results are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from difftile.ir.nodes import Block, Const, Let, Program, Stmt, Value, Var
from difftile.ir.types import I8, I16, I32, U8, U16, scalar_of, with_scalar
from difftile.ir.walk import with_blocks

_SMALL = (I8, I16, U8, U16)
_WIDENED = ("floordiv", "mod", "max", "min", "clamp", "abs", "ipow")


def widen_integers(program: Program) -> Program:
    """Return the program with such operations between casts."""

    def widened(block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            small = isinstance(stmt, Let) and scalar_of(stmt.out.type) in _SMALL
            if isinstance(stmt, Let) and small and stmt.op in _WIDENED:
                stmts += _in_32_bits(stmt)
            else:
                stmts.append(with_blocks(stmt, widened))
        return Block(tuple(stmts), block.results)

    return replace(program, body=widened(program.body))


def _in_32_bits(stmt: Let) -> Iterator[Stmt]:
    args: list[Value] = []
    for arg in stmt.args:
        type_ = with_scalar(arg.type, I32)
        if isinstance(arg, Const):
            args.append(Const(arg.value, type_))
            continue
        wide = Var(arg.name, type_)
        yield Let(wide, "cast", (arg,), stmt.span)
        args.append(wide)
    result = Var(stmt.out.name, with_scalar(stmt.out.type, I32))
    yield Let(result, stmt.op, tuple(args), stmt.span)
    yield Let(stmt.out, "cast", (result,), stmt.span)
