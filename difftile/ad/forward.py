"""Forward mode: a program that computes the primal together with its tangents.

Every statement is followed by its tangent (Griewank and Walther, Evaluating Derivatives, 2nd ed.,
chapter 3.1). The tangent of a field is a field of the same shape, read and written where the field
is, so that updates in place, branches and loops need no care.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from difftile.ad.activity import active_values
from difftile.ad.pushed_rules import push_ruled
from difftile.ad.pusher import Pusher
from difftile.ir.derived import Derived, dots_of
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Program,
    Ruled,
    Stmt,
    Store,
    Var,
    While,
)
from difftile.ir.types import is_float
from difftile.ir.walk import walk, with_tasks
from difftile.ops.formula import tangent
from difftile.ops.table import OPS
from difftile.passes.dce import dce
from difftile.passes.split_atomics import serial, split_atomics


def forward(
    derived: Derived, wanted: frozenset[Array], *, level: int = 1, slim: bool = True
) -> Derived:
    """Return the program that also pushes tangents; they follow its parameters.

    Args:
        derived: A primal, normalised; or a program derived from one, such as an adjoint.
        wanted: The fields that have a tangent; the tangents of the others are zero.
        level: The number of the direction, where the program has tangents already.
        slim: Leave out unused values.
    """
    program = in_order(derived.program, wanted)
    word = "dot" if level == 1 else f"dot{level}"
    dots = {f: replace(f, name=f"{f.name}_{word}") for f in program.arrays if f in wanted}
    every = {**dots, **tangents_of_locals(program.body)}
    pusher = Pusher(RULES, every, active_values(program, every.keys()))
    pusher.block(program.body.stmts)
    pushed = Program(
        f"{program.name}_tangent",
        (*program.params, *(dot for f, dot in dots.items() if f not in program.temps)),
        pusher.b.block(),
        (*program.temps, *(dots[t] for t in program.temps if t in dots)),
    )
    return derived.with_roles(dce(pushed) if slim else pushed, dots_of(derived, dots, level))


def in_order(program: Program, wanted: frozenset[Array]) -> Program:
    """Return the program with loops on one thread that combine other than by adding.

    The tangent of a maximum or product needs the running value, which no order else defines.

    Args:
        program: The program.
        wanted: The fields that have a tangent.
    """
    local = tangents_of_locals(program.body)

    def changed(loop: ParallelFor) -> list[Stmt]:
        combines = (s for s in walk(loop.body) if isinstance(s, Combine))
        smooth = (s for s in combines if s.array in wanted or s.array in local)
        depends = any(s.op != "add" or s.out is not None for s in smooth)
        return [serial(loop) if depends else loop]

    return split_atomics(with_tasks(program, changed))


def tangents_of_locals(block: Block) -> dict[Array, Array]:
    """Return an array for the tangent of each local array that a block declares."""
    return {
        stmt.array: replace(stmt.array, name=f"{stmt.array.name}_dot")
        for stmt in walk(block)
        if isinstance(stmt, Alloc) and is_float(stmt.array.type.element)
    }


def _let(p: Pusher, let: Let) -> None:
    p.b.append(let)
    dots = tuple(p.dot(arg) for arg in let.args)
    row = OPS[let.op]
    if let.out in p.active and any(dot is not None for dot in dots):
        found = tangent(p.b, row, let.args, let.out, dots)
        if found is not None:
            p.env[let.out] = found


def _load(p: Pusher, load: Load) -> None:
    p.b.append(load)
    if load.array in p.dots and is_float(load.out.type):
        p.env[load.out] = p.b.load(p.dots[load.array], load.index, f"{load.out.name}_dot")


def _store(p: Pusher, store: Store) -> None:
    if store.array in p.dots and is_float(store.value.type):
        p.b.store(p.dots[store.array], store.index, p.dot_or_zero(store.value))
    p.b.append(store)


def _accumulate(p: Pusher, add: Accumulate) -> None:
    dot = p.dot(add.value)
    if add.array in p.dots and dot is not None:
        p.b.accumulate(p.dots[add.array], add.index, dot, atomic=add.atomic)
    p.b.append(add)


def _combine(p: Pusher, stmt: Combine) -> None:
    dot = p.dot(stmt.value)
    if stmt.array in p.dots and dot is not None:
        p.b.accumulate(p.dots[stmt.array], stmt.index, dot)
    p.b.append(stmt)


def _alloc(p: Pusher, alloc: Alloc) -> None:
    p.b.append(alloc)
    if alloc.array in p.dots:
        p.b.append(replace(alloc, array=p.dots[alloc.array]))


def _if(p: Pusher, stmt: If) -> None:
    then = p.nested(stmt.then, stmt.outs)
    orelse = p.nested(stmt.orelse, stmt.outs)
    outs = (*stmt.outs, *p.bind(stmt.outs))
    p.b.append(replace(stmt, then=then, orelse=orelse, outs=outs))


def _loop(p: Pusher, loop: For | While) -> None:
    inits = (*loop.inits, *p.those(loop.carries, loop.inits))
    carries = (*loop.carries, *p.bind(loop.carries))
    if isinstance(loop, While):
        loop = replace(loop, cond=p.nested(loop.cond, ()))
    body = p.nested(loop.body, loop.carries)
    outs = list(loop.outs)
    for carry, out in zip(loop.carries, loop.outs, strict=True):
        if carry in p.active:
            p.env[out] = dot = Var(f"{out.name}_dot", out.type)
            outs.append(dot)
    p.b.append(replace(loop, inits=inits, carries=carries, body=body, outs=tuple(outs)))


def _parallel(p: Pusher, loop: ParallelFor) -> None:
    p.b.append(replace(loop, body=p.nested(loop.body, ())))


RULES: dict[type[Stmt], Callable[..., None]] = {
    Let: _let,
    Load: _load,
    Store: _store,
    Accumulate: _accumulate,
    Combine: _combine,
    Alloc: _alloc,
    If: _if,
    For: _loop,
    While: _loop,
    ParallelFor: _parallel,
    Ruled: push_ruled,
}
