"""Accumulations that are the only access of a program to their elements.

Where the gradient of a field is known to be zero, such an accumulation can be a store, which
spares reading the memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

from difftile.ir.facts import defined_in
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Const,
    For,
    If,
    Let,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Value,
    Var,
)
from difftile.ir.types import I32
from difftile.ir.walk import array_of, operands, walk, with_blocks, with_tasks
from difftile.passes.affine import Affine, Place, affine, definitions_of, differ, owns, place_of

_ZERO = Const(0, I32)


def mark_single_writes(program: Program) -> Program:
    """Return the program with such accumulations marked; exclusive ones must be marked."""
    touched = Counter(array_of(stmt) for stmt in walk(program.body))
    single = {array for array, count in touched.items() if array is not None and count == 1}
    defs = definitions_of(program.body)

    def marked(task: ParallelFor) -> list[Stmt]:
        marks = _SingleWrites(task, single, defs)
        marks.note_places_apart(touched)
        return [replace(task, body=marks.block(task.body, (task,)))]

    return with_tasks(program, marked)


class _SingleWrites:
    """Marks the accumulations of one parallel loop."""

    def __init__(self, task: ParallelFor, single: set[Array], defs: Mapping[Var, Stmt]) -> None:
        self.single = single
        self.defs = defs
        self.varying = _varying(task)
        self.task = task
        self.apart: set[Array] = set()

    def note_places_apart(self, touched: Mapping[Array | None, int]) -> None:
        """Note the arrays that several accumulations touch, each once at elements of its own.

        Args:
            touched: How often the program touches each array.
        """
        found: dict[Array, list[Accumulate]] = {}
        for stmt in self.task.body.stmts:
            if isinstance(stmt, Accumulate) and touched[stmt.array] > 1:
                found.setdefault(stmt.array, []).append(stmt)
        for array, stmts in found.items():
            exclusive = not any(stmt.atomic for stmt in stmts) and array.size is None
            if len(stmts) < touched[array] or not exclusive:
                continue
            if any(len(stmt.index) < array.type.ndim for stmt in stmts):
                continue
            places = [place_of(stmt, self.defs) for stmt in stmts]
            apart = all(differ(one, other) for one, other in combinations(places, 2))
            if apart and owns(places, self.task.indices, self.varying, {}):
                self.apart.add(array)

    def block(self, block: Block, loops: tuple[ParallelFor | For, ...]) -> Block:
        """Return the block marked, with the loops around it."""
        return replace(block, stmts=tuple(self.stmt(stmt, loops) for stmt in block.stmts))

    def stmt(self, stmt: Stmt, loops: tuple[ParallelFor | For, ...]) -> Stmt:
        match stmt:
            case Accumulate(array) if array in self.apart or (
                array in self.single and self.differs(stmt, loops)
            ):
                return replace(stmt, single_write=True)
            case For():
                return replace(stmt, body=self.block(stmt.body, (*loops, stmt)))
            case If():
                return with_blocks(stmt, lambda inner: self.block(inner, loops))
            case _:
                return stmt

    def differs(self, stmt: Accumulate, loops: tuple[ParallelFor | For, ...]) -> bool:
        """Tell whether every iteration of all loops has an element of its own."""
        whole = len(stmt.index) == stmt.array.type.ndim and stmt.array.size is None
        if stmt.atomic or not whole:
            return False
        place = place_of(stmt, self.defs)
        indices: list[Var] = []
        ranges: dict[Var, tuple[int, int]] = {}
        for loop in loops:
            if isinstance(loop, ParallelFor):
                indices += loop.indices
                continue
            index, place = self.forwards(loop, place)
            indices.append(index)
            most = self.most(loop.stop)
            if isinstance(loop.start, Const) and most is not None:
                ranges[index] = int(loop.start.value), most - 1
        return owns([place], tuple(indices), self.varying.union(indices), ranges)

    def forwards(self, loop: For, place: Place) -> tuple[Var, Place]:
        """Return a place by an index that counts backwards from the end of a loop, if it does.

        The index `stop - 1 - back` takes the values of `back`, from 0 to `stop - 1`, and each once.
        """
        stop = affine(loop.stop, self.defs)
        counted = Var("slot", I32)
        back = stop - 1 - Affine({counted: 1})
        for form in place:
            factor = form.factor(loop.index)
            ends = [v for v in stop.factors if v in self.varying]
            cancels = ends and all(form.factor(v) == -factor * stop.factor(v) for v in ends)
            if factor and loop.start == _ZERO and cancels:
                return counted, tuple(one.substituted(loop.index, back) for one in place)
        return loop.index, place

    def most(self, stop: Value) -> int | None:
        """Return an upper bound of the end of a loop, where it is a number."""
        if isinstance(stop, Const):
            return int(stop.value)
        match self.defs.get(stop):
            case Let(op="min", args=args):
                known = [most for most in map(self.most, args) if most is not None]
                return min(known, default=None)
            case _:
                return None


def _varying(task: ParallelFor) -> set[Var]:
    """Return the values that may differ between iterations of a loop or of loops in it.

    Others follow from sizes and numbers, though they are computed again in each iteration.
    """
    varying = {*defined_in(task.body), *task.indices}
    for stmt in walk(task.body):  # definitions come before uses
        if isinstance(stmt, Size) or (
            isinstance(stmt, Let) and stmt.args and varying.isdisjoint(operands(stmt))
        ):
            varying.discard(stmt.out)
    return varying
