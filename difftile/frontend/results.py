"""The results of a kernel: values that it leaves in memory, where Python reads them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast, get_args

from difftile.diagnostics import CallMismatch, KernelError, TypeMismatch, UnsupportedSyntax, counted
from difftile.frontend.construct import as_declared, type_named
from difftile.frontend.context import Context, Result
from difftile.frontend.items import Item, Static, Tuple, describe
from difftile.frontend.joins import starts_as_number
from difftile.frontend.jumps import RETURNED
from difftile.frontend.returns import always_returns
from difftile.ir.nodes import Array, Const, Value
from difftile.ir.types import BOOL, FLOATS, I32, FieldType, Type, scalar_of, shape_of


def kernel_return(cx: Context, node: ast.Return) -> None:
    """Lower a `return` of a kernel, which may stand in a branch or a serial loop.

    Raises:
        UnsupportedSyntax: It stands in a parallel loop.
        KernelError: Another `return` gives other results.
    """
    if cx.scope.axes and not cx.scope.alone:
        raise UnsupportedSyntax(
            cx.keyword_span(node),
            "'return' in a parallel loop of a kernel",
            "write 'continue' to end one iteration; or put 'ti.loop_config(serialize=True)' before "
            "the loop.",
        )
    cx.env[RETURNED] = Const(True, BOOL)
    where = node.value
    item = Static(None) if where is None else cx.operand(where)
    several = isinstance(item, Tuple)
    items = item.items if isinstance(item, Tuple) else (item,)
    if where is None or (isinstance(item, Static) and item.value is None):
        items = ()
    result = cx.result
    if result is not None and (result.several, len(result.types)) != (several, len(items)):
        raise _disagree(cx, node)
    if where is None or not items:
        check_declared(cx)
        cx.result = Result((), (), several=False)
        return
    nodes = where.elts if isinstance(where, (ast.Tuple, ast.List)) else [where] * len(items)
    types: Sequence[Type | None] = _declared_types(cx, where, len(items), several=several)
    if result is not None:  # of a `return` before this one
        types = result.types
    values: list[Value] = []
    for one, part, type_ in zip(nodes, items, types, strict=True):
        with cx.at(one):
            if not starts_as_number(part):
                what = "a kernel returns numbers, vectors and matrices."
                raise TypeMismatch(cx.span(one), what, describe(part))
            values.append(cx.value(_as_result(cx, node, type_, one, part)))
    if result is None:
        names = [f"result_{k}" for k in range(len(items))] if len(items) > 1 else ["result"]
        held = [I32 if value.type == BOOL else value.type for value in values]
        cells = tuple(
            Array(name, FieldType(type_, 0)) for name, type_ in zip(names, held, strict=True)
        )
        cx.temps += cells
        result = cx.result = Result(cells, tuple(value.type for value in values), several)
    for one, cell, value in zip(nodes, result.cells, values, strict=True):
        with cx.at(one):
            cx.b.store(cell, (), cx.b.cast(value, I32) if value.type == BOOL else value)


def _as_result(
    cx: Context, node: ast.Return, type_: Type | None, where: ast.expr, part: Item
) -> Item:
    """Return a result in the type that is declared, or that an earlier `return` has given it."""
    if type_ is None:
        return part
    if _declared(cx) is None:
        given = cx.value(part, type_).type
        loses = scalar_of(type_) not in FLOATS and scalar_of(given) in FLOATS
        if loses or shape_of(given) != shape_of(type_):
            raise _disagree(cx, node)
    return as_declared(cx, type_, where, part, "return")


def _disagree(cx: Context, node: ast.Return) -> KernelError:
    return KernelError(
        f"Kernel '{cx.source.name}' returns one thing here and another elsewhere.",
        cx.span(node),
        hint="return values of the same types on every path: 'return 0.0' beside 'return x[0]'.",
    )


def check_declared(cx: Context) -> None:
    """Check that a kernel that ends without a value has declared none.

    Raises:
        KernelError: It has.
    """
    written = cx.source.tree.returns
    if written is not None and _declared(cx) is not None:
        raise KernelError(
            f"Kernel '{cx.source.name}' declares a result and returns none.",
            cx.span(written),
            "declared here",
            hint="end it with 'return ...', or leave the annotation out.",
        )


def finished(cx: Context) -> Result | None:
    """Return the results of a kernel that has been lowered.

    Raises:
        KernelError: It returns none and declares some, or it returns a value on some paths only.
    """
    if cx.result is None:
        check_declared(cx)
    if cx.result is None or not cx.result.cells:
        return None
    body, flag = cx.source.tree.body, cx.env.get(RETURNED)
    if not always_returns(body) and not (isinstance(flag, Const) and flag.value):
        raise KernelError(
            f"Kernel '{cx.source.name}' returns a value on some paths only.",
            cx.keyword_span(body[-1]),
            "the end of the kernel can be reached without 'return'",
            hint="end the kernel with a 'return'.",
        )
    return cx.result


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
