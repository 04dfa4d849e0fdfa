"""Constant folding and algebraic identities, and the control flow that they decide."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import Block, Const, For, If, Let, Program, Stmt
from difftile.ir.walk import Substitution, keep_carries, with_blocks, with_operands
from difftile.ops.build import OpBuilder


def fold(program: Program) -> Program:
    """Return the program with literals computed and identities removed."""
    return replace(program, body=_Fold().block(program.body))


class _Fold:
    def __init__(self) -> None:
        self.b = OpBuilder()
        self.env = Substitution()

    def block(self, block: Block) -> Block:
        with self.b.region() as stmts:
            for stmt in block.stmts:
                self.stmt(stmt)
        return Block(tuple(stmts), self.env.all(block.results))

    def stmt(self, stmt: Stmt) -> None:
        stmt = with_operands(stmt, self.env)
        match stmt:
            case Let(out, op, args, span):
                self.b.span = span
                self.env[out] = self.b.call(op, *args, name=out.name, type_=out.type)
            case If(Const(taken), then, orelse, outs):
                side = then if taken else orelse
                for inner in side.stmts:
                    self.stmt(inner)
                self.env.update(zip(outs, self.env.all(side.results), strict=True))
            case For(_, Const(start), Const(stop), _, inits, _, outs) if start >= stop:
                self.env.update(zip(outs, inits, strict=True))
            case For():
                self.b.append(self.loop(stmt))
            case _:
                self.b.append(with_blocks(stmt, self.block))

    def loop(self, loop: For) -> For:
        """Fold a loop; a carry that the body passes on unchanged is its initial value."""
        kept: list[int] = []
        for k, (carry, result) in enumerate(zip(loop.carries, loop.body.results, strict=True)):
            if result is carry:
                self.env[carry] = self.env[loop.outs[k]] = loop.inits[k]
            else:
                kept.append(k)
        body = self.block(loop.body)
        results = tuple(body.results[k] for k in kept)
        return keep_carries(loop, kept, replace(body, results=results))
