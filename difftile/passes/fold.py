"""Constant folding and algebraic identities, and the control flow that they decide."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import Const, For, If, Let, Program, Stmt
from difftile.ir.rewrite import Rewriter
from difftile.ir.types import BOOL
from difftile.ir.walk import keep_carries
from difftile.ops.build import OpBuilder

_TRUE, _FALSE = Const(True, BOOL), Const(False, BOOL)


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
            case If():
                self.b.append(self.branch(stmt))
            case _:
                self.keep(stmt)

    def branch(self, branch: If) -> If:
        """Fold a branch; a result that says which way was taken is the condition."""
        ways = self.block(branch.then), self.block(branch.orelse)
        kept: list[int] = []
        for k, (out, *pair) in enumerate(zip(branch.outs, *(w.results for w in ways), strict=True)):
            if pair == [_TRUE, _FALSE]:
                self.env[out] = branch.cond
            elif pair[0] is pair[1]:
                self.env[out] = pair[0]
            else:
                kept.append(k)
        if len(kept) == len(branch.outs):
            unchanged = ways[0] is branch.then and ways[1] is branch.orelse
            return branch if unchanged else replace(branch, then=ways[0], orelse=ways[1])
        then, orelse = (replace(w, results=tuple(w.results[k] for k in kept)) for w in ways)
        outs = tuple(branch.outs[k] for k in kept)
        return replace(branch, then=then, orelse=orelse, outs=outs)

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
