"""Writes into arrays of a thread that no load follows.

An adjoint clears the gradient of each element that a store has overwritten. The gradient of an
array of the thread is not looked at again where that was the first store.
"""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.facts import declared_in
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Derivative,
    For,
    If,
    Load,
    ParallelFor,
    Program,
    Ruled,
    Stmt,
    Store,
    While,
)
from difftile.ir.walk import array_of, walk


def last_writes(program: Program) -> Program:
    """Return the program without writes into arrays of a thread after their last load."""
    if not any(isinstance(stmt, Alloc) for stmt in walk(program.body)):
        return program
    block, _ = _without(program.body, frozenset())
    return replace(program, body=block)


def _without(block: Block, read: frozenset[Array]) -> tuple[Block, frozenset[Array]]:
    """Return a block without such writes, and the arrays that are read from its start on.

    Args:
        block: The block.
        read: The arrays that are read after it.
    """
    kept: list[Stmt] = []
    for stmt in reversed(block.stmts):
        changed = stmt
        match stmt:
            case Store(array=into) | Accumulate(array=into):
                if into.size is not None and into not in read:
                    continue
            case Load() | Combine():
                read |= {stmt.array}
            case Alloc():
                read -= {stmt.array}
            case If():
                then, first = _without(stmt.then, read)
                orelse, second = _without(stmt.orelse, read)
                changed = replace(stmt, then=then, orelse=orelse)
                read = first | second
            case For() | While() | ParallelFor():
                read |= _loaded(stmt)  # in the next iteration, too
                body, inner = _without(stmt.body, read)
                changed = replace(stmt, body=body)
                read |= inner
            case Ruled() | Derivative():
                read |= _loaded(stmt)
            case _:
                pass
        kept.append(changed)
    return replace(block, stmts=tuple(kept[::-1])), read


def _loaded(stmt: Stmt) -> frozenset[Array]:
    """Return the arrays that are read in a statement, and not declared there."""
    block = Block((stmt,))
    loaded: set[Array] = set()
    for one in walk(block):
        if isinstance(one, (Load, Combine)):
            loaded.add(one.array)
        # What a rule adds to a gradient goes on to what was written.
        array = array_of(one)
        if array is not None and array.gradient_of is not None:
            loaded.add(array.gradient_of)
    return frozenset(loaded - declared_in(block))
