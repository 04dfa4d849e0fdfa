"""Accumulations into elements that one iteration of the parallel loop owns: no atomics needed."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.facts import (
    defined_in,
)
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
    defs = definitions_of(program.body)
    stmts = tuple(
        replace(stmt, body=_mark(stmt.body, _owned(stmt, defs)))
        if isinstance(stmt, ParallelFor)
        else _marked(stmt, None)
        for stmt in program.body.stmts
    )
    return with_stmts(program, stmts)


def owned_arrays(loop: ParallelFor, program: Program) -> set[Array]:
    """Return the arrays of which each iteration touches only elements of its own."""
    return _owned(loop, definitions_of(program.body))


def _owned(loop: ParallelFor, defs: dict[Var, Stmt]) -> set[Array]:
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


def _mark(block: Block, owned: set[Array] | None) -> Block:
    return replace(block, stmts=tuple(_marked(stmt, owned) for stmt in block.stmts))


def _marked(stmt: Stmt, owned: set[Array] | None) -> Stmt:
    """Return a statement with accumulations into owned arrays marked; None stands for all."""
    if isinstance(stmt, Accumulate) and (owned is None or stmt.array in owned):
        return replace(stmt, atomic=False)
    return with_blocks(stmt, lambda block: _mark(block, owned))
