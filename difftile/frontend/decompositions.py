"""`ti.svd`, `ti.sym_eig` and `ti.polar_decompose`, whose results come in one vector."""

from __future__ import annotations

import ast
from collections.abc import Callable

from difftile.frontend.construct import type_of
from difftile.frontend.context import Context
from difftile.frontend.convert import counted_arguments, floats
from difftile.frontend.items import Item, Tuple
from difftile.ir.nodes import Const, Value
from difftile.ir.types import F16, F32, I32, Matrix, scalar_of
from difftile.ops.build import zero


def decomposition(op: str, kinds: str) -> Callable[[Context, ast.Call, str], Item]:
    """Return the handler of a decomposition.

    Args:
        op: The op that computes it.
        kinds: What it returns: "m" a matrix, "v" a vector, "s" a vector as a diagonal matrix.
    """

    def handler(cx: Context, node: ast.Call, name: str) -> Item:
        matrix, *target = counted_arguments(cx, node, 1, 2)
        (value,) = floats(cx, [cx.numeric(matrix)])
        if target:
            value = cx.b.cast(value, scalar_of(type_of(cx, target[0])))
        half = scalar_of(value.type) == F16
        if half:
            value = cx.b.cast(value, F32)
        packed = cx.call(op, value)
        assert isinstance(value.type, Matrix)
        parts = _parts(cx, packed, value.type.n, kinds)
        return Tuple(tuple(cx.b.cast(part, F16) if half else part for part in parts))

    return handler


def _parts(cx: Context, packed: Value, n: int, kinds: str) -> list[Value]:
    parts: list[Value] = []
    at = 0
    for kind in kinds:
        size = n * n if kind == "m" else n
        cells = tuple(cx.call("extract", packed, Const(at + k, I32)) for k in range(size))
        at += size
        if kind == "v":
            parts.append(cx.call("vec", *cells))
            continue
        if kind == "s":
            nothing = zero(scalar_of(packed.type))
            cells = tuple(cells[i] if i == j else nothing for i in range(n) for j in range(n))
        parts.append(cx.b.matrix((n, n), cells))
    return parts
