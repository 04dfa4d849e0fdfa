"""The state of forward mode: the tangents of values and fields, and the program that takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import field

from difftile.ir.nodes import Array, Block, Stmt, Value, Var
from difftile.ops.build import OpBuilder, zero
from difftile.records import dataclass


@dataclass
class Pusher:
    """Appends statements and their tangents.

    Args:
        rules: The functions that append each kind of statement with its tangent; other statements
            have none.
        dots: The tangents of fields and of local arrays.
        active: The values of the primal that may have a tangent that is not zero.

    Attributes:
        b: Where the program is appended.
        env: The tangents of values that have one.
    """

    rules: Mapping[type[Stmt], Callable[..., None]]
    dots: dict[Array, Array]
    active: Set[Var]
    b: OpBuilder = field(default_factory=OpBuilder)
    env: dict[Var, Value] = field(default_factory=dict[Var, Value])

    def dot(self, value: Value) -> Value | None:
        """Return the tangent of a value, or None where it is zero."""
        return self.env.get(value) if isinstance(value, Var) else None

    def dot_or_zero(self, value: Value) -> Value:
        """Return the tangent of a value."""
        return self.dot(value) or zero(value.type)

    def bind(self, variables: tuple[Var, ...]) -> tuple[Var, ...]:
        """Return new variables for the tangents of those among some that may have one."""
        found: list[Var] = []
        for variable in variables:
            if variable in self.active:
                dot = Var(f"{variable.name}_dot", variable.type)
                self.env[variable] = dot
                found.append(dot)
        return tuple(found)

    def those(self, variables: tuple[Var, ...], values: tuple[Value, ...]) -> tuple[Value, ...]:
        """Return the tangents of values, for those variables that may have one."""
        pairs = zip(variables, values, strict=True)
        return tuple(
            self.dot_or_zero(value) for variable, value in pairs if variable in self.active
        )

    def block(self, stmts: tuple[Stmt, ...]) -> None:
        """Append statements and their tangents."""
        for stmt in stmts:
            self.b.span = stmt.span
            rule = self.rules.get(type(stmt))
            if rule is None:
                self.b.append(stmt)
            else:
                rule(self, stmt)

    def nested(self, block: Block, variables: tuple[Var, ...]) -> Block:
        """Return a block with tangents, also of its results where the variables may have one."""
        with self.b.region() as stmts:
            self.block(block.stmts)
            more = self.those(variables, block.results) if variables else ()
        return Block(tuple(stmts), (*block.results, *more))
