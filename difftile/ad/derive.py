"""Derivatives that a program asks for itself, written out before any other pass.

The result is code like any other, and may be differentiated again. Where it keeps values of a loop
in an array, that array would stand in the way: such code becomes the body of a `Ruled`, whose rules
are derived here. The adjoint of `x -> J(x)^T s` is the gradient of `s . J(x) w`, an adjoint
of a tangent, which has kept nothing (Griewank and Walther, Evaluating Derivatives, chapter 5).
"""

from __future__ import annotations

from dataclasses import replace

from difftile.ad import forward, reverse
from difftile.ad.activity import active_in
from difftile.ad.nonfinite import possibly_nonfinite_in
from difftile.ad.pusher import Pusher
from difftile.ad.reverser import Reverser, overwritten
from difftile.ir.facts import arrays_loaded, declared_in
from difftile.ir.nodes import (
    Alloc,
    Array,
    Block,
    Derivative,
    Program,
    Rule,
    Ruled,
    Stmt,
    Value,
    Var,
)
from difftile.ir.types import is_float
from difftile.ir.walk import Cloner, Substitution, substitute, walk, with_blocks, with_operands
from difftile.ops.build import zero
from difftile.passes.dce import slim_block
from difftile.passes.precedence import StaleLocals

_IN_ORDER = (
    "put each element in once, before it is read; or show that the index is of an element that is "
    "complete: 'x[min(parent[b], b - 1)]'."
)


def derive(program: Program) -> Program:
    """Return the program with each `Derivative` written out."""
    if not any(isinstance(stmt, Derivative) for stmt in walk(program.body)):
        return program
    env = Substitution()

    def derived(block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            changed = with_blocks(with_operands(stmt, env), derived)
            if not isinstance(changed, Derivative):
                stmts.append(changed)
                continue
            made, values = (_tangents if changed.forward else _adjoints)(changed)
            body = Block(tuple(made), tuple(values))
            if not any(isinstance(s, Alloc) for s in walk(body)):
                stmts += made
                env.update(zip(changed.outs, values, strict=True))
                continue
            args = (*changed.args, *changed.seeds)
            backward = along = None
            # Not inside a rule, which adds to gradients; nor for the derivative of a derivative.
            nested = any(isinstance(s, Alloc) for s in walk(changed.body))
            if not (changed.gradients or changed.forward or nested):
                backward, along = _second(changed), _along(args, body, changed)
            stmts.append(Ruled(changed.outs, args, body, backward, along, "", changed.span))
        return Block(tuple(stmts), env.all(block.results))

    return replace(program, body=derived(program.body))


def _adjoints(stmt: Derivative) -> tuple[list[Stmt], list[Value]]:
    reverser = _swept(stmt)
    found = reverser.sweep(stmt.body, reverser.seeds_of(stmt.body.results, stmt.seeds))
    values = [found.get(param, zero(param.type)) for param in stmt.params]
    if declared_in(stmt.body):
        slim = slim_block(Block(tuple(reverser.b.stmts), tuple(values)))
        for load in reverser.overwritten_loads(slim):
            raise overwritten(*reverser.locals[load.out], _IN_ORDER)
    return reverser.b.stmts, values


def _swept(stmt: Derivative) -> Reverser:
    gradients = dict(stmt.gradients)
    active = active_in(stmt.body, stmt.params, gradients)
    reverser = Reverser(
        reverse.RULES,
        active,
        gradients,
        possibly_nonfinite_in(stmt.body),
        locals=StaleLocals(stmt.body),
    )
    reverser.b.span = stmt.span
    reverser.cloner.env |= dict(zip(stmt.params, stmt.args, strict=True))
    return reverser


def _tangents(stmt: Derivative) -> tuple[list[Stmt], list[Value]]:
    block = _pushed(stmt, dict(zip(stmt.params, stmt.seeds, strict=True)))
    args = Substitution(zip(stmt.params, stmt.args, strict=True))
    return [substitute(inner, args) for inner in block.stmts], list(args.all(block.results))


def _pushed(stmt: Derivative, dots: dict[Var, Value]) -> Block:
    """Return the body with tangents, which yields the tangents of its results."""
    gradients = {**dict(stmt.gradients), **forward.tangents_of_locals(stmt.body)}
    pusher = Pusher(forward.RULES, gradients, active_in(stmt.body, stmt.params, gradients))
    pusher.env |= dots
    pusher.block(stmt.body.stmts)
    results = tuple(pusher.dot_or_zero(result) for result in stmt.body.results)
    return Block(tuple(pusher.b.stmts), results)


# Derivatives of derivatives


def _gradients_of(block: Block) -> tuple[tuple[Array, Array], ...]:
    """Return a gradient for each field that a block reads."""
    return tuple(
        (array, Array(f"{array.name}_bar", array.type, gradient_of=array))
        for array in dict.fromkeys(arrays_loaded(block))
        if array.size is None and is_float(array.type.element)
    )


def _second(stmt: Derivative) -> Rule:
    """Return the adjoint of `J(x)^T s`, which is linear in s."""
    along = tuple(Var(f"along_{p.name}", p.type) for p in stmt.params)
    pushed = _pushed(stmt, dict(zip(stmt.params, along, strict=True)))
    gradients = _gradients_of(pushed)
    scalar = replace(stmt, body=pushed, gradients=gradients)
    reverser = _swept(scalar)
    found = reverser.sweep(pushed, reverser.seeds_of(pushed.results, stmt.seeds))
    bars = (found.get(param, zero(param.type)) for param in stmt.params)
    seeds = (reverser.value(result) for result in pushed.results)
    block = Block(tuple(reverser.b.stmts), (*bars, *seeds))
    return Rule(along, block, span=stmt.span)


def _along(args: tuple[Value, ...], body: Block, stmt: Derivative) -> Rule:
    """Return the tangent of an adjoint, by following its statements."""
    params = tuple(Var(f"dot_{a.name if isinstance(a, Var) else ''}", a.type) for a in args)
    stand_ins = tuple(Var(a.name if isinstance(a, Var) else "", a.type) for a in args)
    known = {a: s for a, s in zip(args, stand_ins, strict=True) if isinstance(a, Var)}
    copy = Cloner({**known}).block(body)
    gradients = dict(_gradients_of(copy))
    dots = {**gradients, **forward.tangents_of_locals(copy)}
    pusher = Pusher(forward.RULES, dots, active_in(copy, stand_ins, dots))
    pusher.env |= dict(zip(stand_ins, params, strict=True))
    pusher.block(copy.stmts)
    back = Substitution(zip(stand_ins, args, strict=True))
    stmts = tuple(substitute(inner, back) for inner in pusher.b.stmts)
    results = back.all(pusher.dot_or_zero(result) for result in copy.results)
    return Rule(params, Block(stmts, results), span=stmt.span)
