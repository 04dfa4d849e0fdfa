"""Constant folding and algebraic identities, and the control flow that they decide."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import Const, For, If, Let, Program, Stmt
from difftile.ir.rewrite import Rewriter
from difftile.ir.walk import keep_carries
from difftile.ops.build import OpBuilder


def fold(program: Program) -> Program:
    """Return the program with literals computed and identities removed."""
    return Folding(OpBuilder()).program(program)


class Folding(Rewriter[OpBuilder]):
    """Computes ops, and decides branches and loops."""

    def rule(self, stmt: Stmt) -> None:
        """Append what a statement becomes."""
        match stmt:
            case Let(out):
                self.env[out] = self.b.again(stmt)
            case If(Const(taken), then, orelse, outs):
                self.inline(then if taken else orelse, outs)
            case For(_, Const(start), Const(stop), _, inits, _, outs) if start >= stop:
                self.env.update(zip(outs, inits, strict=True))
            case For(index, Const(start), Const(stop), carries, inits, body, outs) if (
                stop == start + 1
            ):
                self.env.update(zip((index, *carries), (stmt.start, *inits), strict=True))
                self.inline(body, outs)
            case For():
                self.b.append(self.loop(stmt))
            case _:
                self.keep(stmt)

    def loop(self, loop: For) -> For:
        """Fold a loop; a carry that the body passes on unchanged is its initial value."""
        kept: list[int] = []
        for k, (carry, result) in enumerate(zip(loop.carries, loop.body.results, strict=True)):
            if result is carry:
                self.env[carry] = self.env[loop.outs[k]] = loop.inits[k]
            else:
                kept.append(k)
        body = self.block(loop.body)
        if len(kept) == len(loop.carries) and body is loop.body:
            return loop
        results = tuple(body.results[k] for k in kept)
        return keep_carries(loop, kept, replace(body, results=results))
