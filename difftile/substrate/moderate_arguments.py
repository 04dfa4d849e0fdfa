"""Loops that find out whether their sines and exponentials are of moderate numbers, and then run.

The sine of a number below some limit is a polynomial, of which a loop has vector instructions; for
other numbers it is a call. The same goes for cosines and exponentials. A loop first computes only
the arguments and the largest of them. If that is below the limit, a copy of the loop runs in which
the arguments are marked (`moderate`).

Such a loop is straight, as are the computations of its arguments, which read nothing that the
loop writes, except for elements of an iteration's own before it writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce

import numpy as np

from difftile.ir.nodes import (
    Alloc,
    Block,
    Combine,
    Const,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Value,
    Var,
    While,
)
from difftile.ir.types import F32, F64, FLOATS, I32, I64, Type, scalar_of
from difftile.ir.walk import (
    WRITES,
    Cloner,
    arrays_written,
    definitions,
    operands,
    walk,
    with_blocks,
)
from difftile.ops.build import OpBuilder


def _bits(single: float, double: float) -> dict[Type, Const]:
    """Return the integers that have the bits of a limit in either precision."""
    return {
        F32: Const(int(np.float32(single).view(np.int32)), I32),
        F64: Const(int(np.float64(double).view(np.int64)), I64),
    }


# Floats above 0 are ordered as the integers of their bits are, and NaN is the last of them.
_LIMITS = {
    "sin": _bits(2.0**24, 2.0**20),
    "cos": _bits(2.0**24, 2.0**20),
    "exp": _bits(80.0, 600.0),  # results that are neither infinite nor subnormal
}
_ALL_BUT_SIGN: dict[Type, Const] = {I32: Const(2**31 - 1, I32), I64: Const(2**63 - 1, I64)}

_FEWEST = 8  # iterations, where they are a literal
_BLOCK = 1024  # iterations of a parallel loop: their elements are still in the cache afterwards


def moderate_arguments(program: Program) -> Program:
    """Return the program in which such loops test their arguments, and have two copies.

    A program that finds a largest or smallest number, or looks for numbers that equal it, stays as
    it is: the adjoint of a maximum computes again what the launch compared, to the bit.

    Args:
        program: A finished program.
    """
    if any(_compares(stmt) for stmt in walk(program.body)):
        return program
    return replace(program, body=Block(tuple(_stmts(program.body.stmts)), program.body.results))


def _compares(stmt: Stmt) -> bool:
    """Tell whether a statement depends on whether numbers are equal, of different launches."""
    match stmt:
        case Combine(op=op, value=value):
            return op in ("max", "min") and scalar_of(value.type) in FLOATS
        case Let(_, "eq" | "ne", (first, *_)):
            return scalar_of(first.type) in FLOATS
        case _:
            return False


def _stmts(stmts: Iterable[Stmt]) -> Iterator[Stmt]:
    for stmt in stmts:
        if isinstance(stmt, (For, ParallelFor)) and _is_innermost(stmt):
            yield from _of_loop(stmt)
        else:
            yield with_blocks(stmt, lambda b: Block(tuple(_stmts(b.stmts)), b.results))


def _is_innermost(loop: For | ParallelFor) -> bool:
    return not any(isinstance(s, (For, While)) for s in walk(loop.body))


def _of_loop(loop: For | ParallelFor) -> list[Stmt]:
    """Return the statements in place of a loop."""
    if isinstance(loop, For):
        wanted = _arguments(loop.body, loop.index, loop.carries)
        return [loop] if wanted is None or _is_short(loop) else _both(loop, *wanted)
    *outer, index = loop.indices
    wanted = _arguments(loop.body, index, ())
    if wanted is None or len(outer) > 1:
        return [loop]
    if outer:
        row = For(index, loop.starts[1], loop.stops[1], (), (), loop.body, (), loop.span)
        body = Block(tuple(_both(row, *wanted)))
        starts, stops = loop.starts[:1], loop.stops[:1]
        return [replace(loop, indices=tuple(outer), starts=starts, stops=stops, body=body)]
    b, block = OpBuilder(), Var("block", I32)
    b.span = loop.span
    start, stop = b.expr(loop.starts[0]), loop.stops[0]
    blocks = (b.expr(stop) - start).ceildiv(_BLOCK).named("blocks").value
    with b.region() as stmts:
        low = (start + b.expr(block) * _BLOCK).named("low")
        high = (low + _BLOCK).min(stop).named("high")
        run = For(index, low.value, high.value, (), (), loop.body, (), loop.span)
        b.extend(_both(run, *wanted))
    b.append(ParallelFor((block,), (Const(0, I32),), (blocks,), Block(tuple(stmts)), loop.span))
    return b.stmts


def _is_short(loop: For) -> bool:
    start, stop = loop.start, loop.stop
    if not (isinstance(start, Const) and isinstance(stop, Const)):
        return False
    return int(stop.value) - int(start.value) < _FEWEST


def _arguments(
    body: Block, index: Var, carries: tuple[Var, ...]
) -> tuple[list[tuple[Value, Const]], list[Stmt]] | None:
    """Return the arguments of such ops with their limits, and the statements that compute them.

    None if there are no such ops, or some whose arguments are not known ahead of the loop.
    """
    found = [s for s in body.stmts if isinstance(s, Let) and s.op in _LIMITS]
    every = [s for s in walk(body) if isinstance(s, Let) and s.op in _LIMITS]
    if not found or len(found) < len(every) or any(isinstance(s, Alloc) for s in walk(body)):
        return None
    if any(let.args[0].type not in _LIMITS[let.op] for let in found):
        return None
    wanted = {let.args[0] for let in found}
    needed: set[Value] = set(wanted)
    stmts: list[Stmt] = []
    for k in reversed(range(len(body.stmts))):
        stmt = body.stmts[k]
        if needed.isdisjoint(definitions(stmt)):
            continue
        if not isinstance(stmt, (Let, Load, Size)) or (
            isinstance(stmt, Let) and stmt.op in _LIMITS
        ):
            return None
        if isinstance(stmt, Load) and not _is_known_ahead(stmt, body, k, index):
            return None
        needed.update(operands(stmt))
        stmts.append(stmt)
    if not needed.isdisjoint(carries):
        return None
    limited = [(let.args[0], _LIMITS[let.op][let.args[0].type]) for let in found]
    return list(dict.fromkeys(limited)), stmts[::-1]


def _is_known_ahead(load: Load, body: Block, place: int, index: Var) -> bool:
    """Tell whether an element has its value of before the loop when an iteration reads it."""
    if load.array not in arrays_written(body):
        return True
    before = arrays_written(Block(body.stmts[:place]))
    writes = [s for s in walk(body) if isinstance(s, WRITES) and s.array is load.array]
    return (
        load.array not in before
        and index in load.index[: load.array.type.ndim]
        and all(s.index[: len(load.index)] == load.index for s in writes)
    )


def _both(loop: For, arguments: list[tuple[Value, Const]], stmts: list[Stmt]) -> list[Stmt]:
    """Return the test of the arguments and both copies of a loop."""
    b = OpBuilder()
    b.span = loop.span
    limits = list(dict.fromkeys(limit for _, limit in arguments))
    carries, outs = (tuple(Var("largest", one.type) for one in limits) for _ in range(2))
    cloner = Cloner()
    index = cloner.fresh(loop.index)
    largest: dict[Const, Value] = dict(zip(limits, carries, strict=True))
    with b.region() as test:
        b.extend([cloner.stmt(stmt) for stmt in stmts])
        for argument, limit in arguments:
            bits = b.let("bit_cast", (cloner.value(argument),), limit.type)
            size = b.call("bit_and", bits, _ALL_BUT_SIGN[limit.type])
            largest[limit] = b.call("max", largest[limit], size)
    body = Block(tuple(test), tuple(largest.values()))
    zeros = tuple(Const(0, limit.type) for limit in limits)
    b.append(For(index, loop.start, loop.stop, carries, zeros, body, outs, loop.span))
    first, *others = [b.call("lt", *pair) for pair in zip(outs, limits, strict=True)]
    moderate = reduce(lambda left, right: b.call("and", left, right), others, first)
    copies = [Cloner().stmt(loop) for _ in range(2)]
    copies[0] = _with_marks(copies[0])
    then, orelse = (Block((copy,), definitions(copy)) for copy in copies)
    b.append(If(moderate, then, orelse, loop.outs, loop.span))
    return b.stmts


def _with_marks(loop: Stmt) -> Stmt:
    """Return a loop in which the arguments of such ops are marked."""
    assert isinstance(loop, For)
    b = OpBuilder()
    marks: dict[Value, Value] = {}
    for stmt in loop.body.stmts:
        if not (isinstance(stmt, Let) and stmt.op in _LIMITS):
            b.append(stmt)
            continue
        (argument,) = stmt.args
        if argument not in marks:
            marks[argument] = b.let("moderate", (argument,), argument.type)
        b.append(replace(stmt, args=(marks[argument],)))
    return replace(loop, body=Block(tuple(b.stmts), loop.body.results))
