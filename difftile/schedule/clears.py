"""The last stores of zeros into arrays, which need not run where a device fills the array later."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

from difftile.ir.facts import fact
from difftile.ir.nodes import Array, Block, Const, ParallelFor, Program, Store, Value
from difftile.ir.walk import array_of, walk, with_tasks


@fact
def last_clears(body: Block) -> Mapping[Array, tuple[ParallelFor, Store]]:
    """Return the stores of zeros, by parallel loops, that no access to the array follows.

    Each comes with its loop. Arrays of a thread are included, although no caller asks for them.
    """
    found: dict[Array, tuple[ParallelFor, Store]] = {}
    for stmt in body.stmts:
        for array in {array_of(inner) for inner in walk(Block((stmt,)))}:
            if array is not None:
                found.pop(array, None)
        if not isinstance(stmt, ParallelFor):
            continue
        for k, inner in enumerate(stmt.body.stmts):
            if isinstance(inner, Store) and _is_zero(inner.value):
                later = walk(Block(stmt.body.stmts[k + 1 :]))
                if inner.array not in {array_of(one) for one in later}:
                    found[inner.array] = stmt, inner
    return found


def without_clears(program: Program, arrays: Collection[Array]) -> tuple[Program, list[int]]:
    """Return the program without the last stores of zeros into some arrays.

    Stores before them stay: the program reads their zeros in between.

    Returns:
        The program, and the numbers that the parallel loops which are left had in the program.
    """
    clears = last_clears(program.body)
    dropped = [clears[array][1] for array in arrays]
    left: list[int] = []
    count = 0

    def kept(task: ParallelFor) -> list[ParallelFor]:
        nonlocal count
        stmts = tuple(s for s in task.body.stmts if all(s is not one for one in dropped))
        if stmts:
            left.append(count)
        count += 1
        return [replace(task, body=replace(task.body, stmts=stmts))] if stmts else []

    return with_tasks(program, kept), left


def _is_zero(value: Value) -> bool:
    return isinstance(value, Const) and value.value == 0 and math.copysign(1.0, value.value) > 0
