"""Which loops LLVM turns into vector instructions, and the obstacles in the others.

LLVM looks at innermost loops. Iterations may depend on each other by sums, products and counts;
an element that one stores must not be used by others; in loops with stores, all elements touched
must lie at fixed distances in memory; and the functions that they compute must not be calls.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain
from math import prod

from difftile.diagnostics import Span
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Block,
    Combine,
    Const,
    For,
    If,
    Let,
    Load,
    Memory,
    ParallelFor,
    Program,
    Stmt,
    Store,
    Value,
    Var,
    While,
    Write,
)
from difftile.ir.types import FLOATS, scalar_of, shape_of
from difftile.ir.walk import (
    WRITES,
    definitions,
    is_innermost,
    literal_length,
    operands,
    regions,
    walk,
)
from difftile.ops.table import ELEMENTWISE
from difftile.passes.affine import affine
from difftile.passes.split_index_sets import last_axis
from difftile.passes.unroll_loops import CALLS, LARGEST, weight
from difftile.records import dataclass
from difftile.schedule.long_values import INTO, is_long

_KINDS = {
    **{"add": "sum", "sub": "sum", "mul": "product", "max": "max", "min": "min"},
    **{"bit_and": "bit_and", "bit_or": "bit_or", "bit_xor": "bit_xor"},
}
# Functions with loops inside, which the emitted source calls.
_WITH_LOOPS = frozenset(
    (
        *("ipow", "determinant", "cofactors", "inverse", "solve", "solve_lower", "solve_upper"),
        *("cholesky", "svd", "sym_eig", "polar", "zeta", "polygamma"),
    )
)

# Rows of matrices up to which they are formulas instead.
_LARGEST_WRITTEN_OUT = {"determinant": 4, "cofactors": 4, "inverse": 3, "polar": 2}

# LLVM tests ahead of a loop that so many indices of 32 bits do not overflow.
_MOST_TESTS = 16


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a loop is not vector instructions.

    Args:
        clause: A clause whose subject is the loop, with a place for a name.
        hint: A replacement, where there is one.
    """

    clause: str
    hint: str = ""


REASONS = {
    "order": Reason(
        "has values that each iteration computes from the one before",
        "only sums, products and counts can be passed on in vectors",
    ),
    "rounding": Reason(
        "carries a float from one iteration to the next",
        "with fast math, sums are added up in another order",
    ),
    "extreme": Reason(
        "finds a largest or smallest float",
        "of integers it would be vectors, as of the floats' bits if none is negative",
    ),
    "atomic": Reason(
        "changes '{}' by atomics", "let each iteration write into elements of its own"
    ),
    "reads": Reason(
        "reads '{}' at computed places", "read them in another loop than the one that stores"
    ),
    "writes": Reason("writes '{}' at computed places", "let iteration i write element i"),
    "rows": Reason(
        "goes along an axis of '{}' that is not the last",
        "let the innermost loop run over the last index",
    ),
    "one": Reason("writes one element of '{}' again and again", "use a local, stored at the end"),
    "others": Reason("writes elements of '{}' and uses others", "write into another field"),
    "local": Reason(
        "indexes the local array '{}'", "index it by literals, or in a loop over 'ti.static'"
    ),
    "components": Reason(
        "finds components of a vector by computed indices", "index it by literals"
    ),
    "long": Reason("computes with long vectors"),
    "loop": Reason("computes '{}' by a loop"),
    "call": Reason("calls '{}'", "compute it in a loop of its own"),
    "few": Reason("has few iterations, which are written out"),
    "count": Reason("ends on a condition", "use 'range' with a number of iterations known ahead"),
    "many": Reason("uses too many different elements", "divide it into several loops"),
}
"""Why loops are not vector instructions, by kind."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """An obstacle that keeps a loop from vector instructions.

    Args:
        kind: A key of `REASONS`.
        name: The array or the op that it is about.
        span: The place, where one statement is the reason.
    """

    kind: str
    name: str = ""
    span: Span | None = None

    @property
    def why(self) -> str:
        """A clause whose subject is the loop."""
        return REASONS[self.kind].clause.format(self.name)


@dataclass(frozen=True, slots=True)
class LoopCode:
    """The form that an innermost loop is compiled to.

    Args:
        loop: The loop.
        obstacle: Why it is not vector instructions; None if it is.
    """

    loop: For | While | ParallelFor
    obstacle: Obstacle | None


def loop_codes(
    program: Program, polynomials: Container[Var], *, serial: bool, reorders: bool
) -> list[list[LoopCode]]:
    """Return the forms that the innermost loops of a program are compiled to, in order.

    Loops that passes have made of one loop are grouped: a loop that looks at the arguments of
    functions and the copies that it chooses from, or parts that follow on each other.

    Args:
        program: A program as it is emitted.
        polynomials: The results of functions that are not calls.
        serial: One thread runs the program, without atomics.
        reorders: Sums of floats may be computed in another order.
    """
    found: list[list[LoopCode]] = []
    lets = {s.out: s for s in walk(program.body) if isinstance(s, Let)}

    def code(loop: For | While | ParallelFor) -> LoopCode:
        if isinstance(loop, While):
            return LoopCode(loop, Obstacle("count", span=loop.span))
        against = obstacle(loop, serial=serial, reorders=reorders)
        return LoopCode(loop, _few(loop) or against or _call(loop, polynomials))

    def follows(one: Stmt, other: Stmt) -> bool:
        """Tell whether one loop ends where the other one starts, or at an earlier end of both."""
        if not (isinstance(one, For) and isinstance(other, For)) or one.span != other.span:
            return False
        let = lets.get(one.stop) if isinstance(one.stop, Var) else None
        return one.stop is other.start or (let is not None and other.start in let.args)

    def visit(block: Block) -> None:
        before: Stmt | None = None
        for stmt in block.stmts:
            if isinstance(stmt, (For, While, ParallelFor)) and is_innermost(stmt):
                if before is not None and follows(before, stmt):
                    found[-1].append(code(stmt))
                else:
                    found.append([code(stmt)])
                before = stmt
            elif (
                (copies := _copies(stmt))
                and before is not None
                and copies[0].span == getattr(before, "span", None)
            ):
                found[-1] += map(code, copies)
            else:
                for region in regions(stmt):
                    visit(region)

    visit(program.body)
    return found


def _copies(stmt: Stmt) -> list[For]:
    """Return copies of a loop that a statement chooses from; none if it does something else."""
    if not isinstance(stmt, If):
        return []
    stmts = (*stmt.then.stmts, *stmt.orelse.stmts)
    copies = [one for one in stmts if isinstance(one, For) and is_innermost(one)]
    return copies if len(copies) == len(stmts) else []


def obstacle(loop: For | ParallelFor, *, serial: bool, reorders: bool) -> Obstacle | None:
    """Return the obstacle to vector instructions in an innermost loop, except calls, or None.

    Args:
        loop: The loop; of a parallel one, iterations along its last axis.
        serial: One thread runs the program, without atomics.
        reorders: Sums of floats may be computed in another order.
    """
    row = loop if isinstance(loop, For) else last_axis(loop)
    memory = _Memory(row, serial)
    return next(
        chain(
            _of_ops(row),
            _carried(row, reorders),
            memory.atomics(),
            memory.places(),
            memory.overlaps(),
            memory.tests(),
        ),
        None,
    )


def _few(loop: For | ParallelFor) -> Obstacle | None:
    row = loop if isinstance(loop, For) else last_axis(loop)
    size = literal_length(row.start, row.stop) * sum(map(weight, walk(loop.body)))
    return Obstacle("few", span=loop.span) if size <= LARGEST else None


# Ops


def _call(loop: For | ParallelFor, polynomials: Container[Var]) -> Obstacle | None:
    row = loop if isinstance(loop, For) else last_axis(loop)
    varying = _varying(row, anew=False)
    for stmt in walk(loop.body):
        if not isinstance(stmt, Let) or stmt.op not in CALLS or stmt.out in polynomials:
            continue
        if stmt.out in varying:
            return Obstacle("call", stmt.op, stmt.span)
    return None


def _of_ops(loop: For) -> Iterator[Obstacle]:
    for stmt in walk(loop.body):
        match stmt:
            case Let(_, op, args) if op in _WITH_LOOPS and not _is_written_out(op, args):
                yield Obstacle("loop", op, stmt.span)
            case Let(_, "extract" | "insert" as op, args):
                places = args[1:] if op == "extract" else args[1:-1]
                if not all(isinstance(place, Const) for place in places):
                    yield Obstacle("components", span=stmt.span)
            case Let(out, op) if is_long(out.type) and (op in ELEMENTWISE or op in INTO):
                yield Obstacle("long", span=stmt.span)
            case Load(out) if is_long(out.type):
                yield Obstacle("long", span=stmt.span)
            case Store(value=value) | Accumulate(value=value) if is_long(value.type):
                yield Obstacle("long", span=stmt.span)
            case _:
                pass


def _is_written_out(op: str, args: Sequence[Value]) -> bool:
    """Tell whether such a function of a matrix is a formula of its components."""
    rows = max(shape_of(args[0].type), default=0)
    return rows <= _LARGEST_WRITTEN_OUT.get(op, 0)


# Values carried from one iteration to the next


def _carried(loop: For, reorders: bool) -> Iterator[Obstacle]:
    for carry, result in zip(loop.carries, loop.body.results, strict=True):
        if result is carry:
            continue
        kind = _reduction(loop.body, carry, result)
        if kind is None:
            yield Obstacle("order", carry.name, loop.span)
        elif scalar_of(carry.type) in FLOATS and kind in ("max", "min"):
            yield Obstacle("extreme", carry.name, loop.span)
        elif scalar_of(carry.type) in FLOATS and kind != "last" and not reorders:
            yield Obstacle("rounding", carry.name, loop.span)


def _reduction(body: Block, carry: Var, result: Value) -> str | None:
    """Return how a carried value changes: by which op, if that is one; 'last' for any other value.

    The value must have no other use.
    """
    partial: set[Value] = {carry}
    kinds: set[str] = set()
    if not _only_combines(body, partial, kinds):
        return None
    if result not in partial:
        return "last" if len(partial) == 1 else None
    if sum(one in partial for one in body.results) > 1:
        return None
    kind = kinds.pop() if len(kinds) == 1 else None
    # LLVM knows sums and products under conditions.
    plain = any(isinstance(s, Let) and s.out is result and s.op == kind for s in body.stmts)
    return None if kind in ("max", "min") and not plain else kind


def _only_combines(block: Block, partial: set[Value], kinds: set[str]) -> bool:
    """Note the values that follow from partial results, and the ops; False on any other use."""
    for stmt in block.stmts:
        read = not partial.isdisjoint(operands(stmt))
        match stmt:
            case Let(out, "select", args) if read:
                if args[0] in partial:
                    return False
                partial.add(out)
            case Let(out, op, args) if read:
                if op not in _KINDS or sum(arg in partial for arg in args) > 1:
                    return False
                if op == "sub" and args[1] in partial:
                    return False
                kinds.add(_KINDS[op])
                partial.add(out)
            case If(then=then, orelse=orelse, outs=outs) if not read:
                if not all(_only_combines(region, partial, kinds) for region in (then, orelse)):
                    return False
                for out, *results in zip(outs, then.results, orelse.results, strict=True):
                    if not partial.isdisjoint(results):
                        if not partial.issuperset(results):
                            return False
                        partial.add(out)
            case _ if read:
                return False
            case _:
                pass
    return True


# Memory


def _varying(loop: For, *, anew: bool) -> set[Value]:
    """Return the values that iterations compute, and the values that follow from a load.

    Args:
        loop: The loop.
        anew: It stores something, so that LLVM has it load each time.
    """
    found: set[Value] = {loop.index, *loop.carries}
    for stmt in walk(loop.body):
        inside = (result for region in regions(stmt) for result in region.results)
        reads = anew and isinstance(stmt, Load)
        if reads or any(v in found for v in (*operands(stmt), *inside)):
            found.update(definitions(stmt))
    return found


class _Memory:
    """The loads and stores of an innermost loop.

    Args:
        loop: The loop.
        serial: One thread runs the program, without atomics.
    """

    def __init__(self, loop: For, serial: bool) -> None:
        stmts = list(walk(loop.body))
        self.index, self.serial = loop.index, serial
        self.defs: Mapping[Var, Stmt] = {v: s for s in stmts for v in definitions(s)}
        self.accesses: list[Memory] = [s for s in stmts if isinstance(s, (Load, *WRITES))]
        self.stores = any(isinstance(s, WRITES) and s.array.size is None for s in self.accesses)
        self.filled = {s.array for s in self.accesses if isinstance(s, WRITES)}
        self.own = {s.array for s in stmts if isinstance(s, Alloc)}
        self.varying = _varying(loop, anew=self.stores)

    def atomics(self) -> Iterator[Obstacle]:
        for stmt in self.accesses:
            add = isinstance(stmt, Accumulate) and stmt.atomic
            if not self.serial and (add or isinstance(stmt, Combine)):
                yield Obstacle("atomic", stmt.array.name, stmt.span)

    def places(self) -> Iterator[Obstacle]:
        """Yield the obstacles to fixed distances between elements."""
        for stmt in self.accesses:
            array, degrees = stmt.array, [self.degree(i) for i in stmt.index]
            if array.size is not None:
                most = 0 if array in self.own else 1
                if array in self.filled and max(degrees, default=0) > most:
                    yield Obstacle("local", array.name, stmt.span)
            elif max(degrees, default=0) > 1 and self.stores:
                kind = "reads" if isinstance(stmt, Load) else "writes"
                yield Obstacle(kind, array.name, stmt.span)
        for stmt in self.accesses:
            if any(self.degree(i) == 1 for i in stmt.index[: stmt.array.type.ndim - 1]):
                yield Obstacle("rows", stmt.array.name, stmt.span)

    def degree(self, value: Value) -> int:
        """Return 0 for constant integers, 1 for integers that grow in steps, and 2 for others."""
        if isinstance(value, Const) or value not in self.varying:
            return 0
        if value is self.index:
            return 1
        match self.defs.get(value):
            case Let(_, "add" | "sub" | "neg" | "cast", args):
                return max(map(self.degree, args))
            case Let(_, "mul", args):
                return sum(map(self.degree, args))
            case _:
                return 2

    def overlaps(self) -> Iterator[Obstacle]:
        """Yield the elements that one iteration writes and another one uses."""
        for k, write in enumerate(self.accesses):
            if not isinstance(write, WRITES) or write.array in self.own:
                continue
            name = write.array.name
            if all(self.degree(i) == 0 for i in write.index):
                yield Obstacle("one", name, write.span)
            for j, other in enumerate(self.accesses):
                if other.array is write.array and not self.is_apart(write, other, ahead=j < k):
                    yield Obstacle("others", name, write.span)

    def is_apart(self, write: Write, other: Memory, *, ahead: bool) -> bool:
        """Tell whether no iteration needs an element of an array that another one has written.

        Args:
            write: Writes to the array.
            other: Another access of it.
            ahead: The other one comes before it in an iteration.
        """
        ndim = write.array.type.ndim
        pairs = zip(write.index[:ndim], other.index[:ndim], strict=True)
        forms = [(affine(a, self.defs), affine(b, self.defs)) for a, b in pairs]
        gaps = [theirs - own for own, theirs in forms]
        if not any(gap.factors or gap.constant for gap in gaps):
            return True
        if any(gap.factor(self.index) for gap in gaps):
            return False
        if any(gap.factors for gap in gaps) or any(gap.constant for gap in gaps[:-1]):
            return True  # LLVM tests how far apart they are
        factor, gap = forms[-1][0].factor(self.index), gaps[-1].constant
        if factor == 0 or gap % factor:
            return True
        # Vectors are loaded before later iterations store. Loading elements that
        # earlier ones have just stored is slower than no vectors.
        return gap * factor > 0 if ahead else gap * factor < 0 and isinstance(other, Store)

    def tests(self) -> Iterator[Obstacle]:
        """Yield that there are too many places of which LLVM tests how far apart they are."""
        tests: dict[object, int] = {}
        for stmt in self.accesses:
            array, ndim = stmt.array, stmt.array.type.ndim
            shape = shape_of(array.type.element)
            size = prod(shape)
            if array.size is not None or size == 1 or all(self.degree(i) == 0 for i in stmt.index):
                continue
            # Rows of matrices are found by a product of their own; shifts do not overflow.
            shifts = ndim == 1 and size % 2 == 0
            each = (1 if shifts else 4) if len(shape) == 2 else (0 if shifts else 2)
            forms = tuple(affine(i, self.defs) for i in stmt.index)
            components = range(size) if len(forms) == ndim else (-1,)
            tests |= {(array, forms, k): each for k in components}
        if sum(tests.values()) > 2 * _MOST_TESTS:
            yield Obstacle("many")
