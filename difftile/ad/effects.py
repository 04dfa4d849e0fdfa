"""Statements without their effects, as an adjoint runs them again."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import (
    Accumulate,
    Alloc,
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
from difftile.ir.walk import definitions, has_effects, with_blocks


def without_effects(stmt: Stmt) -> Stmt | None:
    """Return the statement without effects; None if it consists of effects."""
    if isinstance(stmt, (Store, Accumulate)):
        # An array of the thread is where values are, not an effect.
        return None if stmt.array.size is None else stmt
    if isinstance(stmt, (ParallelFor, Print, Fail)):
        return None
    if isinstance(stmt, Combine):
        # The old value cannot be had again: the load stands for it, and must not be needed.
        return None if stmt.out is None else Load(stmt.out, stmt.array, stmt.index, stmt.span)
    if isinstance(stmt, Alloc):
        return stmt
    if isinstance(stmt, Ruled):
        # Rules stay as they are: the adjoint may be differentiated again.
        return replace(stmt, body=pure_block(stmt.body)) if stmt.outs else None
    changed = with_blocks(stmt, pure_block)
    idle = isinstance(changed, (If, For)) and not definitions(changed)
    return None if idle and not has_effects(Block((changed,))) else changed


def pure_block(block: Block) -> Block:
    """Return the block without stores."""
    inner = (without_effects(stmt) for stmt in block.stmts)
    return replace(block, stmts=tuple(stmt for stmt in inner if stmt is not None))
