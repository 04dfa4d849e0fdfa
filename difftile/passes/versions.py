"""The version of a field that a load reads: from before the stage, or from after it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from difftile.ir.nodes import Array, Block, Load, Program, Var
from difftile.ir.walk import arrays_written, walk, with_blocks


def late_loads(program: Program) -> frozenset[Var]:
    """Return the loads from fields that an earlier top-level statement of the stage has written.

    A stage is cut so that no write to such a field follows: they read its final contents.
    """
    written: set[Array] = set()
    late: set[Var] = set()
    for stmt in program.body.stmts:
        one = Block((stmt,))
        late |= {s.out for s in walk(one) if isinstance(s, Load) and s.array in written}
        written |= arrays_written(one)
    return frozenset(late)


def redirect(block: Block, chosen: Collection[Var], to: Mapping[Array, Array]) -> Block:
    """Return the block with the chosen loads reading from other arrays."""
    stmts = tuple(
        replace(stmt, array=to[stmt.array])
        if isinstance(stmt, Load) and stmt.out in chosen and stmt.array in to
        else with_blocks(stmt, lambda inner: redirect(inner, chosen, to))
        for stmt in block.stmts
    )
    return replace(block, stmts=stmts)
