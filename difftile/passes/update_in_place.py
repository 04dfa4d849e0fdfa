"""Vectors and matrices whose components change one by one are changed in place, in local memory.

`w = insert(v, i, x)` is another vector, with one component replaced. Where `v` is not needed any
more, both can be one variable of the emitted code, and the insertion is an assignment `v[i] = x`,
whatever the size. The same holds for the carry of a loop, its initial value and its results, and
for the results of a branch. Such values are merged unless they are needed at the same time: that is
how compilers leave single assignment (Sreedhar et al., Translating Out of Static Single Assignment
Form, 1999). Whole vectors are copied only where merging is not possible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    Program,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import FieldType
from difftile.ir.walk import (
    Substitution,
    array_of,
    bound,
    definitions,
    keep_carries,
    operands,
    rebind,
    regions,
    walk,
    with_blocks,
    with_operands,
)
from difftile.ops.build import OpBuilder
from difftile.passes.lives import overlaps, ties
from difftile.records import dataclass


def update_in_place(program: Program) -> Program:
    """Return the program with local memory for vectors that insertions change."""
    if not any(isinstance(s, Let) and s.op == "insert" for s in walk(program.body)):
        return program
    body = _picked_early(program.body)
    memory = _memory(body)
    placed = _Homes(memory)
    placed.block(body, ())
    writer = _Writer(memory, placed.homes())
    return replace(program, body=writer.block(body, ()))


def _picked_early(block: Block) -> Block:
    """Return the block with components read before an insertion changes their vector."""
    last: dict[Value, int] = {}  # by vector, the statement that may be the first to change it
    made: dict[Var, int] = {}
    stmts: list[Stmt] = []
    moved: dict[int, list[Stmt]] = {}
    for stmt in block.stmts:
        here = len(stmts)
        if isinstance(stmt, Let) and stmt.op in ("extract", "insert"):
            at = last.get(stmt.args[0], here)
            if stmt.op == "insert":
                last.setdefault(stmt.args[0], here)
            elif all(made.get(i, -1) < at for i in stmt.args[1:] if isinstance(i, Var)):
                made[stmt.out] = at - 1
                if at < here:
                    moved.setdefault(at, []).append(stmt)
                    continue
        elif isinstance(stmt, (For, While)):
            for init in stmt.inits:
                last.setdefault(init, here)
        made.update((out, here) for out in definitions(stmt) if out not in made)
        stmts.append(with_blocks(stmt, _picked_early))
    if moved:
        stmts = [s for k, stmt in enumerate(stmts) for s in (*moved.get(k, ()), stmt)]
    return replace(block, stmts=tuple(stmts))


# Values that share memory


class _Classes:
    """Sets of variables that are one in the emitted code."""

    def __init__(self, apart: dict[Var, set[Var]]) -> None:
        self.apart = apart
        self.of: dict[Var, set[Var]] = {}

    def merge(self, one: Value, other: Value) -> None:
        """Merge the classes of two values, unless members are needed at the same time."""
        if not isinstance(one, Var) or not isinstance(other, Var):
            return
        ones = self.of.setdefault(one, {one})
        others = self.of.setdefault(other, {other})
        if ones is others or any(not self.apart[v].isdisjoint(others) for v in ones):
            return
        ones |= others
        self.of.update(dict.fromkeys(others, ones))


def _memory(body: Block) -> dict[Var, Array]:
    """Return the array for each value that stands in memory."""
    every = list(ties(body))
    vectors = {v for tie in every for v in (tie.one, tie.other) if isinstance(v, Var)}
    classes = _Classes(overlaps(body, vectors))
    # Where a copy would be needed most often, first.
    for tie in sorted(every, key=lambda tie: (tie.inserts, tie.depth), reverse=True):
        classes.merge(tie.one, tie.other)
    found: dict[Var, Array] = {}
    for stmt in walk(body):
        if isinstance(stmt, Let) and stmt.op == "insert" and stmt.out not in found:
            members = classes.of.get(stmt.out, {stmt.out})
            name = next((tie.one.name for tie in every if tie.one in members and tie.one.name), "")
            array = Array(name, FieldType(stmt.out.type, 0), 1)
            found |= dict.fromkeys(members, array)
    return found


# Where memory is declared


class _Homes:
    """The innermost block around all that a program does with each array."""

    def __init__(self, memory: dict[Var, Array]) -> None:
        self.memory = memory
        self.paths: dict[Array, tuple[Block, ...]] = {}

    def block(self, block: Block, outside: tuple[Block, ...]) -> None:
        path = (*outside, block)
        self.note(block.results, path)
        for stmt in block.stmts:
            self.note((*operands(stmt), *definitions(stmt), *bound(stmt)), path)
            for region in regions(stmt):
                self.block(region, path)

    def note(self, values: Sequence[Value], path: tuple[Block, ...]) -> None:
        for value in values:
            array = self.memory.get(value) if isinstance(value, Var) else None
            if array is not None:
                known = self.paths.get(array, path)
                pairs = zip(known, path, strict=False)
                self.paths[array] = tuple(one for one, other in pairs if one is other)

    def homes(self) -> dict[int, list[Array]]:
        found: dict[int, list[Array]] = {}
        for array, path in self.paths.items():
            found.setdefault(id(path[-1]), []).append(array)
        return found


# The new program


@dataclass
class _Writer:
    """Writes blocks with loads and stores in place of the values in memory."""

    memory: dict[Var, Array]
    homes: dict[int, list[Array]]

    def __post_init__(self) -> None:
        self.b = OpBuilder()
        self.env = Substitution()

    def array(self, value: Value) -> Array | None:
        return self.memory.get(value) if isinstance(value, Var) else None

    def whole(self, value: Value) -> Value:
        array = self.array(value)
        return self.env(value) if array is None else self.b.load(array, ())

    def block(self, block: Block, targets: Sequence[Var]) -> Block:
        """Return a block whose results, in the new program, go to variables."""
        with self.b.region() as stmts:
            for stmt in block.stmts:
                self.b.span = stmt.span
                self.stmt(stmt)
            results = self.assign(targets, block.results) if targets else block.results
            if not targets:
                results = tuple(map(self.whole, results))
        for array in self.homes.get(id(block), ()):
            at = next((k for k, s in enumerate(stmts) if _touches(s, array)), None)
            if at is not None:
                clears = _clears(stmts[at])
                stmts[at : at + clears] = [Alloc(array, stmts[at].span)]
        return Block(tuple(stmts), results)

    def assign(self, targets: Sequence[Var], values: Sequence[Value]) -> tuple[Value, ...]:
        """Store the values of targets in memory, all at once; return the other values."""
        kept: list[Value] = []
        stores: list[tuple[Array, Value]] = []
        for target, value in zip(targets, values, strict=True):
            array = self.array(target)
            if array is None:
                kept.append(self.whole(value))
            elif self.array(value) is not array:
                stores.append((array, self.whole(value)))
        for array, value in stores:
            self.b.store(array, (), value)
        return tuple(kept)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Let(out, "insert", (old, *index, part)):
                array = self.memory[out]
                if self.array(old) is not array:
                    self.b.store(array, (), self.whole(old))
                self.b.store(array, self.env.all(index), self.env(part))
            case Let(out, "extract", (whole, *index)) if (array := self.array(whole)) is not None:
                self.b.append(Load(out, array, self.env.all(index), stmt.span))
            case If(outs=outs):
                then, orelse = self.block(stmt.then, outs), self.block(stmt.orelse, outs)
                kept = tuple(out for out in outs if self.array(out) is None)
                cond = self.env(stmt.cond)
                self.b.append(replace(stmt, cond=cond, then=then, orelse=orelse, outs=kept))
            case For() | While():
                self.loop(stmt)
            case _:
                stmt = with_operands(stmt, self.whole)
                stmt = with_blocks(stmt, lambda inner: self.block(inner, ()))
                fresh = {v: Var("", v.type) for v in definitions(stmt) if v in self.memory}
                self.b.append(rebind(stmt, lambda v: fresh.get(v, v)))
                for out, value in fresh.items():
                    self.b.store(self.memory[out], (), value)

    def loop(self, loop: For | While) -> None:
        inits = self.assign(loop.carries, loop.inits)
        kept = [k for k, carry in enumerate(loop.carries) if self.array(carry) is None]
        body = self.block(loop.body, loop.carries)
        if isinstance(loop, For):
            loop = replace(loop, start=self.env(loop.start), stop=self.env(loop.stop))
        else:
            loop = replace(loop, cond=self.block(loop.cond, ()))
        found = [Var("", out.type) if self.array(out) else out for out in loop.outs]
        values = [found[k] if k in kept else carry for k, carry in enumerate(loop.carries)]
        slim = keep_carries(replace(loop, outs=tuple(found)), kept, body)
        self.b.append(replace(slim, inits=inits))
        others = [out for out in loop.outs if self.array(out) is None]
        self.env.update(zip(others, self.assign(loop.outs, values), strict=True))


def _clears(stmt: Stmt) -> bool:
    """Tell whether a statement sets a vector to the value that it is declared with."""
    if not isinstance(stmt, Store) or stmt.index or not isinstance(stmt.value, Const):
        return False
    return stmt.value.value == 0 and math.copysign(1, stmt.value.value) > 0


def _touches(stmt: Stmt, array: Array) -> bool:
    return any(array_of(one) is array for one in walk(Block((stmt,))))
