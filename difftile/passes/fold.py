"""Constant folding and algebraic identities, and the control flow that they decide."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import Block, Const, For, If, Let, Program, Stmt, Value, Var
from difftile.ir.walk import with_blocks, with_operands
from difftile.ops.build import OpBuilder


def fold(program: Program) -> Program:
    """Return the program with literals computed and identities removed."""
    folder = _Folder()
    return replace(program, body=folder.block(program.body))


class _Folder:
    def __init__(self) -> None:
        self.b = OpBuilder()
        self.env: dict[Var, Value] = {}

    def value(self, value: Value) -> Value:
        return self.env.get(value, value) if isinstance(value, Var) else value

    def block(self, block: Block) -> Block:
        with self.b.region() as stmts:
            for stmt in block.stmts:
                self.stmt(stmt)
        return Block(tuple(stmts), tuple(self.value(result) for result in block.results))

    def inline(self, block: Block, outs: tuple[Var, ...]) -> None:
        for stmt in block.stmts:
            self.stmt(stmt)
        for out, result in zip(outs, block.results, strict=True):
            self.env[out] = self.value(result)

    def stmt(self, stmt: Stmt) -> None:
        stmt = with_operands(stmt, self.value)
        match stmt:
            case Let(out, op, args, span):
                self.b.span = span
                self.env[out] = self.b.call(op, *args, name=out.name, type_=out.type)
            case If(Const(taken), then, orelse, outs):
                self.inline(then if taken else orelse, outs)
            case For(_, Const(start), Const(stop), _, inits, _, outs) if start >= stop:
                self.env |= dict(zip(outs, inits, strict=True))
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
        return replace(
            loop,
            carries=tuple(loop.carries[k] for k in kept),
            inits=tuple(loop.inits[k] for k in kept),
            outs=tuple(loop.outs[k] for k in kept),
            body=replace(body, results=tuple(body.results[k] for k in kept)),
        )
