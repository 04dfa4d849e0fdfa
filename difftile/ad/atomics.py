"""The reverse of maxima, minima and products that iterations of a parallel loop share.

The gradient of a maximum goes in equal shares to all that equal it: the values of the iterations,
and what the element held before. The slope of a product is the product of the other factors, also
where some are zero. Both need a pass over the iterations before the reverse of the loop, which
counts the contenders, or multiplies the factors that are not zero and counts those that are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from difftile.ad.effects import without_effects
from difftile.ad.reverser import Reverser, Weights
from difftile.diagnostics import Label, NotDifferentiable
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    Let,
    Load,
    Memory,
    ParallelFor,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import I32, Type
from difftile.ir.walk import (
    Cloner,
    array_of,
    defined_in,
    definitions,
    regions,
    walk,
    with_blocks,
)
from difftile.ops.build import OpBuilder, zero
from difftile.passes.affine import definitions_of, disjoint, place_of

# Ops that round nothing, and those that round once: computed again, they give the same bits.
_EXACT = frozenset(("neg", "abs", "max", "min", "select", "extract", "vec", "mat", "cast", "sign"))
_ROUNDED_ONCE = frozenset(("add", "sub", "mul"))

_WORDS = {"max": "maximum", "min": "minimum"}


def prepare(r: Reverser, loop: ParallelFor) -> None:
    """Append, for each field that the loop combines into, what comes before its reverse.

    Afterwards the gradient of the field is that with respect to what it held before the loop.

    Raises:
        NotDifferentiable: Contenders cannot be told, since they would be rounded differently; or
            the loop touches the field in another way, too.
    """
    found = {s.array: s for s in walk(loop.body) if isinstance(s, Combine) and s.array in r.bars}
    for array, stmt in found.items():
        op = stmt.op
        _check_alone(loop, stmt)
        if op in _WORDS:
            _check_exact(r, loop, array)
            _share(r, loop, array)
        elif op == "mul":
            _multiply(r, loop, array)


def slope(r: Reverser, stmt: Combine, index: tuple[Value, ...]) -> Value:
    """Return the adjoint of the value of a combination, after `prepare`."""
    b, value = r.b, r.value(stmt.value)
    weights = r.weights[stmt.array]
    share = b.load(weights.share, index)
    if weights.zeros is None:
        hit = b.call("eq", value, b.load(r.after[stmt.array], index))
        return b.call("select", hit, share, zero(share.type))
    return _others(b, value, share, b.load(weights.zeros, index))


def _share(r: Reverser, loop: ParallelFor, array: Array) -> None:
    b, result, bar = r.b, r.after[array], r.bars[array]
    share = _temp(r, array, "share")
    r.weights[array] = Weights(share)
    element = array.type.element

    def held(index: tuple[Value, ...]) -> Value:
        return b.call("eq", b.load(array, index), b.load(result, index))

    def start(index: tuple[Value, ...]) -> None:
        b.store(share, index, b.call("select", held(index), _one(element), zero(element)))

    def count(stmt: Combine) -> None:
        hit = b.call("eq", stmt.value, b.load(result, stmt.index))
        type_ = stmt.value.type
        b.accumulate(share, stmt.index, b.call("select", hit, _one(type_), zero(type_)))

    def divide(index: tuple[Value, ...]) -> None:
        each = b.call("div", b.load(bar, index), b.load(share, index))
        b.store(share, index, each)
        b.store(bar, index, b.call("select", held(index), each, zero(element)))

    _each(r, array, start)
    _again(r, loop, array, count)
    _each(r, array, divide)


def _multiply(r: Reverser, loop: ParallelFor, array: Array) -> None:
    b, bar = r.b, r.bars[array]
    product, zeros = _temp(r, array, "product"), _temp(r, array, "zeros")
    r.weights[array] = Weights(product, zeros)

    def parts(value: Value) -> tuple[Value, Value]:
        none = b.call("eq", value, zero(value.type))
        one = _one(value.type)
        factor = b.call("select", none, one, value)
        return factor, b.call("select", none, one, zero(value.type))

    def start(index: tuple[Value, ...]) -> None:
        factor, none = parts(b.load(array, index))
        b.store(product, index, factor)
        b.store(zeros, index, none)

    def multiply(stmt: Combine) -> None:
        factor, none = parts(stmt.value)
        b.combine("mul", product, stmt.index, factor)
        b.accumulate(zeros, stmt.index, none)

    def finish(index: tuple[Value, ...]) -> None:
        total = b.call("mul", b.load(product, index), b.load(bar, index))
        b.store(product, index, total)
        old = b.load(array, index)
        b.store(bar, index, _others(b, old, total, b.load(zeros, index)))

    _each(r, array, start)
    _again(r, loop, array, multiply)
    _each(r, array, finish)


def _others(b: OpBuilder, factor: Value, total: Value, zeros: Value) -> Value:
    """Return the product of the other factors, given that of all which are not zero."""
    nothing, one = zero(factor.type), _one(factor.type)
    lone = b.call("select", b.call("eq", zeros, one), total, nothing)
    rest = b.call("select", b.call("eq", zeros, nothing), b.call("div", total, factor), nothing)
    return b.call("select", b.call("eq", factor, nothing), lone, rest)


def _one(type_: Type) -> Const:
    return Const(1.0, type_)


def _temp(r: Reverser, array: Array, what: str) -> Array:
    temp = Array(f"{array.name}_{what}", array.type, like=array)
    r.temps.append(temp)
    return temp


def _each(r: Reverser, array: Array, body: Callable[[tuple[Value, ...]], None]) -> None:
    """Append a loop over the elements of a field."""
    b, ndim = r.b, array.type.ndim
    if not ndim:
        body(())
        return
    indices = tuple(Var("ijklmnopqrst"[axis], I32) for axis in range(ndim))
    sizes = tuple(b.size(array, axis) for axis in range(ndim))
    with b.region() as stmts:
        body(indices)
    b.append(ParallelFor(indices, (Const(0, I32),) * ndim, sizes, Block(tuple(stmts)), b.span))


def _again(r: Reverser, loop: ParallelFor, array: Array, make: Callable[[Combine], None]) -> None:
    """Append the loop once more, with other statements where it combines into a field."""

    def change(block: Block) -> Block:
        with r.b.region() as stmts:
            for stmt in block.stmts:
                r.b.span = stmt.span
                if isinstance(stmt, Combine) and stmt.array is array:
                    make(stmt)
                elif regions(stmt):
                    r.b.append(with_blocks(stmt, change))
                elif (bare := without_effects(stmt)) is not None:
                    r.b.append(bare)
        return replace(block, stmts=tuple(stmts))

    changed = replace(loop, body=change(loop.body))
    cloner = Cloner(r.cloner.env)
    copy = cloner.stmt(changed)
    r.note_loads(Block((changed,)), cloner)
    r.b.append(copy)


def _check_alone(loop: ParallelFor, combine: Combine) -> None:
    """Check that nothing else of the loop changes what the passes above take for combined.

    They compare what every element held before the loop with what it holds after it. Sums and loads
    of elements that are certainly other ones do not disturb them, but sums do disturb a maximum,
    which would not know an element that was added to.
    """
    defs = definitions_of(loop.body)
    varying = defined_in(loop.body) | set(loop.indices)

    def apart(other: Memory) -> bool:
        every = (s for s in walk(loop.body) if isinstance(s, Combine) and s.array is other.array)
        at = place_of(other, defs)
        return all(disjoint(place_of(one, defs), at, varying) for one in every)

    for other in walk(loop.body):
        if array_of(other) is not combine.array:
            continue
        match other:
            case Combine(op=op):
                allowed = op == combine.op
            case Load():
                allowed = apart(other)
            case Accumulate():
                allowed = combine.op == "mul" and apart(other)
            case _:
                allowed = False
        if not allowed:
            assert isinstance(other, (Load, Store, Accumulate, Combine))
            raise _not_alone(combine, other)


def _not_alone(combine: Combine, other: Memory) -> NotDifferentiable:
    word = _WORDS.get(combine.op, "product")
    name = combine.array.name
    return NotDifferentiable(
        combine.span,
        f"a {word} over iterations, into a field that the same loop touches in another way.",
        f"a {word} in '{name}'",
        related=() if other.span is None else (Label(other.span, f"'{name}' is touched here too"),),
        hint="use two loops, or two fields.",
    )


def _check_exact(r: Reverser, loop: ParallelFor, array: Array) -> None:
    defs: dict[Var, Stmt] = {v: s for s in walk(loop.body) for v in definitions(s)}
    for stmt in walk(loop.body):
        if not isinstance(stmt, Combine) or stmt.array is not array:
            continue
        if stmt.value in r.active and not _same_bits(stmt.value, defs, rounded=True):
            word = _WORDS[stmt.op]
            raise NotDifferentiable(
                stmt.span,
                f"this {word} is of values that are computed in the same loop, and rounding "
                "may hide which of them it is.",
                f"a {word} over iterations",
                hint="store the values in a field, and take the "
                f"{word} of that field in a loop behind.",
            )


def _same_bits(value: Value, defs: dict[Var, Stmt], *, rounded: bool) -> bool:
    """Tell whether a value has the same bits when it is computed again in other code."""
    stmt = defs.get(value) if isinstance(value, Var) else None
    match stmt:
        case None | Load():
            return True
        case Let(op=op, args=args) if op in _EXACT:
            return all(_same_bits(arg, defs, rounded=rounded) for arg in args)
        case Let(op=op, args=args) if op in _ROUNDED_ONCE and rounded:
            return all(_same_bits(arg, defs, rounded=False) for arg in args)
        case _:
            return False
