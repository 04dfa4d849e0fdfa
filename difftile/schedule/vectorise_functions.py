"""Which functions of a program are polynomials in the emitted source.

A call of the C library keeps a loop from having vector instructions; a polynomial is a third of a
nanosecond there, and twice as slow as the call elsewhere. Therefore functions are polynomials in
loops that may be vectors, if all functions of the loop can be. Some have a polynomial only below a
limit: such loops test their arguments ahead (`moderate_arguments`).

Polynomials and the library differ in the last place, and launches of much and of little work have
one each. Numbers that are compared for equality, or from which iterations are counted, therefore
come from the library: an adjoint that computes them again has to find the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from math import inf, prod
from typing import Any, TypeAlias

from difftile.diagnostics import Span
from difftile.ir.nodes import (
    Array,
    Block,
    Combine,
    Const,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Program,
    Stmt,
    Value,
    Var,
    While,
)
from difftile.ir.types import FLOATS, Vector, scalar_of, shape_of
from difftile.ir.walk import (
    definitions,
    is_innermost,
    literal_length,
    operands,
    parallel_loops,
    regions,
    walk,
    with_blocks,
    with_some,
)
from difftile.ops.build import OpBuilder
from difftile.ops.macros import component
from difftile.passes.intervals import Intervals
from difftile.passes.unroll_loops import CALLS
from difftile.records import dataclass
from difftile.schedule.long_values import is_long
from difftile.schedule.moderate_arguments import fewest, with_test
from difftile.schedule.schedule import loops_of_functions
from difftile.schedule.sources import Source, Sources
from difftile.schedule.target import Polynomials
from difftile.schedule.vector_loops import obstacle

_ORDERS = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))
_FEWEST = 8  # iterations of a loop, where they are a literal

Ends: TypeAlias = frozenset[tuple[Value, Value, int]]
"""Starts and ends of loops, and the fewest iterations for which polynomials pay in them."""


def ends_of(loop: For) -> tuple[Value, Value, int]:
    """Return what a loop has in common with its copies that are as long."""
    return loop.start, loop.stop, fewest(loop)


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A function that stays a call of the library.

    Args:
        let: The op.
        why: The reason, as a clause.
        span: The place of the reason, or of the op.
    """

    let: Let
    why: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Vectorised:
    """A program with functions as polynomials.

    Args:
        program: The program, whose loops may have a test and two copies.
        polynomials: The ops of the functions that are polynomials, by their results.
        calls: The functions in loops that are not.
        loops: The numbers of the parallel loops that have polynomials.
    """

    program: Program
    polynomials: Mapping[Var, str]
    calls: tuple[LibraryCall, ...] = ()
    loops: frozenset[int] = frozenset()


def long_and_brief(
    program: Program, given: Mapping[Array | Var, Any]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return which `loops_of_functions` are long and which are not, as a launch knows.

    Args:
        program: A program.
        given: Its shapes and numbers.
    """
    loops = loops_of_functions(program.body)
    intervals = Intervals(program.body, given) if loops else None
    long: list[int] = []
    brief: list[int] = []
    for number, loop in enumerate(loops):
        assert intervals is not None
        start, stop = intervals.of(loop.start), intervals.of(loop.stop)
        if start is None or stop is None:
            continue
        if stop[1] - start[0] < fewest(loop):
            brief.append(number)
        elif stop[0] - start[1] >= fewest(loop):
            long.append(number)
    return tuple(long), tuple(brief)


def vectorise_functions(
    program: Program,
    math: Polynomials,
    *,
    serial: bool,
    reorders: bool,
    long: Ends = frozenset(),
    brief: Ends = frozenset(),
    loops: Collection[int] | None = None,
) -> Vectorised:
    """Return the program with functions as polynomials where that makes loops vectors.

    Args:
        program: A finished program.
        math: The polynomials that there are.
        serial: One thread runs the program, without atomics.
        reorders: Sums of floats may be computed in another order.
        long: The ends of loops that a launch knows to be long enough for polynomials to pay.
        brief: The ends of loops that are known to be shorter.
        loops: The numbers of the parallel loops to look at; all by default.
    """
    if not any(isinstance(s, Let) and s.op in CALLS for s in walk(program.body)):
        return Vectorised(program, {})
    chooser = _Chooser(math, _decisive(program.body), serial, reorders, long, brief)
    changed = with_some(program, loops, lambda stmt: [*chooser.stmts([stmt])])
    return Vectorised(
        changed, chooser.found, tuple(chooser.calls), _with_any(changed, chooser.found)
    )


def _with_any(program: Program, polynomials: Collection[Var]) -> frozenset[int]:
    """Return the numbers of the parallel loops that compute some functions."""
    return frozenset(
        k
        for k, loop in enumerate(parallel_loops(program))
        if any(isinstance(s, Let) and s.out in polynomials for s in walk(loop.body))
    )


def _decisive(body: Block) -> set[Source]:
    """Return the values whose last place matters, and all that they are computed from.

    These are numbers that are compared for equality, also by finding the largest or smallest of
    several, and values that decide how often a loop runs, which may be kept in memory.
    `f(x) >= best` looks for the number that was found to be the largest, by this launch or another.
    """
    every = list(walk(body))
    computed = {out for s in every if not isinstance(s, Load) for out in definitions(s)}
    found_here = any(isinstance(s, Combine) and _is_extreme(s) for s in every)

    def looks_for(let: Let) -> bool:
        if any(isinstance(arg, Const) for arg in let.args):
            return False  # no other launch has computed it
        if let.op in ("eq", "ne") or found_here:
            return True
        return let.op in ("le", "ge") and any(
            isinstance(arg, Var) and arg not in computed for arg in let.args
        )

    return Sources(body).behind(_last_places(body, (), looks_for))


def _is_extreme(stmt: Combine) -> bool:
    return stmt.op in ("max", "min") and scalar_of(stmt.value.type) in FLOATS


def _last_places(
    block: Block, under: tuple[Value, ...], looks_for: Callable[[Let], bool]
) -> Iterator[Value]:
    for stmt in block.stmts:
        match stmt:
            case Combine() if _is_extreme(stmt):
                yield from (*operands(stmt), *under)
            case Let(op=op, args=args) if op in _ORDERS and scalar_of(args[0].type) in FLOATS:
                yield from args if looks_for(stmt) else ()
            case For(start=start, stop=stop):
                if not (isinstance(start, Const) and isinstance(stop, Const)):
                    yield from (start, stop, *under)
            case ParallelFor():
                yield from operands(stmt)
            case While():
                yield from (*stmt.cond.results, *under)
            case _:
                pass
        inner = (*under, stmt.cond) if isinstance(stmt, If) else under
        for region in regions(stmt):
            yield from _last_places(region, inner, looks_for)


@dataclass
class _Chooser:
    math: Polynomials
    decisive: set[Source]
    serial: bool
    reorders: bool
    long: Ends
    brief: Ends

    def __post_init__(self) -> None:
        self.found: dict[Var, str] = {}
        self.calls: list[LibraryCall] = []

    def stmts(self, stmts: Iterable[Stmt]) -> Iterator[Stmt]:
        for stmt in stmts:
            if isinstance(stmt, (For, ParallelFor)) and is_innermost(stmt):
                yield from self.loop(stmt)
            else:
                yield with_blocks(stmt, lambda b: replace(b, stmts=tuple(self.stmts(b.stmts))))

    def loop(self, loop: For | ParallelFor) -> list[Stmt]:
        """Return the statements in place of a loop."""
        lets = [s for s in walk(loop.body) if isinstance(s, Let) and s.op in CALLS]
        if not lets or (isinstance(loop, For) and literal_length(loop.start, loop.stop) < _FEWEST):
            return [loop]
        is_long = False
        if isinstance(loop, For):
            if ends_of(loop) in self.brief:
                return [loop]
            is_long = ends_of(loop) in self.long
        against = list(self.against(loop, lets))
        if against:
            self.calls += against
            return [loop]
        loop = replace(loop, body=_of_components(loop.body))
        made = {s.out: s for s in walk(loop.body) if isinstance(s, Let) and s.op in CALLS}
        limits = self.math.limits
        is_one = isinstance(loop, ParallelFor) and len(loop.indices) == 1
        simple = (
            is_long
            or is_one
            or (isinstance(loop, For) and literal_length(loop.start, loop.stop) < inf)
        )
        if simple and not any(let.op in limits for let in made.values()):
            self.found |= {out: let.op for out, let in made.items()}
            return [loop]
        tested = with_test(loop, limits, made, is_long=is_long)
        if isinstance(tested, str):
            limited = [let for let in lets if let.op in limits]
            self.calls += [LibraryCall(let, tested, let.span) for let in limited]
            return [loop]
        stmts, clones = tested
        self.found |= {clone: made[out].op for clone, out in clones.items()}
        return stmts

    def against(self, loop: For | ParallelFor, lets: list[Let]) -> Iterator[LibraryCall]:
        """Yield why functions of a loop are not polynomials."""
        found = obstacle(loop, serial=self.serial, reorders=self.reorders)
        if found is not None:
            for let in lets:
                yield LibraryCall(let, f"the loop {found.why}", found.span or let.span)
            return
        lone = [LibraryCall(let, why, let.span) for let in lets if (why := self._alone(let))]
        yield from lone
        if lone:
            known = {id(call.let) for call in lone}
            for let in lets:
                if id(let) not in known:
                    why = f"the loop calls '{lone[0].let.op}'"
                    yield LibraryCall(let, why, lone[0].span)

    def _alone(self, let: Let) -> str:
        """Return why a function is not a polynomial wherever it stands, or an empty text."""
        if let.op not in self.math.ops:
            return "it has no polynomial"
        if is_long(let.out.type):
            return "its vectors are long"
        if let.out in self.decisive:
            return "its last place matters to a comparison or to the number of iterations"
        return ""


def _of_components(block: Block) -> Block:
    """Return the block with functions of vectors and matrices applied to their components."""
    b = OpBuilder()
    for stmt in block.stmts:
        if not (isinstance(stmt, Let) and stmt.op in CALLS and shape_of(stmt.out.type)):
            b.append(with_blocks(stmt, _of_components))
            continue
        b.span = stmt.span
        scalar, parts = scalar_of(stmt.out.type), list[Value]()
        for k in range(prod(shape_of(stmt.out.type))):
            args = (component(b, arg, k) if shape_of(arg.type) else arg for arg in stmt.args)
            parts.append(b.let(stmt.op, tuple(args), scalar))
        whole = "vec" if isinstance(stmt.out.type, Vector) else "mat"
        b.append(Let(stmt.out, whole, tuple(parts), stmt.span))
    return Block(tuple(b.stmts), block.results)
