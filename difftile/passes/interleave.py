"""Neighbouring iterations of a device's threads, side by side: all loads before the first store.

Memory answers after hundreds of cycles, in which a thread can ask for more, but nothing tells a
compiler that a store leaves the elements alone that the next iteration loads. A thread therefore
runs some iterations at a time, first their loads and arithmetic, then their stores. Iterations
of a parallel loop may run in any order, and so in turns. They are far apart in a loop over one
axis, and neighbouring rows in others, where stencils load the same elements for several of them.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from dataclasses import field, replace
from functools import reduce
from math import prod
from operator import add

from difftile.ir.facts import arrays_written, uses
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Const,
    Fail,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Print,
    Stmt,
    Store,
    Var,
    While,
)
from difftile.ir.types import I32, shape_of
from difftile.ir.walk import EFFECTS, WRITES, Cloner, array_of, definitions, operands, walk
from difftile.ops.build import OpBuilder
from difftile.records import dataclass

_WARP = 32  # iterations that read neighbouring elements at a time
_MOST = 8  # numbers that are loaded for an iteration; one that loads more keeps memory busy


def interleave(loop: ParallelFor, fresh: Collection[Array] = ()) -> list[Stmt]:
    """Return the statements in place of a parallel loop of a device.

    Args:
        loop: The loop.
        fresh: Arrays that hold zeros, where a single addition becomes a store.
    """
    original, loop = loop, replace(loop, body=_with_loads(loop.body, fresh))
    lanes = _lanes(loop)
    if lanes == 1:
        return [original]
    b = OpBuilder()
    b.span = loop.span
    axis = max(0, len(loop.indices) - 2)
    index, start, stop = loop.indices[axis], loop.starts[axis], loop.stops[axis]
    extent, group = b.expr(stop) - start, Var("group", I32)
    if len(loop.indices) == 1:
        # Warps go on reading whole lines of memory.
        apart = extent.ceildiv(lanes * _WARP) * _WARP
        count = apart = apart.named("apart")
    else:
        apart, count = b.expr(Const(1, I32)), extent.ceildiv(lanes).named("groups")
    outside = [s for s in loop.body.stmts if _is_outside(s, arrays_written(loop.body))]
    body = Block(tuple(s for s in loop.body.stmts if s not in outside))
    with b.region() as stmts:
        b.extend(outside)
        width = lanes if len(loop.indices) > 1 else 1
        first = (start + b.expr(group) * width).named(index.name)
        places = [first + lane * apart if lane else first for lane in range(lanes)]
        complete = places[-1] < stop
        with b.region() as together:
            cloners = [Cloner({index: place.named(index.name).value}) for place in places]
            _Turns(b, cloners, index).block(body)
        with b.region() as alone:
            # As many as there are: a literal number would be written out, and take registers.
            turn = Var("turn", I32)
            if len(loop.indices) == 1:
                one, none = Const(1, I32), Const(0, I32)
                turns = reduce(add, [(place < stop).select(one, none) for place in places[:-1]])
            else:
                turns = stop - first
            with b.region() as single:
                at = (first + b.expr(turn) * apart).named(index.name)
                b.extend(Cloner({index: at.value}).block(body).stmts)
            inside = Block(tuple(single))
            b.append(For(turn, Const(0, I32), turns.value, (), (), inside, (), loop.span))
        sides = Block(tuple(together)), Block(tuple(alone))
        b.append(If(complete.value, *sides, (), loop.span))
    indices, starts, stops = list(loop.indices), list(loop.starts), list(loop.stops)
    indices[axis], starts[axis], stops[axis] = group, Const(0, I32), count.value
    bounds = tuple(indices), tuple(starts), tuple(stops)
    made = ParallelFor(*bounds, Block(tuple(stmts)), loop.span, ordered=loop.ordered)
    return [*b.stmts, made]


def _lanes(loop: ParallelFor) -> int:
    """Return the number of iterations that run side by side."""
    early, late = _in_order(loop.body.stmts)
    for stmt in walk(loop.body):
        match stmt:
            case Let() | Load() | If():
                pass
            case Alloc(array) if array.type.ndim == 0:
                pass
            case Accumulate(atomic=True) | Accumulate(aggregated=True):
                return 1  # such a loop waits for its atomics
            case For() | While() | Alloc() | Combine() | Print() | Fail():
                return 1
            case _:
                pass
    loaded = sum(
        prod(shape_of(s.out.type))
        for s in walk(Block(tuple(early)))
        if isinstance(s, Load) and s.array.size is None and s.index
    )
    if not late or not 0 < loaded <= _MOST:
        return 1
    return 4 if len(loop.indices) == 1 and loaded <= _MOST // 2 else 2


def _with_loads(body: Block, fresh: Collection[Array]) -> Block:
    """Return a block with additions as loads, which may come early, and stores."""
    b = OpBuilder()
    for stmt in body.stmts:
        match stmt:
            case Accumulate(array, index, value, span, atomic=False) if not (
                stmt.single_write and array in fresh
            ):
                b.span = span
                before = Var(f"{array.name}_at", value.type)
                b.append(Load(before, array, index, span))
                b.append(Store(array, index, b.call("add", before, value), span))
            case _:
                b.append(stmt)
    return replace(body, stmts=tuple(b.stmts))


def _is_outside(stmt: Stmt, written: Set[Array]) -> bool:
    """Tell whether a statement loads an element that all iterations do, without an index."""
    return isinstance(stmt, Load) and not stmt.index and stmt.array not in written


def _in_order(stmts: tuple[Stmt, ...]) -> tuple[list[Stmt], list[Stmt]]:
    """Return the statements that may come before all stores of an iteration, and the others."""
    early: list[Stmt] = []
    late: list[Stmt] = []
    later: set[Var] = set()  # values of late statements
    written: set[Array | None] = set()  # by late statements
    touched: set[Array | None] = set()
    for stmt in stmts:
        inside = list(walk(Block((stmt,))))
        arrays = {array_of(s) for s in inside} - {None}
        writes = {array_of(s) for s in inside if isinstance(s, WRITES)}
        local = all(array is not None and array.size is not None for array in writes)
        speaks = any(isinstance(s, EFFECTS) and not isinstance(s, WRITES) for s in inside)
        if (
            not local
            or speaks
            or not later.isdisjoint(uses(Block((stmt,))))
            or not written.isdisjoint(arrays)
            or not touched.isdisjoint(writes)
        ):
            late.append(stmt)
            later.update(definitions(stmt))
            written |= writes
            touched |= arrays
        else:
            early.append(stmt)
    return early, late


@dataclass
class _Turns:
    """Appends the statements of several iterations, late ones after all early ones.

    Args:
        b: Where they are appended.
        cloners: Have the index of each iteration.
        index: The index that tells the iterations apart.
    """

    b: OpBuilder
    cloners: list[Cloner]
    index: Var
    _varying: set[Var] = field(default_factory=set[Var])

    def block(self, block: Block) -> None:
        """Append the statements of a block."""
        self._varying.add(self.index)
        written = arrays_written(block)
        early, late = _in_order(block.stmts)
        first, *others = self.cloners
        for stmt in early:
            self.b.span = stmt.span
            copy = first.stmt(stmt)
            self.b.append(copy)
            if self._is_common(stmt, written):
                for other in others:
                    other.env.update((v, first.env[v]) for v in definitions(stmt))
                continue
            self._varying.update(definitions(stmt))
            self.b.extend([other.stmt(stmt) for other in others])
        for cloner in self.cloners:
            for stmt in late:
                self.b.span = stmt.span
                self.b.append(cloner.stmt(stmt))

    def _is_common(self, stmt: Stmt, written: Set[Array]) -> bool:
        """Tell whether a statement has the same result in all of the iterations."""
        match stmt:
            case Let():
                return self._varying.isdisjoint(operands(stmt))
            case Load(array=array, index=index):
                known = array.size is None and array not in written
                return known and self._varying.isdisjoint(index)
            case _:
                return False
