"""Logs of components: the numbers that a loop reads from a vector that it changes.

The reverse of such a loop needs single components as they were. To keep the whole vector for each
iteration would take long to compile and to run: each component that is read is kept instead, in an
array of the thread, at a position that follows from the indices of the loops around it. That needs
loops whose indices are bounded by literals; in others the vector is kept (`checkpoints`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from difftile.ir.nodes import (
    Alloc,
    Array,
    Block,
    Const,
    For,
    If,
    Let,
    Load,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import I32, FieldType
from difftile.ir.walk import walk, with_blocks
from difftile.ops.build import OpBuilder
from difftile.passes.intervals import Intervals
from difftile.passes.lives import ties
from difftile.records import dataclass

LONGEST = 256  # numbers of one log: longer local arrays take Taichi seconds to compile


@dataclass(frozen=True, slots=True)
class ComponentLog:
    """The log of one component.

    Args:
        let: The statement that reads the component.
        array: The values that it finds.
        finding: The statements that find the position.
        place: The position.
    """

    let: Let
    array: Array
    finding: tuple[Stmt, ...]
    place: Value

    @property
    def read(self) -> tuple[Stmt, ...]:
        """The statements that read the value again."""
        return *self.finding, Load(self.let.out, self.array, (self.place,), self.let.span)

    @property
    def written(self) -> tuple[Stmt, ...]:
        """The statements that compute the value and keep it."""
        store = Store(self.array, (self.place,), self.let.out, self.let.span)
        return self.let, *self.finding, store


def component_logs(loop: For, intervals: Intervals) -> dict[Var, ComponentLog]:
    """Return the logs of the components that a loop reads from vectors that it changes."""
    changing = _changing(loop)
    found: dict[Var, ComponentLog] = {}
    for let, loops in _extracts(Block((loop,)), ()):
        if let.args[0] not in changing:
            continue
        b = OpBuilder()
        b.span = let.span
        length, place = 1, b.expr(Const(0, I32))
        for one in loops:
            interval = intervals.of(one.index)
            if interval is None:
                break
            first, last = interval
            extent = max(last - first + 1, 1)
            length *= extent
            place = place * extent + (b.expr(one.index) - first)
        else:
            if length <= LONGEST:
                name = let.out.name or getattr(let.args[0], "name", "")
                array = Array(f"{name or 'component'}_log", FieldType(let.out.type, 1), length)
                found[let.out] = ComponentLog(let, array, tuple(b.stmts), place.value)
    return found


def allocated(logs: Mapping[Var, ComponentLog]) -> Iterator[Stmt]:
    """Yield the declarations of the arrays of logs."""
    for log in logs.values():
        yield Alloc(log.array, log.let.span)


def reading(block: Block, logs: Mapping[Var, ComponentLog]) -> Block:
    """Return a block that reads logged components from their logs."""
    return _replaced(block, {out: log.read for out, log in logs.items()}) if logs else block


def writing(block: Block, logs: Mapping[Var, ComponentLog]) -> Block:
    """Return a block that keeps the components that are to be logged."""
    return _replaced(block, {out: log.written for out, log in logs.items()}) if logs else block


def _replaced(block: Block, stmts: Mapping[Var, tuple[Stmt, ...]]) -> Block:
    new: list[Stmt] = []
    for stmt in block.stmts:
        if isinstance(stmt, Let) and stmt.out in stmts:
            new += stmts[stmt.out]
        else:
            new.append(with_blocks(stmt, lambda inner: _replaced(inner, stmts)))
    return replace(block, stmts=tuple(new))


def _extracts(block: Block, loops: tuple[For, ...]) -> Iterator[tuple[Let, tuple[For, ...]]]:
    """Yield the statements that read components, each with the loops around it."""
    for stmt in block.stmts:
        match stmt:
            case Let(op="extract"):
                yield stmt, loops
            case For(body=body):
                yield from _extracts(body, (*loops, stmt))
            case If(then=then, orelse=orelse):
                yield from _extracts(then, loops)
                yield from _extracts(orelse, loops)
            case _:
                pass


def _changing(loop: For) -> set[Value]:
    """Return the vectors that a loop carries on with other components, in all their versions."""
    groups: dict[Value, set[Value]] = {}
    for tie in ties(Block((loop,))):
        if not isinstance(tie.other, Const):
            joined = groups.get(tie.one, {tie.one}) | groups.get(tie.other, {tie.other})
            groups.update(dict.fromkeys(joined, joined))
    inserted = {s.out for s in walk(loop.body) if isinstance(s, Let) and s.op == "insert"}
    carried = {c for s in walk(Block((loop,))) if isinstance(s, For) for c in s.carries}
    return {v for v, group in groups.items() if group & inserted and group & carried}
