"""The version of a field that a load reads: from before the stage, or from after it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from difftile.ir.facts import arrays_written, fact
from difftile.ir.nodes import Array, Block, Load, Var
from difftile.ir.walk import walk, with_blocks
from difftile.passes.precedence import final_loads, stale_loads


@fact
def late_loads(body: Block) -> frozenset[Var]:
    """Return the loads that find the contents of a field after the stage, and not before it.

    An earlier top-level statement of the stage has written the field, and the stage is cut so that
    no write to it follows; or the same statement has written the element, and does not do so later.
    """
    written: set[Array] = set()
    late: set[Var] = set()
    for stmt in body.stmts:
        one = Block((stmt,))
        late |= {s.out for s in walk(one) if isinstance(s, Load) and s.array in written}
        written |= arrays_written(one)
    stale = stale_loads(body)
    return frozenset(late | stale.keys() & final_loads(body) if stale else late)


def redirect(block: Block, chosen: Collection[Var], to: Mapping[Array, Array]) -> Block:
    """Return the block with the chosen loads reading from other arrays."""
    stmts = tuple(
        replace(stmt, array=to[stmt.array])
        if isinstance(stmt, Load) and stmt.out in chosen and stmt.array in to
        else with_blocks(stmt, lambda inner: redirect(inner, chosen, to))
        for stmt in block.stmts
    )
    return replace(block, stmts=stmts)
