"""The slice of one accumulation: the part of a block that its value and its condition need."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import (
    Accumulate,
    Block,
    Const,
    If,
    Let,
    Load,
    Size,
    Stmt,
    Var,
)
from difftile.ir.types import BOOL
from difftile.ir.walk import EFFECTS, with_blocks, without_stmts
from difftile.ops.build import zero
from difftile.passes.dce import slim_block

# A slice is run again for each loop that takes its value over: more than this many statements
# cost more than atomics do.
LARGEST = 40


def slice_of(block: Block, target: Accumulate) -> Block:
    """Return the block that computes whether an accumulation is reached, and its value.

    Loops are not part of a slice: variables that they define are left free.
    """
    return slim_block(_yielding(block, target)[0])


def _yielding(block: Block, target: Accumulate) -> tuple[Block, bool]:
    """Return the block up to an accumulation, yielding whether it is reached and its value."""
    nothing = (Const(False, BOOL), zero(target.value.type))
    stmts: list[Stmt] = []
    for one in block.stmts:
        if one is target:
            return Block(tuple(stmts), (Const(True, BOOL), target.value)), True
        if isinstance(one, If):
            then, in_then = _yielding(one.then, target)
            orelse, in_else = _yielding(one.orelse, target)
            if in_then or in_else:
                outs = (Var("", BOOL), Var("", target.value.type))
                changed = replace(one, then=then, orelse=orelse, outs=outs)
                return Block((*stmts, changed), outs), True
        if isinstance(one, (Let, Size, Load, If)):
            stmts.append(with_blocks(one, pure))
    return Block(tuple(stmts), nothing), False


def pure(block: Block) -> Block:
    """Return the block without effects."""
    return without_stmts(block, lambda stmt: isinstance(stmt, EFFECTS))
