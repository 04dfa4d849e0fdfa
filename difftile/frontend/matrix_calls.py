"""Matrices that are made by name: zeros, ones, units, diagonals, and decompositions."""

from __future__ import annotations

import ast
from collections.abc import Callable

from difftile.diagnostics import CallMismatch, TypeMismatch
from difftile.frontend.construct import type_of
from difftile.frontend.context import Context
from difftile.frontend.convert import counted_arguments, floats
from difftile.frontend.items import Item, Static, Tuple, describe, is_number
from difftile.ir.nodes import Const, Value
from difftile.ir.types import (
    BOOL,
    F16,
    F32,
    FLOATS,
    I32,
    Matrix,
    Scalar,
    Vector,
    scalar_of,
    shape_of,
)
from difftile.ops.build import zero
from difftile.ops.formula import composite


def constant_matrix(entry: Callable[[int, int], float]) -> Callable[..., Item]:
    """Return the handler of `ti.Matrix.identity(dt, n)`, `.zero(dt, n, m)` and `.one(dt, n, m)`."""

    def handler(cx: Context, node: ast.Call, name: str) -> Item:
        target, *sizes = counted_arguments(cx, node, 2, 3)
        scalar = scalar_of(type_of(cx, target))
        shape = [_size(cx, size) for size in sizes]
        identity = entry(0, 1) != entry(0, 0)
        if len(shape) == 1 and not identity:
            return Const(_number(entry(0, 0), scalar).value, Vector(shape[0], scalar))
        n, m = shape[0], shape[-1]
        parts = [_number(entry(i, j), scalar) for i in range(n) for j in range(m)]
        return cx.b.matrix((n, m), tuple(parts), name)

    return handler


def constant_like(number: int) -> Callable[..., Item]:
    """Return the handler of `ti.zero(x)` or `ti.one(x)`."""

    def handler(cx: Context, node: ast.Call, name: str) -> Item:
        (argument,) = counted_arguments(cx, node, 1, 1)
        with cx.b.region():  # the type alone matters
            type_ = cx.number(argument).type
        return Const(_number(number, scalar_of(type_)).value, type_)

    return handler


def eye_call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.math.eye(n)`."""
    (size,) = counted_arguments(cx, node, 1, 1)
    return _diagonal(cx, _size(cx, size), Const(1.0, cx.float_type), name)


def diagonal_call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.Matrix.diag(dim, val)`, where both may be given by name."""
    given = {k.arg: k.value for k in node.keywords}
    given |= dict(zip(("dim", "val"), node.args, strict=False))
    if given.keys() != {"dim", "val"} or len(node.args) + len(node.keywords) != 2:
        raise CallMismatch(
            cx.span(node),
            f"'{ast.unparse(node.func)}' takes a size and a number.",
            "write 'ti.Matrix.diag(3, 1.0)'.",
        )
    item = cx.numeric(given["val"])
    value = cx.value(item)
    if scalar_of(value.type) == BOOL:
        (value,) = floats(cx, [item])
    return _diagonal(cx, _size(cx, given["dim"]), value, name)


def unit_call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.Vector.unit(n, i, dt)`, which is of integers where no type is given."""
    size, where, *target = counted_arguments(cx, node, 2, 3)
    n = _size(cx, size)
    position = cx.operand(where)
    at = position.value if isinstance(position, Static) and is_number(position) else None
    if not isinstance(at, int) or not 0 <= at < n:
        raise TypeMismatch(
            cx.span(where),
            f"expected an index from 0 to {n - 1} that is known while compiling.",
            describe(position),
        )
    scalar = scalar_of(type_of(cx, target[0])) if target else I32
    return cx.call("vec", *(_number(k == at, scalar) for k in range(n)), name=name)


def _diagonal(cx: Context, n: int, value: Value, name: str) -> Value:
    nothing = _number(0, scalar_of(value.type))
    parts = tuple(value if i == j else nothing for i in range(n) for j in range(n))
    return cx.b.matrix((n, n), parts, name)


def _number(number: float, scalar: Scalar) -> Const:
    return Const(float(number) if scalar in FLOATS else int(number), scalar)


def _size(cx: Context, node: ast.expr) -> int:
    item = cx.operand(node)
    if isinstance(item, Static) and isinstance(item.value, int) and item.value > 0:
        return item.value
    raise TypeMismatch(
        cx.span(node), "a size is a positive integer that is known while compiling.", describe(item)
    )


def decomposition(op: str, kinds: str) -> Callable[[Context, ast.Call, str], Item]:
    """Return the handler of `ti.svd`, `ti.sym_eig` or `ti.polar_decompose`.

    Args:
        op: The op that computes it, with all results in one vector.
        kinds: The results: "m" a matrix, "v" a vector, "s" a vector as a diagonal matrix.
    """

    def handler(cx: Context, node: ast.Call, name: str) -> Item:
        value, half = _decomposed(cx, node)
        packed = cx.call(op, value)
        assert isinstance(value.type, Matrix)
        n = value.type.n
        nothing = zero(scalar_of(packed.type))
        parts: list[Value] = []
        at = 0
        for kind in kinds:
            size = n * n if kind == "m" else n
            cells = tuple(cx.call("extract", packed, Const(at + k, I32)) for k in range(size))
            at += size
            if kind == "s":
                cells = tuple(cells[i] if i == j else nothing for i in range(n) for j in range(n))
            made = cx.call("vec", *cells) if kind == "v" else cx.b.matrix((n, n), cells)
            parts.append(made)
        return Tuple(tuple(cx.b.cast(part, F16) if half else part for part in parts))

    return handler


def eig_call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.eig(A)`: complex numbers in rows of two, eigenvectors in columns of pairs."""
    value, half = _decomposed(cx, node)
    if shape_of(value.type) != (2, 2):
        raise TypeMismatch(
            cx.span(node),
            f"'{ast.unparse(node.func)}' takes a 2x2 matrix.",
            f"{value.type}",
            hint="use 'ti.sym_eig', which takes a symmetric 3x3 matrix too.",
        )
    a, b, c, d = (cx.call("extract", value, *_at(i, j)) for i in range(2) for j in range(2))
    scalar = scalar_of(value.type)
    m, p = (cx.call("mul", Const(0.5, scalar), cx.call(op, a, d)) for op in ("add", "sub"))
    w = cx.call("add", cx.call("mul", p, p), cx.call("mul", b, c))
    signs = (Const(1.0, scalar), Const(-1.0, scalar))
    values = [composite(cx.b, "eig_value", (m, w, s)) for s in signs]
    vectors = [composite(cx.b, "eig_vector", (p, w, b, c, s)) for s in signs]
    rows = [cx.call("extract", v, *_at(k)) for v in values for k in range(2)]
    columns = [cx.call("extract", v, *_at(k)) for k in range(4) for v in vectors]
    parts = (cx.b.matrix((2, 2), tuple(rows)), cx.b.matrix((4, 2), tuple(columns)))
    return Tuple(tuple(cx.b.cast(part, F16) if half else part for part in parts))


def _at(*index: int) -> tuple[Const, ...]:
    return tuple(Const(k, I32) for k in index)


def _decomposed(cx: Context, node: ast.Call) -> tuple[Value, bool]:
    """Return the matrix that is given, and whether its factors are of half precision."""
    matrix, *target = counted_arguments(cx, node, 1, 2)
    (value,) = floats(cx, [cx.numeric(matrix)])
    if target:
        value = cx.b.cast(value, scalar_of(type_of(cx, target[0])))
    half = scalar_of(value.type) == F16
    return (cx.b.cast(value, F32) if half else value), half
