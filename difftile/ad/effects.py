"""Statements without their effects, as an adjoint runs them again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from difftile.ir.facts import has_effects
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Fail,
    For,
    If,
    Load,
    ParallelFor,
    Print,
    Ruled,
    Stmt,
    Store,
)
from difftile.ir.walk import definitions, with_blocks


def without_effects(stmt: Stmt, filled: Collection[Array] | None = None) -> Stmt | None:
    """Return the statement without effects; None if it consists of effects.

    Args:
        stmt: The statement.
        filled: The arrays of the thread that are filled again, since they are declared again; all
            by default. Others hold what they held at their end.
    """
    if isinstance(stmt, (Store, Accumulate)):
        # An array of the thread is where values are, not an effect.
        kept = stmt.array.size is not None and (filled is None or stmt.array in filled)
        return stmt if kept else None
    if isinstance(stmt, (ParallelFor, Print, Fail)):
        return None
    if isinstance(stmt, Combine):
        # The old value cannot be had again: the load stands for it, and must not be needed.
        return None if stmt.out is None else Load(stmt.out, stmt.array, stmt.index, stmt.span)
    if isinstance(stmt, Alloc):
        return stmt
    if isinstance(stmt, Ruled):
        # Rules stay as they are: the adjoint may be differentiated again.
        body = pure_block(stmt.body, filled)
        return replace(stmt, body=body) if stmt.outs or has_effects(body) else None
    changed = with_blocks(stmt, lambda block: pure_block(block, filled))
    idle = isinstance(changed, (If, For)) and not definitions(changed)
    return None if idle and not has_effects(Block((changed,))) else changed


def pure_block(block: Block, filled: Collection[Array] | None = None) -> Block:
    """Return the block without stores, except those into arrays of the thread."""
    inner = (without_effects(stmt, filled) for stmt in block.stmts)
    return replace(block, stmts=tuple(stmt for stmt in inner if stmt is not None))
