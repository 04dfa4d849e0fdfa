"""Elements of arrays that are values while a thread works with them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from difftile.ir.facts import arrays_written
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    For,
    If,
    Load,
    Memory,
    ParallelFor,
    Ruled,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import BOOL, I32
from difftile.ir.walk import WRITES, Substitution, add_carries, substitute, with_blocks
from difftile.ops.build import OpBuilder, zero

Element: TypeAlias = tuple[Array, tuple[Value, ...]]
"""An array and the index of one of its elements."""


def element_of(stmt: Memory) -> Element:
    """Return the element that an access touches, or a component of it."""
    return stmt.array, stmt.index[: stmt.array.type.ndim]


class Elements(ABC):
    """Replaces accesses of some elements by values.

    Attributes:
        known: The elements that are followed, with their values now.
        keeps_writes: Writes stay where they are, so that only loads go.
    """

    keeps_writes: bool

    def __init__(self) -> None:
        self.b = OpBuilder()
        self.env = Substitution()
        self.known: dict[Element, Value] = {}

    @abstractmethod
    def block(self, block: Block) -> Block:
        """Return a block with accesses replaced."""

    def stmt(self, stmt: Stmt) -> None:
        """Append a statement, whose operands are replaced, with its accesses replaced."""
        self.b.span = stmt.span
        if isinstance(stmt, (Load, *WRITES)) and element_of(stmt) in self.known:
            self._access(stmt)
            return
        match stmt:
            case If():
                self._if(stmt)
            case For() | While():
                self._loop(stmt)
            case ParallelFor():
                self.b.append(substitute(stmt, self.env))
            case Ruled():
                self.b.append(with_blocks(stmt, self.block))
            case _:
                self.b.append(stmt)

    def loaded(self, element: Element, doubtful: Sequence[int]) -> Value:
        """Append the load of an element, tested to be inside along the doubtful axes."""
        b, (array, index) = self.b, element
        if not doubtful:
            return b.load(array, index)
        inside = self.inside(element, doubtful)
        with b.region() as stmts:
            found = b.load(array, index)
        out = Var(found.name, found.type)
        nothing = Block((), (zero(found.type),))
        b.append(If(inside, Block(tuple(stmts), (found,)), nothing, (out,), b.span))
        return out

    def inside(self, element: Element, doubtful: Sequence[int]) -> Value:
        """Append the test whether an index is inside along some axes."""
        b, (array, index) = self.b, element
        inside = b.expr(Const(True, BOOL))
        for axis in doubtful:
            size = b.size(array, axis) if array.size is None else Const(array.lengths[axis], I32)
            i = b.expr(index[axis])
            inside = inside & (i >= 0)
            inside = inside & (i < size)
        return inside.value

    def _access(self, stmt: Memory) -> None:
        match stmt:
            case Load(out):
                self.env[out] = self._part(stmt)
            case Store(value=value):
                self._update(stmt, value)
            case Accumulate(value=value):
                self._update(stmt, self.b.call("add", self._part(stmt), value))
            case Combine(out, op, value=value):
                old = self._part(stmt)
                if out is not None:
                    self.env[out] = old
                self._update(stmt, self.b.call(op, old, value))

    def _part(self, stmt: Memory) -> Value:
        element, part = self.known[element_of(stmt)], stmt.index[stmt.array.type.ndim :]
        return self.b.call("extract", element, *part) if part else element

    def _update(self, stmt: Memory, value: Value) -> None:
        element, part = element_of(stmt), stmt.index[stmt.array.type.ndim :]
        old = self.known[element]
        self.known[element] = self.b.call("insert", old, *part, value) if part else value
        if self.keeps_writes:
            self.b.append(stmt)

    def _if(self, stmt: If) -> None:
        before = dict(self.known)
        written = arrays_written(stmt.then) | arrays_written(stmt.orelse)
        changed = [element for element in before if element[0] in written]
        sides: list[Block] = []
        for block in (stmt.then, stmt.orelse):
            self.known = dict(before)
            with self.b.region() as stmts:
                inner = self.block(block)
                results = (*inner.results, *(self.known[element] for element in changed))
            sides.append(Block((*stmts, *inner.stmts), results))
        outs = self._joined(changed, before)
        self.b.append(replace(stmt, then=sides[0], orelse=sides[1], outs=(*stmt.outs, *outs)))

    def _loop(self, stmt: For | While) -> None:
        before = dict(self.known)
        changed = [element for element in before if element[0] in arrays_written(stmt.body)]
        carries = self._joined(changed, before)
        if isinstance(stmt, While):
            stmt = replace(stmt, cond=self.block(stmt.cond))
        body = self.block(stmt.body)
        results = (*body.results, *(self.known[element] for element in changed))
        inits = [before[element] for element in changed]
        outs = self._joined(changed, before)
        self.b.append(add_carries(stmt, carries, inits, outs, Block(body.stmts, results)))

    def _joined(self, changed: list[Element], before: dict[Element, Value]) -> list[Var]:
        """Let new variables stand for the elements that changed; return them."""
        variables = [Var(element[0].name, before[element].type) for element in changed]
        self.known = {**before, **dict(zip(changed, variables, strict=True))}
        return variables
