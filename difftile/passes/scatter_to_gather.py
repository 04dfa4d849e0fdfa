"""Scatters at fixed offsets as gathers: elements collect the terms that the loop adds to them.

The adjoint of a stencil adds to the neighbours of an element, which needs an atomic for each.
Where a parallel loop adds to `a[i + c]` for several literal offsets c, a loop over the elements
runs before it instead: element q takes the contributions of the iterations q - c, which are
computed again for each offset. An axis may be periodic, `a[(i + c) % n]` in a loop over all of its
n elements: then it is iteration (q - c) % n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import TypeAlias

from difftile.ir.facts import defined_in, free_variables
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
from difftile.ir.walk import Cloner, array_of, regions, walk, with_tasks, without_stmts
from difftile.ops.build import Expr, OpBuilder, zero
from difftile.passes.affine import affine, definitions_of
from difftile.passes.precedence import StaleLoads
from difftile.passes.slices import LARGEST, slice_of
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class _Scatter:
    """An accumulation at a fixed offset from the loop's indices, which wraps along some axes."""

    stmt: Accumulate
    offset: tuple[int, ...]
    wraps: tuple[bool, ...]


_ZERO = Const(0, I32)

_Box: TypeAlias = tuple[tuple[Value, ...], tuple[Value, ...]]


_RIM = "_rim"  # at the end of an index that the pass has made


def is_rim(loop: ParallelFor) -> bool:
    """Tell whether a loop gathers the few elements at the ends of a box."""
    return loop.indices[-1].name.endswith(_RIM)


def scatter_to_gather(program: Program, *, guarded: bool = False) -> Program:
    """Return the program with such scatters turned into gathers.

    Args:
        program: The program.
        guarded: Gather the rim in the same loop, from neighbouring iterations whose terms are
            dropped: a device starts a task for each loop, and computes sooner than it branches.
            Otherwise the rim has a loop of its own, and no other element tests any bounds, which
            suits a CPU.
    """
    defs = definitions_of(program.body)
    stale = StaleLoads(program.body)
    touched = Counter(array_of(stmt) for stmt in walk(program.body))

    def gathered(task: ParallelFor) -> list[Stmt]:
        loops: list[Stmt] = []

        def costly(one: Block) -> bool:
            """Tell whether a slice cannot be run again cheaply, with the loads that it needs."""
            stmts = list(walk(one))
            loads = [s for s in stmts if isinstance(s, Load)]
            lost = any(s.out in stale or s.array.size is not None for s in loads)
            # A value from a loop would take the loop once an offset.
            return lost or len(stmts) > LARGEST or bool(free_variables(one) & defined_in(task.body))

        for array, scatters in _scatters_of(task, defs).items():
            slices = [slice_of(task.body, s.stmt) for s in scatters]
            if any(map(costly, slices)):
                continue
            gather = _Gather(task, scatters, slices, defs, touched[array] == len(scatters))
            loops += gather.loops(guarded=guarded)
            moved = {id(s.stmt) for s in scatters}
            task = replace(
                task, body=without_stmts(task.body, lambda s, moved=moved: id(s) in moved)
            )
        return [*loops, task]

    return with_tasks(program, gathered)


def _scatters_of(task: ParallelFor, defs: Mapping[Var, Stmt]) -> dict[Array, list[_Scatter]]:
    """Return the fields that the loop only adds to, at two or more fixed offsets."""
    found: dict[Array, list[_Scatter]] = {}
    refused: set[Array] = set()
    loops = (stmt for stmt in walk(task.body) if isinstance(stmt, (For, While)))
    inside_loops = {id(s) for loop in loops for region in regions(loop) for s in walk(region)}
    for stmt in walk(task.body):
        array = array_of(stmt)
        if array is None or array.size is not None:
            continue
        scatter = None
        if isinstance(stmt, Accumulate) and id(stmt) not in inside_loops:
            scatter = _scatter(stmt, task, defs)
        if scatter is None:
            refused.add(array)
        else:
            found.setdefault(array, []).append(scatter)

    def alike(scatters: list[_Scatter], axis: int) -> bool:
        """Tell whether along an axis all offsets but 0 wrap, or none."""
        return len({s.wraps[axis] for s in scatters if s.offset[axis]}) <= 1

    return {
        array: scatters
        for array, scatters in found.items()
        if array not in refused
        and len({s.offset for s in scatters}) > 1
        and all(alike(scatters, axis) for axis in range(len(task.indices)))
    }


def _scatter(stmt: Accumulate, task: ParallelFor, defs: Mapping[Var, Stmt]) -> _Scatter | None:
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
        if modulo is not None:
            form = form.without((stop,))  # (i - 1 + n) % n
        if form.factors != {index: 1}:
            return None
        offset.append(form.constant)
        wraps.append(modulo is not None)
    return _Scatter(stmt, tuple(offset), tuple(wraps))


class _Gather:
    """The loops over the elements of a field that gather the terms one loop scatters.

    Args:
        task: The loop.
        scatters: Its accumulations into the field.
        slices: For each the statements that compute whether it happens, and its value.
        defs: The ops of the program.
        single_write: The rest of the program does not touch the field.
    """

    def __init__(
        self,
        task: ParallelFor,
        scatters: list[_Scatter],
        slices: list[Block],
        defs: Mapping[Var, Stmt],
        single_write: bool,
    ) -> None:
        self.b = OpBuilder()
        self.b.span = task.span
        self.task = task
        self.scatters = scatters
        self.slices = slices
        self.defs = defs
        self.single_write = single_write
        axes = range(len(task.indices))
        # Which axes are periodic, and the least and the largest offset of the others.
        self.wraps = [any(s.wraps[d] for s in scatters) for d in axes]
        self.lows = [0 if self.wraps[d] else min(s.offset[d] for s in scatters) for d in axes]
        self.highs = [0 if self.wraps[d] else max(s.offset[d] for s in scatters) for d in axes]

    def loops(self, *, guarded: bool) -> list[Stmt]:
        """Return one loop over all elements, or one over the inner ones and one for the rim."""
        b, task = self.b, self.task
        inner = self._shifted(task.starts, self.highs), self._shifted(task.stops, self.lows)
        outer = self._shifted(task.starts, self.lows), self._shifted(task.stops, self.highs)
        if guarded:
            b.append(self._all(outer))
            return b.stmts
        indices = tuple(Var(index.name, I32) for index in task.indices)
        with b.region() as body:
            self._add(indices, *self._sum(lambda k: self._term(k, indices, tested=False)))
        b.append(ParallelFor(indices, *inner, Block(tuple(body)), task.span))
        if not all(self.wraps):
            b.append(self._rim(inner, outer))
        return b.stmts

    def _shifted(self, bounds: tuple[Value, ...], by: list[int]) -> tuple[Value, ...]:
        return tuple(map(self._plus, bounds, by))

    def _plus(self, bound: Value, by: int) -> Value:
        """Return a bound moved by some elements: `n - 1` moved by one is `n`."""
        form = affine(bound, self.defs)
        match [*form.factors.items()]:
            case [(variable, 1)]:
                return (self.b.expr(variable) + (form.constant + by)).value
            case _:
                return (self.b.expr(bound) + by).value

    def _all(self, outer: _Box) -> ParallelFor:
        """Return the loop over the outer box, which takes each term from some iteration.

        Where an offset has no iteration, the nearest one is taken and its term counts as zero.
        """
        b, task = self.b, self.task
        stops: list[Value] = []
        shifts: list[list[Value]] = []  # along periodic axes from 0 to less than the period
        for d, (start, stop) in enumerate(zip(task.starts, task.stops, strict=True)):
            offsets: list[Value] = [Const(s.offset[d], I32) for s in self.scatters]
            end = outer[1][d]
            if self.wraps[d]:
                period = b.expr(stop).max(1).named("period")
                offsets = [c if c == _ZERO else b.call("mod", c, period.value) for c in offsets]
            elif self.lows[d] != self.highs[d]:
                # Without iterations there is nothing to take: the outer box is empty as well.
                end = (b.expr(stop) > start).select(end, outer[0][d]).value
            stops.append(end)
            shifts.append(offsets)
        indices = tuple(Var(index.name, I32) for index in task.indices)
        with b.region() as body:
            touched, total = self._sum(
                lambda k: self._nearest_term(k, [by[k] for by in shifts], indices)
            )
            self._add(indices, Const(True, BOOL) if self._reaches_all() else touched, total)
        return ParallelFor(indices, outer[0], tuple(stops), Block(tuple(body)), task.span)

    def _reaches_all(self) -> bool:
        """Tell whether the outer box certainly consists of elements of the field.

        Along each axis iterations must reach its first and its last elements on any condition.
        """
        always = [
            scatter.offset
            for scatter, one in zip(self.scatters, self.slices, strict=True)
            if one.results[0] == Const(True, BOOL)
        ]
        ends = enumerate(zip(self.wraps, self.lows, self.highs, strict=True))
        return all(
            {low, high} <= {offset[d] for offset in always} or (wraps and bool(always))
            for d, (wraps, low, high) in ends
        )

    def _sum(self, term: Callable[[int], tuple[Value, Value]]) -> tuple[Value, Value]:
        """Append the sum of a term for each scatter; return whether there is any, and the sum."""
        b = self.b
        total: Value = zero(self.scatters[0].stmt.value.type)
        touched: Value = Const(False, BOOL)
        for k, scatter in enumerate(self.scatters):
            b.span = scatter.stmt.span
            hit, value = term(k)
            total = b.call("add", total, value)
            touched = b.call("or", touched, hit)
        b.span = self.task.span
        return touched, total

    def _add(self, indices: tuple[Value, ...], touched: Value, total: Value) -> None:
        """Append the addition of a sum."""
        b, stmt = self.b, self.scatters[0].stmt
        flags = {"atomic": False, "single_write": self.single_write}
        with nullcontext() if touched == Const(True, BOOL) else b.branch(touched):
            b.append(Accumulate(stmt.array, indices, total, b.span, **flags))

    def _rim(self, inner: _Box, outer: _Box) -> ParallelFor:
        """Return the loop over the elements of the outer box that are not in the inner one.

        Along the last axis it steps over the inner part wherever the other axes are inside.
        """
        b, span = self.b, self.task.span
        *leading, last = [Var(index.name, I32) for index in self.task.indices]
        here, whole = (b.expr(stops[-1]) - starts[-1] for starts, stops in (inner, outer))
        hole = here.max(0)
        counter = Var(last.name + _RIM, I32)

        def visit(skipped: Expr) -> Block:
            with b.region() as body:
                here = outer[0][-1] + b.expr(counter)
                jump = (here >= inner[0][-1]).select(skipped, _ZERO)
                index = (here + jump).named(last.name).value
                indices = (*leading, index)
                self._add(indices, *self._sum(lambda k: self._term(k, indices, tested=True)))
            return Block(tuple(body))

        zeros = (_ZERO,)
        if not leading:
            return ParallelFor((counter,), zeros, ((whole - hole).value,), visit(hole), span)
        with b.region() as body:
            inside = b.expr(Const(True, BOOL))
            for index, start, stop in zip(leading, inner[0][:-1], inner[1][:-1], strict=True):
                at = b.expr(index)
                inside = inside & (at >= start)
                inside = inside & (at < stop)
            skipped = inside.select(hole, _ZERO).named("skipped")
            count = (whole - skipped).value
            b.append(For(counter, *zeros, count, (), (), visit(skipped), (), span))
        starts, stops = outer[0][:-1], outer[1][:-1]
        return ParallelFor(tuple(leading), starts, stops, Block(tuple(body)), span)

    def _term(self, k: int, indices: tuple[Value, ...], *, tested: bool) -> tuple[Value, Value]:
        """Append a scatter's part of an element; return whether there is one, and it.

        Args:
            k: Which scatter.
            indices: The element.
            tested: Test whether the iteration is there.
        """
        b, task = self.b, self.task
        scatter, one = self.scatters[k], self.slices[k]
        inside = b.expr(Const(True, BOOL))
        env: dict[Var, Value] = {v: v for v in free_variables(one)}
        for d, (index, here) in enumerate(zip(task.indices, indices, strict=True)):
            c = scatter.offset[d]
            there = (b.expr(here) - c).named(index.name)
            if self.wraps[d]:
                env[index] = (there % task.stops[d]).named(index.name).value if c else here
                continue
            env[index] = there.value
            if tested:
                inside = self._among(inside, there, d, c)
        block = Cloner(env).block(one)
        if isinstance(inside.value, Const):
            b.extend(block.stmts)
            return block.results[0], block.results[1]
        nothing = zero(scatter.stmt.value.type)
        hit, value = Var("", BOOL), Var("", nothing.type)
        no = Block((), (Const(False, BOOL), nothing))
        b.append(If(inside.value, block, no, (hit, value), scatter.stmt.span))
        return hit, value

    def _nearest_term(
        self, k: int, shifts: list[Value], indices: tuple[Value, ...]
    ) -> tuple[Value, Value]:
        """Append the term of the iteration nearest to an offset; return as `_term` does.

        Args:
            k: Which scatter.
            shifts: Its offset along each axis; modulo the period where there is one.
            indices: The element.
        """
        b, task = self.b, self.task
        scatter, one = self.scatters[k], self.slices[k]
        inside = b.expr(Const(True, BOOL))
        env: dict[Var, Value] = {v: v for v in free_variables(one)}
        for d, (index, here) in enumerate(zip(task.indices, indices, strict=True)):
            c, start, stop = scatter.offset[d], task.starts[d], task.stops[d]
            there = (b.expr(here) - shifts[d]).named(index.name)
            if self.wraps[d]:
                there = (there < 0).select(there + stop, there) if c else there
            else:
                inside = self._among(inside, there, d, c)
                if c != self.lows[d]:
                    there = there.max(start)
                if c != self.highs[d]:
                    there = there.min(b.expr(stop) - 1)
            env[index] = there.named(index.name).value
        block = Cloner(env).block(one)
        b.extend(block.stmts)
        hit, value = block.results
        if inside.value != Const(True, BOOL):
            value = b.call("select", inside.value, value, zero(value.type))
        return b.call("and", inside.value, hit), value

    def _among(self, inside: Expr, there: Expr, d: int, c: int) -> Expr:
        """Return a condition and whether, along an axis, the iteration at an offset is there.

        The loop over elements starts and ends with the outermost offsets.
        """
        if c != self.lows[d]:
            inside = inside & (there >= self.task.starts[d])
        if c != self.highs[d]:
            inside = inside & (there < self.task.stops[d])
        return inside
