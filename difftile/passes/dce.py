"""Dead code: values that no effect or result depends on are removed, carries of loops included."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
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
    keep_carries,
    operands,
    regions,
    same,
    walk,
    with_blocks,
    without_stmts,
)


def dce(program: Program, scratch: Collection[Array] = ()) -> Program:
    """Return the program without dead code; a second run would find no more.

    Args:
        program: The program.
        scratch: Arrays whose contents nobody reads after the program.
    """
    local = {s.array for s in walk(program.body) if isinstance(s, Alloc)}.union(scratch)
    needed: set[Array] = set()
    while True:
        # Arrays are needed for values outside them, and not for what is stored in themselves.
        body = _without_writes(program.body, local - needed) if local - needed else program.body
        while (slimmer := _block(body, set())) != body:
            body = slimmer
        more = (local - needed) & arrays_loaded(body)
        if not more:
            return replace(program, body=body)
        needed |= more


def _without_writes(block: Block, arrays: set[Array]) -> Block:
    return without_stmts(
        block, lambda s: isinstance(s, (Store, Accumulate, Alloc)) and s.array in arrays
    )


def slim_block(block: Block) -> Block:
    """Return a block without the statements that neither its effects nor its results depend on."""
    return _block(block, set())


def _live(values: tuple[Value, ...]) -> set[Var]:
    return {value for value in values if isinstance(value, Var)}


def _block(block: Block, live_after: set[Var]) -> Block:
    """Return the statements that must stay, given the variables read after the block."""
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
        case If(outs=outs):
            kept = [k for k, out in enumerate(outs) if out in live]
            then, orelse = _yielding(stmt.then, kept), _yielding(stmt.orelse, kept)
            if not kept and not has_effects(then) and not has_effects(orelse):
                return None
            return replace(stmt, then=then, orelse=orelse, outs=tuple(outs[k] for k in kept))
        case For() | While():
            tests = free_variables(stmt.cond) if isinstance(stmt, While) else set[Var]()
            pairs = zip(stmt.outs, stmt.carries, strict=True)
            kept = [k for k, (out, carry) in enumerate(pairs) if out in live or carry in tests]
            kept = closed(
                stmt.carries, kept, lambda kept: free_variables(_yielding(stmt.body, kept)) | tests
            )
            body = _yielding(stmt.body, kept)
            loop, idle = stmt, not kept
            if isinstance(stmt, While):  # stays unless it is known to end
                loop = replace(stmt, cond=_block(stmt.cond, set()))
                idle = stmt.ends and live.isdisjoint(stmt.outs) and not has_effects(stmt.cond)
            return None if idle and not has_effects(body) else keep_carries(loop, kept, body)
        case ParallelFor():
            slim = replace(stmt, body=_block(stmt.body, set()))
            return slim if has_effects(slim.body) else None
        case Ruled():
            if not any(out in live for out in stmt.outs) and not has_effects(stmt.body):
                return None
            return with_blocks(stmt, slim_block)
        case _:
            return stmt if any(out in live for out in definitions(stmt)) else None


def closed(
    carries: Sequence[Var], kept: list[int], reads: Callable[[list[int]], Set[Var]]
) -> list[int]:
    """Return the positions of some carries of a loop, and of the carries they are computed from.

    Args:
        carries: The carries.
        kept: The positions of needed carries.
        reads: The variables that the body reads for the results at some positions.
    """
    while True:
        used = reads(kept)
        more = [k for k, carry in enumerate(carries) if k in kept or carry in used]
        if more == kept:
            return kept
        kept = more


def _yielding(block: Block, kept: list[int]) -> Block:
    """Return the block with only the results at some positions, and the statements they need."""
    return _block(replace(block, results=tuple(block.results[k] for k in kept)), set())
