"""Values that may be infinite or NaN where they are not used.

`1 / x` computed before a branch that avoids x = 0 is such a value, and so is all that follows
from it. Where an adjoint may be zero only because a value was not taken, its product with
such a value must still be zero.
"""

from __future__ import annotations

from difftile.ir.dataflow import Dataflow
from difftile.ir.nodes import Block, Let, Program, Ruled, Stmt, Var
from difftile.ir.walk import regions
from difftile.ops.table import OPS


def possibly_nonfinite(program: Program) -> set[Var]:
    """Return the values that follow from an op whose result or slope can be infinite."""
    return possibly_nonfinite_in(program.body)


def possibly_nonfinite_in(block: Block) -> set[Var]:
    """Return the same for a block."""
    nonfinite = _Nonfinite(False)
    nonfinite.block(block, False)
    return set(nonfinite.facts)


class _Nonfinite(Dataflow[bool]):
    def transfer(self, stmt: Stmt, control: bool) -> bool | None:
        match stmt:
            case Let(op=op, args=args):
                return OPS[op].singular or self.of(*args)
            case Ruled(outs=outs, body=body):
                for region in regions(stmt):
                    self.block(region, False)
                for out, result in zip(outs, body.results, strict=True):
                    self.define(out, self.of(result))
                return False
            case _:
                return None
