"""`ti.atomic_add` and its like, as statements and as expressions that give the value before."""

from __future__ import annotations

import ast
from collections.abc import Callable

from difftile.diagnostics import TypeMismatch
from difftile.frontend.assign import accumulate
from difftile.frontend.context import Context
from difftile.frontend.convert import assignable, counted_arguments
from difftile.frontend.items import (
    Element,
    FieldRef,
    Item,
    Selection,
    Static,
    describe,
    is_number,
    subscripted,
)
from difftile.ir.build import element_type
from difftile.ir.nodes import Var
from difftile.ir.types import FLOATS, scalar_of

_OPS = {
    **{name: name for name in ("add", "mul", "max", "min")},
    **{name: f"bit_{name}" for name in ("and", "or", "xor")},
    "sub": "add",
}


def atomic_statement(cx: Context, node: ast.Call, special: str) -> None:
    """Lower `ti.atomic_add(x[i], v)` and its like as statements."""
    target, value = _target(cx, node)
    sign = special.removeprefix("atomic_")
    if sign in ("add", "sub"):
        accumulate(cx, target, value, cx.numeric(value), negate=sign == "sub")
    else:
        _combine(cx, node, sign, target, value, None)


def _value(sign: str) -> Callable[..., Item]:
    """Return the handler of an atomic operation as an expression: the value before it."""

    def handler(cx: Context, node: ast.Call, name: str) -> Item:
        target, value = _target(cx, node)
        return _combine(cx, node, sign, target, value, name)

    return handler


def _combine(
    cx: Context,
    node: ast.Call,
    sign: str,
    target: Element | Selection,
    value: ast.expr,
    name: str | None,
) -> Item:
    if isinstance(target, Selection):
        raise TypeMismatch(
            cx.span(node.args[0]),
            "several components at once are changed by 'ti.atomic_add' as a statement alone.",
            hint="write one line for each component.",
        )
    cx.check_write(target.array, adds=sign == "add" and name is None)
    type_ = element_type(target.array, target.index)
    given = assignable(cx, value, cx.numeric(value), type_, f"'{target.array.name}'")
    op = _OPS[sign]
    if op.startswith("bit_") and scalar_of(type_) in FLOATS:
        raise TypeMismatch(cx.span(node), f"'ti.atomic_{sign}' takes integers.", f"{type_}")
    if sign == "sub":
        given = cx.call("neg", given)
    out = None if name is None else Var(name, type_)
    cx.b.combine(op, target.array, target.index, given, out)
    return Static(None) if out is None else out


def combines(cx: Context, place: Element, op: str, item: Item) -> bool:
    """Tell whether `place op= item` is one step that iterations may share."""
    if place.repeated:
        return False
    held = scalar_of(element_type(place.array, place.index))
    given = held if is_number(item) else scalar_of(cx.value(item).type)
    if held not in FLOATS:
        return op != "div" and given not in FLOATS and not _is_float(item)
    return given not in FLOATS or FLOATS.index(given) <= FLOATS.index(held)


def _is_float(item: Item) -> bool:
    return isinstance(item, Static) and isinstance(item.value, float)


def combine(cx: Context, place: Element, op: str, node: ast.expr, item: Item) -> None:
    """Append `place op= item` as one step."""
    cx.check_write(place.array, adds=False)
    type_ = element_type(place.array, place.index)
    value = assignable(cx, node, item, type_, f"'{place.array.name}'")
    cx.b.combine(op, place.array, place.index, value)


def _target(cx: Context, node: ast.Call) -> tuple[Element | Selection, ast.expr]:
    """Return the element that an atomic operation changes, and the expression of the value."""
    place, value = counted_arguments(cx, node, 2, 2)
    cell = cx.reductions.get(place.id) if isinstance(place, ast.Name) else None
    target = Element(cell, ()) if cell is not None else cx.expr(place)
    if not isinstance(target, (Element, Selection)):
        raise TypeMismatch(
            cx.span(place),
            "an element of a field is wanted here.",
            describe(target),
            hint=f"write '{subscripted(target)}'."
            if isinstance(target, FieldRef)
            else "for a local write 'name += value', or 'name = max(name, value)'.",
        )
    return target, value


ATOMICS: dict[str, Callable[[Context, ast.Call, str], Item]] = {
    f"atomic_{sign}": _value(sign) for sign in _OPS
}
