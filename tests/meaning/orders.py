"""Parallel iterations in another order, and the elements that each of them touches."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    For,
    Let,
    Load,
    ParallelFor,
    Print,
    Program,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import I32, FieldType, shape_of, with_scalar
from difftile.ir.walk import array_of, walk, with_blocks
from difftile.ops.build import OpBuilder
from tests.meaning.meaning import Contents


def shows_its_order(program: Program) -> bool:
    """Tell whether results may follow from the order of iterations: by old values, or prints."""
    return any(
        isinstance(s, Print) or (isinstance(s, Combine) and s.out is not None)
        for s in walk(program.body)
    )


def reordered(program: Program) -> Program:
    """Return the program with its parallel iterations, and the turns of lanes, in another order.

    The last axis runs backwards, every second iteration first, and all other axes backwards.
    """

    def changed(block: Block) -> Block:
        return replace(block, stmts=tuple(_reordered(with_blocks(s, changed)) for s in block.stmts))

    return replace(program, body=changed(program.body))


def _reordered(stmt: Stmt) -> Stmt:
    if isinstance(stmt, ParallelFor):
        b, indices = OpBuilder(), [Var(f"{i.name}_place", I32) for i in stmt.indices]
        axes = list(zip(stmt.indices, indices, stmt.starts, stmt.stops, strict=True))
        for index, place, start, stop in axes:
            _set(b, index, _other_place(b, place, start, stop, halves=index is stmt.indices[-1]))
        b.extend(stmt.body.stmts)
        return replace(stmt, indices=tuple(indices), body=Block(tuple(b.stmts)))
    if isinstance(stmt, For) and stmt.by_lanes:
        b, place = OpBuilder(), Var(f"{stmt.index.name}_place", I32)
        _set(b, stmt.index, _other_place(b, place, stmt.start, stmt.stop, halves=True))
        b.extend(stmt.body.stmts)
        return replace(stmt, index=place, body=Block(tuple(b.stmts), stmt.body.results))
    return stmt


def _set(b: OpBuilder, index: Var, value: Value) -> None:
    b.append(Let(index, "add", (value, Const(0, I32))))


def _other_place(b: OpBuilder, place: Var, start: Value, stop: Value, *, halves: bool) -> Value:
    last = b.expr(stop) - 1
    turn = b.expr(place) - start
    if not halves:
        return (last - turn).value
    half = (b.expr(stop) - start + 1) // 2
    second = (turn - half) * 2 + 1
    shift = (turn < half).select((turn * 2).value, second.value)
    return (last - shift).value


# Elements


@dataclass(frozen=True, slots=True)
class Note:
    """The first and the last iteration that touched each element in some way.

    Args:
        array: The array.
        how: "load", "store", or the operation that all iterations may do at once.
        loop: The number of the parallel loop.
        first: The least number of an iteration, or a larger one.
        last: The largest one, or -1.
    """

    array: Array
    how: str
    loop: int
    first: Array
    last: Array


_NONE = 2**30


def watched(program: Program, arrays: Collection[Array]) -> tuple[Program, list[Note]]:
    """Return the program that also notes which iterations touch which elements, and the notes.

    Args:
        program: The program.
        arrays: The arrays to watch.
    """
    notes: list[Note] = []
    known: dict[tuple[Array, str, int], Note] = {}
    stmts: list[Stmt] = []
    number = 0
    for stmt in program.body.stmts:
        if not isinstance(stmt, ParallelFor):
            stmts.append(stmt)
            continue
        b = OpBuilder()
        count = b.expr(Const(0, I32))
        for index, start, stop in zip(stmt.indices, stmt.starts, stmt.stops, strict=True):
            count = count * (b.expr(stop) - start) + (b.expr(index) - start)
        iteration, loop = count.value, number

        def note(array: Array, how: str, loop: int = loop) -> Note:
            key = (array, how, loop)
            if key not in known:
                kind = FieldType(with_scalar(array.type.element, I32), array.type.ndim)
                marks = (Array(f"{array.name}_{how}_{word}", kind) for word in ("first", "last"))
                known[key] = Note(array, how, loop, *marks)
                notes.append(known[key])
            return known[key]

        def changed(block: Block, iteration: Value = iteration, note=note) -> Block:
            inner: list[Stmt] = []
            for one in block.stmts:
                how = _how(one)
                if how and array_of(one) in arrays:
                    inner += _noted(one, note(one.array, how), iteration)
                inner.append(with_blocks(one, changed))
            return replace(block, stmts=tuple(inner))

        body = changed(stmt.body)
        stmts.append(replace(stmt, body=replace(body, stmts=(*b.stmts, *body.stmts))))
        number += 1
    marks = tuple(mark for one in notes for mark in (one.first, one.last))
    made = replace(program, body=Block(tuple(stmts)), params=(*program.params, *marks))
    return made, notes


def _how(stmt: Stmt) -> str:
    """Return how a statement touches memory that iterations may share; else nothing."""
    match stmt:
        case Load(array=array) if array.size is None:
            return "load"
        case Store(array=array) if array.size is None:
            return "store"
        case Accumulate(array=array, atomic=atomic) if array.size is None:
            return "add" if atomic else "store"
        case Combine(array=array, op=op) if array.size is None:
            return "store" if op == "div" else op
        case _:
            return ""


def _noted(stmt: Stmt, note: Note, iteration: Value) -> list[Stmt]:
    b = OpBuilder()
    value = iteration
    kind = note.first.type.element
    left = shape_of(kind)[len(stmt.index) - note.array.type.ndim :]  # type: ignore[union-attr]
    if left:
        count = int(np.prod(left))
        value = b.assembled(left, [iteration] * count)
    b.append(Combine(None, "min", note.first, stmt.index, value))  # type: ignore[union-attr]
    b.append(Combine(None, "max", note.last, stmt.index, value))  # type: ignore[union-attr]
    return b.stmts


def marks_of(notes: list[Note], fields: Contents) -> Contents:
    """Return memory for notes."""
    found: Contents = {}
    for one in notes:
        found[one.first] = np.full(fields[one.array].shape, _NONE, np.int32)
        found[one.last] = np.full(fields[one.array].shape, -1, np.int32)
    return found


def meetings(notes: list[Note], marks: Contents) -> list[str]:
    """Return the arrays of which two iterations touch one element, unless both may."""
    found: list[str] = []
    groups: dict[tuple[Array, int], list[Note]] = {}
    for one in notes:
        groups.setdefault((one.array, one.loop), []).append(one)
    for (array, loop), here in groups.items():
        for k, one in enumerate(here):
            for other in here[k:]:
                if one is other and one.how != "store":
                    continue
                touched = (marks[one.last] >= 0) & (marks[other.last] >= 0)
                alone = (
                    (marks[one.first] == marks[one.last])
                    & (marks[other.first] == marks[other.last])
                    & (marks[one.first] == marks[other.first])
                )
                if np.any(touched & ~alone):
                    found.append(f"{array.name} ({one.how}, {other.how}) in loop {loop}")
    return found
