"""Loops cut where the neighbours of their elements leave a field: index set splitting.

In `x[(i + 1) % n]`, `x[max(i - 1, 0)]` and `x[min(i + 1, n - 1)]`, the remainder and the limits
matter to the first and last iterations of a loop only. The ones between them are a loop of their
own, in which such an index is a sum: no division for each element, and elements side by side in
memory, which is what vector instructions need (Griebl, Feautrier & Lengauer, "Index set splitting",
2000).

The innermost loop is cut, along the last axis where it is parallel. The parts run in order.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Mapping, MutableMapping
from dataclasses import field, replace

from difftile.ir.build import Builder
from difftile.ir.facts import defined_in
from difftile.ir.nodes import (
    Block,
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
)
from difftile.ir.rewrite import Rewriter
from difftile.ir.types import BOOL, I32
from difftile.ir.walk import (
    WRITES,
    Cloner,
    is_innermost,
    literal_length,
    operands,
    walk,
    with_operands,
    with_some,
)
from difftile.ops.build import Expr, OpBuilder
from difftile.passes.affine import Affine, affine, definitions_of
from difftile.passes.fold import Folding
from difftile.records import dataclass

BLOCK = 1024
"""Iterations along the last axis of a parallel loop that one iteration of the new loop runs."""

_FEWEST = 32  # iterations, where they are a literal
_WIDEST = 64  # iterations of a part at an end, where their number is known


def split_index_sets(program: Program, loops: Collection[int] | None = None) -> Program:
    """Return the program in which such loops have three parts.

    Args:
        program: A finished program.
        loops: The numbers of the parallel loops in which they have; all by default. Those outside
            of parallel loops have, in any case.
    """
    defs = definitions_of(program.body)
    return with_some(program, loops, lambda stmt: _Split(defs).replaced(stmt))


class _Split(Rewriter[Builder]):
    def __init__(self, defs: dict[Var, Stmt]) -> None:
        super().__init__(Builder())
        self.defs = defs

    def rule(self, stmt: Stmt) -> None:
        if isinstance(stmt, (For, ParallelFor)) and is_innermost(stmt):
            self.b.extend(self.parts(stmt))
        else:
            self.keep(stmt)

    def parts(self, stmt: For | ParallelFor) -> list[Stmt]:
        loop = stmt if isinstance(stmt, For) else last_axis(stmt)
        cut = _Cut(loop, ChainMap({}, self.defs))
        if literal_length(loop.start, loop.stop) < _FEWEST or not cut.found():
            return [stmt]
        if not (cut.lows or cut.highs):
            return [replace(stmt, body=_Inside(cut.simpler).block(stmt.body))]
        return (
            _parts(stmt, cut)
            if isinstance(stmt, For)
            else in_rows(stmt, lambda row: _parts(row, cut))
        )


def last_axis(loop: ParallelFor) -> For:
    """Return the loop along the last axis of a parallel loop."""
    index, start, stop = loop.indices[-1], loop.starts[-1], loop.stops[-1]
    return For(index, start, stop, (), (), loop.body, (), loop.span)


def in_rows(loop: ParallelFor, change: Callable[[For], list[Stmt]]) -> list[Stmt]:
    """Return a parallel loop whose iterations run others along its last axis, or blocks of them.

    Args:
        loop: The loop.
        change: Returns the statements in place of the loop along the last axis.
    """
    if len(loop.indices) == 1:
        return in_blocks(loop, change)
    outer = loop.indices[:-1], loop.starts[:-1], loop.stops[:-1]
    return [ParallelFor(*outer, Block(tuple(change(last_axis(loop)))), loop.span)]


def in_blocks(loop: ParallelFor, change: Callable[[For], list[Stmt]]) -> list[Stmt]:
    """Return a parallel loop whose iterations run blocks of a loop along its last axis.

    Args:
        loop: The loop.
        change: Returns the statements in place of the loop along the last axis.
    """
    row = last_axis(loop)
    b = OpBuilder()
    b.span = loop.span
    block, start = Var("block", I32), b.expr(row.start)
    count = (b.expr(row.stop) - start).ceildiv(BLOCK).named("blocks").value
    with b.region() as stmts:
        # The maximum tells LLVM that an index less a literal does not overflow.
        low = (b.expr(block) * BLOCK + start).max(start).named("low")
        high = (low + BLOCK).min(row.stop).named("high")
        b.extend(change(replace(row, start=low.value, stop=high.value)))
    indices, starts = (*loop.indices[:-1], block), (*loop.starts[:-1], Const(0, I32))
    stops = (*loop.stops[:-1], count)
    b.append(ParallelFor(indices, starts, stops, Block(tuple(stmts)), loop.span))
    return b.stmts


@dataclass
class _Cut:
    """Iterations of a loop for which some of its ops are simpler.

    Args:
        loop: The loop.
        defs: Ops by result, with the simpler ones.
        lows: The iterations are not before any of these, ...
        highs: ... and before each of these.
        simpler: The replacement of an op, by its result.
    """

    loop: For
    defs: MutableMapping[Var, Stmt]
    lows: list[Affine[Var]] = field(default_factory=list[Affine[Var]])
    highs: list[Affine[Var]] = field(default_factory=list[Affine[Var]])
    simpler: dict[Var, Let | Value] = field(default_factory=dict[Var, "Let | Value"])

    def __post_init__(self) -> None:
        self.own = {self.loop.index, *self.loop.carries, *defined_in(self.loop.body)}
        self.ends = affine(self.loop.start, self.defs), affine(self.loop.stop, self.defs)

    def found(self) -> bool:
        """Find the ops on indices that are simpler, and comparisons; tell whether there are any."""
        addresses = _addresses(self.loop.body)
        lets = [s for s in walk(self.loop.body) if isinstance(s, Let) and _is_of_indices(s)]
        for let in lets:
            if let.out in addresses:
                if let.op == "mod":
                    self.remainder(let)
                elif let.op in ("min", "max"):
                    self.limit(let)
        for let in lets if self.simpler else ():
            if let.op in _SIDES:
                self.comparison(let)
        return bool(self.simpler)

    def position(self, form: Affine[Var]) -> tuple[int, Affine[Var]] | None:
        """Return the factor of the index, 1 or -1, and the rest, which no iteration changes."""
        factor, rest = form.split(self.loop.index)
        if abs(factor) != 1 or not self.is_fixed(rest):
            return None
        return factor, rest

    def is_fixed(self, form: Affine[Var]) -> bool:
        return not any(variable in self.own for variable in form.factors)

    def from_(self, low: Affine[Var]) -> bool:
        """Leave iterations before one to other parts; tell whether those are few."""
        first = low - self.ends[0]
        if first.factors:
            self.lows.append(low)
            return True
        if first.constant > _WIDEST:
            return False
        if first.constant > 0:
            self.lows.append(low)
        return True

    def before(self, high: Affine[Var]) -> bool:
        """Leave iterations from one on to other parts; tell whether those are few."""
        rest = self.ends[1] - high
        if rest.factors:
            if not high.factors:
                return False
            self.highs.append(high)
            return True
        if rest.constant > _WIDEST:
            return False
        if rest.constant > 0:
            self.highs.append(high)
        return True

    def between(self, low: Affine[Var], high: Affine[Var]) -> bool:
        """Do the same at both ends."""
        lows, highs = list(self.lows), list(self.highs)
        if self.from_(low) and self.before(high):
            return True
        self.lows, self.highs = lows, highs
        return False

    def replace(self, let: Let, value: Let | Value) -> None:
        self.simpler[let.out] = value
        if not isinstance(value, Let):
            value = Let(let.out, "add", (value, Const(0, value.type)))
        self.defs[let.out] = value

    def remainder(self, let: Let) -> None:
        """Note `(i + c) % n`, which is `i + c` or differs from it by n for 0 <= i + c < n."""
        argument, size = let.args
        form, extent = affine(argument, self.defs), affine(size, self.defs)
        if not self.is_fixed(extent):
            return
        # An index that runs backwards starts near the extent.
        times = _times(form, extent) - (form.factor(self.loop.index) < 0)
        form = form.plus(extent, -times)
        found = self.position(form)
        if found is None or abs(times) > 1:
            return
        factor, rest = found
        if form == Affine({self.loop.index: 1}) and (extent - self.ends[1]).factors:
            return  # a position in a field of several axes, whose first row is short
        if factor > 0:
            inside = self.between(-rest, extent - rest)
        else:
            inside = self.between(rest + 1 - extent, rest + 1)
        if inside:
            op = ("add", "", "sub")[times + 1]
            same = Let(let.out, op, (argument, size), let.span) if times else argument
            self.replace(let, self.short(let, factor, rest) or same)

    def limit(self, let: Let) -> None:
        """Note `max(i - c, low)` and `min(i + c, high)`, which are sums on one side of an i."""
        for argument, end in (let.args, let.args[::-1]):
            form, limit = affine(argument, self.defs), affine(end, self.defs)
            found = self.position(form)
            if found is None or not self.is_fixed(limit):
                continue
            factor, rest = found
            at = (limit - rest) * factor
            upwards = (let.op == "max") == (factor > 0)
            inside = self.from_(at) if upwards else self.before(at + 1)
            if inside:
                self.replace(let, self.short(let, factor, rest) or argument)
            return

    def short(self, let: Let, factor: int, rest: Affine[Var]) -> Let | Value | None:
        """Return the index plus a literal, if a form is that."""
        if rest.factors or factor < 0:
            return None
        if not rest.constant:
            return self.loop.index
        return Let(let.out, "add", (self.loop.index, Const(rest.constant, I32)), let.span)

    def comparison(self, let: Let) -> None:
        """Note a comparison that is the same for all iterations but some at an end."""
        left, right = (affine(arg, self.defs) for arg in let.args)
        found = self.position(left - right)
        if found is None:
            return
        factor, rest = found
        op = let.op if factor > 0 else _REVERSED[let.op]
        at = rest * -factor  # the index for which both sides are equal
        below, above = _SIDES[op]
        first = at + 1 if op in ("le", "gt", "eq", "ne") else at
        last = at + 1 if op in ("le", "gt") else at
        lows, highs = (self.ends[0], *self.lows), (self.ends[1], *self.highs)
        if any(_is_near(end, first) for end in lows) and self.from_(first):
            self.replace(let, Const(above, BOOL))
        elif any(_is_near(end, last) for end in highs) and self.before(last):
            self.replace(let, Const(below, BOOL))


# The values of comparisons with an index for lower and for higher indices.
_SIDES = {
    "lt": (True, False),
    "le": (True, False),
    "gt": (False, True),
    "ge": (False, True),
    "eq": (False, False),
    "ne": (True, True),
}
_REVERSED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def _is_near(a: Affine[Var], b: Affine[Var]) -> bool:
    apart = a - b
    return not apart.factors and abs(apart.constant) <= _WIDEST


def _times(form: Affine[Var], extent: Affine[Var]) -> int:
    """Return how often an extent is part of a form."""
    for variable, factor in extent.factors.items():
        return form.factor(variable) // factor
    return round(form.constant / extent.constant) if extent.constant else 0


def _is_of_indices(let: Let) -> bool:
    return len(let.args) == 2 and all(arg.type == I32 for arg in let.args)


def _addresses(body: Block) -> set[Value]:
    """Return the values that indices of memory are computed from."""
    found: set[Value] = set()
    for stmt in reversed(list(walk(body))):
        if isinstance(stmt, (Load, *WRITES)):
            found.update(stmt.index)
        elif isinstance(stmt, Let) and stmt.out in found:
            found.update(stmt.args)
    return found


def _parts(loop: For, cut: _Cut) -> list[Stmt]:
    """Return the parts of a loop, or of a block of it."""
    b = OpBuilder()
    b.span = loop.span
    low, high = b.expr(loop.start), b.expr(loop.stop)
    for form in dict.fromkeys(cut.lows):
        low = low.max(_computed(b, form))
    for form in dict.fromkeys(cut.highs):
        high = high.min(_computed(b, form))
    first, last = low.value, loop.stop
    parts: list[tuple[For, Value, Value]] = []
    if cut.lows:
        low = low.min(loop.stop).named("inside")
        parts.append((loop, loop.start, low.value))
    if cut.highs:
        last = low.max(high).named("outside").value
    # From `first` and not `inside`, which is as good: LLVM knows that it is not below a literal.
    parts.append((replace(loop, body=_Inside(cut.simpler).block(loop.body)), first, last))
    if cut.highs:
        parts.append((loop, last, loop.stop))
    inits = loop.inits
    for k, (part, start, stop) in enumerate(parts):
        one: Stmt = replace(part, start=start, stop=stop, inits=inits)
        if k < len(parts) - 1:
            one = Cloner().stmt(one)
        assert isinstance(one, For)
        b.append(one)
        inits = one.outs
    return b.stmts


def _computed(b: OpBuilder, form: Affine[Var]) -> Expr:
    """Append the value of a form."""
    total: Expr | None = None
    for variable, factor in sorted(form.factors.items(), key=lambda term: (-term[1], term[0].name)):
        term = b.expr(variable) * abs(factor)
        if total is None:
            total = term if factor > 0 else -term
        else:
            total = total + term if factor > 0 else total - term
    if total is None:
        return b.expr(Const(form.constant, I32))
    return total + form.constant if form.constant >= 0 else total - -form.constant


class _Inside(Folding):
    """A block with simpler ops, and without the branches that are not taken.

    Args:
        simpler: The replacement of an op, by its result.
    """

    def __init__(self, simpler: Mapping[Var, Let | Value]) -> None:
        super().__init__(OpBuilder())
        self.simpler = simpler
        self.decided = False

    def stmt(self, stmt: Stmt) -> None:
        values = (v for v in operands(stmt) if isinstance(v, Var))
        self.decided = any(isinstance(self.env(v), Const) for v in values)
        super().stmt(stmt)

    def rule(self, stmt: Stmt) -> None:
        match stmt:
            case Let(out) if out in self.simpler:
                value = self.simpler[out]
                if isinstance(value, Let):
                    self.b.append(with_operands(value, self.env))
                else:
                    self.env[out] = self.env(value)
            case Let() if not self.decided:
                self.keep(stmt)
            case If(Const()) | Let():
                super().rule(stmt)
            case _:
                self.keep(stmt)
