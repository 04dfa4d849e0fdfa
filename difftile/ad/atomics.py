"""The reverse of maxima, minima and products that iterations of a parallel loop share.

The gradient of a maximum goes in equal shares to all that equal it: the values of the iterations,
and the old value of the element. The slope of a product is the product of the other factors, also
where some are zero. Both need a pass over the iterations before the reverse of the loop, which
counts the contenders, or multiplies the nonzero factors and counts the zero ones.

A contender equals the maximum bit by bit, and values that the loop computes may be rounded
differently in an adjoint. Their maximum is then taken again, in one more pass, of the values that
the adjoint computes; it is compiled without fast math (`exact`), so that its passes and its
reverse, which run the same operations, agree on every bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from difftile.ad.effects import without_effects
from difftile.ad.reverser import LoopWeights, Reverser
from difftile.diagnostics import Label, NotDifferentiable
from difftile.ir.facts import defined_in
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
from difftile.ir.types import I32
from difftile.ir.walk import WRITES, definitions, regions, walk, with_blocks
from difftile.ops.build import Expr, OpBuilder, zero
from difftile.passes.affine import definitions_of, disjoint, place_of

# Ops that round at most once: computed again, they give the same bits.
_EXACT = frozenset(("neg", "abs", "max", "min", "select", "extract", "vec", "mat", "cast", "sign"))
_ROUNDED_ONCE = frozenset(("add", "sub", "mul"))

_WORDS = {"max": "maximum", "min": "minimum"}


def prepare(r: Reverser, loop: ParallelFor) -> None:
    """Append, for each field that the loop combines into, the passes before its reverse.

    Afterwards the gradient of the field is that with respect to its contents from before the loop.

    Raises:
        NotDifferentiable: The loop touches the field in another way, too.
    """
    found = {s.array: s for s in walk(loop.body) if isinstance(s, Combine) and s.array in r.bars}
    for array, stmt in found.items():
        _check_other_accesses(loop, stmt, r.after)
        if stmt.op in _WORDS:
            _Passes(r, loop, array).share(anew=_rounded(r, loop, array))
        elif stmt.op == "mul":
            _Passes(r, loop, array).multiply()


def slope(r: Reverser, stmt: Combine, index: tuple[Value, ...]) -> Value:
    """Return the adjoint of the value of a combination, after `prepare`."""
    b, value = r.b, r.value(stmt.value)
    weights = r.weights[stmt.array]
    share = b.load(weights.share, index)
    if weights.zeros is None:
        top = r.after[stmt.array] if weights.top is None else weights.top
        own = value if weights.top is None else b.call("exact", value)
        hit = b.expr(own).eq(b.load(top, index))
        return hit.select(share, zero(share.type)).value
    return _others(b, value, share, b.load(weights.zeros, index))


def _others(b: OpBuilder, factor: Value, total: Value, zeros: Value) -> Value:
    """Return the product of the other factors, given the product of all that are not zero."""
    nothing, one = zero(factor.type), Const(1.0, factor.type)
    lone = b.expr(zeros).eq(one).select(total, nothing)
    some = b.expr(zeros).eq(nothing)
    rest = some.select(b.expr(total) / factor, nothing)
    return b.expr(factor).eq(nothing).select(lone, rest).value


class _Passes:
    """The passes for one field: over its elements, over the loop's iterations, and back."""

    def __init__(self, r: Reverser, loop: ParallelFor, array: Array) -> None:
        self.r = r
        self.loop = loop
        self.array = array
        self.one = Const(1.0, array.type.element)
        self.nothing = zero(array.type.element)

    def share(self, *, anew: bool) -> None:
        """Divide the gradient of a maximum or minimum among its contenders.

        Args:
            anew: Take the maximum again, of the values that the adjoint computes.
        """
        r, b, array = self.r, self.r.b, self.array
        result, bar, share = r.after[array], r.bars[array], self._temp("share")
        top = self._temp("top") if anew else None
        r.weights[array] = LoopWeights(share, top=top)

        def own(value: Value) -> Value:
            return value if top is None else b.call("exact", value)

        def held(index: tuple[Value, ...]) -> Expr:
            return b.expr(b.load(array, index)).eq(b.load(result, index))

        def start(index: tuple[Value, ...]) -> None:
            b.store(share, index, held(index).select(self.one, self.nothing).value)

        def count(stmt: Combine) -> None:
            hit = b.expr(own(stmt.value)).eq(b.load(result, stmt.index))
            type_ = stmt.value.type
            b.accumulate(share, stmt.index, hit.select(Const(1.0, type_), zero(type_)).value)

        def divide(index: tuple[Value, ...]) -> None:
            each = b.call("div", b.load(bar, index), b.load(share, index))
            b.store(share, index, each)
            b.store(bar, index, held(index).select(each, self.nothing).value)

        if top is not None:
            result = top
            self._each(lambda index: b.store(top, index, b.load(array, index)))
            # Only compared: derivatives of the adjoint do not pass through here.
            self._again(
                lambda stmt: b.combine(
                    stmt.op, top, stmt.index, b.call("stop_grad", own(stmt.value))
                )
            )
        self._each(start)
        self._again(count)
        self._each(divide)

    def multiply(self) -> None:
        """Multiply the factors that are not zero, and count the others."""
        r, b, array = self.r, self.r.b, self.array
        bar, product, zeros = r.bars[array], self._temp("product"), self._temp("zeros")
        r.weights[array] = LoopWeights(product, zeros)

        def parts(value: Value) -> tuple[Value, Value]:
            one, nothing = Const(1.0, value.type), zero(value.type)
            is_zero = b.expr(value).eq(nothing)
            factor = is_zero.select(one, value).value
            return factor, is_zero.select(one, nothing).value

        def start(index: tuple[Value, ...]) -> None:
            factor, is_zero = parts(b.load(array, index))
            b.store(product, index, factor)
            b.store(zeros, index, is_zero)

        def multiply(stmt: Combine) -> None:
            factor, is_zero = parts(stmt.value)
            b.combine("mul", product, stmt.index, factor)
            b.accumulate(zeros, stmt.index, is_zero)

        def finish(index: tuple[Value, ...]) -> None:
            total = b.call("mul", b.load(product, index), b.load(bar, index))
            b.store(product, index, total)
            old = b.load(array, index)
            b.store(bar, index, _others(b, old, total, b.load(zeros, index)))

        self._each(start)
        self._again(multiply)
        self._each(finish)

    def _temp(self, word: str) -> Array:
        temp = Array(f"{self.array.name}_{word}", self.array.type, like=self.array)
        self.r.temps.append(temp)
        return temp

    def _each(self, body: Callable[[tuple[Value, ...]], None]) -> None:
        """Append a loop over the elements of the field."""
        b, ndim = self.r.b, self.array.type.ndim
        if not ndim:
            body(())
            return
        indices = tuple(Var("ijklmnopqrst"[axis], I32) for axis in range(ndim))
        sizes = tuple(b.size(self.array, axis) for axis in range(ndim))
        with b.region() as stmts:
            body(indices)
        b.append(ParallelFor(indices, (Const(0, I32),) * ndim, sizes, Block(tuple(stmts)), b.span))

    def _again(self, make: Callable[[Combine], None]) -> None:
        """Append the loop once more, with other statements where it combines into the field."""
        r = self.r

        def change(block: Block) -> Block:
            with r.b.region() as stmts:
                for stmt in block.stmts:
                    r.b.span = stmt.span
                    if isinstance(stmt, Combine) and stmt.array is self.array:
                        make(stmt)
                    elif isinstance(stmt, Let) and stmt.out in r.read_back:
                        source, index = r.read_back[stmt.out]
                        r.b.append(Load(stmt.out, source, index, stmt.span))
                    elif regions(stmt):
                        r.b.append(with_blocks(stmt, change))
                    elif (bare := without_effects(stmt)) is not None:
                        r.b.append(bare)
            return replace(block, stmts=tuple(stmts))

        changed = replace(self.loop, body=change(self.loop.body))
        cloner = r.cloner.inner()
        copy = cloner.stmt(changed)
        r.note_loads(Block((changed,)), cloner)
        r.b.append(copy)


def _check_other_accesses(
    loop: ParallelFor, combine: Combine, after: Mapping[Array, Array]
) -> None:
    """Check that no other access of the loop disturbs the passes.

    They compare the contents of every element before the loop with those after it. Sums and loads
    of elements that are certainly other ones do not disturb them, but sums do disturb a maximum,
    which would not know an element that was added to.
    """
    defs = definitions_of(loop.body)
    varying = defined_in(loop.body) | set(loop.indices)
    every = [s for s in walk(loop.body) if isinstance(s, Combine) and s.array is combine.array]

    def apart(other: Memory) -> bool:
        at = place_of(other, defs)
        return all(disjoint(place_of(one, defs), at, varying) for one in every)

    for other in walk(loop.body):
        if not isinstance(other, (Load, *WRITES)):
            continue
        if other.array not in (combine.array, after.get(combine.array)):
            continue
        match other:
            case Combine(op=op):
                allowed = op == combine.op
            case Load():
                allowed = apart(other)
            case Accumulate():
                allowed = combine.op == "mul" and apart(other)
            case Store():
                allowed = False
        if not allowed:
            word, name = _WORDS.get(combine.op, "product"), combine.array.name
            touched = Label(other.span, f"'{name}' is touched here too") if other.span else None
            raise NotDifferentiable(
                combine.span,
                f"a {word} over iterations, into a field that the same loop touches in another "
                "way.",
                f"a {word} in '{name}'",
                related=() if touched is None else (touched,),
                hint="use two loops, or two fields.",
            )


def _rounded(r: Reverser, loop: ParallelFor, array: Array) -> bool:
    """Tell whether values that a loop combines into a field may have other bits in an adjoint."""
    defs: dict[Var, Stmt] = {v: s for s in walk(loop.body) for v in definitions(s)}
    return any(
        stmt.value in r.active and not _same_bits(stmt.value, defs, rounded=True)
        for stmt in walk(loop.body)
        if isinstance(stmt, Combine) and stmt.array is array
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
