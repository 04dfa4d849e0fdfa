"""Indices and divisors under debug: accesses outside a shape are reported, and touch no memory.

`guard` comes first, while every access stands where the user wrote it: it only reports. `confine`
comes last, after passes that may have moved accesses: it skips writes outside and lets reads go to
the nearest element. Between the two a program is optimised, cut and reversed as without debug.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from difftile.ir.failures import BadIndex, ZeroDivisor
from difftile.ir.nodes import (
    Array,
    Block,
    Const,
    Fail,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Program,
    Ruled,
    Size,
    Stmt,
    Value,
    Var,
)
from difftile.ir.types import BOOL, I32, shape_of
from difftile.ir.walk import WRITES, definitions, rebind, walk, with_blocks, without_stmts
from difftile.ops.build import OpBuilder, zero
from difftile.passes.safe_divisions import DIVISIONS, divisor_of, is_zero

_Rule = Callable[["_Bounds", Stmt], bool]


def guard(program: Program) -> Program:
    """Return the program with a report before each access that may be outside its shape."""
    return _Bounds(program, _guarded).rewritten(program)


def confine(program: Program) -> Program:
    """Return the program with no access outside a shape."""
    return _Bounds(program, _confined).rewritten(program)


def unchecked(program: Program) -> Program:
    """Return the program without its assertions, which are checked only under debug."""
    body = without_stmts(program.body, lambda stmt: isinstance(stmt, Fail))
    return replace(program, body=body)


class Ranges:
    """The indices of a program that its text shows to be inside a shape."""

    def __init__(self, program: Program) -> None:
        stmts = list(walk(program.body))
        self._sizes = {s.out: (s.array, s.axis) for s in stmts if isinstance(s, Size)}
        self._ranges: dict[Var, tuple[Value, Value]] = {}
        for s in stmts:
            if isinstance(s, For):
                self._ranges[s.index] = (s.start, s.stop)
            elif isinstance(s, ParallelFor):
                bounds = zip(s.starts, s.stops, strict=True)
                self._ranges |= dict(zip(s.indices, bounds, strict=True))

    def inside(self, array: Array, axis: int, index: Value) -> bool:
        """Tell whether an index of a loop, or a literal, is inside for sure."""
        size = literal_extent(array, axis)
        if isinstance(index, Const):
            # There are no fields without elements.
            return index.value == 0 or (size is not None and 0 <= index.value < size)
        start, stop = self._ranges.get(index, (None, None))
        if not isinstance(start, Const) or start.value < 0:
            return False
        if isinstance(stop, Const):
            return size is not None and stop.value <= size
        return size is None and isinstance(stop, Var) and self._sizes.get(stop) == (array, axis)

    def doubtful(self, array: Array, index: Sequence[Value]) -> list[int]:
        """Return the axes of an access that may be outside."""
        return [k for k, i in enumerate(index) if not self.inside(array, k, i)]


class _Bounds:
    """Rewrites blocks by a rule."""

    def __init__(self, program: Program, rule: _Rule) -> None:
        self.b = OpBuilder()
        self.rule = rule
        self.ranges = Ranges(program)

    def rewritten(self, program: Program) -> Program:
        return replace(program, body=self.block(program.body))

    def block(self, block: Block) -> Block:
        with self.b.region() as stmts:
            for stmt in block.stmts:
                self.b.span = stmt.span
                if isinstance(stmt, Ruled):  # rules are not run here, but as parts of adjoints
                    self.b.append(replace(stmt, body=self.block(stmt.body)))
                elif not self.rule(self, stmt):
                    self.b.append(with_blocks(stmt, self.block))
        return replace(block, stmts=tuple(stmts))

    def extents(self, array: Array, axes: Sequence[int]) -> list[Value]:
        """Append the sizes of axes of an array, or of the elements where they go on."""
        literal = [literal_extent(array, axis) for axis in axes]
        return [
            self.b.size(array, axis) if size is None else Const(size, I32)
            for axis, size in zip(axes, literal, strict=True)
        ]

    def outside(self, indices: Sequence[Value], extents: Sequence[Value]) -> Value:
        """Append the test whether an index is outside."""
        found = self.b.expr(Const(False, BOOL))
        for index, extent in zip(indices, extents, strict=True):
            i = self.b.expr(index)
            found = found | ((i < 0) | (i >= extent))
        return found.value

    def nearest(self, index: Value, extent: Value) -> Value:
        """Append the nearest index inside."""
        last = self.b.expr(extent) - 1
        return self.b.expr(index).min(last).max(0).value


def literal_extent(array: Array, axis: int) -> int | None:
    """Return the size of an axis of an array, or of its elements; None if it is not literal."""
    ndim = array.type.ndim
    if array.size is not None and axis < ndim:
        return array.lengths[axis]
    return None if axis < ndim else shape_of(array.type.element)[axis - ndim]


def picked(stmt: Stmt) -> tuple[tuple[int, ...], tuple[Value, ...]] | None:
    """Return the shape of a vector or matrix and the index into it, where that is not literal."""
    if not isinstance(stmt, Let) or stmt.op not in ("extract", "insert"):
        return None
    index = stmt.args[1:] if stmt.op == "extract" else stmt.args[1:-1]
    if all(isinstance(i, Const) for i in index):
        return None
    return shape_of(stmt.args[0].type), index


def _guarded(bounds: _Bounds, stmt: Stmt) -> bool:
    pick = picked(stmt)
    divisor = divisor_of(stmt)
    if divisor is not None and isinstance(stmt, Let):
        with bounds.b.branch(is_zero(bounds.b, divisor)):
            bounds.b.append(Fail(ZeroDivisor(DIVISIONS[stmt.op]), (), bounds.b.span))
    if isinstance(stmt, (Load, *WRITES)):
        array, index = stmt.array, stmt.index
        doubtful = bounds.ranges.doubtful(array, index)
        ndim = array.type.ndim
        for axes, what in (
            (range(ndim), f"'{array.name}'"),
            (range(ndim, len(index)), f"an element of '{array.name}'"),
        ):
            if any(k in doubtful for k in axes):
                _report(bounds, what, [index[k] for k in axes], bounds.extents(array, axes))
    elif pick is not None:
        shape, index = pick
        assert isinstance(stmt, Let)
        what = f"a {'vector' if len(shape) == 1 else 'matrix'}"
        _report(bounds, what, index, [Const(size, I32) for size in shape])
    return False


def _report(bounds: _Bounds, what: str, index: Sequence[Value], extents: Sequence[Value]) -> None:
    with bounds.b.branch(bounds.outside(index, extents)):
        bounds.b.append(Fail(BadIndex(what), (*index, *extents), bounds.b.span))


def _confined(bounds: _Bounds, stmt: Stmt) -> bool:
    b = bounds.b
    pick = picked(stmt)
    if isinstance(stmt, (Load, *WRITES)):
        array, index = stmt.array, stmt.index
        doubtful = bounds.ranges.doubtful(array, index)
        if not doubtful:
            return False
        extents = bounds.extents(array, range(len(index)))
        if isinstance(stmt, Load):
            near = (
                bounds.nearest(i, extents[k]) if k in doubtful else i for k, i in enumerate(index)
            )
            b.append(replace(stmt, index=tuple(near)))
        else:
            cond = bounds.outside([index[k] for k in doubtful], [extents[k] for k in doubtful])
            outs = definitions(stmt)
            inner = rebind(stmt, lambda v: Var(v.name, v.type))
            skipped = Block((), tuple(zero(v.type) for v in outs))
            b.append(If(cond, skipped, Block((inner,), definitions(inner)), outs, stmt.span))
        return True
    if pick is not None:
        assert isinstance(stmt, Let)
        shape, index = pick
        extents = [Const(size, I32) for size in shape]
        if stmt.op == "extract":
            near = (bounds.nearest(i, size) for i, size in zip(index, extents, strict=True))
            b.append(replace(stmt, args=(stmt.args[0], *near)))
        else:
            inner = Var(stmt.out.name, stmt.out.type)
            changed = Block((replace(stmt, out=inner),), (inner,))
            unchanged = Block((), (stmt.args[0],))
            cond = bounds.outside(index, extents)
            b.append(If(cond, unchanged, changed, (stmt.out,), stmt.span))
        return True
    return False
