"""Scatters at fixed offsets turned around: elements gather what the loop would have added to them.

The adjoint of a stencil adds to the neighbours of an element, which needs an atomic for each.
Where a parallel loop adds to `a[i + c]` for several literal offsets c, a loop over the elements
runs before it instead: element q takes the contributions of the iterations q - c, which are
computed again for each offset.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Const,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import BOOL, I32
from difftile.ir.walk import Cloner, array_of, free_variables, regions, walk, with_blocks
from difftile.ops.build import OpBuilder, zero
from difftile.passes.affine import affine, definitions_of
from difftile.passes.conflicts import stale_loads
from difftile.passes.dce import slim_block

# Contributions are computed once for each offset: more than this many ops cost more than atomics.
_LARGEST_SLICE = 40


@dataclass(frozen=True, slots=True)
class _Scatter:
    """An accumulation at a fixed offset from the loop's indices."""

    stmt: Accumulate
    offset: tuple[int, ...]


def gather(program: Program) -> Program:
    """Return the program with such scatters turned around."""
    defs = definitions_of(program.body)
    stale = stale_loads(program).keys()
    stmts: list[Stmt] = []
    for stmt in program.body.stmts:
        if isinstance(stmt, ParallelFor):
            stmts += _turned(stmt, defs, set(stale))
        else:
            stmts.append(stmt)
    return replace(program, body=replace(program.body, stmts=tuple(stmts)))


def _turned(task: ParallelFor, defs: dict[Var, Stmt], stale: set[Var]) -> list[Stmt]:
    found: list[Stmt] = []
    for array, scatters in _scatters(task, defs).items():
        loop = _gathering(task, array, scatters, stale)
        if loop is None:
            continue
        found += loop
        task = replace(task, body=_without(task.body, {id(s.stmt) for s in scatters}))
    return [*found, task]


def _scatters(task: ParallelFor, defs: dict[Var, Stmt]) -> dict[Array, list[_Scatter]]:
    """Return the fields that the loop does nothing to but add at two or more fixed offsets."""
    found: dict[Array, list[_Scatter]] = {}
    refused: set[Array] = set()
    inside_loops = {
        id(s)
        for stmt in walk(task.body)
        if isinstance(stmt, (For, While))
        for region in regions(stmt)
        for s in walk(region)
    }
    for stmt in walk(task.body):
        array = array_of(stmt)
        if array is None:
            continue
        offset = None
        if isinstance(stmt, Accumulate) and id(stmt) not in inside_loops:
            offset = _offset(stmt, task, defs)
        if offset is None or not isinstance(stmt, Accumulate):
            refused.add(array)
        else:
            found.setdefault(array, []).append(_Scatter(stmt, offset))
    return {
        array: scatters
        for array, scatters in found.items()
        if array not in refused and len({s.offset for s in scatters}) > 1
    }


def _offset(stmt: Accumulate, task: ParallelFor, defs: dict[Var, Stmt]) -> tuple[int, ...] | None:
    """Return c where the index is exactly (i + c[0], j + c[1], ...), or None."""
    if len(stmt.index) != len(task.indices) or stmt.array.type.ndim != len(task.indices):
        return None
    forms = [affine(i, defs) for i in stmt.index]
    exact = all(
        form.terms == frozenset(((index, 1),))
        for form, index in zip(forms, task.indices, strict=True)
    )
    return tuple(form.constant for form in forms) if exact else None


def _gathering(
    task: ParallelFor, array: Array, scatters: list[_Scatter], stale: set[Var]
) -> list[Stmt] | None:
    slices = [slim_block(_yielding(task.body, id(s.stmt), s.stmt)[0]) for s in scatters]
    for one in slices:
        stmts = list(walk(one))
        if len(stmts) > _LARGEST_SLICE or any(isinstance(s, (For, While)) for s in stmts):
            return None
        if any(isinstance(s, Load) and s.out in stale for s in stmts):
            return None
    b = OpBuilder()
    b.span = task.span
    lows = [min(s.offset[d] for s in scatters) for d in range(len(task.indices))]
    highs = [max(s.offset[d] for s in scatters) for d in range(len(task.indices))]
    starts = _shifted(b, task.starts, lows)
    stops = _shifted(b, task.stops, highs)
    indices = tuple(Var(index.name, I32) for index in task.indices)
    with b.region() as body:
        total: Value = zero(scatters[0].stmt.value.type)
        touched: Value = Const(False, BOOL)
        for scatter, one in zip(scatters, slices, strict=True):
            b.span = scatter.stmt.span
            hit, value = _contribution(b, task, scatter, one, indices, (lows, highs))
            total = b.call("add", total, value)
            touched = b.call("or", touched, hit)
        with b.region() as adds:
            b.accumulate(array, indices, total, atomic=False)
        b.append(If(touched, Block(tuple(adds)), Block(()), (), task.span))
    b.append(ParallelFor(indices, starts, stops, Block(tuple(body)), task.span))
    return b.stmts


def _shifted(b: OpBuilder, bounds: tuple[Value, ...], by: list[int]) -> tuple[Value, ...]:
    return tuple(b.call("add", v, Const(c, I32)) for v, c in zip(bounds, by, strict=True))


def _contribution(
    b: OpBuilder,
    task: ParallelFor,
    scatter: _Scatter,
    one: Block,
    indices: tuple[Var, ...],
    extremes: tuple[list[int], list[int]],
) -> tuple[Value, Value]:
    """Append what one scatter adds to the element `indices`; return whether it does, and what."""
    inside: Value = Const(True, BOOL)
    shifted: dict[Var, Value] = {}
    for d, (index, here) in enumerate(zip(task.indices, indices, strict=True)):
        c = scatter.offset[d]
        there = b.call("sub", here, Const(c, I32), name=index.name)
        shifted[index] = there
        # The loop over elements starts and ends with the outermost offsets.
        if c != extremes[0][d]:
            inside = b.call("and", inside, b.call("ge", there, task.starts[d]))
        if c != extremes[1][d]:
            inside = b.call("and", inside, b.call("lt", there, task.stops[d]))
    env: Mapping[Var, Value] = {v: v for v in free_variables(one)}
    cloner = Cloner({**env, **shifted})
    block = cloner.block(one)
    if isinstance(inside, Const):
        for stmt in block.stmts:
            b.append(stmt)
        return block.results[0], block.results[1]
    nothing = zero(scatter.stmt.value.type)
    hit, value = Var("", BOOL), Var("", nothing.type)
    no = Block((), (Const(False, BOOL), nothing))
    b.append(If(inside, block, no, (hit, value), scatter.stmt.span))
    return hit, value


def _yielding(block: Block, target: int, stmt: Accumulate) -> tuple[Block, bool]:
    """Return the block up to an accumulation, yielding whether it is reached and its value."""
    nothing = (Const(False, BOOL), zero(stmt.value.type))
    stmts: list[Stmt] = []
    for one in block.stmts:
        if id(one) == target:
            return Block(tuple(stmts), (Const(True, BOOL), stmt.value)), True
        if isinstance(one, If):
            then, in_then = _yielding(one.then, target, stmt)
            orelse, in_else = _yielding(one.orelse, target, stmt)
            if in_then or in_else:
                outs = (Var("", BOOL), Var("", stmt.value.type))
                sides = (then, orelse)
                changed = replace(one, then=sides[0], orelse=sides[1], outs=outs)
                return Block((*stmts, changed), outs), True
        if isinstance(one, (Let, Size, Load, If)):
            pure = with_blocks(one, _pure)
            stmts.append(pure)
    return Block(tuple(stmts), nothing), False


def _pure(block: Block) -> Block:
    kept = (with_blocks(s, _pure) for s in block.stmts if not isinstance(s, (Store, Accumulate)))
    return replace(block, stmts=tuple(kept))


def _without(block: Block, removed: set[int]) -> Block:
    stmts = tuple(
        with_blocks(s, lambda inner: _without(inner, removed))
        for s in block.stmts
        if id(s) not in removed
    )
    return replace(block, stmts=stmts)
