"""Stores that later loops overwrite, and sums into arrays that are known to hold one number.

A program of several launches clears gradients that it then adds to, or stores contents that are
overwritten before they are read. The first becomes a store, the second goes.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Set
from dataclasses import replace
from typing import TypeAlias

from difftile.ir.facts import arrays_written, has_effects
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    Load,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.walk import WRITES, array_of, walk, with_stmts, without_stmts
from difftile.ops.build import OpBuilder
from difftile.passes.exclusive import owned_arrays

Extents: TypeAlias = Mapping[Array, tuple[Hashable, ...]]


def dead_stores(
    program: Program, extents: Extents | None = None, scratch: Collection[Array] = ()
) -> Program:
    """Return the program without such stores and sums.

    Args:
        program: The program.
        extents: For each array a key for each of its extents: equal ones have equal keys. An array
            that is not among them shares its extents with no other.
        scratch: Arrays whose contents are not read after the program.
    """
    stored = _with_stores_of_sums(program, _Accesses(program, extents or {}))
    return _without_dead(stored, _Accesses(stored, extents or {}), set(scratch))


class _Accesses:
    """The accesses of the statements at the top level to whole arrays."""

    def __init__(self, program: Program, extents: Extents) -> None:
        self._program = program
        self._extents = extents
        self._sizes = {s.out: s for s in program.body.stmts if isinstance(s, Size)}

    def covers(self, stmt: Stmt, inner: Store | Accumulate) -> bool:
        """Tell whether an access directly in a statement gets to every element once."""
        array, index = inner.array, inner.index
        if array.size is not None or len(index) != array.type.ndim:
            return False
        if not isinstance(stmt, ParallelFor):
            return stmt is inner and not index
        from_zero = all(isinstance(start, Const) and start.value == 0 for start in stmt.starts)
        stops = enumerate(stmt.stops)
        return index == stmt.indices and from_zero and all(self._ends(array, *at) for at in stops)

    def _ends(self, array: Array, axis: int, stop: Value) -> bool:
        size = self._sizes.get(stop) if isinstance(stop, Var) else None
        return size is not None and self._extent(size.array, size.axis) == self._extent(array, axis)

    def _extent(self, array: Array, axis: int) -> Hashable:
        return self._extents[array][axis] if array in self._extents else (array, axis)

    def owned(self, stmt: Stmt) -> Set[Array]:
        """Return the arrays whose accesses in a statement come in the order of its text."""
        if isinstance(stmt, ParallelFor):
            return owned_arrays(stmt, self._program)
        return _touched(stmt)


def _direct(stmt: Stmt) -> tuple[Stmt, ...]:
    """Return the statements that each iteration of a loop runs, or a statement of its own."""
    return stmt.body.stmts if isinstance(stmt, ParallelFor) else (stmt,)


def _touched(stmt: Stmt) -> set[Array]:
    return {array for s in walk(Block((stmt,))) if (array := array_of(s)) is not None}


def _accesses(stmt: Stmt, array: Array) -> list[Stmt]:
    return [s for s in walk(Block((stmt,))) if array_of(s) is array]


def _with_stores_of_sums(program: Program, accesses: _Accesses) -> Program:
    """Return the program with sums into arrays that hold one number everywhere as stores."""
    holds: dict[Array, Const] = {}
    stmts: list[Stmt] = []
    for stmt in program.body.stmts:
        b = OpBuilder()
        touched = _touched(stmt) & holds.keys()
        single = {array for array in touched if len(_accesses(stmt, array)) == 1}
        for inner in _direct(stmt):
            if (
                isinstance(inner, Accumulate)
                and inner.array in single
                and accesses.covers(stmt, inner)
            ):
                b.span = inner.span
                total = b.call("add", holds[inner.array], inner.value)
                b.store(inner.array, inner.index, total)
            else:
                b.append(inner)
        if isinstance(stmt, ParallelFor):
            stmts.append(replace(stmt, body=Block(tuple(b.stmts))))
        else:
            stmts += b.stmts
        for array in arrays_written(Block((stmt,))):
            holds.pop(array, None)
        holds |= _left(stmt, accesses)
    return with_stmts(program, stmts)


def _left(stmt: Stmt, accesses: _Accesses) -> dict[Array, Const]:
    """Return the arrays of which every element holds a number after a statement."""
    found: dict[Array, Const] = {}
    for inner in _direct(stmt):
        if isinstance(inner, Store) and isinstance(inner.value, Const):
            writes = [s for s in _accesses(stmt, inner.array) if isinstance(s, WRITES)]
            last = writes[-1] is inner
            alone = len(writes) == 1 or inner.array in accesses.owned(stmt)
            if last and alone and accesses.covers(stmt, inner):
                found[inner.array] = inner.value
    return found


def _without_dead(program: Program, accesses: _Accesses, dead: set[Array]) -> Program:
    """Return the program without writes whose results are overwritten and not read.

    Args:
        program: The program.
        accesses: The accesses of its statements.
        dead: The arrays whose contents are not read after the program.
    """
    kept: list[Stmt] = []
    for stmt in reversed(program.body.stmts):
        block = Block((stmt,))
        for array in _touched(stmt) & dead:
            block = _without_writes(block, array, accesses)
        if not block.stmts or (isinstance(stmt, ParallelFor) and not has_effects(block)):
            continue
        (changed,) = block.stmts
        kept.append(changed)
        for array in _touched(changed):
            if _overwrites(changed, array, accesses):
                dead.add(array)
            elif any(not isinstance(s, Store) for s in _accesses(changed, array)):
                dead.discard(array)
    return with_stmts(program, reversed(kept))


def _without_writes(block: Block, array: Array, accesses: _Accesses) -> Block:
    """Return a statement without its writes into dead arrays that it does not read."""
    (stmt,) = block.stmts
    every = _accesses(stmt, array)
    if not any(map(_reads, every)):
        return without_stmts(block, lambda s: array_of(s) is array)
    last = every[-1]
    direct = any(last is s for s in _direct(stmt))
    if isinstance(last, Store) and direct and array in accesses.owned(stmt):
        return without_stmts(block, lambda s: s is last)
    return block


def _reads(stmt: Stmt) -> bool:
    """Tell whether an access gives the program a value."""
    return isinstance(stmt, Load) or (isinstance(stmt, Combine) and stmt.out is not None)


def _overwrites(stmt: Stmt, array: Array, accesses: _Accesses) -> bool:
    """Tell whether a statement stores every element of an array before it reads any."""
    first, *others = _accesses(stmt, array)
    if not isinstance(first, Store) or not any(first is s for s in _direct(stmt)):
        return False
    if not accesses.covers(stmt, first):
        return False
    return all(isinstance(s, Store) for s in others) or array in accesses.owned(stmt)
