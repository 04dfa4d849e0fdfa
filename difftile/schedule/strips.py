"""Loops in strips: iterations compute into local arrays, which are then written to memory.

LLVM has vector instructions for a loop only if it can tell that no store of one iteration changes
an element that another one loads. It compares the ranges of arrays at run time, which an element
that is found by its contents (a neighbour, a cell, a sample) has none of, nor one at an index that
is clamped. Here iterations are known to be independent. So a strip of them first computes all its
values: the only stores are into local arrays, which alias no other. A second loop writes the values
where they belong, which may be anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from itertools import count
from math import prod

from difftile.ir.facts import defined_in
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Const,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Store,
    Value,
    Var,
    Write,
)
from difftile.ir.types import FLOATS, I32, FieldType, scalar_of, shape_of
from difftile.ir.walk import Cloner, operands, walk, with_tasks
from difftile.ops.build import OpBuilder
from difftile.passes.equal_numbers import compares_numbers
from difftile.records import dataclass
from difftile.schedule.long_values import is_long

_FEWEST, _MOST = 16, 64  # iterations of a strip
_NUMBERS = 192  # in all local arrays: Taichi compiles a statement for each
_MOST_RESULTS = 24  # numbers of one iteration
_LEAST_TO_SCATTER = 4  # numbers that are computed for each one that is written somewhere

# Other ops are calls or loops, except for functions that are polynomials.
_WITH_VECTORS = frozenset(
    (
        *("add", "sub", "mul", "div", "mod", "floordiv", "neg", "raw_div", "raw_mod"),
        *("lt", "le", "gt", "ge", "eq", "ne", "isnan", "isinf", "isfinite"),
        *("and", "or", "not", "select", "bit_and", "bit_or", "bit_xor", "invert"),
        *("shl", "shr", "shr_logical", "random_bits"),
        *("max", "min", "clamp", "abs", "sign", "sqrt", "rsqrt", "floor", "ceil", "round"),
        *("dot", "cross", "outer", "norm", "sum", "transpose", "trace", "determinant", "matmul"),
        *("vec", "mat", "extract", "cast", "bit_cast"),
        *("exact", "stop_grad", "unique"),
    )
)

_COPIES = ("vec", "mat", "extract", "transpose", "stop_grad", "unique")

# Sums and products of indices, of which LLVM knows the range.
_AFFINE = ("add", "sub", "mul", "neg")


def in_strips(
    program: Program,
    functions: Collection[str],
    *,
    atomics: bool,
    lengths: Mapping[int, int | None] | None = None,
) -> Program:
    """Return the program in which parallel loops that gather or scatter run in strips.

    A program that finds a largest or smallest number, or looks for numbers that equal it, stays as
    it is: vector instructions may round differently, and an adjoint that computes such a number
    again has to find the same.

    Args:
        program: A finished program.
        functions: The functions that are polynomials in such loops.
        atomics: Iterations add to elements that they share by atomics.
        lengths: The iterations of a strip, by the number of each parallel loop that may be changed;
            None for as many as usual. By default all loops may be.
    """
    if compares_numbers(program):
        return program
    simple = _WITH_VECTORS.union(functions)
    numbers = count()

    def of(loop: ParallelFor) -> list[Stmt]:
        number = next(numbers)
        if lengths is None or number in lengths:
            return _of_loop(loop, simple, atomics, lengths[number] if lengths else None)
        return [loop]

    return with_tasks(program, of)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The statements of an iteration.

    Args:
        compute: The statements that compute values.
        writes: The statements that write them, in order.
        indices: The statements that compute the indices of the writes, in order.
        results: The values to keep in between.
    """

    compute: Sequence[Stmt]
    writes: list[Store | Accumulate]
    indices: list[Let]
    results: list[Var]


def length_of(loop: ParallelFor) -> int:
    """Return the iterations of a strip of a loop that runs in strips."""
    return next(s.array.lengths[0] for s in loop.body.stmts if isinstance(s, Alloc))


def _of_loop(loop: ParallelFor, simple: Set[str], atomics: bool, length: int | None) -> list[Stmt]:
    """Return the statements in place of a parallel loop."""
    parts = _parts_of(loop, simple, atomics)
    if parts is None:
        return [loop]
    length = length or _usual(parts)
    start, stop = loop.starts[-1], loop.stops[-1]
    if isinstance(start, Const) and isinstance(stop, Const) and stop.value - start.value < length:
        return [loop]
    b, strip, index = OpBuilder(), Var("strip", I32), loop.indices[-1]
    b.span = loop.span
    strips = (b.expr(stop) - b.expr(start)).ceildiv(length).named("strips").value
    with b.region() as stmts:
        low = (b.expr(start) + b.expr(strip) * length).max(start).named("low")
        high = (low + length).min(stop).named("high")
        kept = {
            value: Array(value.name or "value", FieldType(value.type, 1), length)
            for value in parts.results
        }
        b.extend([Alloc(array, loop.span) for array in kept.values()])
        with b.region() as body:
            b.extend(parts.compute)
            place = (b.expr(index) - low).value
            b.extend([Store(kept[value], (place,), value, loop.span) for value in kept])
        b.append(For(index, low.value, high.value, (), (), Block(tuple(body)), (), loop.span))
        again = Cloner()
        second = again.fresh(index)
        with b.region() as body:
            place = (b.expr(second) - low).value
            for value, array in kept.items():
                b.append(Load(again.fresh(value), array, (place,), loop.span))
            b.extend([again.stmt(stmt) for stmt in (*parts.indices, *parts.writes)])
        b.append(For(second, low.value, high.value, (), (), Block(tuple(body)), (), loop.span))
    b.append(
        ParallelFor(
            (*loop.indices[:-1], strip),
            (*loop.starts[:-1], Const(0, I32)),
            (*loop.stops[:-1], strips),
            Block(tuple(stmts)),
            loop.span,
        )
    )
    return b.stmts


def _usual(parts: _Parts) -> int:
    """Return the usual number of iterations of a strip."""
    fitting = _NUMBERS // max(_size(parts.results), 1) // _FEWEST * _FEWEST
    return min(_MOST, max(_FEWEST, fitting))


def _parts_of(loop: ParallelFor, simple: Set[str], atomics: bool) -> _Parts | None:
    """Return the parts of an iteration; none if strips would be wrong or no better."""
    stmts, index = loop.body.stmts, loop.indices[-1]
    writes = [s for s in stmts if isinstance(s, (Store, Accumulate))]
    compute = [s for s in stmts if not isinstance(s, (Store, Accumulate))]
    if any(isinstance(w, Accumulate) and w.atomic for w in writes) and atomics:
        return None
    if not writes or not all(_is_simple(stmt, simple) for stmt in walk(Block(tuple(compute)))):
        return None
    if not (_flops(loop.body) and _is_in_order(stmts, index)):
        return None
    indices, starts = _indices(stmts, writes, loop)
    reached = [_reached(write.index, indices) for write in writes]
    if any(one.isdisjoint((index, *starts)) for one in reached):
        return None
    apart = [w.value for w, one in zip(writes, reached, strict=True) if not one.isdisjoint(starts)]
    if apart and _flops(loop.body) < _LEAST_TO_SCATTER * _size(apart):
        return None
    if not apart and not _gathers(loop):
        return None
    inside = defined_in(loop.body) - {*loop.indices}
    values = (*(w.value for w in writes), *starts)
    results = [v for v in dict.fromkeys(values) if isinstance(v, Var) and v in inside]
    if any(scalar_of(v.type) not in (*FLOATS, I32) for v in results):
        return None
    if _size(results) > _MOST_RESULTS:
        return None
    return _Parts(compute, writes, indices, results)


def _is_simple(stmt: Stmt, simple: Set[str]) -> bool:
    """Tell whether a statement can be part of a loop of vector instructions."""
    match stmt:
        case Let(out, op, args):
            at = args[1:] if op == "extract" else ()
            return op in simple and not is_long(out.type) and all(isinstance(k, Const) for k in at)
        case Load(out):
            return not is_long(out.type)
        case Size() | If():
            return True
        case _:
            return False


def _gathers(loop: ParallelFor) -> bool:
    """Tell whether an iteration loads from where LLVM cannot know ahead."""
    varying: set[Value] = {loop.indices[-1]}
    unknown: set[Value] = set()
    for stmt in walk(loop.body):
        match stmt:
            case Let(out, op, args) if not varying.isdisjoint(args):
                varying.add(out)
                if op not in _AFFINE or not unknown.isdisjoint(args):
                    unknown.add(out)
            case Load(out, array, index):
                if not unknown.isdisjoint(index[: array.type.ndim]):
                    return True
                varying.add(out)
                unknown.add(out)
            case If(outs=outs):
                varying.update(outs)
                unknown.update(outs)
            case _:
                pass
    return False


def _flops(body: Block) -> int:
    """Return how many numbers an iteration computes, copies left out."""
    lets = (s for s in walk(body) if isinstance(s, Let) and s.op not in _COPIES)
    return _size(let.out for let in lets if scalar_of(let.out.type) in FLOATS)


def _size(values: Iterable[Value]) -> int:
    """Return how many numbers values have."""
    return sum(prod(shape_of(value.type)) for value in values)


def _is_in_order(stmts: Collection[Stmt], index: Var) -> bool:
    """Tell whether all loads may come before all writes, of other iterations too."""
    written: set[Array] = set()
    places: dict[Array, set[tuple[Value, ...]]] = {}
    for stmt in stmts:
        if isinstance(stmt, (Store, Accumulate)):
            places.setdefault(stmt.array, set()).add(stmt.index[: stmt.array.type.ndim])
    for stmt in stmts:
        if isinstance(stmt, (Store, Accumulate)):
            written.add(stmt.array)
            continue
        for load in walk(Block((stmt,))):
            if not isinstance(load, Load) or load.array not in places:
                continue
            own = load.index[: load.array.type.ndim]
            if load.array in written or index not in own or places[load.array] != {own}:
                return False
    return True


def _indices(
    stmts: Iterable[Stmt], writes: Iterable[Write], loop: ParallelFor
) -> tuple[list[Let], list[Var]]:
    """Return the statements that compute where to write, and the values that they start from."""
    lets = {s.out: s for s in stmts if isinstance(s, Let)}
    inside = defined_in(loop.body) - {*loop.indices}
    needed: set[Let] = set()
    starts: dict[Var, None] = {}
    pending = [v for w in writes for v in w.index]
    while pending:
        value = pending.pop()
        if not isinstance(value, Var) or value not in inside:
            continue
        let = lets.get(value)
        if let is None or let.op not in (*_AFFINE, "vec", "extract"):
            starts[value] = None
        elif let not in needed:
            needed.add(let)
            pending += let.args
    return [s for s in stmts if isinstance(s, Let) and s in needed], list(starts)


def _reached(values: Iterable[Value], lets: list[Let]) -> set[Value]:
    """Return the values with all that they are computed from."""
    found = set(values)
    for let in reversed(lets):
        if let.out in found:
            found.update(operands(let))
    return found
