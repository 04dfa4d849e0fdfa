"""Which vectors had better be one variable, and which are needed at the same time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Set

from difftile.ir.facts import free_variables
from difftile.ir.nodes import Block, For, If, Let, Stmt, Value, Var, While
from difftile.ir.types import Scalar
from difftile.ir.walk import definitions, operands, regions
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class VariableTie:
    """Two vectors that had better be one variable: else one is copied to the other.

    Args:
        one: A vector or matrix.
        other: Another one that it takes its value from, or the other way round.
        inserts: One is the other with a component replaced.
        depth: The number of loops around.
    """

    one: Var
    other: Value
    inserts: bool
    depth: int


def ties(block: Block, depth: int = 0) -> Iterator[VariableTie]:
    """Yield the ties between the vectors of a block."""
    for stmt in block.stmts:
        pairs: list[tuple[Var, Value]] = []
        match stmt:
            case Let(out, "insert", args):
                yield VariableTie(out, args[0], True, depth)
            case If(then=then, orelse=orelse, outs=outs):
                pairs += zip(outs, then.results, strict=True)
                pairs += zip(outs, orelse.results, strict=True)
            case For() | While():
                for group in (stmt.body.results, stmt.outs, stmt.inits):
                    pairs += zip(stmt.carries, group, strict=True)
            case _:
                pass
        for one, other in pairs:
            if not isinstance(one.type, Scalar):
                yield VariableTie(one, other, False, depth)
        for region in regions(stmt):
            yield from ties(region, depth + (not isinstance(stmt, If)))


def overlaps(block: Block, among: Set[Var]) -> dict[Var, set[Var]]:
    """Return for each of some variables those others that are needed where it gets its value.

    A value is needed from its definition to its last use, and in a loop that uses it and does not
    define it, to the end of the loop. Results of a block are used at its end.
    """
    lives = _Lives(among)
    lives.block(block, set())
    return lives.overlaps


class _Lives:
    """Follows blocks from their ends; `overlaps` grows on the way."""

    def __init__(self, among: Set[Var]) -> None:
        self.among = among
        self.overlaps: dict[Var, set[Var]] = defaultdict(set)

    def of(self, values: Iterable[Value]) -> set[Var]:
        return {v for v in values if isinstance(v, Var) and v in self.among}

    def define(self, variables: Collection[Var], live: set[Var]) -> set[Var]:
        """Note the other operands of variables that get their values here; return the rest."""
        defined = self.of(variables)
        for one in defined:
            for other in (live | defined) - {one}:
                self.overlaps[one].add(other)
                self.overlaps[other].add(one)
        return live - defined

    def block(self, block: Block, after: set[Var]) -> set[Var]:
        """Return the variables that are needed before a block, from those needed after it."""
        live = after | self.of(block.results)
        for stmt in reversed(block.stmts):
            live = self.stmt(stmt, live)
        return live

    def stmt(self, stmt: Stmt, after: set[Var]) -> set[Var]:
        live = self.define(definitions(stmt), after)
        match stmt:
            case If(then=then, orelse=orelse):
                live = self.block(then, live) | self.block(orelse, live)
            case For(carries=carries, body=body):
                through = live | self.of(free_variables(body)) - set(carries)
                live = through | self.define(carries, self.block(body, through))
            case While(carries=carries, cond=cond, body=body):
                outside = free_variables(body) | free_variables(cond)
                through = live | self.of(outside) - set(carries)
                # The loop may end after the test, with its carries as results.
                tested = self.block(body, through) | self.of(carries)
                live = through | self.define(carries, self.block(cond, through | tested))
            case _:
                for region in regions(stmt):
                    through = live | self.of(free_variables(region))
                    live = through | self.block(region, through)
        return live | self.of(operands(stmt))
