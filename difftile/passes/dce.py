"""Dead code: what no effect and no result depends on is removed, carries of loops included."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Fail,
    For,
    If,
    ParallelFor,
    Print,
    Program,
    Ruled,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.walk import (
    arrays_loaded,
    definitions,
    free_variables,
    has_effects,
    operands,
    regions,
    same,
    walk,
    with_blocks,
)


def dce(program: Program) -> Program:
    """Return the program without dead code; a second run would change nothing."""
    body = program.body
    while True:
        unread = _unread_locals(body)
        if unread:
            body = _without_writes(body, unread)
        slimmer = _block(body, set())
        if slimmer == body and not unread:
            return replace(program, body=slimmer)
        body = slimmer


def slim_block(block: Block) -> Block:
    """Return a block without what neither its effects nor its results depend on."""
    return _block(block, set())


def _unread_locals(body: Block) -> set[Array]:
    """Return the local arrays that are never read."""
    local = {stmt.array for stmt in walk(body) if isinstance(stmt, Alloc)}
    return local - arrays_loaded(body)


def _without_writes(block: Block, arrays: set[Array]) -> Block:
    stmts = (
        with_blocks(stmt, lambda inner: _without_writes(inner, arrays))
        for stmt in block.stmts
        if not (isinstance(stmt, (Store, Accumulate, Alloc)) and stmt.array in arrays)
    )
    return replace(block, stmts=tuple(stmts))


def _live(values: tuple[Value, ...]) -> set[Var]:
    return {value for value in values if isinstance(value, Var)}


def _block(block: Block, live_after: set[Var]) -> Block:
    """Return the block with what it must keep, given what is read after it besides its results."""
    live = set(live_after) | _live(block.results)
    kept: list[Stmt] = []
    for stmt in reversed(block.stmts):
        slim = _stmt(stmt, live)
        if slim is None:
            continue
        kept.append(slim)
        live.update(_live(operands(slim)))
        for region in regions(slim):
            live.update(free_variables(region))
    kept.reverse()
    return block if same(kept, block.stmts) else replace(block, stmts=tuple(kept))


def _stmt(stmt: Stmt, live: set[Var]) -> Stmt | None:
    match stmt:
        case Store() | Accumulate() | Combine() | Alloc() | Print() | Fail():
            return stmt
        case If():
            return _if(stmt, live)
        case For():
            return _for(stmt, live)
        case While():
            return _while(stmt, live)
        case ParallelFor():
            slim = replace(stmt, body=_block(stmt.body, set()))
            return slim if has_effects(slim.body) else None
        case Ruled():
            if not any(out in live for out in stmt.outs) and not has_effects(stmt.body):
                return None
            return with_blocks(stmt, slim_block)
        case _:
            return stmt if any(out in live for out in definitions(stmt)) else None


def _pick(values: tuple[Value, ...], kept: list[int]) -> tuple[Value, ...]:
    return tuple(values[k] for k in kept)


def _vars(variables: tuple[Var, ...], kept: list[int]) -> tuple[Var, ...]:
    return tuple(variables[k] for k in kept)


def _if(stmt: If, live: set[Var]) -> If | None:
    kept = [k for k, out in enumerate(stmt.outs) if out in live]
    then = _block(replace(stmt.then, results=_pick(stmt.then.results, kept)), set())
    orelse = _block(replace(stmt.orelse, results=_pick(stmt.orelse.results, kept)), set())
    if not kept and not has_effects(then) and not has_effects(orelse):
        return None
    return replace(stmt, then=then, orelse=orelse, outs=_vars(stmt.outs, kept))


def _for(loop: For, live: set[Var]) -> For | None:
    kept = [k for k, out in enumerate(loop.outs) if out in live]
    while True:
        body = _block(replace(loop.body, results=_pick(loop.body.results, kept)), set())
        used = free_variables(body)
        more = [k for k, carry in enumerate(loop.carries) if k in kept or carry in used]
        if more == kept:
            break
        kept = more
    if not kept and not has_effects(body):
        return None
    return replace(
        loop,
        carries=_vars(loop.carries, kept),
        inits=_pick(loop.inits, kept),
        outs=_vars(loop.outs, kept),
        body=body,
    )


def _while(loop: While, live: set[Var]) -> While | None:
    """A `while` is kept even without effects, unless it is known to end."""
    cond_uses = free_variables(loop.cond)
    kept = [
        k
        for k, (out, carry) in enumerate(zip(loop.outs, loop.carries, strict=True))
        if out in live or carry in cond_uses
    ]
    while True:
        body = _block(replace(loop.body, results=_pick(loop.body.results, kept)), set())
        used = free_variables(body) | cond_uses
        more = [k for k, carry in enumerate(loop.carries) if k in kept or carry in used]
        if more == kept:
            break
        kept = more
    if (
        loop.ends
        and not live & {*loop.outs}
        and not has_effects(body)
        and not has_effects(loop.cond)
    ):
        return None
    return replace(
        loop,
        cond=_block(loop.cond, set()),
        carries=_vars(loop.carries, kept),
        inits=_pick(loop.inits, kept),
        outs=_vars(loop.outs, kept),
        body=body,
    )
