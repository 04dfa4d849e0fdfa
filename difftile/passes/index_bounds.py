"""Which tests of indices may fail in a launch, by bounds on affine forms of loop indices.

The integers of a launch are given. A value is then an affine form of symbols: loop indices, and the
results of operations that are not followed further (`symbols`). What may pass the limits of a
type is given up, since such integers wrap around.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from difftile.ir.nodes import (
    Block,
    Const,
    Fail,
    For,
    If,
    Let,
    ParallelFor,
    Program,
    Stmt,
    Value,
    Var,
    While,
)
from difftile.ir.types import BOOL, Scalar, Type, integer_limits, numpy_dtype, scalar_of, shape_of
from difftile.ops.table import OPS
from difftile.passes.affine import Affine, affine, definitions_of
from difftile.passes.interval_operations import (
    BITWISE,
    COMPARISONS,
    EXACT,
    FOLLOWED,
    SPELLED,
    result_of,
)
from difftile.passes.intervals import Interval, fits
from difftile.passes.symbols import (
    UNDECIDED,
    Implied,
    Known,
    Need,
    Ranged,
    Symbols,
    Truth,
    both,
    exactly,
    negated,
)
from difftile.records import dataclass

UNCOUNTED = 2**31
_NO_NAMES: Mapping[Var, str] = MappingProxyType({})
_NOTHING: Mapping[Var, Interval] = MappingProxyType({})
_Item: TypeAlias = "Known | list[Known]"
"""A value, or one for each component of a vector."""


class Doubt(NamedTuple):
    """A failure that may happen.

    Args:
        fail: The failure.
        ends: The intervals of its values where it may happen.
        needs: Forms that follow from the parameters in intervals; the failure does not happen where
            none of these is negative. None where such forms are not known.
    """

    fail: Fail
    ends: tuple[Interval, ...]
    needs: tuple[Need, ...] | None

    def may_be(self, values: Sequence[int]) -> bool:
        """Tell whether the failure may have some values."""
        return all(low <= n <= high for n, (low, high) in zip(values, self.ends, strict=True))


def doubts(
    program: Program,
    given: Mapping[Var, int],
    within: Mapping[Var, Interval] = _NOTHING,
    names: Mapping[Var, str] = _NO_NAMES,
) -> tuple[list[Doubt], float]:
    """Return the failures of a program that may happen, and at most how many iterations it has.

    Args:
        program: Tests of indices, as `known_indices` returns them.
        given: The parameters.
        within: Intervals of parameters that may differ, around the given values.
        names: The texts of these.
    """
    symbols = Symbols()
    walk = _Walk(symbols, {param: exactly(n) for param, n in given.items()})
    for param, ends in within.items():
        walk.values[param] = made = symbols.whole(*ends)
        symbols.define(made, names[param], given[param])
    walk.block(program.body)
    return walk.found, walk.work


@dataclass
class _Walk:
    """Walks through a program.

    Args:
        symbols: The symbols.
        values: Variables.

    Attributes:
        turns: At most how often the present statement runs, or `UNCOUNTED`.
        work: The iterations of all loops so far.
        found: The failures so far.
    """

    symbols: Symbols
    values: dict[Var, _Item]
    turns: float = 1.0
    work: float = 0.0
    found: list[Doubt] = field(default_factory=list[Doubt])

    # Values

    def of(self, value: Value) -> _Item:
        if isinstance(value, Var):
            return self.values[value]
        if value.type == BOOL:
            return Truth(bool(value.value))
        return exactly(int(value.value))

    def unknown(self, type_: Type) -> _Item:
        """Return a value of which only the type is known."""
        scalar, shape = scalar_of(type_), shape_of(type_)
        count = math.prod(shape)
        parts = [self.unknown_number(scalar) for _ in range(count)]
        return parts if shape else parts[0]

    def unknown_number(self, scalar: Scalar) -> Known:
        """Return a number of which only the type is known."""
        return UNDECIDED if scalar == BOOL else self.symbols.whole(*integer_limits(scalar))

    def fitted(self, value: Ranged, scalar: Scalar) -> Ranged:
        """Return an integer of a type, which wraps around where it would leave its limits."""
        if fits((value.low, value.high), scalar):
            return value
        least, most = self.symbols.ends(value)
        if fits((least, most), scalar):
            return Ranged(least, most, value.form)
        low, high = integer_limits(scalar)
        if least == most:
            return exactly((least - low) % (high - low + 1) + low)
        return self.symbols.whole(low, high)

    def truth(self, value: Value) -> Truth:
        found = self.of(value)
        return found if isinstance(found, Truth) else UNDECIDED

    def result(self, op: str, scalar: Scalar, source: Scalar, args: Sequence[Known]) -> Known:
        """Return the result of an op on numbers."""
        if scalar == BOOL and op == "cast" and isinstance(args[0], Ranged):
            return self.symbols.unequal(args[0], exactly(0))
        if any(isinstance(arg, Truth) for arg in args):
            return self.logic(op, scalar, args)
        wholes = [arg for arg in args if isinstance(arg, Ranged)]
        if scalar == BOOL:
            return self.compared(op, *wholes)
        if all(arg.low == arg.high for arg in wholes) and op in EXACT:
            dtype = numpy_dtype(source)
            with np.errstate(all="ignore"):
                found = OPS[op].numpy(*(dtype.type(arg.low) for arg in wholes))
            return exactly(int(np.asarray(found).astype(numpy_dtype(scalar))))
        key = (op, scalar, *(arg.form for arg in wholes))
        if key not in self.symbols.same:
            self.symbols.same[key] = self.applied(op, scalar, wholes)
        return self.symbols.same[key]

    def applied(self, op: str, scalar: Scalar, args: Sequence[Ranged]) -> Ranged:
        """Return the result of an op on integers."""
        count = len(self.symbols.lower)
        found = result_of(op, self.symbols, args)
        fits = op in BITWISE or found is not None
        if found is None:
            found = self.symbols.whole(*integer_limits(scalar))
        fitted = self.fitted(found, scalar)
        if fits and fitted is found and op in SPELLED and found.form == Affine({count: 1}):
            given = [self.symbols.described(arg.form) for arg in args]
            texts = [one[0] for one in given if one is not None]
            if len(texts) == len(args):
                text = SPELLED[op].format(*texts)
                now = SPELLED[op].format(*(f"({one[1]})" for one in given if one is not None))
                with suppress(ArithmeticError, ValueError):  # in a branch that is not taken
                    self.symbols.define(found, text, eval(now))
        return fitted

    def logic(self, op: str, scalar: Scalar, args: Sequence[Known]) -> Known:
        match op, args:
            case "and", (Truth() as a, Truth() as b):
                return both(a, b)
            case "or", (Truth() as a, Truth() as b):
                return negated(both(negated(a), negated(b)))
            case "not", (Truth() as a,):
                return negated(a)
            case "eq", (Truth() as a, Truth() as b):
                return self.symbols.chosen(a, b, negated(b))
            case "ne", (Truth() as a, Truth() as b):
                return self.symbols.chosen(a, negated(b), b)
            case "select", (Truth() as a, b, c):
                return self.symbols.chosen(a, b, c)
            case "cast", (Truth() as a,) if scalar != BOOL:
                return self.symbols.whole(0, 1) if a.holds is None else exactly(int(a.holds))
            case "cast", (Truth() as a,):
                return a
            case _:
                return self.unknown_number(scalar)

    def compared(self, op: str, *args: Ranged) -> Truth:
        if op not in COMPARISONS:
            return UNDECIDED
        return COMPARISONS[op](self.symbols, *args)

    # Statements

    def block(self, block: Block) -> list[_Item]:
        for stmt in block.stmts:
            self.stmt(stmt)
        return [self.of(result) for result in block.results]

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Let():
                self.let(stmt)
            case If(cond, Block((Fail() as fail,)), Block(())):
                if self.truth(cond).holds is not False:
                    self.doubt(fail, self.truth(cond).no)
            case If():
                self.sides(stmt)
            case ParallelFor(indices, starts, stops, body):
                with self.ranges(indices, starts, stops) as runs:
                    if runs:
                        self.block(body)
            case For():
                self.serial(stmt)
            case While():
                self.turning(stmt)
            case _:
                raise TypeError(stmt)

    def doubt(self, fail: Fail, otherwise: Implied) -> None:
        values = [self.of(value) for value in fail.values]
        ends = tuple(self.symbols.ends(one) for one in values if isinstance(one, Ranged))
        needs = tuple(map(self.symbols.need, otherwise.forms)) if otherwise.is_all else None
        self.found.append(Doubt(fail, ends, needs))

    def let(self, stmt: Let) -> None:
        args = [self.of(arg) for arg in stmt.args]
        scalar, shape = scalar_of(stmt.out.type), shape_of(stmt.out.type)
        source = scalar_of(stmt.args[0].type) if stmt.args else scalar
        index = stmt.args[1] if len(stmt.args) == 2 else None
        if stmt.op == "vec":
            self.values[stmt.out] = [arg for arg in args if not isinstance(arg, list)]
        elif stmt.op == "extract" and isinstance(args[0], list) and isinstance(index, Const):
            self.values[stmt.out] = args[0][int(index.value)]
        elif len(shape) == 1 and (stmt.op in FOLLOWED or stmt.op == "select"):
            columns = [arg if isinstance(arg, list) else [arg] * shape[0] for arg in args]
            self.values[stmt.out] = [
                self.result(stmt.op, scalar, source, one) for one in zip(*columns, strict=True)
            ]
        elif shape or any(isinstance(arg, list) for arg in args):
            self.values[stmt.out] = self.unknown(stmt.out.type)
        else:
            single = [arg for arg in args if not isinstance(arg, list)]
            self.values[stmt.out] = self.result(stmt.op, scalar, source, single)

    def sides(self, stmt: If) -> None:
        cond = self.truth(stmt.cond)
        results: list[list[_Item]] = []
        ends: list[list[Interval | None]] = []
        for side, block in ((cond, stmt.then), (negated(cond), stmt.orelse)):
            if side.holds is False:
                continue
            with self.symbols.under(side.yes) as possible:
                if possible:
                    results.append(self.block(block))
                    ends_of = self.symbols.ends
                    ends.append(
                        [ends_of(r) if isinstance(r, Ranged) else None for r in results[-1]]
                    )
        for k, out in enumerate(stmt.outs):
            of = [one[k] for one in results]
            if len(of) == 1:
                self.values[out] = of[0]
            elif len(of) == 2 and isinstance(of[0], Truth) and isinstance(of[1], Truth):
                self.values[out] = self.symbols.chosen(cond, of[0], of[1])
            elif len(of) == 2 and of[0] == of[1]:
                self.values[out] = of[0]
            elif len(of) == 2 and all(isinstance(one, Ranged) for one in of):
                both = [one[k] for one in ends]
                low, high = min(b[0] for b in both if b), max(b[1] for b in both if b)
                self.values[out] = self.symbols.whole(low, high)
            else:
                self.values[out] = self.unknown(out.type)

    @contextmanager
    def ranges(
        self, indices: Sequence[Var], starts: Sequence[Value], stops: Sequence[Value]
    ) -> Generator[bool]:
        """Bind the indices of a loop inside the block; yields whether it may run."""
        before, runs = self.turns, True
        conditions: list[Affine[int]] = []
        for index, start, stop in zip(indices, starts, stops, strict=True):
            a, b = self.of(start), self.of(stop)
            assert isinstance(a, Ranged) and isinstance(b, Ranged)
            low, high = self.symbols.ends(a)[0], self.symbols.ends(b)[1] - 1
            runs = runs and low <= high
            length = b.form - a.form
            self.turns *= max(0, min(high - low + 1, self.symbols.greatest(length)))
            self.values[index] = self.symbols.whole(low, high, (a.form,), (b.form - 1,))
            conditions.append(length - 1)
        self.work += self.turns
        with self.symbols.under(Implied(tuple(conditions))) as possible:
            yield runs and possible
        self.turns = before

    def serial(self, stmt: For) -> None:
        start, stop = self.of(stmt.start), self.of(stmt.stop)
        assert isinstance(start, Ranged) and isinstance(stop, Ranged)
        steps = _steps(stmt)
        with self.ranges((stmt.index,), (stmt.start,), (stmt.stop,)) as runs:
            index = self.of(stmt.index)
            assert isinstance(index, Ranged)
            if runs:
                self.carry(stmt.carries, stmt.inits, steps, index.form - start.form)
                self.block(stmt.body)
        length = stop.form - start.form
        if self.symbols.least(length) < 0:
            length = self.symbols.whole(0, max(0, self.symbols.greatest(length)), (length,)).form
        self.carry(stmt.outs, stmt.inits, steps, length)

    def turning(self, stmt: While) -> None:
        """Follow a loop that counts; carries that may wrap around count as unknown."""
        steps, before, found = _steps(stmt), self.turns, len(self.found)
        turn = self.symbols.whole(0, UNCOUNTED)
        self.carry(stmt.carries, stmt.inits, steps, turn.form, endless=True)
        self.turns = before * UNCOUNTED
        cond = self.condition(stmt)
        with self.symbols.under(cond.yes) as possible:
            fits = all(map(self.goes_on, stmt.carries, steps)) or not possible
        if not fits:
            del self.found[found:]
            steps = [step if step == 0 else None for step in steps]
            self.carry(stmt.carries, stmt.inits, steps, turn.form)
            cond = self.condition(stmt)
        if cond.holds is not False:
            with self.symbols.under(cond.yes) as possible:
                if possible:
                    self.turns = before * (self.symbols.greatest(turn.form) + 1)
                    self.work += self.turns
                    self.block(stmt.body)
        self.turns = before
        for out in stmt.outs:
            self.values[out] = self.unknown(out.type)

    def condition(self, stmt: While) -> Truth:
        (goes_on,) = self.block(stmt.cond)
        return goes_on if isinstance(goes_on, Truth) else UNDECIDED

    def goes_on(self, carry: Var, step: int | None) -> bool:
        """Tell whether a carry that fits its type does so after another turn."""
        value = self.of(carry)
        if not step or not isinstance(value, Ranged):
            return True
        after = value.form + step
        return fits(
            (self.symbols.least(after), self.symbols.greatest(after)), scalar_of(carry.type)
        )

    def carry(
        self,
        variables: Sequence[Var],
        inits: Sequence[Value],
        steps: Sequence[int | None],
        turns: Affine[int],
        *,
        endless: bool = False,
    ) -> None:
        """Bind the carries of a loop after a number of turns; with `endless` they may not fit."""
        for variable, init, step in zip(variables, inits, steps, strict=True):
            first = self.of(init)
            if step == 0:
                self.values[variable] = first
            elif step is None or not isinstance(first, Ranged):
                self.values[variable] = self.unknown(variable.type)
            else:
                after = first.form.plus(turns, step)
                made = Ranged(self.symbols.least(after), self.symbols.greatest(after), after)
                scalar = scalar_of(variable.type)
                self.values[variable] = made if endless else self.fitted(made, scalar)


def _steps(loop: For | While) -> list[int | None]:
    """Return the literal that each iteration adds to a carry; None where there is none."""
    defs = definitions_of(loop.body)
    pairs = zip(loop.carries, loop.body.results, strict=True)
    steps = [affine(result, defs) - Affine({carry: 1}) for carry, result in pairs]
    return [None if step.factors else step.constant for step in steps]
