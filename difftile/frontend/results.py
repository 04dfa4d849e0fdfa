"""The results of a kernel: values that it leaves in memory, where Python reads them."""

from __future__ import annotations

import ast
from typing import cast, get_args

from difftile.diagnostics import CallMismatch, KernelError, TypeMismatch, UnsupportedSyntax, counted
from difftile.frontend.construct import as_declared, type_named
from difftile.frontend.context import Context, Result
from difftile.frontend.items import Static, Tuple, describe
from difftile.frontend.joins import starts_as_number
from difftile.frontend.jumps import RETURNED
from difftile.ir.nodes import Array, Const
from difftile.ir.types import BOOL, I32, FieldType, Type


def kernel_return(cx: Context, node: ast.Return) -> None:
    """Lower the `return` of a kernel.

    Raises:
        UnsupportedSyntax: It stands in a loop or a branch, where Taichi refuses it too.
    """
    if not cx.scope.top_level:
        raise UnsupportedSyntax(
            cx.keyword_span(node),
            "'return' in a loop or branch of a kernel",
            "set a local there and return it at the end, or write a '@dt.func' that returns early."
            if node.value is not None
            else "put an 'if' around what follows, or write 'continue' to end one iteration.",
        )
    cx.env[RETURNED] = Const(True, BOOL)
    item = Static(None) if node.value is None else cx.operand(node.value)
    if node.value is None or (isinstance(item, Static) and item.value is None):
        check_declared(cx)
        return
    several = isinstance(item, Tuple)
    items = item.items if isinstance(item, Tuple) else (item,)
    where = node.value
    nodes = where.elts if isinstance(where, (ast.Tuple, ast.List)) else [where] * len(items)
    types = _declared_types(cx, where, len(items), several=several)
    names = [f"result_{k}" for k in range(len(items))] if len(items) > 1 else ["result"]
    cells: list[Array] = []
    found: list[Type] = []
    for name, one, part, type_ in zip(names, nodes, items, types, strict=True):
        with cx.at(one):
            if not starts_as_number(part):
                what = "a kernel returns numbers, vectors and matrices."
                raise TypeMismatch(cx.span(one), what, describe(part))
            given = part if type_ is None else as_declared(cx, type_, one, part, "return")
            value = cx.value(given)
            found.append(value.type)
            if value.type == BOOL:
                value = cx.b.cast(value, I32)
            cells.append(Array(name, FieldType(value.type, 0)))
            cx.temps.append(cells[-1])
            cx.b.store(cells[-1], (), value)
    cx.result = Result(tuple(cells), tuple(found), several)


def check_declared(cx: Context) -> None:
    """Check that a kernel that ends without a value has declared none.

    Raises:
        KernelError: It has.
    """
    written = cx.source.tree.returns
    if cx.result is None and written is not None and _declared(cx) is not None:
        raise KernelError(
            f"Kernel '{cx.source.name}' declares a result and returns none.",
            cx.span(written),
            "declared here",
            hint="end it with 'return ...', or leave the annotation out.",
        )


def _declared(cx: Context) -> object:
    """Return the object after the arrow, or None."""
    function = cx.source.function
    given: object = function.__annotations__.get("return")
    if not isinstance(given, str):
        return given
    try:  # `from __future__ import annotations` leaves the text
        return eval(given, function.__globals__)
    except Exception:
        return given


def _declared_types(
    cx: Context, node: ast.expr, count: int, *, several: bool
) -> list[Type] | list[None]:
    """Return the declared type of each value.

    Raises:
        CallMismatch: There are more or fewer of them.
        TypeMismatch: One is no type.
    """
    declared = _declared(cx)
    if declared is None:
        return [None] * count
    single: tuple[object, ...] = (declared,)
    parts: tuple[object, ...] | None = get_args(declared) or None
    if isinstance(declared, tuple):
        parts = cast("tuple[object, ...]", declared)
    written = cx.source.tree.returns
    assert written is not None
    if (parts is not None) != several or (parts is not None and len(parts) != count):
        raise CallMismatch(
            cx.span(node),
            f"kernel '{cx.source.name}' declares another number of results than "
            f"{counted(count, 'value')}.",
            f"it declares '{ast.unparse(written)}'.",
        )
    named = single if parts is None else parts
    return [type_named(cx, written, Static(part)) for part in named]
