"""Accumulations into elements that one iteration of the parallel loop owns: no atomics needed."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from difftile.ir.build import Builder
from difftile.ir.facts import defined_in, fact
from difftile.ir.nodes import Accumulate, Array, Block, Load, ParallelFor, Program, Stmt, Var
from difftile.ir.rewrite import Rewriter
from difftile.ir.walk import WRITES, walk
from difftile.passes.affine import Place, definitions_of, owns, place_of, ranges_of, unique_in


def exclusive(program: Program) -> Program:
    """Return the program with such accumulations, and all serial ones, marked as not atomic."""
    return _Marking(program).program(program)


class _Marking(Rewriter[Builder]):
    def __init__(self, of: Program) -> None:
        super().__init__(Builder())
        self.of = of
        self.owned: Set[Array] | None = None  # of the parallel loop around; None is all arrays

    def rule(self, stmt: Stmt) -> None:
        match stmt:
            case ParallelFor():
                self.owned = owned_arrays(stmt, self.of)
                self.keep(stmt)
                self.owned = None
            case Accumulate(array=array) if self.owned is None or array in self.owned:
                self.b.append(replace(stmt, atomic=False) if stmt.atomic else stmt)
            case _:
                self.keep(stmt)


def owned_arrays(loop: ParallelFor, program: Program) -> Set[Array]:
    """Return the arrays of which each iteration touches only elements of its own.

    Args:
        loop: A loop of the program; or one with fewer statements, in its place.
        program: The program.
    """
    known = _owned_by_loops(program.body)
    return known[id(loop)] if id(loop) in known else _owned(loop, definitions_of(program.body))


@fact
def _owned_by_loops(body: Block) -> Mapping[int, Set[Array]]:
    """Return the arrays that the iterations of each parallel loop own, by its identity."""
    defs = definitions_of(body)
    return {id(stmt): _owned(stmt, defs) for stmt in body.stmts if isinstance(stmt, ParallelFor)}


def _owned(loop: ParallelFor, defs: Mapping[Var, Stmt]) -> Set[Array]:
    varying = defined_in(loop.body) | set(loop.indices)
    ranges, unique = ranges_of(loop.body), unique_in(loop.body)
    accesses: dict[Array, list[Place]] = {}
    for stmt in walk(loop.body):
        if isinstance(stmt, (Load, *WRITES)):
            accesses.setdefault(stmt.array, []).append(place_of(stmt, defs))
    return {
        array
        for array, places in accesses.items()
        if array.size is not None or owns(places, loop.indices, varying, ranges, unique)
    }
