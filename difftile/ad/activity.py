"""Activity: the values that depend on a field whose gradient is requested."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from difftile.ir.dataflow import Dataflow
from difftile.ir.facts import arrays_loaded, arrays_written, declared_in, fact, gradients_in
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Let,
    Load,
    Program,
    Ruled,
    Stmt,
    Store,
    Var,
    While,
    Write,
)
from difftile.ir.types import is_float
from difftile.ir.walk import WRITES, regions, rules, walk
from difftile.ops.table import OPS


def active_values(program: Program, sources: Collection[Array]) -> frozenset[Var]:
    """Return the values that vary with the contents of the source arrays.

    Args:
        program: The program.
        sources: Fields with gradients. Values that are stored to other fields carry activity on
            only through fields that are sources themselves.
    """
    return active_in(program.body, (), sources)


def active_in(
    block: Block, variables: Collection[Var], sources: Collection[Array]
) -> frozenset[Var]:
    """Return the values of a block that vary with some variables or with the source arrays."""
    return _active(block, frozenset(variables), frozenset(sources))


@fact
def _active(block: Block, variables: frozenset[Var], sources: frozenset[Array]) -> frozenset[Var]:
    return frozenset(_settled(block, dict.fromkeys(variables, 1), dict.fromkeys(sources, 1)))


def passing(program: Program, arrays: Sequence[Array]) -> set[Array]:
    """Return the fields among some that a value stored in another field varies with.

    Each is taken by itself: activity is not carried on through other fields.
    """
    facts = _settled(program.body, {}, {array: 1 << k for k, array in enumerate(arrays)})
    return {
        array
        for stmt in walk(program.body)
        if isinstance(stmt, WRITES) and stmt.array.size is None and stmt.array.gradient_of is None
        for k, array in enumerate(arrays)
        if stmt.array is not array and isinstance(stmt.value, Var)
        if facts.get(stmt.value, 0) >> k & 1
    }


def _settled(
    block: Block, variables: Mapping[Var, int], sources: Mapping[Array, int]
) -> dict[Var, int]:
    """Return the sources with which values vary, as bits, through arrays of the thread too."""
    activity = _Activity(sources)
    activity.facts |= variables
    while True:
        known = dict(activity.sources)
        activity.block(block, 0)
        if activity.sources == known:
            return activity.facts


def active_locals(block: Block, active: Collection[Var]) -> set[Array]:
    """Return the arrays of the thread into which a block puts some active values."""
    activity = _Activity({})
    activity.facts |= dict.fromkeys(active, 1)
    given = (pair for stmt in walk(block) for pair in activity.given(stmt))
    return {array for array, bits in given if bits}


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


class _Activity(Dataflow[int]):
    """Activity by sources: bits of the sources that a value varies with."""

    def __init__(self, sources: Mapping[Array, int]) -> None:
        super().__init__(0)
        self.sources = dict(sources)

    def define(self, variable: Var, fact: int) -> None:
        if fact and is_float(variable.type):
            super().define(variable, fact)

    def followed(self, stmt: Stmt) -> tuple[Block, ...]:
        # No derivative passes through the test of a loop.
        return (stmt.body,) if isinstance(stmt, While) else regions(stmt)

    def transfer(self, stmt: Stmt, control: int) -> int | None:
        match stmt:
            case Let(op=op, args=args):
                return self.of(*args) if OPS[op].vjp else 0
            case Load(array=array):
                return self.sources.get(array, 0)
            case Combine(array=array, value=value):
                self.fill(stmt)
                return self.sources.get(array, 0) | self.of(value)
            case Store() | Accumulate():
                self.fill(stmt)
                return None
            case While(cond=cond):
                for inner in walk(cond):
                    self.fill(inner)
                return None
            case Ruled():
                for region in regions(stmt):
                    self.block(region, 0)
                self.fill(stmt)
                return self.of_call(stmt)
            case _:
                return None

    def fill(self, stmt: Stmt) -> None:
        """Let arrays of the thread vary with what a statement puts there."""
        for array, bits in self.given(stmt):
            known = self.sources.get(array, 0)
            if known | bits != known:
                self.sources[array] = known | bits
                self.changes += 1

    def of_call(self, stmt: Ruled) -> int:
        """Return what the results of a call with a rule vary with, as the rule says."""
        total = self.of(*stmt.args)
        for array in fields_of(stmt):
            total |= self.sources.get(array, 0)
        return total

    def given(self, stmt: Stmt) -> Iterator[tuple[Array, int]]:
        """Yield arrays of the thread, and what a value varies with that a statement puts there."""
        if isinstance(stmt, WRITES) and stmt.array.size is not None:
            yield stmt.array, self.of(stmt.value)
        # What a call with a rule writes varies with what the rule says.
        elif isinstance(stmt, Ruled) and (bits := self.of_call(stmt)):
            for array in arrays_written(stmt.body) - declared_in(stmt.body):
                if array.size is not None and is_float(array.type.element):
                    yield array, bits


def fields_of(stmt: Ruled) -> Set[Array]:
    """Return the fields that the results vary with, as the rules say.

    With rules they are the fields whose gradients the rules use, else the fields the body reads.
    """
    if not rules(stmt):
        return arrays_loaded(stmt.body)
    used = (gradients_in(rule.block) for rule in rules(stmt))
    return {one.gradient_of for found in used for one in found if one.gradient_of is not None}
