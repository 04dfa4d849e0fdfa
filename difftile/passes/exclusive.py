"""Accumulations into elements that one iteration of the parallel loop owns: no atomics needed."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from difftile.ir.facts import defined_in, fact
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Load,
    ParallelFor,
    Program,
    Stmt,
    Var,
)
from difftile.ir.walk import (
    WRITES,
    walk,
    with_blocks,
    with_stmts,
)
from difftile.passes.affine import Place, definitions_of, owns, place_of, ranges_of, unique_in


def exclusive(program: Program) -> Program:
    """Return the program with such accumulations, and all serial ones, marked as not atomic."""
    stmts = tuple(
        replace(stmt, body=_mark(stmt.body, owned_arrays(stmt, program)))
        if isinstance(stmt, ParallelFor)
        else _marked(stmt, None)
        for stmt in program.body.stmts
    )
    return with_stmts(program, stmts)


def owned_arrays(loop: ParallelFor, program: Program) -> Set[Array]:
    """Return the arrays of which each iteration touches only elements of its own."""
    return _owned_by_loops(program.body)[id(loop)]


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


def _mark(block: Block, owned: Set[Array] | None) -> Block:
    return replace(block, stmts=tuple(_marked(stmt, owned) for stmt in block.stmts))


def _marked(stmt: Stmt, owned: Set[Array] | None) -> Stmt:
    """Return a statement with accumulations into owned arrays marked; None stands for all."""
    if isinstance(stmt, Accumulate) and (owned is None or stmt.array in owned):
        return replace(stmt, atomic=False)
    return with_blocks(stmt, lambda block: _mark(block, owned))
