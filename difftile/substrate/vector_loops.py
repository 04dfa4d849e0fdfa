"""Loops that LLVM may turn into vector instructions, and what keeps others from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from difftile.diagnostics import Span
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Const,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import FLOATS, scalar_of
from difftile.ir.walk import WRITES, definitions, operands, regions, walk

_UNROLLED = 8  # iterations of loops inside a loop that LLVM writes out
_REDUCTIONS = ({"add", "sub"}, {"mul"}, {"max"}, {"min"}, {"bit_and"}, {"bit_or"}, {"bit_xor"})
# Functions with loops inside, which the emitted source calls.
_WITH_LOOPS = frozenset(
    (
        *("ipow", "determinant", "cofactors", "inverse", "solve", "solve_lower", "solve_upper"),
        *("cholesky", "svd", "sym_eig", "polar", "zeta", "polygamma"),
    )
)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps a loop from vector instructions.

    Args:
        why: A clause whose subject is the loop.
        span: The place, where one statement is the reason.
    """

    why: str
    span: Span | None = None


def is_innermost(loop: For | ParallelFor) -> bool:
    """Tell whether a loop has no other loops inside than those that LLVM writes out."""
    return _written_out(loop.body) <= _UNROLLED


def _written_out(block: Block) -> float:
    """Return how many iterations of loops a block has, where each is a literal number."""
    most = 1.0
    for stmt in block.stmts:
        inner = max((_written_out(region) for region in regions(stmt)), default=1.0)
        match stmt:
            case For(start=Const(start), stop=Const(stop)):
                inner *= max(1, int(stop) - int(start))
            case For() | While():
                inner = float("inf")
            case _:
                pass
        most = max(most, inner)
    return most


def obstacle(loop: For | ParallelFor, *, serial: bool, reorders: bool) -> Obstacle | None:
    """Return what keeps an innermost loop from vector instructions, or None.

    Args:
        loop: The loop; of a parallel one, iterations along its last axis.
        serial: One thread runs the program, without atomics.
        reorders: Sums of floats may be computed in another order.
    """
    index = loop.index if isinstance(loop, For) else loop.indices[-1]
    own = {s.array for s in walk(loop.body) if isinstance(s, Alloc)}
    obstacles = chain(
        _carried(loop, reorders), _written(loop.body, index, own, serial), _of_ops(loop.body)
    )
    return next(obstacles, None)


def _of_ops(body: Block) -> Iterator[Obstacle]:
    for stmt in walk(body):
        if isinstance(stmt, Let) and stmt.op in _WITH_LOOPS:
            yield Obstacle(f"computes '{stmt.op}' by a loop", stmt.span)


# Values carried from one iteration to the next


def _carried(loop: For | ParallelFor, reorders: bool) -> Iterator[Obstacle]:
    if isinstance(loop, ParallelFor):
        return
    for carry, result in zip(loop.carries, loop.body.results, strict=True):
        if result is carry:
            continue
        if scalar_of(carry.type) in FLOATS and not reorders:
            yield Obstacle("carries a float from one iteration to the next", loop.span)
        elif not _reduces(loop.body, carry, result):
            yield Obstacle("has values that each iteration computes from the one before", loop.span)


def _reduces(body: Block, carry: Var, result: Value) -> bool:
    """Tell whether a carried value is only added to, or combined by one other operation."""
    partial: set[Value] = {carry}
    used: set[str] = set()
    if not _only_combines(body, partial, used):
        return False
    return result in partial and any(used <= one for one in _REDUCTIONS)


def _only_combines(block: Block, partial: set[Value], used: set[str]) -> bool:
    """Note what follows from partial results, and the ops; False if anything else reads them."""
    for stmt in block.stmts:
        read = not partial.isdisjoint(operands(stmt))
        match stmt:
            case Let(out, op, args) if read:
                if op == "sub" and args[1] in partial:
                    return False
                used.add(op)
                partial.add(out)
            case If(then=then, orelse=orelse, outs=outs) if not read:
                if not all(_only_combines(region, partial, used) for region in (then, orelse)):
                    return False
                for out, *results in zip(outs, then.results, orelse.results, strict=True):
                    if not partial.isdisjoint(results):
                        partial.add(out)
            case For(start=start, stop=stop, carries=carries, inits=inits, body=inner, outs=outs):
                if start in partial or stop in partial:
                    return False
                for one, init in zip(carries, inits, strict=True):
                    if init in partial:
                        partial.add(one)
                if not _only_combines(inner, partial, used):
                    return False
                for out, last in zip(outs, inner.results, strict=True):
                    if last in partial:
                        partial.add(out)
            case _ if read:
                return False
            case _:
                pass
    return True


# Memory


def _written(body: Block, index: Var, own: set[Array], serial: bool) -> Iterator[Obstacle]:
    steps = _Steps(body, index)
    accesses = [s for s in walk(body) if isinstance(s, (Load, *WRITES))]
    written = {s.array for s in accesses if isinstance(s, WRITES) and s.array.size is None}
    for stmt in accesses:
        where = stmt.index
        if stmt.array in own:
            if any(steps.moves(one) or not steps.is_regular(one) for one in where):
                yield Obstacle(f"indexes the local array '{stmt.array.name}'", stmt.span)
            continue
        name = stmt.array.name
        if isinstance(stmt, Combine) or (
            isinstance(stmt, Accumulate) and stmt.atomic and not serial
        ):
            yield Obstacle(f"changes '{name}' by atomics", stmt.span)
        elif not all(map(steps.is_regular, where)):
            verb = "reads" if isinstance(stmt, Load) else "writes"
            if written:
                yield Obstacle(f"{verb} '{name}' at computed places", stmt.span)
        elif isinstance(stmt, (Store, Accumulate)) and not any(map(steps.moves, where)):
            yield Obstacle(f"writes one element of '{name}' again and again", stmt.span)
    for array in written:
        ndim = array.type.ndim
        places = {s.index[:ndim] for s in accesses if s.array is array}
        if len(places) > 1:
            spans = [s.span for s in accesses if s.array is array and isinstance(s, WRITES)]
            yield Obstacle(f"writes elements of '{array.name}' and uses others", spans[0])


class _Steps:
    """Which integers of a loop's body are the same in all iterations, and which go in steps.

    Args:
        body: The body.
        index: The index of the loop.
    """

    def __init__(self, body: Block, index: Var) -> None:
        self._moving: set[Value] = {index}
        self._other: set[Value] = set()
        for stmt in walk(body):
            match stmt:
                case Let(out, "add" | "sub" | "neg" | "cast", args) if not self._any_other(args):
                    if any(map(self.moves, args)):
                        self._moving.add(out)
                case Let(out, "mul", args) if not self._any_other(args):
                    moving = sum(map(self.moves, args))
                    if moving:
                        (self._moving if moving == 1 else self._other).add(out)
                case Let(out, _, args):
                    if self._any_other(args) or any(map(self.moves, args)):
                        self._other.add(out)
                case For(outs=outs):  # written out: its index is a number
                    self._other.update(outs)
                case Load(out=out, index=at):
                    if self._any_other(at) or any(map(self.moves, at)):
                        self._other.add(out)
                case _:
                    self._other.update(definitions(stmt))

    def _any_other(self, values: Sequence[Value]) -> bool:
        return any(value in self._other for value in values)

    def is_regular(self, value: Value) -> bool:
        """Tell whether an integer changes by the same amount from iteration to iteration."""
        return value not in self._other

    def moves(self, value: Value) -> bool:
        """Tell whether an integer changes from iteration to iteration by some amount."""
        return value in self._moving


def trips(loop: For) -> float:
    """Return the number of iterations of a loop, where that is a literal; else infinity."""
    match loop:
        case For(start=Const(start), stop=Const(stop)):
            return int(stop) - int(start)
        case _:
            return float("inf")
