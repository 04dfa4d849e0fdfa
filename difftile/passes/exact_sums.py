"""Sums that iterations share on a device, whose order does not matter: in integers, and exact.

A float is a whole number of 24 or 53 bits times a power of two. Each term is cut at fixed powers
into pieces of `BITS` bits, which are added atomically to bins of 64, one for each power: sums of
integers are the same in any order. A loop afterwards carries, and adds the one float that the bins
hold to the element. NaN and infinities are bits of a bin of their own. (Kulisch's accumulator;
Collange, Defour, Graillat, Iakymchuk, Numerical Reproducibility for the Parallel Reduction, 2015.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from difftile.diagnostics import KernelError
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    For,
    If,
    ParallelFor,
    Program,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import F64, FLOATS, I32, I64, field_type, scalar_of, shape_of
from difftile.ir.walk import array_of, parallel_loops, walk, with_blocks
from difftile.ops.build import Expr, OpBuilder
from difftile.records import dataclass

BITS = 28
"""Of a piece: a bin holds the sum of 2**35 of them, which take a device a minute."""

_ZERO, _NONE = Const(0, I32), Const(0, I64)
_MASK, _MANTISSA, _HIDDEN = (1 << BITS) - 1, (1 << 52) - 1, 1 << 52
_INFINITE = 0x7FF << 52  # the bits of the double
_NAN, _PLUS, _MINUS = 1, 2, 4  # bits of the last bin

_HINT = (
    "write to another field, and read it in a loop of its own; or start without deterministic=True"
)


@dataclass(frozen=True, slots=True)
class Bins:
    """The bins of a target.

    Args:
        array: The bins: of the first number of the first element, and so on.
        target: The target.
    """

    array: Array
    target: Array

    @property
    def numbers(self) -> int:
        """The numbers of an element."""
        return prod(shape_of(self.target.type.element))

    @property
    def form(self) -> _Form:
        """How its numbers are cut."""
        return _DOUBLE if scalar_of(self.target.type.element) == F64 else _SINGLE

    def count(self, shape: tuple[int, ...]) -> int:
        """Return the number of bins for a target of a shape."""
        return prod(shape) * self.numbers * self.form.width


@dataclass(frozen=True, slots=True)
class _Form:
    """How floats are cut, as doubles that hold them.

    Args:
        dropped: The last bits of the mantissa, which are zero.
        lowest: The smallest biased exponent.
        pieces: The pieces of a number, at most.
    """

    dropped: int
    lowest: int
    pieces: int

    @property
    def power(self) -> int:
        """The power of two that the first bin counts."""
        return self.lowest - 1075 + self.dropped

    @property
    def bins(self) -> int:
        """The bins of a number, without the one for what is not finite."""
        highest = 2046 if self.dropped == 0 else 1023 + 127
        return (highest - self.lowest) // BITS + self.pieces

    @property
    def width(self) -> int:
        """The bins of a number."""
        return self.bins + 1


_SINGLE = _Form(dropped=29, lowest=1023 - 149, pieces=2)  # the smallest number is 2**-149
_DOUBLE = _Form(dropped=0, lowest=1, pieces=3)


def check_repeatable(program: Program) -> None:
    """Check that sums in bins do what the program says, on a device.

    Raises:
        KernelError: A loop needs elements while other iterations add to them.
    """
    for loop in parallel_loops(program):
        changes = (s for s in walk(loop.body) if isinstance(s, (Accumulate, Combine)))
        shared = {s.array: s for s in changes if _is_shared(s)}
        for stmt in walk(loop.body):
            array = array_of(stmt)
            if array is None or array not in shared or _is_unordered(stmt):
                continue
            raise KernelError(
                f"'{array.name}' is added to by several iterations of a loop that also needs its "
                "elements, and what they are then depends on the order in which threads of "
                "a device get there: deterministic=True refuses it.",
                shared[array].span or stmt.span or loop.span,
                hint=_HINT,
            )


def _is_shared(stmt: Accumulate | Combine) -> bool:
    """Tell whether several iterations may change the element."""
    return stmt.array.size is None and (isinstance(stmt, Combine) or stmt.atomic)


def _is_unordered(stmt: Stmt) -> bool:
    """Tell whether a change has the same result in any order, with sums in bins."""
    if isinstance(stmt, Accumulate):
        return True
    if not isinstance(stmt, Combine) or stmt.out is not None:
        return False
    is_float = scalar_of(stmt.array.type.element) in FLOATS
    return stmt.op in ("max", "min") or not is_float


def exact_sums(program: Program) -> tuple[Program, tuple[Bins, ...]]:
    """Return the program with bins for sums that iterations share, and the bins.

    Args:
        program: A program in its last form.
    """
    b = OpBuilder()
    made: list[Bins] = []
    for stmt in program.body.stmts:
        b.span = stmt.span
        if not isinstance(stmt, ParallelFor):
            b.append(stmt)
            continue
        here = [
            Bins(Array(f"{target.name}_bins", field_type(I64, 1)), target)
            for target in dict.fromkeys(
                s.array
                for s in walk(stmt.body)
                if isinstance(s, Accumulate) and _is_shared(s) and _has_floats(s.array)
            )
        ]
        sums = [_Binned.of(b, one) for one in here]
        for one in sums:
            one.append_clear(b, stmt)
        found = {one.bins.target: one for one in sums}
        b.append(replace(stmt, body=_in_bins(stmt.body, found)) if found else stmt)
        for one in sums:
            one.append_total(b, stmt)
        made += here
    body = replace(program.body, stmts=tuple(b.stmts))
    temps = (*program.temps, *(one.array for one in made))
    return replace(program, body=body, temps=temps), tuple(made)


def _has_floats(array: Array) -> bool:
    return scalar_of(array.type.element) in FLOATS


def _in_bins(block: Block, found: Mapping[Array, _Binned]) -> Block:
    """Return a block that adds to bins."""
    b = OpBuilder()
    for stmt in block.stmts:
        b.span = stmt.span
        one = found.get(stmt.array) if isinstance(stmt, Accumulate) else None
        if isinstance(stmt, Accumulate) and stmt.atomic and one is not None:
            one.append_terms(b, stmt)
        else:
            b.append(with_blocks(stmt, lambda inner: _in_bins(inner, found)))
    return Block(tuple(b.stmts), block.results)


@dataclass(frozen=True, slots=True)
class _Binned:
    """A target with its bins, in the program.

    Args:
        bins: The bins.
        sizes: The extents of the target.
        count: The number of all bins.
    """

    bins: Bins
    sizes: tuple[Value, ...]
    count: Value

    @staticmethod
    def of(b: OpBuilder, bins: Bins) -> _Binned:
        """Append the number of bins."""
        sizes = tuple(b.size(bins.target, axis) for axis in range(bins.target.type.ndim))
        count = b.expr(Const(bins.numbers * bins.form.width, I32))
        for size in sizes:
            count = (count * size).named("count")
        return _Binned(bins, sizes, count.value)

    def append_clear(self, b: OpBuilder, loop: ParallelFor) -> None:
        """Append the loop that clears the bins."""
        at = Var("at", I32)
        clear = Block((Store(self.bins.array, (at,), _NONE, loop.span),))
        b.append(ParallelFor((at,), (_ZERO,), (self.count,), clear, loop.span))

    def first(self, b: OpBuilder, index: tuple[Value, ...], part: Value) -> Expr:
        """Return the place of the first bin of a number of an element."""
        flat = b.expr(_ZERO)
        for size, at in zip(self.sizes, index, strict=True):
            flat = flat * size + at
        return ((flat * self.bins.numbers + part) * self.bins.form.width).named("bin")

    def append_terms(self, b: OpBuilder, stmt: Accumulate) -> None:
        """Append what adds a value to its bins."""
        ndim = len(self.sizes)
        index, inside = stmt.index[:ndim], stmt.index[ndim:]
        shape = shape_of(self.bins.target.type.element)
        if len(inside) == len(shape):
            part = b.expr(_ZERO)
            for size, at in zip(shape, inside, strict=True):
                part = part * size + at
            self._append_term(b, self.first(b, index, part.value), stmt.value)
            return
        for k in range(self.bins.numbers):
            where = (k,) if len(shape) == 1 else divmod(k, shape[1])
            part = b.call("extract", stmt.value, *(Const(i, I32) for i in where))
            self._append_term(b, self.first(b, index, Const(k, I32)), part)

    def _append_term(self, b: OpBuilder, first: Expr, value: Value) -> None:
        """Append what adds a number to its bins."""
        form = self.bins.form
        bits = b.expr(b.call("bit_cast", b.cast(value, F64), type_=I64, name="bits"))
        biased = (bits.call("shr", 52) & 0x7FF).named("biased")
        mantissa = (bits & _MANTISSA).named("mantissa")
        negative = bits < 0
        with b.region() as odd:
            kind = negative.select(Const(_MINUS, I64), Const(_PLUS, I64))
            kind = mantissa.eq(0).select(kind, Const(_NAN, I64))
            last = (first + form.bins).value
            b.append(Combine(None, "bit_or", self.bins.array, (last,), kind.value, b.span))
        with b.region() as finite:
            hidden = (biased > 0).select(Const(_HIDDEN, I64), _NONE)
            whole = mantissa | hidden
            if form.dropped:
                whole = whole.call("shr", form.dropped)
            whole = whole.named("whole")
            with b.region() as terms:
                self._append_pieces(b, first, biased, whole, negative)
            b.append(If(whole.ne(0).value, Block(tuple(terms)), Block(()), (), b.span))
        b.append(If(biased.eq(0x7FF).value, Block(tuple(odd)), Block(tuple(finite)), (), b.span))

    def _append_pieces(
        self, b: OpBuilder, first: Expr, biased: Expr, whole: Expr, negative: Expr
    ) -> None:
        """Append what adds the pieces of a whole number, not 0, to their bins."""
        form = self.bins.form
        power = (biased.max(form.lowest) - form.lowest).named("power")
        place = b.expr(b.cast((power // BITS).value, I32, "place"))
        shift = (power % BITS).named("shift")
        rest = (Const(BITS, I64) - shift).named("rest")
        pieces = [whole.call("shl", shift) & _MASK, whole.call("shr", rest) & _MASK]
        if form.pieces == 3:
            pieces.append(whole.call("shr", rest + BITS))
        for k, piece in enumerate(pieces):
            signed = negative.select(-piece, piece).named("piece")
            at = (first + place + k).value
            b.append(Accumulate(self.bins.array, (at,), signed.value, b.span))

    def append_total(self, b: OpBuilder, loop: ParallelFor) -> None:
        """Append the loop that adds what bins hold to the elements."""
        indices = tuple(Var("at", I32) for _ in self.sizes)
        shape = shape_of(self.bins.target.type.element)
        part = Var("part", I32)
        with b.region() as stmts:
            if shape:
                with b.region() as each:
                    inside = (part,) if len(shape) == 1 else _divmod(b, part, shape[1])
                    self._append_total(b, indices, part, inside)
                stop = Const(self.bins.numbers, I32)
                b.append(For(part, _ZERO, stop, (), (), Block(tuple(each)), (), loop.span))
            else:
                self._append_total(b, indices, _ZERO, ())
        if not indices:
            b.extend(stmts)
            return
        zeros = (_ZERO,) * len(indices)
        b.append(ParallelFor(indices, zeros, self.sizes, Block(tuple(stmts)), loop.span))

    def _append_total(
        self, b: OpBuilder, index: tuple[Value, ...], part: Value, inside: tuple[Value, ...]
    ) -> None:
        """Append what adds the float that bins hold to a number."""
        form, target, array = self.bins.form, self.bins.target, self.bins.array
        first = self.first(b, index, part)

        def carried(k: Var, carry: Value, sign: Value) -> tuple[Expr, Expr]:
            """Return the digit of a bin, and what is carried on."""
            there = b.expr(b.load(array, ((first + k).value,), "there")) * sign + carry
            return there & _MASK, there.call("shr", BITS)

        k, carry, out = Var("k", I32), Var("carry", I64), Var("carry", I64)
        last = Const(form.bins - 1, I32)
        with b.region() as body:
            _, on = carried(k, carry, Const(1, I64))
        block = Block(tuple(body), (on.value,))
        b.append(For(k, _ZERO, last, (carry,), (_NONE,), block, (out,), b.span))
        top = b.expr(b.load(array, ((first + last).value,), "top"))
        negative = (top + out < 0).named("negative")
        sign = negative.select(Const(-1, I64), Const(1, I64)).value
        # Digits of the magnitude are not negative: their sum cancels nothing.
        k, carry, out = Var("k", I32), Var("carry", I64), Var("carry", I64)
        total, found = Var("total", F64), Var("total", F64)
        with b.region() as body:
            digit, on = carried(k, carry, sign)
            scale = _power_of_two(b, b.expr(b.cast(k, I64)) * BITS, form.power)
            more = b.expr(total) + b.expr(b.cast(digit.value, F64)) * scale
        block = Block(tuple(body), (on.value, more.value))
        inits, outs = (_NONE, Const(0.0, F64)), (out, found)
        b.append(For(k, _ZERO, last, (carry, total), inits, block, outs, b.span))
        rest = (top * sign + out).named("rest")
        magnitude = b.expr(found)
        if form.pieces == 3:  # the power of the last bin is no double
            bits = b.expr(b.call("bit_cast", found, type_=I64))
            bits = rest.eq(0).select(bits, Const(_INFINITE, I64))
        else:
            scale = Const(2.0 ** (form.power + BITS * (form.bins - 1)), F64)
            magnitude = magnitude + b.expr(b.cast(rest.value, F64)) * scale
            bits = b.expr(b.call("bit_cast", magnitude.value, type_=I64))
        signs = negative.select(Const(-(1 << 63), I64), _NONE)
        odd = b.expr(b.load(array, ((first + form.bins).value,), "odd"))
        least = Const(_INFINITE - (1 << 63), I64)
        named = odd.eq(_PLUS).select(
            Const(_INFINITE, I64), odd.eq(_MINUS).select(least, Const(_INFINITE | 1 << 51, I64))
        )
        bits = odd.eq(0).select(bits | signs, named).named("bits")
        with b.region() as add:
            value = b.call("bit_cast", bits.value, type_=F64)
            value = b.cast(value, scalar_of(target.type.element))
            b.accumulate(target, (*index, *inside), value, atomic=False)
        b.append(If(bits.ne(0).value, Block(tuple(add)), Block(()), (), b.span))


def _power_of_two(b: OpBuilder, place: Expr, power: int) -> Expr:
    """Return two to the power of a place counted from another power, as a double."""
    bits = (place + (power + 1023)).call("shl", 52)
    if power < -1022:
        subnormal = b.expr(Const(1, I64)).call("shl", place.min(51))
        bits = (place + power > -1023).select(bits, subnormal)
    return b.expr(b.call("bit_cast", bits.value, type_=F64, name="scale"))


def _divmod(b: OpBuilder, value: Value, size: int) -> tuple[Value, Value]:
    whole = b.expr(value)
    return (whole // size).value, (whole % size).value
