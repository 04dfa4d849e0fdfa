"""Positions of the values that loads find, one after the other, in the thread that runs them.

The position is known from the indices of the loops around the load where their bounds do not vary
inside the outermost of them; otherwise it is a number that the loops carry on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

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
    Size,
    Stmt,
    Value,
    Var,
    While,
)
from difftile.ir.types import I32
from difftile.ir.walk import add_carries, regions, walk
from difftile.ops.build import OpBuilder
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Positions:
    """Where the values are that the loads of one block find in a task.

    Args:
        place: The index of a value: its position, after the number of the parallel iteration if
            there is one.
        total: How many values each load finds in an iteration of the task.
        rows: The number of parallel iterations; None for a serial task.
    """

    place: tuple[Value, ...]
    total: Value
    rows: Value | None


class NoPosition(Exception):
    """A load in a region that does not run in the order of the text.

    Attributes:
        load: The result of the load.
    """

    def __init__(self, load: Var) -> None:
        super().__init__(load)
        self.load = load


def with_positions(program: Program, loads: Iterable[Load]) -> tuple[Program, dict[Var, Positions]]:
    """Return the program with the positions of the values that some loads find, by their results.

    Raises:
        NoPosition: A rule or a derivative reads such a value.
    """
    wanted = {load.out for load in loads}
    found: dict[Var, Positions] = {}
    for out, *others in list(_blocks(program.body, wanted)):
        program, positions = _numbered(program, out)
        found |= dict.fromkeys((out, *others), positions)
    return program, found


def _blocks(block: Block, wanted: Set[Var]) -> Iterator[list[Var]]:
    """Yield the wanted loads of each block that has some."""
    here = [s.out for s in block.stmts if isinstance(s, Load) and s.out in wanted]
    if here:
        yield here
    for stmt in block.stmts:
        for region in regions(stmt):
            yield from _blocks(region, wanted)


def _numbered(program: Program, load: Var) -> tuple[Program, Positions]:
    counting = _Counting(load, {s.out: s for s in walk(program.body) if isinstance(s, (Let, Size))})
    stmts: list[Stmt] = []
    rows: Value | None = None
    row: tuple[Value, ...] = ()
    total: Value = Const(0, I32)
    for stmt in program.body.stmts:
        if not _contains(stmt, load):
            stmts.append(stmt)
            continue
        b = counting.b
        if isinstance(stmt, ParallelFor):
            with b.region() as before:
                extents = [
                    (b.expr(stop) - start).max(0)
                    for start, stop in zip(stmt.starts, stmt.stops, strict=True)
                ]
                count = b.expr(Const(1, I32))
                for extent in extents:
                    count = count * extent
                rows = count.named("rows").value
            with b.region() as inside:
                number = b.expr(Const(0, I32))
                for index, start, extent in zip(stmt.indices, stmt.starts, extents, strict=True):
                    number = number * extent + (b.expr(index) - start)
                row = (number.named("row").value,)
            body, total = counting.block(stmt.body, Const(0, I32))
            whole = Block((*inside, *body.stmts), body.results)
            stmts += [*before, replace(stmt, body=whole)]
        else:
            with b.region() as found:
                total = counting.stmt(stmt, Const(0, I32))
            stmts += found
    assert counting.place is not None
    made = replace(program, body=replace(program.body, stmts=tuple(stmts)))
    return made, Positions((*row, counting.place), total, rows)


def _contains(stmt: Stmt, load: Var) -> bool:
    return any(isinstance(one, Load) and one.out is load for one in walk(Block((stmt,))))


class _Counting:
    """Adds the position of one load to the statements around it.

    Attributes:
        place: The position, once the load was reached.
        b: Where statements are appended.
    """

    def __init__(self, load: Var, origin: dict[Var, Let | Size]) -> None:
        self.load = load
        self.origin = origin
        self.place: Value | None = None
        self.b = OpBuilder()

    def block(self, block: Block, base: Value) -> tuple[Block, Value]:
        """Return a block that contains the load, and how many values it finds there.

        Args:
            block: The block.
            base: How many values were found before it runs.
        """
        total: Value = Const(0, I32)
        with self.b.region() as stmts:
            for stmt in block.stmts:
                if _contains(stmt, self.load):
                    total = self.stmt(stmt, base)
                else:
                    self.b.append(stmt)
        return Block(tuple(stmts), block.results), total

    def stmt(self, stmt: Stmt, base: Value) -> Value:
        """Append a statement that contains the load; return how many values it finds there."""
        self.b.span = stmt.span
        match stmt:
            case Load():
                self.place = base
                self.b.append(stmt)
                return Const(1, I32)
            case If():
                return self._branch(stmt, base)
            case For():
                each = self._each(stmt)
                return self._carried(stmt, base) if each is None else self._known(stmt, each, base)
            case While():
                return self._carried(stmt, base)
            case _:
                raise NoPosition(self.load)

    def _branch(self, stmt: If, base: Value) -> Value:
        first = any(_contains(one, self.load) for one in stmt.then.stmts)
        side, total = self.block(stmt.then if first else stmt.orelse, base)
        outside = self._outside(total, defined_in(side))
        outs = stmt.outs
        sides = [side, stmt.orelse if first else stmt.then]
        if outside is None:
            outside = Var("found", I32)
            outs = (*outs, outside)
            results = (total, Const(0, I32))
            sides = [
                replace(one, results=(*one.results, result))
                for one, result in zip(sides, results, strict=True)
            ]
        then, orelse = sides if first else sides[::-1]
        self.b.append(replace(stmt, then=then, orelse=orelse, outs=outs))
        return outside

    def _known(self, loop: For, each: Value, base: Value) -> Value:
        """Append a loop each iteration of which finds the same number of values."""
        b = self.b
        with b.region() as position:
            done = b.expr(loop.index) - loop.start
            here = (done * each + base).named("position").value
        body, _ = self.block(loop.body, here)
        total = ((b.expr(loop.stop) - loop.start).max(0) * each).value
        b.append(replace(loop, body=replace(body, stmts=(*position, *body.stmts))))
        return total

    def _carried(self, loop: For | While, base: Value) -> Value:
        """Append a loop that carries the position on."""
        b = self.b
        position, out = Var("position", I32), Var("position", I32)
        in_test = isinstance(loop, While) and any(
            _contains(one, self.load) for one in loop.cond.stmts
        )
        if in_test:
            assert isinstance(loop, While)
            cond, each = self.block(loop.cond, position)
            if not isinstance(each, Const):
                raise NoPosition(self.load)
            body, loop = loop.body, replace(loop, cond=cond)
        else:
            body, each = self.block(loop.body, position)
        with b.region() as adds:
            after = (b.expr(position) + each).value
        body = Block((*body.stmts, *adds), (*body.results, after))
        b.append(add_carries(loop, (position,), (base,), (out,), body))
        found = b.expr(out) - base
        return (found + each if in_test else found).value

    def _each(self, loop: For) -> Value | None:
        """Return how many values each iteration of a loop finds, if that is the same for all."""
        inside = defined_in(loop.body) | {loop.index, *loop.carries}
        count = self.b.expr(Const(1, I32))
        block = loop.body
        while True:
            stmt = next(one for one in block.stmts if _contains(one, self.load))
            if isinstance(stmt, Load):
                return count.value
            if isinstance(stmt, While):
                return None
            if isinstance(stmt, For):
                start = self._outside(stmt.start, inside)
                stop = self._outside(stmt.stop, inside)
                if start is None or stop is None:
                    return None
                count = count * (self.b.expr(stop) - start).max(0)
            elif not isinstance(stmt, If):
                raise NoPosition(self.load)
            block = next(
                region
                for region in regions(stmt)
                if any(_contains(one, self.load) for one in region.stmts)
            )

    def _outside(self, value: Value, inside: Set[Var]) -> Value | None:
        """Return a value that is computed from values outside a region, computed there."""
        if isinstance(value, Const) or value not in inside:
            return value
        match self.origin.get(value):
            case Size(array=array, axis=axis):
                return self.b.size(array, axis)
            case Let(op=op, args=args) if value.type == I32 and op in _PLAIN:
                found = [self._outside(arg, inside) for arg in args]
                known = [one for one in found if one is not None]
                return self.b.call(op, *known) if len(known) == len(found) else None
            case _:
                return None


_PLAIN = ("add", "sub", "mul", "neg", "min", "max", "floordiv", "mod")
