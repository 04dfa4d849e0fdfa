"""Accesses that certainly leave their shapes, by conditions on sizes and numbers of a launch.

`guard` puts a test before each access that may be outside. Of each such test this finds for which
shapes and integer arguments some iteration that certainly runs fails it: indices, bounds of loops
and conditions are followed as polynomials, whose loop indices are then eliminated. Values that
depend on memory or on floats are not followed, and accesses that depend on them are not found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from difftile.diagnostics import Span
from difftile.ir.failures import BadIndex
from difftile.ir.nodes import (
    Block,
    Const,
    Fail,
    For,
    If,
    Let,
    ParallelFor,
    Program,
    Ruled,
    Size,
    Value,
    Var,
    While,
)
from difftile.ir.types import BOOL, Scalar, Vector, scalar_of
from difftile.passes import known
from difftile.passes.accesses import Leaf
from difftile.passes.known import UNDECIDED, UNKNOWN, Known, Truth, Whole
from difftile.passes.polynomials import (
    ALWAYS,
    NEVER,
    Cases,
    Symbol,
    both,
    case,
    either,
    holds,
    of,
    opposite,
)
from difftile.passes.projection import certain, possible


@dataclass(frozen=True, slots=True)
class Leaving:
    """An access that leaves its shape under some conditions.

    Args:
        what: The indexed field or value, in the user's words.
        span: Where.
        when: The conditions, in which no loop index is left.
        reached: When the access is reached, in terms of loop indices.
        index: Its index.
        shape: The shape that it should stay in.
    """

    what: str
    span: Span | None
    when: Cases
    reached: Cases
    index: tuple[Whole, ...]
    shape: tuple[Whole, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """Conditions that a launch must not meet.

    Args:
        leaving: The accesses that can be told to leave their shapes.
        meaning: The parameter, or the axis of a field, that each symbol of the conditions is.
    """

    leaving: tuple[Leaving, ...]
    meaning: dict[Symbol, Leaf]


def reach(program: Program) -> Reach:
    """Return which accesses of a program with guards leave their shapes, and when."""
    finder = _Finder()
    for param in program.params:
        if isinstance(param, Var) and isinstance(param.type, Scalar) and known.is_whole(param.type):
            finder.values[param] = known.symbolic(finder.symbol(param))
    finder.block(program.body, ALWAYS)
    return Reach(tuple(finder.found), {symbol: leaf for leaf, symbol in finder.symbols.items()})


@dataclass
class _Finder:
    """Walks through a program.

    Attributes:
        values: Variables, as far as they are known.
        symbols: Sizes and parameters that have a symbol.
        found: The accesses so far.
        looking: Whether accesses are noted; loops are walked through more than once.
    """

    values: dict[Var, Known] = field(default_factory=dict[Var, "Known"])
    vectors: dict[Var, tuple[Known, ...]] = field(default_factory=dict[Var, "tuple[Known, ...]"])
    symbols: dict[Leaf, Symbol] = field(default_factory=dict["Leaf", Symbol])
    found: list[Leaving] = field(default_factory=list[Leaving])
    looking: bool = True
    _count: int = 0
    _seen: set[Cases] = field(default_factory=set[Cases])

    def __post_init__(self) -> None:
        self._operations = known.operations(known.Division(self._loop_symbol))
        self._rules: dict[type, Callable[..., None]] = {
            Let: self._let,
            Size: self._size,
            If: self._if,
            For: self._for,
            While: self._while,
            ParallelFor: self._parallel,
            Ruled: self._ruled,
        }

    # Symbols and values

    def symbol(self, leaf: Leaf) -> Symbol:
        """Return the symbol of a parameter or a size."""
        if leaf not in self.symbols:
            self._count += 1
            kind = "number" if isinstance(leaf, Var) else "size"
            self.symbols[leaf] = Symbol(self._count, kind)
        return self.symbols[leaf]

    def _loop_symbol(self) -> Symbol:
        self._count += 1
        return Symbol(self._count, "loop")

    def of(self, value: Value) -> Known:
        """Return a number or a condition, as far as it is known."""
        unknown = UNDECIDED if value.type == BOOL else UNKNOWN
        if isinstance(value, Var):
            return self.values.get(value, unknown)
        if value.type == BOOL:
            return known.truth(bool(value.value))
        return known.number(int(value.value)) if known.is_whole(scalar_of(value.type)) else unknown

    def whole(self, value: Value) -> Whole:
        """Return an integer, as far as it is known."""
        found = self.of(value)
        return UNKNOWN if isinstance(found, Truth) else found

    def truth(self, value: Value) -> Truth:
        """Return a condition, as far as it is known."""
        found = self.of(value)
        return found if isinstance(found, Truth) else UNDECIDED

    def bind(self, variables: Sequence[Var], items: Sequence[Known]) -> None:
        """Bind variables to values."""
        for variable, item in zip(variables, items, strict=True):
            if isinstance(item, Truth) == (variable.type == BOOL):
                self.values[variable] = item

    # Statements

    def block(self, block: Block, when: Cases) -> list[Known]:
        """Walk through a block that runs under some conditions; return its results."""
        for stmt in block.stmts:
            rule = self._rules.get(type(stmt))
            if rule is not None:
                rule(stmt, when)
        return [self.of(result) for result in block.results]

    def _let(self, stmt: Let, when: Cases) -> None:
        out = stmt.out
        if stmt.op == "vec":
            self.vectors[out] = tuple(self.of(arg) for arg in stmt.args)
        elif stmt.op == "extract":
            found = self._component(stmt)
            if found is not None:
                self.bind([out], [found])
        elif isinstance(out.type, Vector):
            self._of_vectors(stmt, out.type.n)
        elif isinstance(out.type, Scalar):
            self.bind([out], [self._result(stmt, [self.of(arg) for arg in stmt.args])])

    def _result(self, stmt: Let, args: Sequence[Known]) -> Known:
        """Return the result of an op, or one component of it, as far as it is known."""
        scalar = scalar_of(stmt.out.type)
        unknown = UNDECIDED if scalar == BOOL else UNKNOWN
        followed = (*(scalar_of(arg.type) for arg in stmt.args), scalar)
        if not all(one == BOOL or known.is_whole(one) for one in followed):
            return unknown
        if stmt.op == "cast":
            return args[0] if isinstance(args[0], Truth) == (scalar == BOOL) else unknown
        operation = self._operations.get(stmt.op)
        if operation is None:
            return unknown
        logic = stmt.op in ("and", "or", "not")
        picks = stmt.op == "select"
        for k, arg in enumerate(args):
            if isinstance(arg, Truth) != (logic or (picks and (k == 0 or scalar == BOOL))):
                return unknown
        return operation(*args)

    def _component(self, stmt: Let) -> Known | None:
        vector, *index = stmt.args
        parts = self.vectors.get(vector) if isinstance(vector, Var) else None
        if parts is None or len(index) != 1 or not isinstance(index[0], Const):
            return None
        at = int(index[0].value)
        return parts[at] if 0 <= at < len(parts) else None

    def _of_vectors(self, stmt: Let, n: int) -> None:
        """Follow an op that acts on each component."""
        if stmt.op not in self._operations and stmt.op != "cast":
            return
        columns: list[tuple[Known, ...]] = []
        for arg in stmt.args:
            if isinstance(arg, Var) and isinstance(arg.type, Vector):
                parts = self.vectors.get(arg)
                if parts is None:
                    return
                columns.append(parts)
            else:
                scalar = scalar_of(arg.type)
                one = Const(arg.value, scalar) if isinstance(arg, Const) else arg
                columns.append((self.of(one),) * n)
        self.vectors[stmt.out] = tuple(
            self._result(stmt, one) for one in zip(*columns, strict=True)
        )

    def _size(self, stmt: Size, when: Cases) -> None:
        self.values[stmt.out] = known.symbolic(self.symbol((stmt.array, stmt.axis)))

    def _if(self, stmt: If, when: Cases) -> None:
        cond = self.truth(stmt.cond)
        match stmt.then.stmts:
            case (Fail(failure=BadIndex()) as fail,):
                if self.looking:
                    self._note(fail, when, both(when, cond.yes))
                return
            case _:
                pass
        then = self.block(stmt.then, both(when, cond.yes))
        orelse = self.block(stmt.orelse, both(when, cond.no))
        self.bind(
            stmt.outs, [known.chosen(cond, *sides) for sides in zip(then, orelse, strict=True)]
        )

    def _note(self, fail: Fail, reached: Cases, fails: Cases) -> None:
        assert isinstance(fail.failure, BadIndex)
        when = either(*(certain(one) for one in fails))
        if not when or when in self._seen:
            return
        self._seen.add(when)
        values = [self.whole(value) for value in fail.values]
        half = len(values) // 2
        index, shape = tuple(values[:half]), tuple(values[half:])
        self.found.append(Leaving(fail.failure.what, fail.span, when, reached, index, shape))

    def _ruled(self, stmt: Ruled, when: Cases) -> None:
        self.bind(stmt.outs, self.block(stmt.body, when))

    def _parallel(self, stmt: ParallelFor, when: Cases) -> None:
        for index, start, stop in zip(stmt.indices, stmt.starts, stmt.stops, strict=True):
            when = both(when, self._range(index, self.whole(start), self.whole(stop)))
        if when:
            self.block(stmt.body, when)

    def _range(self, index: Var, start: Whole, stop: Whole) -> Cases:
        """Bind the index of a loop; return its bounds."""
        i = of(self._loop_symbol())
        self.values[index] = (((), i),)
        pairs = ((x, p, y, q) for x, p in start for y, q in stop)
        return either(*(holds(*x, *y, i.minus(p), q.minus(i).shifted(-1)) for x, p, y, q in pairs))

    # Serial loops

    def _steps(
        self, carries: Sequence[Var], walk: Callable[[], Sequence[Known]]
    ) -> list[int | None]:
        """Return the literal that each iteration adds to a carry; None where there is none."""
        wholes = [c for c in carries if isinstance(c.type, Scalar) and known.is_whole(c.type)]
        if not wholes:
            return [None] * len(carries)
        for carry in wholes:
            self.values[carry] = known.symbolic(self._loop_symbol())
        found: list[int | None] = []
        for carry, result in zip(carries, self._without_looking(walk), strict=True):
            step = None
            if carry in wholes and not isinstance(result, Truth) and len(result) == 1:
                ((where, after),) = result
                before = self.whole(carry)[0][1]
                if not where and not after.minus(before).terms:
                    step = after.minus(before).constant
            found.append(step)
        for carry in wholes:
            del self.values[carry]
        return found

    def _without_looking(self, walk: Callable[[], Sequence[Known]]) -> Sequence[Known]:
        looking, self.looking = self.looking, False
        found = walk()
        self.looking = looking
        return found

    def _carry(
        self,
        carries: Sequence[Var],
        inits: Sequence[Value],
        steps: Sequence[int | None],
        turns: Whole,
    ) -> list[Known]:
        """Return the values of carries after some iterations."""
        found: list[Known] = []
        for carry, init, step in zip(carries, inits, steps, strict=True):
            raised: Known = UNDECIDED if carry.type == BOOL else UNKNOWN
            if step is not None:
                raised = known.plus(self.whole(init), known.times(turns, known.number(step)))
            found.append(raised)
        return found

    def _for(self, stmt: For, when: Cases) -> None:
        start, stop = self.whole(stmt.start), self.whole(stmt.stop)
        domain = self._range(stmt.index, start, stop)
        inside = both(when, domain)
        steps = self._steps(stmt.carries, lambda: self.block(stmt.body, inside))
        turns = known.minus(self.whole(stmt.index), start)
        self.bind(stmt.carries, self._carry(stmt.carries, stmt.inits, steps, turns))
        self.block(stmt.body, inside)
        all_turns = known.greatest(known.minus(stop, start), known.number(0))
        self.bind(stmt.outs, self._carry(stmt.carries, stmt.inits, steps, all_turns))

    def _while(self, stmt: While, when: Cases) -> None:
        """Follow a loop as if no flag changed, up to the first turn that certainly changes none."""
        turn = self._loop_symbol()
        flags = {
            carry: init
            for carry, init in zip(stmt.carries, stmt.inits, strict=True)
            if isinstance(init, Const) and carry.type == BOOL
        }
        for carry, init in flags.items():
            self.values[carry] = self.of(init)

        def body() -> list[Known]:
            self.block(stmt.cond, NEVER)
            return self.block(stmt.body, NEVER)

        steps = self._steps(stmt.carries, body)
        turns: Whole = known.symbolic(turn)
        raised = self._carry(stmt.carries, stmt.inits, steps, turns)
        for carry, item in zip(stmt.carries, raised, strict=True):
            if carry not in flags:
                self.bind([carry], [item])
        results = self._without_looking(body)
        goes_on = self._truth_of(self.block(stmt.cond, NEVER))
        same = goes_on
        for carry, result in zip(stmt.carries, results, strict=True):
            if carry in flags and isinstance(result, Truth):
                unchanged = result.yes if flags[carry].value else result.no
                same = both(same, unchanged)
        reached = both(holds(of(turn)), _ever_since(same, turn, self._loop_symbol()))
        here = both(when, reached)
        self.block(stmt.cond, here)
        self.block(stmt.body, both(here, goes_on))
        for carry in flags:
            del self.values[carry]

    @staticmethod
    def _truth_of(results: Sequence[Known]) -> Cases:
        (result,) = results
        return result.yes if isinstance(result, Truth) else NEVER


def _ever_since(cases: Cases, turn: Symbol, earlier: Symbol) -> Cases:
    """Return when a condition held in all turns before this one."""
    own = [one for one in cases if all(part.is_linear for part in one)]
    if not own:
        return holds(of(turn).scaled(-1))  # it is the first one
    at = {turn: of(earlier)}
    before = (of(earlier), of(turn).minus(of(earlier)).shifted(-1))
    fails: list[Cases] = []
    for one in opposite(tuple(own)):
        found = case((*before, *(part.replaced(at) for part in one)))
        left = None if found is None else possible(found, earlier)
        if left is not None:
            fails.append((left,))
    return opposite(either(*fails))
