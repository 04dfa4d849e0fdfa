"""Arrays that a program gives new contents whole, whatever they held before the launch.

Memory of a device is filled where that is asked for, as late as possible: an array that holds zeros
need not be filled for a program that stores into all of it, and one that a program leaves full of
zeros need not be written by the program.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Const,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.walk import array_of, walk, with_tasks


@dataclass(frozen=True, slots=True)
class Box:
    """The elements of a parallel loop that starts at zero.

    Args:
        stops: Where it ends along each axis.
        sizes: The position of an argument and its axis, for the ends that are sizes of arrays.
    """

    stops: tuple[Value, ...]
    sizes: dict[Value, tuple[int, int]]

    def is_all_of(self, shape: tuple[int, ...], args: Sequence[Any]) -> bool:
        """Tell whether these are all elements of a shape."""
        for stop, size in zip(self.stops, shape, strict=True):
            if isinstance(stop, Const):
                bound: Any = stop.value
            elif stop in self.sizes:
                position, axis = self.sizes[stop]
                bound = args[position].shape[axis]
            else:
                return False
            if bound != size:
                return False
        return True


@dataclass(frozen=True, slots=True)
class WholeWrites:
    """Where a program writes whole boxes of its parameters, by the position of the parameter.

    Args:
        added: Additions to elements that nothing else in the program touches.
        cleared: Stores of zeros, which no access to the array follows.
    """

    added: dict[int, Box]
    cleared: dict[int, Box]


def whole_writes(program: Program, params: Sequence[Array | Var]) -> WholeWrites:
    """Return where a program writes whole boxes of its parameters."""
    position = {param: k for k, param in enumerate(params)}
    sizes: dict[Value, tuple[int, int]] = {
        s.out: (position[s.array], s.axis)
        for s in program.body.stmts
        if isinstance(s, Size) and s.array in position
    }
    added: dict[int, Box] = {}
    cleared: dict[int, Box] = {}
    for stmt in program.body.stmts:
        for array in {array_of(inner) for inner in walk(Block((stmt,)))}:
            if array in position:
                cleared.pop(position[array], None)
        if not isinstance(stmt, ParallelFor) or not all(_is_zero(start) for start in stmt.starts):
            continue
        box = Box(stmt.stops, sizes)
        for k, inner in enumerate(stmt.body.stmts):
            array = array_of(inner)
            if array not in position:
                continue
            if isinstance(inner, Accumulate):
                if inner.single_write and inner.index == stmt.indices:
                    added[position[array]] = box
            elif _clears(inner, stmt.indices):
                later = walk(Block(stmt.body.stmts[k + 1 :]))
                if array not in {array_of(one) for one in later}:
                    cleared[position[array]] = box
    return WholeWrites(added, cleared)


def without_clears(program: Program, arrays: Collection[Array]) -> Program:
    """Return the program without the last stores of zeros into all of some arrays.

    Stores before them stay: what the program reads in between are their zeros.
    """
    last: dict[Array | None, Stmt] = {}
    for task in program.body.stmts:
        if isinstance(task, ParallelFor):
            clears = (stmt for stmt in task.body.stmts if _clears(stmt, task.indices))
            last |= {array_of(stmt): stmt for stmt in clears}
    dropped = [last[array] for array in arrays]

    def kept(task: ParallelFor) -> list[Stmt]:
        stmts = tuple(s for s in task.body.stmts if all(s is not one for one in dropped))
        return [replace(task, body=replace(task.body, stmts=stmts))] if stmts else []

    return with_tasks(program, kept)


def _clears(stmt: Stmt, indices: tuple[Value, ...]) -> bool:
    return isinstance(stmt, Store) and stmt.index == indices and _is_zero(stmt.value)


def _is_zero(value: Value) -> bool:
    return isinstance(value, Const) and value.value == 0 and math.copysign(1.0, value.value) > 0
