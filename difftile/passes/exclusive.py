"""Which accumulations only one iteration of the parallel loop makes: those need no atomics."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Load,
    ParallelFor,
    Program,
    Stmt,
    Store,
    Var,
)
from difftile.ir.walk import defined_in, walk, with_blocks
from difftile.passes.affine import Affine, affine, definitions_of, owns, ranges_of, unique_in


def exclusive(program: Program) -> Program:
    """Return the program with such accumulations, and all serial ones, marked as not atomic."""
    outer = definitions_of(program.body)
    stmts = tuple(
        replace(stmt, body=_mark(stmt.body, _owned(stmt, outer)))
        if isinstance(stmt, ParallelFor)
        else with_blocks(_plain(stmt), lambda block: _mark(block, None))
        for stmt in program.body.stmts
    )
    return replace(program, body=replace(program.body, stmts=stmts))


def owned_arrays(loop: ParallelFor, program: Program) -> set[Array]:
    """Return the arrays of which each iteration touches elements of its own alone."""
    return _owned(loop, definitions_of(program.body))


def _owned(loop: ParallelFor, defs: dict[Var, Stmt]) -> set[Array]:
    varying = defined_in(loop.body) | set(loop.indices)
    ranges, unique = ranges_of(loop.body), unique_in(loop.body)
    accesses: dict[Array, list[tuple[Affine, ...]]] = {}
    for stmt in walk(loop.body):
        if isinstance(stmt, (Load, Store, Accumulate, Combine)):
            index = stmt.index[: stmt.array.type.ndim]
            forms = tuple(affine(i, defs) for i in index)
            accesses.setdefault(stmt.array, []).append(forms)
    return {
        array
        for array, forms in accesses.items()
        if array.size is not None or owns(forms, loop.indices, varying, ranges, unique)
    }


def _plain(stmt: Stmt) -> Stmt:
    return replace(stmt, atomic=False) if isinstance(stmt, Accumulate) else stmt


def _mark(block: Block, owned: set[Array] | None) -> Block:
    """Mark accumulations into owned arrays; None stands for all arrays."""
    stmts = tuple(
        _plain(stmt)
        if isinstance(stmt, Accumulate) and (owned is None or stmt.array in owned)
        else with_blocks(stmt, lambda inner: _mark(inner, owned))
        for stmt in block.stmts
    )
    return replace(block, stmts=stmts)
