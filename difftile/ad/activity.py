"""Activity: the values that depend on a field whose gradient is requested."""

from __future__ import annotations

from collections.abc import Collection

from difftile.ir.dataflow import Dataflow
from difftile.ir.nodes import (
    Array,
    Block,
    Combine,
    Let,
    Load,
    Program,
    Ruled,
    Stmt,
    Var,
    While,
    Write,
)
from difftile.ir.types import is_float
from difftile.ir.walk import (
    WRITES,
    arrays_loaded,
    arrays_written,
    declared_in,
    gradients_in,
    regions,
    rules,
    walk,
)
from difftile.ops.table import OPS


def active_values(program: Program, sources: Collection[Array]) -> set[Var]:
    """Return the values that vary with the contents of the source arrays.

    Args:
        program: The program.
        sources: Fields with gradients. Values that are stored to other fields carry activity on
            only through fields that are sources themselves.
    """
    return active_in(program.body, (), sources)


def active_in(block: Block, variables: Collection[Var], sources: Collection[Array]) -> set[Var]:
    """Return the values of a block that vary with some variables or with the source arrays."""
    known = set(sources)
    while True:
        activity = _Activity(known)
        activity.facts |= dict.fromkeys(variables, True)
        activity.block(block, False)
        found = set(activity.facts)
        more = active_locals(block, found, known) - known
        if not more:
            return found
        known |= more


def active_locals(
    block: Block, active: Collection[Var], sources: Collection[Array] = ()
) -> set[Array]:
    """Return the arrays of the thread into which a block puts active values.

    Args:
        block: The block.
        active: The active values.
        sources: The arrays whose contents are active.
    """
    found = {
        s.array
        for s in walk(block)
        if isinstance(s, WRITES) and s.array.size is not None and s.value in active
    }
    for stmt in walk(block):
        # What a call with a rule writes varies with what the rule says.
        if isinstance(stmt, Ruled):
            follows = any(arg in active for arg in stmt.args)
            if follows or not fields_of(stmt).isdisjoint(sources):
                written = arrays_written(stmt.body) - declared_in(stmt.body)
                found |= {a for a in written if a.size is not None and is_float(a.type.element)}
    return found


def active_writes(program: Program, sources: Collection[Array]) -> list[Write]:
    """Return the writes of active values into fields that are not sources themselves."""
    active = active_values(program, sources)
    return [
        stmt
        for stmt in walk(program.body)
        if isinstance(stmt, WRITES)
        and stmt.array not in sources
        and stmt.array.gradient_of is None
        and stmt.array.size is None
        and stmt.value in active
    ]


class _Activity(Dataflow[bool]):
    def __init__(self, sources: Collection[Array]) -> None:
        super().__init__(False)
        self.sources = sources

    def define(self, variable: Var, fact: bool) -> None:
        super().define(variable, fact and is_float(variable.type))

    def followed(self, stmt: Stmt) -> tuple[Block, ...]:
        # No derivative passes through the test of a loop.
        return (stmt.body,) if isinstance(stmt, While) else regions(stmt)

    def transfer(self, stmt: Stmt, control: bool) -> bool | None:
        match stmt:
            case Let(op=op, args=args):
                return bool(OPS[op].vjp) and self.of(*args)
            case Combine(array=array, value=value):
                return array in self.sources or self.of(value)
            case Load(array=array):
                return array in self.sources
            case Ruled(args=args):
                for region in regions(stmt):
                    self.block(region, False)
                return self.of(*args) or not fields_of(stmt).isdisjoint(self.sources)
            case _:
                return None


def fields_of(stmt: Ruled) -> set[Array]:
    """Return the fields that the results vary with, as the rules say.

    With rules they are the fields whose gradients the rules use, else the fields the body reads.
    """
    if not rules(stmt):
        return arrays_loaded(stmt.body)
    used = (gradients_in(rule.block) for rule in rules(stmt))
    return {one.gradient_of for found in used for one in found if one.gradient_of is not None}
