"""Removal of `stop_grad`, which has no effect once derivatives are made."""

from __future__ import annotations

from difftile.ir.build import Builder
from difftile.ir.nodes import Let, Program, Stmt
from difftile.ir.rewrite import Rewriter


def drop_stop_grad(program: Program) -> Program:
    """Return the program with each `stop_grad` replaced by its argument."""
    return _Without(Builder()).program(program)


class _Without(Rewriter[Builder]):
    def rule(self, stmt: Stmt) -> None:
        if isinstance(stmt, Let) and stmt.op == "stop_grad":
            self.env[stmt.out] = stmt.args[0]
        else:
            self.keep(stmt)
