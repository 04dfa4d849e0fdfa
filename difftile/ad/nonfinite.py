"""Values that may be infinite or NaN where they are not used.

`1 / x` computed before a branch that avoids x = 0 is such a value, and so is all that follows
from it. Where an adjoint may be zero only because a value was not taken, multiplying it by a
suspect must still give zero.
"""

from __future__ import annotations

from difftile.ir.nodes import Block, For, If, Let, Program, Ruled, Value, Var, While
from difftile.ir.walk import regions
from difftile.ops.table import OPS


def possibly_nonfinite(program: Program) -> set[Var]:
    """Return the values that follow from an op whose result or slope can be infinite."""
    return possibly_nonfinite_in(program.body)


def possibly_nonfinite_in(block: Block) -> set[Var]:
    """Return those of a block."""
    found: set[Var] = set()
    while True:
        before = len(found)
        _block(block, found)
        if len(found) == before:
            return found


def _any(values: tuple[Value, ...], found: set[Var]) -> bool:
    return any(isinstance(value, Var) and value in found for value in values)


def _block(block: Block, found: set[Var]) -> None:
    for stmt in block.stmts:
        for region in regions(stmt):
            _block(region, found)
        match stmt:
            case Let(out, op, args):
                if OPS[op].singular or _any(args, found):
                    found.add(out)
            case If(then=then, orelse=orelse, outs=outs):
                for out, *results in zip(outs, then.results, orelse.results, strict=True):
                    if _any(tuple(results), found):
                        found.add(out)
            case Ruled(outs=outs, body=body):
                for out, result in zip(outs, body.results, strict=True):
                    if _any((result,), found):
                        found.add(out)
            case For() | While():
                for carry, init, result, out in zip(
                    stmt.carries, stmt.inits, stmt.body.results, stmt.outs, strict=True
                ):
                    if _any((init, result), found):
                        found.update((carry, out))
            case _:
                pass
