"""Sums that iterations share, without atomics: each thread adds into a copy of its own.

A loop that adds to elements which several iterations have in common needs an atomic addition for
each term, and threads that add to the same cache line wait for each other. Instead a thread clears
a copy of the target, runs its part of the loop on it with plain additions, and a second loop adds
the copies up, in the order of a tree: the result is the same in every run, and as accurate as
a pairwise sum. (Privatization and array reduction, as compilers call it: Midkiff, Automatic
Parallelization, 2012, sections 3.2 and 3.4.)

A loop may also run on one thread, which needs neither. The number of copies decides how terms are
added up: for loops whose sums are `ordered` it is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import ceil, prod
from typing import TypeAlias

from difftile.ir.facts import arrays_written
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    For,
    Load,
    ParallelFor,
    Program,
    Stmt,
    Value,
    Var,
)
from difftile.ir.types import FLOATS, I32, numpy_dtype, scalar_of, shape_of
from difftile.ir.walk import array_of, parallel_loops, walk, with_blocks
from difftile.ops.build import Expr, OpBuilder
from difftile.records import dataclass

ORDERED_PARTS = 64  # of a loop whose sums must not depend on the number of threads

_ZERO = Const(0, I32)
_SPACE = 128  # bytes between copies: processors fetch cache lines in pairs

# Copies begin at multiples of so many elements. LLVM then sees that components of an element are
# next to each other, which a sum of 32 bits might not be, and puts a loop over them into vectors.
_ALIGNED = 16

# The initial contents of copies. The other operations, done twice with the same operand, change
# nothing: for them copies start with the contents of the target.
_NEUTRAL = {"add": 0, "mul": 1, "bit_xor": 0}
_IDEMPOTENT = frozenset(("max", "min", "bit_and", "bit_or"))


@dataclass(frozen=True, slots=True)
class Scatter:
    """The sums of a loop into elements of one array that its iterations share.

    Args:
        loop: The number of the loop among the parallel loops of the program.
        target: The array.
        op: How its elements are combined: "add", "max" and so on. None where copies are
            impossible, as for elements that the loop reads as well.
        ordered: The loop is: its sums of floats must not depend on the number of threads.
    """

    loop: int
    target: Array
    op: str | None
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class ScatterPlan:
    """The loops of a program that scatter without atomics; the others keep theirs.

    Args:
        serial: The numbers of the loops that run on a single thread.
        copied: The scatters with a copy of the target for each thread.
        small: The scatters among them whose copies one thread adds up.
        rows: On devices, the scatters with a row for each iteration (`rows`).
    """

    serial: frozenset[int] = frozenset()
    copied: tuple[Scatter, ...] = ()
    small: frozenset[Scatter] = frozenset()
    rows: tuple[Scatter, ...] = ()

    @property
    def loops(self) -> frozenset[int]:
        """The numbers of the loops."""
        return self.serial | {scatter.loop for scatter in self.copied}

    def of(self, number: int) -> ScatterPlan:
        """Return the plan of a loop by itself, as the only one of a program."""
        rows, copied = (
            tuple(replace(s, loop=0) for s in some if s.loop == number)
            for some in (self.rows, self.copied)
        )
        small = frozenset(replace(s, loop=0) for s in self.small if s.loop == number)
        return ScatterPlan(frozenset((0,) if number in self.serial else ()), copied, small, rows)

    @property
    def in_order(self) -> ScatterPlan:
        """The part of the plan that the loops keep on a single thread, too."""
        loops = {scatter.loop for scatter in self.copied if scatter.ordered}
        copied = tuple(scatter for scatter in self.copied if scatter.loop in loops)
        return ScatterPlan(copied=copied, small=self.small & frozenset(copied))


ATOMICS = ScatterPlan()


@dataclass(frozen=True, slots=True)
class TargetCopies:
    """The copies of a target, one after the other with space in between.

    Args:
        array: The copies, indexed by the row-major position of an element.
        target: The target.
        parts: Their number.
    """

    array: Array
    target: Array
    parts: int

    def count(self, shape: tuple[int, ...]) -> int:
        """Return the number of elements of all copies of a target of a shape."""
        return self.parts * (-(-(prod(shape) + _space(self.target)) // _ALIGNED) * _ALIGNED)


def _space(target: Array) -> int:
    """Return the number of elements between copies."""
    element = target.type.element
    return ceil(_SPACE / (prod(shape_of(element)) * numpy_dtype(scalar_of(element)).itemsize))


def scatters_of(program: Program) -> tuple[Scatter, ...]:
    """Return the scatters of a program's parallel loops."""
    loops = parallel_loops(program)
    return tuple(scatter for k, loop in enumerate(loops) for scatter in _scatters(k, loop))


def _scatters(number: int, loop: ParallelFor) -> list[Scatter]:
    stmts = list(walk(loop.body))
    shared = [s for s in stmts if isinstance(s, (Accumulate, Combine)) and _is_atomic(s)]
    found: list[Scatter] = []
    for target in dict.fromkeys(s.array for s in shared if s.array.size is None):
        ops = {_op_of(s) for s in stmts if array_of(s) is target}
        ordered = loop.ordered and scalar_of(target.type.element) in FLOATS
        found.append(Scatter(number, target, ops.pop() if len(ops) == 1 else None, ordered))
    return found


def _is_atomic(stmt: Accumulate | Combine) -> bool:
    return isinstance(stmt, Combine) or stmt.atomic


def _op_of(stmt: Stmt) -> str | None:
    """Return how a statement combines an element with a value; None if it does something else."""
    match stmt:
        case Accumulate():
            return "add"
        case Combine(out=None, op=op) if op in _NEUTRAL or op in _IDEMPOTENT:
            return op
        case _:
            return None


def privatise(
    program: Program, plan: ScatterPlan, parts: int
) -> tuple[Program, tuple[TargetCopies, ...]]:
    """Return the program with the loops of a plan cut into parts, and the copies among its temps.

    Args:
        program: A finished program.
        plan: Which loops, and how.
        parts: The number of copies, one for each thread; of ordered loops it is `ORDERED_PARTS`.
    """
    b = OpBuilder()
    number = 0
    made: list[TargetCopies] = []
    for stmt in program.body.stmts:
        b.span = stmt.span
        if not isinstance(stmt, ParallelFor):
            b.append(stmt)
            continue
        here = [_copied(b, scatter) for scatter in plan.copied if scatter.loop == number]
        count = ORDERED_PARTS if any(one.scatter.ordered for one in here) else parts
        made += [TargetCopies(one.copies, one.target, count) for one in here]
        if number in plan.serial:
            _append_part_loop(b, stmt, 1, Var("part", I32), {}, [])
        elif here:
            _append_copied(b, stmt, count, here, plan.small)
        else:
            b.append(stmt)
        number += 1
    temps = (*program.temps, *(one.array for one in made))
    body = replace(program.body, stmts=tuple(b.stmts))
    return replace(program, body=body, temps=temps), tuple(made)


@dataclass(frozen=True, slots=True)
class _Copied:
    """A target with its copies, in the program.

    Args:
        scatter: The accumulation into it.
        copies: The copies.
        sizes: The extents of the target.
        count: The number of its elements.
        stride: The number of elements from one copy to the next.
    """

    scatter: Scatter
    copies: Array
    sizes: tuple[Value, ...]
    count: Value
    stride: Value

    @property
    def target(self) -> Array:
        """The target."""
        return self.scatter.target

    def place(self, b: OpBuilder, base: Value, index: Sequence[Value]) -> tuple[Value, ...]:
        """Return the index of an element, or of a component of one, in the copy at an offset."""
        flat: Value = _ZERO
        for size, at in zip(self.sizes, index, strict=False):
            flat = (b.expr(flat) * size + at).value
        return ((b.expr(base) + flat).value, *index[len(self.sizes) :])


def _copied(b: OpBuilder, scatter: Scatter) -> _Copied:
    """Append the computation of the size of a copy."""
    target = scatter.target
    copies = Array(f"{target.name}_copies", replace(target.type, ndim=1))
    sizes = tuple(b.size(target, axis) for axis in range(target.type.ndim))
    count: Value = Const(1, I32)
    for size in sizes:
        count = (b.expr(count) * size).named("count").value
    stride = _aligned(b.expr(count) + (_space(target) + _ALIGNED - 1)).named("stride").value
    return _Copied(scatter, copies, sizes, count, stride)


def _aligned(value: Expr) -> Expr:
    """Append a multiple of the alignment, rounded down; values that are one say so by that."""
    return value // _ALIGNED * _ALIGNED


def _append_copied(
    b: OpBuilder,
    loop: ParallelFor,
    parts: int,
    every: Sequence[_Copied],
    small: Collection[Scatter],
) -> None:
    """Append the loop over threads, and the loops that add up the copies."""
    part = Var("part", I32)
    with b.region() as first:
        private = {
            one.target: (one, _aligned(b.expr(part) * one.stride).named("base").value)
            for one in every
        }
        for one, base in private.values():
            _append_start(b, one, base)
    _append_part_loop(b, loop, parts, part, private, first)
    for one in every:
        indices = tuple(Var("at", I32) for _ in one.sizes)
        with b.region() as stmts:
            _append_sum(b, one, indices, parts)
        if one.scatter in small or not indices:
            b.extend(_nest(stmts, indices, one.sizes))
        else:
            zeros = (_ZERO,) * len(indices)
            b.append(ParallelFor(indices, zeros, one.sizes, Block(tuple(stmts)), loop.span))


def _append_start(b: OpBuilder, one: _Copied, base: Value) -> None:
    """Append the loops that initialise a copy."""
    op, element = one.scatter.op, one.target.type.element
    if op in _NEUTRAL:
        number = _NEUTRAL[op]
        neutral = Const(float(number) if scalar_of(element) in FLOATS else number, element)
        at = Var("at", I32)
        with b.region() as stmts:
            b.store(one.copies, (at,), neutral)
        stop = (b.expr(base) + one.count).value
        b.append(For(at, base, stop, (), (), Block(tuple(stmts)), ()))
        return
    indices = [Var("at", I32) for _ in one.sizes]
    with b.region() as stmts:
        b.store(one.copies, one.place(b, base, indices), b.load(one.target, tuple(indices)))
    b.extend(_nest(stmts, indices, one.sizes))


def _append_sum(b: OpBuilder, one: _Copied, index: tuple[Var, ...], parts: int) -> None:
    """Append the addition of an element's copies, in pairs, then pairs of pairs, and so on."""
    target, op = one.target, one.scatter.op
    assert op is not None
    (at,) = one.place(b, _ZERO, index)
    terms: list[Value] = [
        b.load(one.copies, ((b.expr(one.stride) * k + at).value,)) for k in range(parts)
    ]
    while len(terms) > 1:
        pairs = [b.call(op, *pair) for pair in zip(terms[::2], terms[1::2], strict=False)]
        terms = [*pairs, *terms[2 * len(pairs) :]]
    if op == "add":
        b.accumulate(target, index, terms[0], atomic=False)
    else:
        b.store(target, index, b.call(op, b.load(target, index), terms[0]))


def _nest(stmts: Sequence[Stmt], indices: Sequence[Var], sizes: Sequence[Value]) -> list[Stmt]:
    """Return serial loops over a box around statements."""
    inner: list[Stmt] = list(stmts)
    for index, size in reversed(list(zip(indices, sizes, strict=True))):
        inner = [For(index, _ZERO, size, (), (), Block(tuple(inner)), ())]
    return inner


_Private: TypeAlias = Mapping[Array, tuple[_Copied, Value]]
"""The targets with copies, and where the copy of a part begins."""


def _append_part_loop(
    b: OpBuilder,
    loop: ParallelFor,
    parts: int,
    part: Var,
    private: _Private,
    first: Sequence[Stmt],
) -> None:
    """Append a parallel loop over the parts of another one.

    Args:
        b: Where.
        loop: The loop.
        parts: The number of parts.
        part: The index of the part.
        private: The targets with copies.
        first: The statements that begin a part.
    """
    with b.region() as stmts:
        b.extend(first)
        # Such an element is in a register, unless its array is written.
        written = arrays_written(loop.body)
        kept = [
            s
            for s in loop.body.stmts
            if isinstance(s, Load) and not s.index and s.array.size is None
            if s.array not in written
        ]
        b.extend(kept)
        body = _plain(Block(tuple(s for s in loop.body.stmts if s not in kept)), private)
        ranges = _piece(b, loop, part, parts)
        for index, (low, high) in reversed(list(zip(loop.indices, ranges, strict=True))):
            body = Block((For(index, low, high, (), (), body, (), loop.span),))
        b.extend(body.stmts)
    zero, count = (_ZERO,), (Const(parts, I32),)
    b.append(ParallelFor((part,), zero, count, Block(tuple(stmts)), loop.span))


def _piece(b: OpBuilder, loop: ParallelFor, part: Var, parts: int) -> list[tuple[Value, Value]]:
    """Append the bounds of a part of a loop along each axis.

    The first axis is cut into as many pieces as it has iterations, or as there are parts; where
    few rows leave parts over, the next axis is cut, and then the last. Pieces differ by one
    iteration at most.
    """
    if parts == 1:
        return list(zip(loop.starts, loop.stops, strict=True))
    axes = list(zip(loop.indices, loop.starts, loop.stops, strict=True))
    lengths = [(b.expr(stop) - start).max(0).named("length") for _, start, stop in axes]
    left: Expr = b.expr(Const(parts, I32))
    counts: list[Expr] = []
    for length in lengths[:-1]:
        counts.append(length.min(left).max(1).named("pieces"))
        left = (left // counts[-1]).named("left")
    counts.append(left)
    place = b.expr(part)
    bounds: list[tuple[Value, Value]] = []
    for k, ((_, start, _), length, count) in reversed(
        list(enumerate(zip(axes, lengths, counts, strict=True)))
    ):
        piece = place % count if k else place
        place = place // count if k else place
        pieces = [piece, piece + 1]
        if k == 0 and len(axes) > 1:
            # Parts beyond the last piece are empty.
            pieces = [one.min(count) for one in pieces]
        size, rest = length // count, length % count
        low, high = ((start + one * size + one.min(rest)).value for one in pieces)
        bounds.append((low, high))
    return bounds[::-1]


def _plain(block: Block, private: _Private) -> Block:
    """Return a block with plain additions into copies, or to the targets if there are no copies."""
    b = OpBuilder()
    for stmt in block.stmts:
        b.span = stmt.span
        if not isinstance(stmt, (Accumulate, Combine)):
            b.append(with_blocks(stmt, lambda inside: _plain(inside, private)))
            continue
        array, index = stmt.array, stmt.index
        if array in private:
            one, base = private[array]
            array, index = one.copies, one.place(b, base, index)
        elif private:
            b.append(stmt)
            continue
        if isinstance(stmt, Accumulate):
            b.append(replace(stmt, array=array, index=index, atomic=False))
        else:
            old = stmt.out or Var(f"{stmt.array.name}_at", stmt.value.type)
            b.append(Load(old, array, index, stmt.span))
            b.store(array, index, b.call(stmt.op, old, stmt.value))
    return Block(tuple(b.stmts), block.results)
