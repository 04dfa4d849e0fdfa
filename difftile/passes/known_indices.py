"""The part of a program that computes indices and divisors from integers, and tests them.

What is left of a program are loops, conditions and integer arithmetic that depend neither on memory
nor on floats or random numbers, and a `Fail` for each axis of an access that may be outside. Where
a variable is known on some paths only, as a flag is until data may have set it, a companion says
whether it is, as in a memory sanitizer (Stepanov and Serebryany, MemorySanitizer, CGO 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Literal, TypeAlias

from difftile.ir.facts import uses
from difftile.ir.failures import BadIndex, TooLarge, ZeroDivisor
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
    While,
)
from difftile.ir.types import BOOL, FLOATS, I32, scalar_of
from difftile.ops.build import OpBuilder, zero
from difftile.passes.bounds import Ranges, literal_extent, picked
from difftile.passes.dce import dce
from difftile.passes.safe_divisions import DIVISIONS, divisor_of, is_zero
from difftile.records import dataclass

UNKNOWN = Const(-(2**31), I32)
"""Stands among the values of a failure for an index along another axis that is not known."""
_YES, _NO = Const(True, BOOL), Const(False, BOOL)


def once(tests: Program) -> Program:
    """Return tests with one iteration of each loop whose index they do not use."""
    used = uses(tests.body)
    b = OpBuilder()
    stmts: list[Stmt] = []
    for stmt in tests.body.stmts:
        if isinstance(stmt, ParallelFor):
            with b.region() as before:
                stops = tuple(
                    stop if index in used else b.expr(stop).min(b.expr(start) + 1).value
                    for index, start, stop in zip(
                        stmt.indices, stmt.starts, stmt.stops, strict=True
                    )
                )
            stmts += [*before, replace(stmt, stops=stops)]
        else:
            stmts.append(stmt)
    return replace(tests, body=Block(tuple(stmts)))


_Carried: TypeAlias = Literal["always", "sometimes", "never"]
_UNFOLLOWED = frozenset(("random_bits", "bit_cast"))


@dataclass(frozen=True, slots=True)
class KnownIndices:
    """The tests of a program's indices.

    Args:
        program: The tests. Its parameters are integers of the program, and sizes.
        sizes: The field and axis of each parameter that is a size.
    """

    program: Program
    sizes: dict[Var, tuple[Array, int]]


def known_indices(program: Program) -> KnownIndices | None:
    """Return the tests of the indices that sizes and integers decide; None if there are none."""
    finder = _Finder(Ranges(program))
    for param in program.params:
        if isinstance(param, Var) and scalar_of(param.type) not in FLOATS:
            finder.known[param] = _YES
    body = Block(finder.block(program.body))
    whole = [p for p in program.params if isinstance(p, Var) and p in finder.known]
    params = (*whole, *finder.sizes.values())
    tests = dce(Program(f"{program.name}_indices", params, body))
    if not tests.body.stmts:
        return None
    return KnownIndices(tests, {var: place for place, var in finder.sizes.items()})


@dataclass
class _Finder:
    """Copies what is known.

    Attributes:
        known: Whether a variable is known: always, or under a condition; others never are.
        same: What stands for a variable here.
        sizes: The parameters that are sizes.
        carried: How well a carry of a loop is known, as far as that was tried.
    """

    ranges: Ranges
    b: OpBuilder = field(default_factory=OpBuilder)
    known: dict[Var, Value] = field(default_factory=dict[Var, Value])
    same: dict[Var, Value] = field(default_factory=dict[Var, Value])
    sizes: dict[tuple[Array, int], Var] = field(default_factory=dict["tuple[Array, int]", Var])
    carried: dict[Var, _Carried] = field(default_factory=dict["Var", "_Carried"])

    # Values

    def of(self, value: Value) -> Value:
        """Return whether a value is known, as a condition."""
        return self.known.get(value, _NO) if isinstance(value, Var) else _YES

    def all_of(self, values: Sequence[Value]) -> Value:
        """Append whether all values are known."""
        found = self.b.expr(_YES)
        for value in values:
            found = found & self.of(value)
        return found.value

    def set(self, out: Var, known: Value) -> bool:
        """Note whether a variable is known; tell whether it ever is."""
        if known == _NO:
            self.known.pop(out, None)
            return False
        self.known[out] = known
        return True

    def forget(self, outs: Sequence[Var]) -> None:
        """Note that variables are never known."""
        for out in outs:
            self.set(out, _NO)

    def held(self, value: Value) -> Value:
        """Return a value, or zero for one that is never known, and is not computed."""
        if isinstance(value, Const):
            return value
        return self.same.get(value, value) if value in self.known else zero(value.type)

    def size(self, array: Array, axis: int) -> Value:
        """Return a size: a literal, or a parameter."""
        literal = literal_extent(array, axis)
        if literal is not None:
            return Const(literal, I32)
        if (array, axis) not in self.sizes:
            size = self.sizes[array, axis] = Var(f"n{axis}_{array.name}", I32)
            self.known[size] = _YES
        return self.sizes[array, axis]

    # Statements

    def block(self, block: Block) -> tuple[Stmt, ...]:
        """Return the statements of a block that are known."""
        with self.b.region() as stmts:
            for stmt in block.stmts:
                self.b.span = stmt.span
                self.stmt(stmt)
        return tuple(stmts)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Let():
                self.let(stmt)
            case Size(out, array, axis):
                self.known[out], self.same[out] = _YES, self.size(array, axis)
            case Load() | Store() | Accumulate() | Combine():
                self.access(stmt.array, stmt.index)
            case If(
                _, Block(stmts=(Fail(BadIndex() | TooLarge(), values) as fail,)), Block(stmts=())
            ):
                known = self.all_of((stmt.cond, *values))
                self.fail((self.b.expr(self.held(stmt.cond)) & known).value, fail)
            case If():
                self.sides(stmt)
            case For():
                self.serial(stmt)
            case While():
                self.turns(stmt)
            case ParallelFor(indices, starts, stops, body):
                if self.all_of((*starts, *stops)) == _YES:
                    self.known.update(dict.fromkeys(indices, _YES))
                    starts, stops = tuple(map(self.held, starts)), tuple(map(self.held, stops))
                    inner = Block(self.block(body))
                    self.b.append(replace(stmt, starts=starts, stops=stops, body=inner))
            case Ruled(outs, _, body):
                self.b.extend(self.block(body))
                for out, result in zip(outs, body.results, strict=True):
                    if self.set(out, self.of(result)):
                        self.same[out] = self.held(result)
            case _:
                pass

    def let(self, stmt: Let) -> None:
        scalars = {scalar_of(one.type) for one in (stmt.out, *stmt.args)}
        known: Value = _NO
        if scalars.isdisjoint(FLOATS) and stmt.op not in _UNFOLLOWED:
            known = self.decided(stmt)
        if self.set(stmt.out, known):
            self.b.append(replace(stmt, args=tuple(map(self.held, stmt.args))))
        divisor = divisor_of(stmt)
        if divisor is not None and self.of(divisor) != _NO:
            known, by_zero = self.of(divisor), is_zero(self.b, self.held(divisor))
            fail = Fail(ZeroDivisor(DIVISIONS[stmt.op]), (), stmt.span)
            self.fail((self.b.expr(by_zero) & known).value, fail)
        pick = picked(stmt)
        if pick is not None:
            shape, index = pick
            what = f"a {'vector' if len(shape) == 1 else 'matrix'}"
            self.test(what, index, [Const(size, I32) for size in shape], range(len(shape)))

    def decided(self, stmt: Let) -> Value:
        """Append whether the result of an op is known; of logic one operand may decide."""
        every = self.all_of(stmt.args)
        if stmt.out.type != BOOL or stmt.op not in ("and", "or") or every == _YES:
            return every
        found = self.b.expr(every)
        for arg in stmt.args:
            one = self.b.expr(self.held(arg))
            found = found | (self.b.expr(self.of(arg)) & (~one if stmt.op == "and" else one))
        return found.value

    # Accesses

    def access(self, array: Array, index: Sequence[Value]) -> None:
        """Append the tests of an access, of the field and of its elements."""
        doubtful, ndim = self.ranges.doubtful(array, index), array.type.ndim
        field_axes, element_axes = range(ndim), range(ndim, len(index))
        for axes, what in (
            (field_axes, f"'{array.name}'"),
            (element_axes, f"an element of '{array.name}'"),
        ):
            tested = [k - axes.start for k in axes if k in doubtful and self.of(index[k]) != _NO]
            if tested:
                sizes = [self.size(array, k) for k in axes]
                self.test(what, [index[k] for k in axes], sizes, tested)

    def test(
        self, what: str, index: Sequence[Value], sizes: Sequence[Value], axes: Sequence[int]
    ) -> None:
        """Append the tests of an index along some axes."""
        shown = [self.held(i) if self.of(i) == _YES else UNKNOWN for i in index]
        for k in axes:
            i, size = self.b.expr(self.held(index[k])), self.b.expr(sizes[k])
            outside = ((i < 0) | (i >= size)) & self.of(index[k])
            values = (*shown[:k], i.value, *shown[k + 1 :], *sizes)
            self.fail(outside.value, Fail(BadIndex(what), values, self.b.span))

    def fail(self, cond: Value, fail: Fail) -> None:
        """Append a failure under a condition."""
        if cond != _NO:
            values = tuple(map(self.held, fail.values))
            then = Block((replace(fail, values=values),))
            self.b.append(If(cond, then, Block(()), (), fail.span))

    # Control flow

    def sides(self, stmt: If) -> None:
        known = self.of(stmt.cond)
        if known == _NO:
            self.forget(stmt.outs)
            return
        then, orelse = self.block(stmt.then), self.block(stmt.orelse)
        outs: list[Var] = []
        results: list[tuple[Value, Value]] = []
        for out, *pair in zip(stmt.outs, stmt.then.results, stmt.orelse.results, strict=True):
            a, b = map(self.of, pair)
            if a == b == _NO:
                self.set(out, _NO)
                continue
            outs.append(out)
            results.append((self.held(pair[0]), self.held(pair[1])))
            self.known[out] = known
            if not a == b == _YES:
                self.known[out] = companion = Var(f"knows_{out.name}", BOOL)
                outs.append(companion)
                results.append((a, b))
        of_then, of_orelse = zip(*results, strict=True) if results else ((), ())
        made = If(
            self.held(stmt.cond),
            Block(then, of_then),
            Block(orelse, of_orelse),
            tuple(outs),
            stmt.span,
        )
        if known != _YES:  # neither side runs where it is not
            inner = tuple(Var(out.name, out.type) for out in outs)
            zeros = tuple(zero(out.type) for out in outs)
            within = Block((replace(made, outs=inner),), inner)
            made = If(known, within, Block((), zeros), tuple(outs), stmt.span)
        self.b.append(made)

    def serial(self, stmt: For) -> None:
        if self.all_of((stmt.start, stmt.stop)) != _YES:
            self.forget(stmt.outs)
            return
        self.known[stmt.index] = _YES
        while True:
            self.enter(stmt)
            body = self.block(stmt.body)
            if self.holds(stmt):
                break
        carries, inits, results, outs = self.kept(stmt)
        self.b.append(
            replace(
                stmt,
                start=self.held(stmt.start),
                stop=self.held(stmt.stop),
                carries=carries,
                inits=inits,
                body=Block(body, results),
                outs=outs,
            )
        )

    def turns(self, stmt: While) -> None:
        while True:
            self.enter(stmt)
            cond, body = self.block(stmt.cond), self.block(stmt.body)
            if self.holds(stmt):
                break
        (goes_on,) = stmt.cond.results
        known = self.of(goes_on)
        carries, inits, results, outs = self.kept(stmt)
        with self.b.region() as more:
            both = (self.b.expr(self.held(goes_on)) & known).value
        cond = Block((*cond, *more), (both,))
        self.b.append(
            replace(
                stmt,
                carries=carries,
                inits=inits,
                cond=cond,
                body=Block(body, results),
                outs=outs,
            )
        )
        if known != _YES:  # what stopped it here may have been data
            self.forget(stmt.outs)

    def enter(self, loop: For | While) -> None:
        """Bind the carries of a loop, as well as they are known."""
        for carry, init in zip(loop.carries, loop.inits, strict=True):
            first = self.of(init)
            if first == _NO or self.carried.get(carry) == "never":
                self.carried[carry] = "never"
                self.set(carry, _NO)
            elif first != _YES or self.carried.get(carry) == "sometimes":
                self.carried[carry] = "sometimes"
                self.known[carry] = Var(f"knows_{carry.name}", BOOL)
            else:
                self.carried[carry] = "always"
                self.known[carry] = _YES

    def holds(self, loop: For | While) -> bool:
        """Tell whether carries are as well known as was assumed; assume less where they are not."""
        less = [
            carry
            for carry, result in zip(loop.carries, loop.body.results, strict=True)
            if self.carried[carry] == "always" and self.of(result) != _YES
        ]
        for carry in less:
            self.carried[carry] = "sometimes"
        return not less

    def kept(
        self, loop: For | While
    ) -> tuple[tuple[Var, ...], tuple[Value, ...], tuple[Value, ...], tuple[Var, ...]]:
        """Return the carries that are known with their companions: inits, results and outs."""
        found: list[tuple[Var, Value, Value, Var]] = []
        parts = (loop.carries, loop.inits, loop.body.results, loop.outs)
        for carry, init, result, out in zip(*parts, strict=True):
            if self.carried[carry] == "never":
                self.set(out, _NO)
                continue
            found.append((carry, self.held(init), self.held(result), out))
            self.known[out] = _YES
            if self.carried[carry] == "sometimes":
                companion = self.known[carry]
                assert isinstance(companion, Var)
                after = self.known[out] = Var(companion.name, BOOL)
                found.append((companion, self.of(init), self.of(result), after))
        if not found:
            return (), (), (), ()
        carries, inits, results, outs = zip(*found, strict=True)
        return carries, inits, results, outs
