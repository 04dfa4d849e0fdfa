"""Forward dataflow: a fact about each value of a program, from those about its operands.

Facts form a lattice of finite height, and a fact only ever grows (Kildall, A unified approach to
global program optimization, 1973). Values are defined once and control flow is structured, so that
statements are followed in the order of the text, and loops until an iteration adds no fact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from difftile.ir.nodes import Block, For, If, ParallelFor, Stmt, Value, Var, While
from difftile.ir.walk import definitions, regions


class Lattice(Protocol):
    """A fact: `|` is the least fact that implies both."""

    def __or__(self: Fact, other: Fact, /) -> Fact: ...


Fact = TypeVar("Fact", bound=Lattice)


class Dataflow(ABC, Generic[Fact]):
    """One analysis. `facts` has the facts about values; the others have the least fact.

    Args:
        nothing: The least fact, which is false as a condition.
        control: Follow the dependence on conditions and trip counts as well as that on operands.
    """

    def __init__(self, nothing: Fact, *, control: bool = False) -> None:
        self.nothing = nothing
        self.control = control
        self.facts: dict[Var, Fact] = {}
        self.changes = 0

    @abstractmethod
    def transfer(self, stmt: Stmt, control: Fact) -> Fact | None:
        """Return the fact about the results of a statement.

        Args:
            stmt: The statement.
            control: The fact about the conditions and trip counts around it.

        Returns:
            The fact; None to join the results of branches and the carries of loops.
        """

    def of(self, *values: Value) -> Fact:
        """Return the join of the facts about some values."""
        total = self.nothing
        for value in values:
            if isinstance(value, Var) and value in self.facts:
                total = total | self.facts[value]
        return total

    def define(self, variable: Var, fact: Fact) -> None:
        """Add to the fact about a variable."""
        if fact and (known := self.of(variable)) != (joined := known | fact):
            self.facts[variable] = joined
            self.changes += 1

    def settle(self, follow: Callable[[], None]) -> None:
        """Repeat a step until it adds no fact."""
        before = -1
        while before != self.changes:
            before = self.changes
            follow()

    def block(self, block: Block, control: Fact) -> None:
        """Follow the statements of a block."""
        for stmt in block.stmts:
            self.stmt(stmt, control)

    def stmt(self, stmt: Stmt, control: Fact) -> None:
        """Follow a statement and the blocks inside it."""
        fact = self.transfer(stmt, control)
        if fact is not None:
            for out in definitions(stmt):
                self.define(out, fact)
        elif isinstance(stmt, If):
            self.branch(stmt, control)
        elif isinstance(stmt, (For, While)):
            self.loop(stmt, control)
        elif isinstance(stmt, ParallelFor):
            self.block(stmt.body, control | self._deciding(*stmt.starts, *stmt.stops))
        else:
            for block in self.followed(stmt):
                self.block(block, control)

    def followed(self, stmt: Stmt) -> tuple[Block, ...]:
        """Return the blocks inside a statement that are followed."""
        return regions(stmt)

    def _deciding(self, *values: Value) -> Fact:
        return self.of(*values) if self.control else self.nothing

    def branch(self, stmt: If, control: Fact) -> None:
        """Follow both sides of a branch, and join their results."""
        deciding = self._deciding(stmt.cond)
        for side in self.followed(stmt):
            self.block(side, control | deciding)
        for out, *results in zip(stmt.outs, stmt.then.results, stmt.orelse.results, strict=True):
            self.define(out, self.of(*results) | deciding)

    def loop(self, stmt: For | While, control: Fact) -> None:
        """Follow a loop until an iteration adds no fact."""

        def iteration() -> None:
            results = (stmt.start, stmt.stop) if isinstance(stmt, For) else stmt.cond.results
            deciding = self._deciding(*results)
            if isinstance(stmt, For):
                self.define(stmt.index, deciding)
            for carry, *values in zip(stmt.carries, stmt.inits, stmt.body.results, strict=True):
                self.define(carry, self.of(*values) | deciding)
            for block in self.followed(stmt):
                self.block(block, control | deciding)

        self.settle(iteration)
        for carry, out in zip(stmt.carries, stmt.outs, strict=True):
            self.define(out, self.of(carry))
