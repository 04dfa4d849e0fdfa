"""Loops that run backwards though any order would do: forwards, with the index as it is.

The reverse of a loop runs from its end where that might matter, and the parallel loop around it
with it. Passes that look at indices find less in `last - back` than in an index.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from difftile.ir.facts import count_uses, defined_in
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Fail,
    For,
    Let,
    Load,
    ParallelFor,
    Print,
    Program,
    Size,
    Stmt,
    Value,
    Var,
)
from difftile.ir.walk import WRITES, walk, with_blocks, with_stmts
from difftile.passes.affine import Affine, affine, definitions_of, owns, place_of, ranges_of
from difftile.passes.reductions import reductions


def forwards(program: Program) -> Program:
    """Return the program with such loops running forwards."""
    changing = _Forwards(program)
    return with_stmts(program, map(changing.stmt, program.body.stmts))


class _Forwards:
    def __init__(self, program: Program) -> None:
        self._defs = definitions_of(program.body)
        self._uses: Counter[Var] = count_uses(program.body)
        shapes: dict[tuple[Array, int], Var] = {}
        self._same: dict[Var, Var] = {}
        for stmt in walk(program.body):
            if isinstance(stmt, Size):
                self._same[stmt.out] = shapes.setdefault((stmt.array, stmt.axis), stmt.out)

    def stmt(self, stmt: Stmt) -> Stmt:
        """Return a statement with the loops in it, and itself, running forwards."""
        if isinstance(stmt, ParallelFor):
            for axis in range(len(stmt.indices)):
                stmt = self._parallel(stmt, axis)
        elif isinstance(stmt, For) and self._is_free(stmt):
            found = self._mirrored(stmt.body, stmt.index, stmt.start, stmt.stop)
            if found is not None:
                stmt = replace(stmt, index=found.out, body=_without(stmt.body, found))
        return with_blocks(stmt, self._block)

    def _block(self, block: Block) -> Block:
        return replace(block, stmts=tuple(map(self.stmt, block.stmts)))

    def _parallel(self, task: ParallelFor, axis: int) -> ParallelFor:
        ends = task.starts[axis], task.stops[axis]
        found = self._mirrored(task.body, task.indices[axis], *ends)
        if found is None:
            return task
        indices = (*task.indices[:axis], found.out, *task.indices[axis + 1 :])
        return replace(task, indices=indices, body=_without(task.body, found))

    def _mirrored(self, body: Block, index: Var, start: Value, stop: Value) -> Let | None:
        """Return the statement in which an index is used, and only as its mirror image."""
        if self._uses[index] != 1:
            return None
        for stmt in body.stmts:
            if isinstance(stmt, Let) and stmt.op == "sub" and stmt.args[1] is index:
                last = self._form(stmt.args[0])
                if last == self._form(start) + self._form(stop) - 1:
                    return stmt
        return None

    def _form(self, value: Value) -> Affine[Var]:
        return affine(value, self._defs).renamed(lambda v: self._same.get(v, v))

    def _is_free(self, loop: For) -> bool:
        """Tell whether the iterations of a serial loop may run in any order."""
        if reductions(loop) is None:
            return False
        stmts = list(walk(loop.body))
        if any(isinstance(s, (Print, Fail)) for s in stmts):
            return False
        varying, ranges = defined_in(loop.body) | {loop.index}, ranges_of(loop.body)
        for array in {s.array for s in stmts if isinstance(s, WRITES)}:
            accesses = [s for s in stmts if isinstance(s, (Load, *WRITES)) and s.array is array]
            if all(
                (isinstance(s, Combine) and s.out is None)
                or (isinstance(s, Accumulate) and s.atomic)
                for s in accesses
            ):
                continue
            places = [place_of(s, self._defs) for s in accesses]
            if not owns(places, (loop.index,), varying, ranges):
                return False
        return True


def _without(block: Block, stmt: Stmt) -> Block:
    return replace(block, stmts=tuple(one for one in block.stmts if one is not stmt))
