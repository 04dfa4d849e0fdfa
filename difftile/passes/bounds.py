"""Indices under debug: what is outside a shape is reported, and touches no memory.

`guard` comes first, while every access stands where the user wrote it: it only reports. `confine`
comes last, after passes that may have moved accesses: it skips writes outside and lets reads go to
the nearest element. Between the two a program is optimised, cut and reversed as without debug.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from difftile.diagnostics import Span
from difftile.ir.failures import BadIndex
from difftile.ir.nodes import (
    Accumulate,
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
    Program,
    Ruled,
    Size,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import BOOL, I32, shape_of
from difftile.ir.walk import definitions, rebind, walk, with_blocks
from difftile.ops.build import OpBuilder, zero

_Rule = Callable[["_Bounds", Stmt], bool]


def guard(program: Program) -> Program:
    """Return the program with a report before each access that may be outside its shape."""
    return _Bounds(program, _guarded).rewritten(program)


def confine(program: Program) -> Program:
    """Return the program with no access outside a shape."""
    return _Bounds(program, _confined).rewritten(program)


def unchecked(program: Program) -> Program:
    """Return the program without its assertions, which are checked under debug alone."""
    return replace(program, body=_unchecked(program.body))


def _unchecked(block: Block) -> Block:
    kept = (with_blocks(s, _unchecked) for s in block.stmts if not isinstance(s, Fail))
    return replace(block, stmts=tuple(kept))


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
        ndim = array.type.ndim
        size = None
        if axis >= ndim:
            size = shape_of(array.type.element)[axis - ndim]
        elif array.size is not None:
            size = array.size
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

    def extent(self, array: Array, axis: int) -> Value | int:
        """Return the size of an axis of an array, or of a component of its elements."""
        ndim = array.type.ndim
        if axis >= ndim:
            return shape_of(array.type.element)[axis - ndim]
        return self.b.size(array, axis) if array.size is None else array.size

    def outside(self, indices: Sequence[Value], extents: Sequence[Value]) -> Value:
        """Append the test whether an index is outside."""
        found: Value = Const(False, BOOL)
        for index, extent in zip(indices, extents, strict=True):
            low = self.b.call("lt", index, Const(0, I32))
            high = self.b.call("ge", index, extent)
            found = self.b.call("or", found, self.b.call("or", low, high))
        return found

    def nearest(self, index: Value, extent: Value) -> Value:
        """Append the nearest index inside."""
        last = self.b.call("sub", extent, Const(1, I32))
        return self.b.call("max", self.b.call("min", index, last), Const(0, I32))


def _accessed(stmt: Stmt) -> tuple[Array, tuple[Value, ...]] | None:
    if isinstance(stmt, (Load, Store, Accumulate, Combine)):
        return stmt.array, stmt.index
    return None


def _picked(stmt: Stmt) -> tuple[tuple[int, ...], tuple[Value, ...]] | None:
    """Return the shape of a vector or matrix and the index into it, where that is not literal."""
    if not isinstance(stmt, Let) or stmt.op not in ("extract", "insert"):
        return None
    index = stmt.args[1:] if stmt.op == "extract" else stmt.args[1:-1]
    if all(isinstance(i, Const) for i in index):
        return None
    return shape_of(stmt.args[0].type), index


def _guarded(bounds: _Bounds, stmt: Stmt) -> bool:
    access, pick = _accessed(stmt), _picked(stmt)
    if access is not None:
        array, index = access
        doubtful = bounds.ranges.doubtful(array, index)
        ndim = array.type.ndim
        for axes, what in (
            (range(ndim), f"'{array.name}'"),
            (range(ndim, len(index)), f"an element of '{array.name}'"),
        ):
            if any(k in doubtful for k in axes):
                _report(bounds, what, [index[k] for k in axes], _extents(bounds, array, axes))
    elif pick is not None:
        shape, index = pick
        assert isinstance(stmt, Let)
        what = f"a {'vector' if len(shape) == 1 else 'matrix'}"
        _report(bounds, what, index, [Const(size, I32) for size in shape])
    return False


def _extents(bounds: _Bounds, array: Array, axes: Sequence[int]) -> list[Value]:
    extents = [bounds.extent(array, k) for k in axes]
    return [Const(size, I32) if isinstance(size, int) else size for size in extents]


def _report(bounds: _Bounds, what: str, index: Sequence[Value], extents: Sequence[Value]) -> None:
    b = bounds.b
    cond = bounds.outside(index, extents)
    span: Span | None = b.span
    fail = Fail(BadIndex(what), (*index, *extents), span)
    b.append(If(cond, Block((fail,)), Block(()), (), span))


def _confined(bounds: _Bounds, stmt: Stmt) -> bool:
    b = bounds.b
    access, pick = _accessed(stmt), _picked(stmt)
    if access is not None:
        array, index = access
        doubtful = bounds.ranges.doubtful(array, index)
        if not doubtful:
            return False
        extents = _extents(bounds, array, range(len(index)))
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
