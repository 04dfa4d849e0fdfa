"""Reductions: values that a serial loop carries and combines by one operation only.

Sums, maxima and minima do not depend on the order of the iterations, but for rounding.
"""

from __future__ import annotations

from difftile.ir.facts import free_variables
from difftile.ir.nodes import Block, For, If, Let, Value
from difftile.ir.walk import operands, regions

_OPS = {"add": "add", "sub": "add", "max": "max", "min": "min"}

_Found = dict[Value, tuple[int, str]]
"""The carry that a value follows from, and by which op; "" if it is the carry itself."""


def reductions(loop: For) -> tuple[str, ...] | None:
    """Return the op by which each carry takes up the values of iterations; None for other loops.

    The op is "add" (where values are subtracted, too), "max" or "min".
    """
    found: _Found = {carry: (k, "") for k, carry in enumerate(loop.carries)}
    if not _follow(loop.body, found):
        return None
    ops: list[str] = []
    for k, result in enumerate(loop.body.results):
        carry, op = found.get(result, (-1, ""))
        if carry != k:
            return None
        ops.append(op or "add")
    return tuple(ops)


def _follow(block: Block, found: _Found) -> bool:
    """Tell whether a block only reduces carries, and note which values follow from them."""
    for stmt in block.stmts:
        used = [v for v in operands(stmt) if v in found]
        match stmt:
            case Let(out, "add" | "sub" | "max" | "min" as op, (_, second)) if len(used) == 1:
                carry, before = found[used[0]]
                if before not in ("", _OPS[op]) or (op == "sub" and second in found):
                    return False
                found[out] = carry, _OPS[op]
            case If(outs=outs) if not used:
                if not all(_follow(region, found) for region in regions(stmt)):
                    return False
                sides = zip(outs, stmt.then.results, stmt.orelse.results, strict=True)
                for out, then, orelse in sides:
                    if then not in found and orelse not in found:
                        continue
                    one, other = found.get(then, (-1, "")), found.get(orelse, (-1, ""))
                    if one[0] != other[0] or len({one[1], other[1], ""}) > 2:
                        return False
                    found[out] = one[0], one[1] or other[1]
            case _:
                inside = {v for region in regions(stmt) for v in free_variables(region)}
                if used or not inside.isdisjoint(found):
                    return False
    return True
