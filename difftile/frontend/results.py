"""What a kernel returns: values that it leaves in memory, where Python reads them."""

from __future__ import annotations

import ast
from typing import cast, get_args

from difftile.diagnostics import CallMismatch, KernelError, TypeMismatch, UnsupportedSyntax, counted
from difftile.frontend.construct import as_declared
from difftile.frontend.context import Context, Result
from difftile.frontend.items import Item, Static, Tuple, describe
from difftile.frontend.joins import starts_as_number
from difftile.frontend.jumps import RETURNED
from difftile.ir.nodes import Array, Const
from difftile.ir.types import BOOL, I32, FieldType, Type
from difftile.ops.vocabulary import TypeName


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
    if node.value is not None:
        item = cx.operand(node.value)
        if not (isinstance(item, Static) and item.value is None):
            cx.result = _stored(cx, node.value, item)
            return
    check_declared(cx)


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
    """Return the object that stands behind the arrow; None if there is none."""
    function = cx.source.function
    given: object = function.__annotations__.get("return")
    if not isinstance(given, str):
        return given
    try:  # `from __future__ import annotations` leaves the text
        return eval(given, function.__globals__)
    except Exception:
        return given


def _stored(cx: Context, node: ast.expr, item: Item) -> Result:
    several = isinstance(item, Tuple)
    items = item.items if isinstance(item, Tuple) else (item,)
    nodes = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node] * len(items)
    types = _declared_types(cx, node, len(items), several=several)
    cells: list[Array] = []
    found: list[Type] = []
    for k, (part, where, type_) in enumerate(zip(items, nodes, types, strict=True)):
        with cx.at(where):
            if not starts_as_number(part):
                raise TypeMismatch(
                    cx.span(where),
                    "a kernel returns numbers, vectors and matrices.",
                    describe(part),
                )
            given = part if type_ is None else as_declared(cx, type_, where, part, "return")
            value = cx.value(given)
            name = "result" if len(items) == 1 else f"result_{k}"
            element = I32 if value.type == BOOL else value.type
            cell = Array(name, FieldType(element, 0))
            cx.temps.append(cell)
            cx.b.store(cell, (), cx.b.cast(value, I32) if value.type == BOOL else value)
            cells.append(cell)
            found.append(value.type)
    return Result(tuple(cells), tuple(found), several)


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
    found: list[Type] = []
    for part in single if parts is None else parts:
        meaning = cx.meanings(part)
        if not isinstance(meaning, TypeName):
            raise TypeMismatch(
                cx.span(written),
                "a type is wanted here, such as 'ti.f32'.",
                describe(Static(part)),
            )
        found.append(cx.float_type if meaning.type is None else meaning.type)
    return found
