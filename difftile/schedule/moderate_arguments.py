"""Loops that find out whether their sines are of moderate numbers, and then run.

Loops of few iterations call the library. In others, all functions are polynomials.

The sine of a number below some limit is a polynomial, of which a loop has vector instructions; for
other numbers it is a call. The same goes for cosines and tangents. A loop that only stores runs
with polynomials first, and finds the largest of their arguments on the way. If that is not below
the limit, the loop runs again as it is.

Other loops can run only once. There, the statements that compute the arguments run first, with the
conditions around them, to find the largest argument; then one of the two loops runs.

Arguments that follow from other sines are computed with the polynomials, too: of a chain in which
some argument is too large, the first one is found right.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import reduce

import numpy as np

from difftile.ir.facts import arrays_loaded, arrays_written
from difftile.ir.nodes import (
    Alloc,
    Block,
    Const,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Program,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import F32, F64, FLOATS, I32, I64, Scalar, Type, scalar_of
from difftile.ir.walk import (
    WRITES,
    Cloner,
    add_carries,
    definitions,
    literal_length,
    walk,
    without_stmts,
)
from difftile.ops.build import OpBuilder
from difftile.passes.dce import dce
from difftile.passes.split_index_sets import in_blocks, last_axis
from difftile.records import dataclass
from difftile.schedule.sources import Sources

_INTEGERS: dict[Type, Scalar] = {F32: I32, F64: I64}  # that have as many bits
_ALL_BUT_SIGN: dict[Type, Const] = {F32: Const(2**31 - 1, I32), F64: Const(2**63 - 1, I64)}

_DIVISIONS = ("mod", "floordiv", "raw_div", "raw_mod")

Limits = Mapping[str, Mapping[Type, float]]
Tested = tuple[list[Stmt], dict[Var, Var]]


def with_test(
    loop: For | ParallelFor, limits: Limits, functions: Mapping[Var, Let], *, is_long: bool = False
) -> Tested | str:
    """Return the statements in place of a loop, and the results of polynomials in them.

    Args:
        loop: A loop that may have vector instructions.
        limits: The sizes from which on there is no polynomial, by op and type.
        functions: The functions in the loop that are polynomials in one of its copies, by result.
        is_long: The loop has enough iterations.

    Returns:
        Each result of a polynomial has the function's result in the loop. Or the reason why there
        are none.
    """
    row = loop if isinstance(loop, For) else last_axis(loop)
    limited = {let.out: let for let in functions.values() if let.op in limits}
    most: dict[Type, float] = {}
    for let in limited.values():
        type_ = let.args[0].type
        most[type_] = min(most.get(type_, np.inf), limits[let.op][type_])
    first = _noting_largest(row, most, limited)
    is_repeated = bool(limited) and _is_repeatable(row)
    if limited and not is_repeated:
        first = _test(first, len(most))
        if not _is_found_ahead(first, row):
            return "its argument is only known while the loop runs"
    if _relies_on(limited, first.body):
        return "a place in memory or a division depends on it"
    clones: dict[Var, Var] = {}

    def copied(stmt: For) -> Stmt:
        cloner = Cloner()
        copy = cloner.stmt(stmt)
        made = (out for out in functions if out in cloner.env)
        clones.update({clone: out for out in made if isinstance(clone := cloner.env[out], Var)})
        return copy

    def runs(row: For) -> list[Stmt]:
        b = OpBuilder()
        b.span = row.span
        conditions: list[Value] = []
        stop = row.stop
        if literal_length(row.start, row.stop) == np.inf and not is_long:
            count = b.call("sub", row.stop, row.start)
            conditions.append(b.call("ge", count, Const(fewest(row), I32)))
            stop = b.call("select", conditions[0], row.stop, row.start)
        then: Block | None = None
        if limited:
            found = copied(replace(first, start=row.start, stop=stop))
            b.append(found)
            largest = definitions(found)[-len(most) :]
            pairs = zip(largest, most.items(), strict=True)
            conditions += [b.call("lt", one, _bits(limit, of)) for one, (of, limit) in pairs]
            if is_repeated:
                then = Block((), definitions(found)[: len(row.outs)])
        if then is None:
            copy = copied(row)
            then = Block((copy,), definitions(copy))
        again = Cloner().stmt(row)
        orelse = Block((again,), definitions(again))
        condition = reduce(lambda left, right: b.call("and", left, right), conditions)
        b.append(If(condition, then, orelse, row.outs, row.span))
        return b.stmts

    return (runs(loop) if isinstance(loop, For) else in_blocks(loop, runs)), clones


def fewest(loop: For) -> int:
    """Return the fewest iterations for which polynomials pay.

    The rest of the last vectors is computed by scalars, which takes longer than calls. Where there
    are sums, several vectors are computed side by side.
    """
    return 64 if loop.carries else 16


def _is_repeatable(loop: For) -> bool:
    """Tell whether a loop may run again, with the result of a single correct run.

    Values may be wrong the first time, and conditions.
    """
    local = {s.array for s in walk(loop.body) if isinstance(s, Alloc)}
    loaded = arrays_loaded(loop.body)
    for stmt in walk(loop.body):
        if isinstance(stmt, WRITES) and stmt.array not in local:
            whole = isinstance(stmt, Store) and any(stmt is one for one in loop.body.stmts)
            if not whole or stmt.array in loaded:
                return False
    return True


def _relies_on(values: Collection[Var], body: Block) -> bool:
    """Tell whether wrong values would be more than that: places in memory, or divisors."""
    relied: list[Value] = []
    for stmt in walk(body):
        match stmt:
            case Load(index=index) | Store(index=index):
                relied += index
            case Let(out, op, args) if op in _DIVISIONS and scalar_of(out.type) not in FLOATS:
                relied += args
            case _:
                pass
    return not Sources(body).behind(relied).isdisjoint(values)


def _bits(limit: float, type_: Type) -> Const:
    """Return the integer that has the bits of a limit.

    Floats above 0 are ordered as the integers of their bits are, and NaN is the last of them.
    """
    if type_ == F32:
        return Const(int(np.float32(limit).view(np.int32)), I32)
    return Const(int(np.float64(limit).view(np.int64)), I64)


# The statements of a test


def _noting_largest(loop: For, types: Collection[Type], limited: Collection[Var]) -> For:
    """Return the loop that also finds the largest arguments, by type, as its last results."""
    totals = {one: Var("largest", _INTEGERS[one]) for one in types}
    body, after = _noting(loop.body, _Largest(dict(totals), frozenset()), limited)
    return add_carries(
        loop,
        tuple(totals.values()),
        [Const(0, one.type) for one in totals.values()],
        [Var("largest", one.type) for one in totals.values()],
        replace(body, results=(*body.results, *after.of.values())),
    )


def _test(noting: For, count: int) -> For:
    """Return the loop that finds the largest arguments, which are its last results."""
    local = {s.array for s in walk(noting.body) if isinstance(s, Alloc)}
    pure = without_stmts(
        Block((noting,), noting.outs[-count:]),
        lambda stmt: isinstance(stmt, WRITES) and stmt.array not in local,
    )
    (test,) = dce(Program("test", (), pure)).body.stmts
    assert isinstance(test, For)
    return test


def _is_found_ahead(test: For, loop: For) -> bool:
    """Tell whether a test finds the elements that the loop is going to find."""
    local = {s.array for s in walk(loop.body) if isinstance(s, Alloc)}
    for stmt in walk(test.body):
        if isinstance(stmt, Load) and stmt.array not in local and not _is_known_ahead(stmt, loop):
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Largest:
    """The largest arguments so far.

    Args:
        of: Their bits, by type.
        seen: Arguments that have been counted on any way here.
    """

    of: Mapping[Type, Value]
    seen: frozenset[Value]


def _noting(block: Block, before: _Largest, limited: Collection[Var]) -> tuple[Block, _Largest]:
    """Return the block that finds the largest arguments as well."""
    b = OpBuilder()
    of: dict[Type, Value] = {**before.of}
    seen = set(before.seen)
    for stmt in block.stmts:
        b.span = getattr(stmt, "span", None)
        match stmt:
            case Let(out, _, (argument,)) if out in limited:
                if argument not in seen:
                    seen.add(argument)
                    type_ = argument.type
                    bits = b.let("bit_cast", (argument,), _INTEGERS[type_])
                    size = b.call("bit_and", bits, _ALL_BUT_SIGN[type_])
                    of[type_] = b.call("max", of[type_], size)
                b.append(stmt)
            case If(then=then, orelse=orelse):
                here = _Largest(dict(of), frozenset(seen))
                left, after_left = _noting(then, here, limited)
                right, after_right = _noting(orelse, here, limited)
                outs = list(stmt.outs)
                for type_, value in here.of.items():
                    pair = after_left.of[type_], after_right.of[type_]
                    if pair != (value, value):
                        outs.append(Var("largest", _INTEGERS[type_]))
                        left, right = (
                            replace(one, results=(*one.results, result))
                            for one, result in zip((left, right), pair, strict=True)
                        )
                        of[type_] = outs[-1]
                b.append(replace(stmt, then=left, orelse=right, outs=tuple(outs)))
            case For(body=body):
                carries = [Var("largest", _INTEGERS[type_]) for type_ in of]
                here = _Largest(dict(zip(of, carries, strict=True)), frozenset(seen))
                inner, after = _noting(body, here, limited)
                inner = replace(inner, results=(*inner.results, *after.of.values()))
                outs = [Var("largest", _INTEGERS[type_]) for type_ in of]
                b.append(add_carries(stmt, carries, tuple(of.values()), outs, inner))
                of.update(zip(of, outs, strict=True))
            case _:
                b.append(stmt)
    return Block(tuple(b.stmts), block.results), _Largest(of, frozenset(seen))


def _is_known_ahead(load: Load, loop: For) -> bool:
    """Tell whether an element has its value of before the loop when an iteration reads it."""
    if load.array not in arrays_written(loop.body):
        return True
    inner = [s for s in walk(loop.body) if isinstance(s, For)]
    if any(load.array in arrays_written(one.body) for one in inner):
        return False
    for stmt in walk(loop.body):
        if stmt is load:
            break
        if isinstance(stmt, WRITES) and stmt.array is load.array:
            return False
    writes = [s for s in walk(loop.body) if isinstance(s, WRITES) and s.array is load.array]
    ndim = load.array.type.ndim
    place = load.index[:ndim]
    return loop.index in place and all(s.index[:ndim] == place for s in writes)
