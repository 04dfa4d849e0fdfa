"""Comparisons of square roots with zero, as comparisons of their radicands.

The derivative of a root asks whether it is positive. GPUs are fast at reciprocal roots, into which
other uses are rewritten: the comparison would be the last use of the root itself.
"""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import Block, Const, Let, Program, Stmt, Var
from difftile.ir.walk import with_blocks
from difftile.passes.affine import definitions_of


def signs_of_roots(program: Program) -> Program:
    """Return the program with such comparisons."""
    defs = definitions_of(program.body)

    def block(one: Block) -> Block:
        return replace(one, stmts=tuple(map(changed, one.stmts)))

    def changed(stmt: Stmt) -> Stmt:
        match stmt:
            case Let(op="gt", args=(Var() as root, Const(0) as zero)):
                match defs.get(root):
                    case Let(op="sqrt", args=(square,)):
                        return replace(stmt, args=(square, zero))
                    case _:
                        return stmt
            case _:
                return with_blocks(stmt, block)

    return replace(program, body=block(program.body))
