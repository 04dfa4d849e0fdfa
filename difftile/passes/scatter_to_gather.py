"""Scatters at fixed offsets turned around: elements gather what the loop would have added to them.

The adjoint of a stencil adds to the neighbours of an element, which needs an atomic for each.
Where a parallel loop adds to `a[i + c]` for several literal offsets c, a loop over the elements
runs before it instead: element q takes the contributions of the iterations q - c, which are
computed again for each offset. An axis may be periodic, `a[(i + c) % n]` in a loop over all of its
n elements: then it is iteration (q - c) % n.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TypeAlias

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
    Stmt,
    Value,
    Var,
    While,
)
from difftile.ir.types import BOOL, I32
from difftile.ir.walk import (
    Cloner,
    array_of,
    defined_in,
    free_variables,
    regions,
    walk,
)
from difftile.ops.build import OpBuilder, zero
from difftile.passes.affine import affine, definitions_of
from difftile.passes.conflicts import stale_loads
from difftile.passes.slices import LARGEST, slice_of, without


@dataclass(frozen=True, slots=True)
class _Scatter:
    """An accumulation at a fixed offset from the loop's indices, which wraps along some axes."""

    stmt: Accumulate
    offset: tuple[int, ...]
    wraps: tuple[bool, ...]


def scatter_to_gather(program: Program) -> Program:
    """Return the program with such scatters turned around."""
    defs = definitions_of(program.body)
    stale = stale_loads(program).keys()
    touched = Counter(array_of(stmt) for stmt in walk(program.body))
    stmts: list[Stmt] = []
    for stmt in program.body.stmts:
        if isinstance(stmt, ParallelFor):
            stmts += _turned(stmt, defs, set(stale), touched)
        else:
            stmts.append(stmt)
    return replace(program, body=replace(program.body, stmts=tuple(stmts)))


def _turned(
    task: ParallelFor, defs: dict[Var, Stmt], stale: set[Var], touched: Counter[Array | None]
) -> list[Stmt]:
    found: list[Stmt] = []
    for array, scatters in _scatters(task, defs).items():
        single_write = touched[array] == len(scatters)
        loop = _gathering(task, array, scatters, stale, single_write=single_write)
        if loop is None:
            continue
        found += loop
        task = replace(task, body=without(task.body, {id(s.stmt) for s in scatters}))
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
        scatter = None
        if isinstance(stmt, Accumulate) and id(stmt) not in inside_loops:
            scatter = _scatter(stmt, task, defs)
        if scatter is None:
            refused.add(array)
        else:
            found.setdefault(array, []).append(scatter)
    return {
        array: scatters
        for array, scatters in found.items()
        if array not in refused and len({s.offset for s in scatters}) > 1 and _alike(scatters)
    }


def _scatter(stmt: Accumulate, task: ParallelFor, defs: dict[Var, Stmt]) -> _Scatter | None:
    """Return the accumulation if its index is (i + c[0], j + c[1], ...), or that modulo the size.

    Modulo the size means: of the loop, which runs from 0.
    """
    if len(stmt.index) != len(task.indices) or stmt.array.type.ndim != len(task.indices):
        return None
    offset: list[int] = []
    wraps: list[bool] = []
    for place, index, start, stop in zip(
        stmt.index, task.indices, task.starts, task.stops, strict=True
    ):
        definition = defs.get(place) if isinstance(place, Var) else None
        modulo = definition if isinstance(definition, Let) and definition.op == "mod" else None
        if modulo is not None and (modulo.args[1] != stop or start != Const(0, I32)):
            return None
        form = affine(modulo.args[0] if modulo is not None else place, defs)
        terms = dict(form.terms)
        if modulo is not None and isinstance(stop, Var):
            terms.pop(stop, None)  # (i - 1 + n) % n
        if terms != {index: 1}:
            return None
        offset.append(form.constant)
        wraps.append(modulo is not None)
    return _Scatter(stmt, tuple(offset), tuple(wraps))


def _alike(scatters: list[_Scatter]) -> bool:
    """Tell whether along each axis all offsets but 0 wrap, or none."""
    axes = range(len(scatters[0].offset))
    return all(len({s.wraps[d] for s in scatters if s.offset[d]}) <= 1 for d in axes)


def _gathering(
    task: ParallelFor,
    array: Array,
    scatters: list[_Scatter],
    stale: set[Var],
    *,
    single_write: bool,
) -> list[Stmt] | None:
    inside = defined_in(task.body)
    slices = [slice_of(task.body, s.stmt) for s in scatters]
    for one in slices:
        stmts = list(walk(one))
        # What a loop computed would have to be run once an offset.
        if len(stmts) > LARGEST or free_variables(one) & inside:
            return None
        if any(isinstance(s, Load) and s.out in stale for s in stmts):
            return None
    b = OpBuilder()
    b.span = task.span
    axes = range(len(task.indices))
    wraps = [any(s.wraps[d] for s in scatters) for d in axes]
    lows = [0 if wraps[d] else min(s.offset[d] for s in scatters) for d in axes]
    highs = [0 if wraps[d] else max(s.offset[d] for s in scatters) for d in axes]
    todo = _Turn(task, array, scatters, slices, wraps, (lows, highs), single_write)
    # Where every contribution is inside the loop's box no bounds are tested; the rim goes apart.
    inner = _shifted(b, task.starts, highs), _shifted(b, task.stops, lows)
    outer = _shifted(b, task.starts, lows), _shifted(b, task.stops, highs)
    indices = tuple(Var(index.name, I32) for index in task.indices)
    with b.region() as body:
        _sum(b, todo, indices, guarded=False)
    b.append(ParallelFor(indices, *inner, Block(tuple(body)), task.span))
    if not all(wraps):
        b.append(_rim(b, todo, inner, outer))
    return b.stmts


@dataclass(frozen=True, slots=True)
class _Turn:
    """What is turned around: the loop, the field, and how each contribution is computed.

    Args:
        task: The loop.
        array: The field.
        scatters: The accumulations.
        slices: For each the statements that compute whether it happens, and its value.
        wraps: Which axes are periodic.
        extremes: The least and the largest offset of each axis; 0 for periodic ones.
        single_write: Nothing else in the program touches the field.
    """

    task: ParallelFor
    array: Array
    scatters: list[_Scatter]
    slices: list[Block]
    wraps: list[bool]
    extremes: tuple[list[int], list[int]]
    single_write: bool


def _sum(b: OpBuilder, todo: _Turn, indices: tuple[Value, ...], *, guarded: bool) -> None:
    """Append what the element at the indices gathers."""
    total: Value = zero(todo.scatters[0].stmt.value.type)
    touched: Value = Const(False, BOOL)
    for scatter, one in zip(todo.scatters, todo.slices, strict=True):
        b.span = scatter.stmt.span
        hit, value = _contribution(b, todo, scatter, one, indices, guarded=guarded)
        total = b.call("add", total, value)
        touched = b.call("or", touched, hit)
    b.span = todo.task.span
    add = Accumulate(
        todo.array, indices, total, b.span, atomic=False, single_write=todo.single_write
    )
    if touched == Const(True, BOOL):
        b.append(add)
    else:
        b.append(If(touched, Block((add,)), Block(()), (), todo.task.span))


_Box: TypeAlias = tuple[tuple[Value, ...], tuple[Value, ...]]


def _rim(b: OpBuilder, todo: _Turn, inner: _Box, outer: _Box) -> ParallelFor:
    """Return the loop over the elements of the outer box that are not in the inner one.

    Along the last axis it steps over the inner part wherever the other axes are inside.
    """
    *leading, last = [Var(index.name, I32) for index in todo.task.indices]
    length = [b.call("sub", box[1][-1], box[0][-1]) for box in (inner, outer)]
    hole = b.call("max", length[0], Const(0, I32))
    counter = Var(f"{last.name}_rim", I32)

    def visit(skipped: Value) -> list[Stmt]:
        with b.region() as body:
            here = b.call("add", outer[0][-1], counter)
            behind = b.call("ge", here, inner[0][-1])
            jump = b.call("select", behind, skipped, Const(0, I32))
            index = b.call("add", here, jump, name=last.name)
            _sum(b, todo, (*leading, index), guarded=True)
        return body

    if not leading:
        count = b.call("sub", length[1], hole)
        body = Block(tuple(visit(hole)))
        return ParallelFor((counter,), (Const(0, I32),), (count,), body, todo.task.span)
    with b.region() as body:
        inside: Value = Const(True, BOOL)
        for d, index in enumerate(leading):
            inside = b.call("and", inside, b.call("ge", index, inner[0][d]))
            inside = b.call("and", inside, b.call("lt", index, inner[1][d]))
        skipped = b.call("select", inside, hole, Const(0, I32), name="skipped")
        count = b.call("sub", length[1], skipped)
        row = Block(tuple(visit(skipped)))
        b.append(For(counter, Const(0, I32), count, (), (), row, (), todo.task.span))
    starts, stops = outer[0][:-1], outer[1][:-1]
    return ParallelFor(tuple(leading), starts, stops, Block(tuple(body)), todo.task.span)


def _shifted(b: OpBuilder, bounds: tuple[Value, ...], by: list[int]) -> tuple[Value, ...]:
    return tuple(b.call("add", v, Const(c, I32)) for v, c in zip(bounds, by, strict=True))


def _contribution(
    b: OpBuilder,
    todo: _Turn,
    scatter: _Scatter,
    one: Block,
    indices: tuple[Value, ...],
    *,
    guarded: bool,
) -> tuple[Value, Value]:
    """Append what one scatter adds to the element `indices`; return whether it does, and what."""
    task, (lows, highs) = todo.task, todo.extremes
    inside: Value = Const(True, BOOL)
    shifted: dict[Var, Value] = {}
    for d, (index, here) in enumerate(zip(task.indices, indices, strict=True)):
        c = scatter.offset[d]
        there = b.call("sub", here, Const(c, I32), name=index.name)
        if todo.wraps[d]:
            shifted[index] = b.call("mod", there, task.stops[d], name=index.name) if c else here
            continue
        shifted[index] = there
        # The loop over elements starts and ends with the outermost offsets.
        if guarded and c != lows[d]:
            inside = b.call("and", inside, b.call("ge", there, task.starts[d]))
        if guarded and c != highs[d]:
            inside = b.call("and", inside, b.call("lt", there, task.stops[d]))
    env: dict[Var, Value] = {v: v for v in free_variables(one)}
    block = Cloner({**env, **shifted}).block(one)
    if isinstance(inside, Const):
        for stmt in block.stmts:
            b.append(stmt)
        return block.results[0], block.results[1]
    nothing = zero(scatter.stmt.value.type)
    hit, value = Var("", BOOL), Var("", nothing.type)
    no = Block((), (Const(False, BOOL), nothing))
    b.append(If(inside, block, no, (hit, value), scatter.stmt.span))
    return hit, value
