"""Derivatives that a program asks for itself, worked out before anything else is done with it."""

from __future__ import annotations

from dataclasses import replace

from difftile.ad.activity import active_in
from difftile.ad.forward import Pusher
from difftile.ad.reverse import Reverser
from difftile.ad.suspects import suspects_in
from difftile.ir.nodes import Block, Derivative, Program, Stmt, Value, Var
from difftile.ir.walk import substitute, walk, with_blocks, with_operands
from difftile.ops.build import zero


def derive(program: Program) -> Program:
    """Return the program with each `Derivative` written out."""
    if not any(isinstance(stmt, Derivative) for stmt in walk(program.body)):
        return program
    return replace(program, body=_Deriver().block(program.body))


class _Deriver:
    def __init__(self) -> None:
        self.env: dict[Var, Value] = {}

    def value(self, value: Value) -> Value:
        return self.env.get(value, value) if isinstance(value, Var) else value

    def block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            changed = with_blocks(with_operands(stmt, self.value), self.block)
            if isinstance(changed, Derivative):
                made, values = (_tangents if changed.forward else _adjoints)(changed)
                stmts += made
                self.env |= dict(zip(changed.outs, values, strict=True))
            else:
                stmts.append(changed)
        return Block(tuple(stmts), tuple(self.value(result) for result in block.results))


def _adjoints(stmt: Derivative) -> tuple[list[Stmt], list[Value]]:
    gradients = dict(stmt.gradients)
    active = active_in(stmt.body, stmt.params, gradients)
    reverser = Reverser(active, gradients, {}, {}, suspects_in(stmt.body), {})
    reverser.b.span = stmt.span
    reverser.cloner.env |= dict(zip(stmt.params, stmt.args, strict=True))
    found = reverser.sweep(stmt.body, reverser.seeds_of(stmt.body.results, stmt.seeds))
    return reverser.b.stmts, [found.get(param, zero(param.type)) for param in stmt.params]


def _tangents(stmt: Derivative) -> tuple[list[Stmt], list[Value]]:
    gradients = dict(stmt.gradients)
    pusher = Pusher(gradients, active_in(stmt.body, stmt.params, gradients))
    pusher.env |= dict(zip(stmt.params, stmt.seeds, strict=True))
    pusher.block(stmt.body.stmts)
    args = dict(zip(stmt.params, stmt.args, strict=True))

    def change(value: Value) -> Value:
        return args.get(value, value) if isinstance(value, Var) else value

    made = [substitute(inner, change) for inner in pusher.b.stmts]
    return made, [change(pusher.dot_or_zero(result)) for result in stmt.body.results]
