"""`ti.atomic_add` and its like, as statements and as expressions that give the value before."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from difftile.diagnostics import TypeMismatch
from difftile.frontend.assign import accumulate, place_of, put
from difftile.frontend.components import assigned_cells, place_type
from difftile.frontend.context import Context
from difftile.frontend.convert import assignable, counted_arguments
from difftile.frontend.items import (
    Element,
    FieldRef,
    Item,
    Place,
    Static,
    describe,
    element_text,
    is_number,
)
from difftile.frontend.joins import starts_as_number
from difftile.ir.nodes import Value, Var
from difftile.ir.types import FLOATS, I8, U8, Type, scalar_of

_OPS = {
    **{name: name for name in ("add", "mul", "max", "min")},
    **{name: f"bit_{name}" for name in ("and", "or", "xor")},
    "sub": "add",
}


def atomic(cx: Context, node: ast.Call, name: str | None, *, sign: str) -> Item:
    """Lower `ti.atomic_add(x[i], v)` and its like.

    Args:
        cx: The context.
        node: The call.
        name: A name for the value before, which is returned; None for a statement.
        sign: The operation: 'add', 'sub', 'max' ...
    """
    where, value = counted_arguments(cx, node, 2, 2)
    cell = cx.scope.reductions.get(where.id) if isinstance(where, ast.Name) else None
    place = Place(Element(cell, ())) if cell is not None else place_of(cx, where)
    if not isinstance(place, Place) or not isinstance(place.at, Element):
        is_local = isinstance(where, ast.Name) and where.id in cx.env and starts_as_number(place)
        if is_local or isinstance(place, Place):
            return _on_local(cx, node, where, place, value, sign)
        raise TypeMismatch(
            cx.span(where),
            "expected an element of a field, or a local.",
            describe(place),
            hint=f"write '{element_text(place)}'." if isinstance(place, FieldRef) else None,
        )
    negate = sign == "sub"
    if name is None and sign in ("add", "sub"):
        accumulate(cx, place.at, place.components, value, cx.numeric(value), negate=negate)
        return Static(None)
    if place.at.array.size is not None:
        return _on_local(cx, node, where, place, value, sign)
    if not place.is_single:
        raise TypeMismatch(
            cx.span(where),
            "only 'ti.atomic_add' as a statement changes several components at once.",
            hint="write one line for each component.",
        )
    array, op = place.at.array, _OPS[sign]
    cx.check_write(array, adds=sign == "add" and name is None)
    type_ = place_type(cx, place)
    given = assignable(cx, value, cx.numeric(value), type_, f"'{array.name}'")
    if sign in ("max", "min") and scalar_of(type_) in (I8, U8):
        what = f"'ti.atomic_{sign}' takes no elements of 8 bits."
        raise TypeMismatch(cx.span(node), what, f"{type_}", hint="make it a field of 'ti.i32'.")
    _check_bits(cx, node, sign, type_)
    if negate:
        given = cx.call("neg", given)
    out = None if name is None else Var(name, type_)
    for inside, one in assigned_cells(cx, place.components, given):
        cx.b.combine(op, array, (*place.at.index, *inside), one, out)
    return Static(None) if out is None else out


def _on_local(
    cx: Context, node: ast.Call, where: ast.expr, place: Item, value: ast.expr, sign: str
) -> Value:
    """Change a local, which belongs to one thread, and return its value from before."""
    old = cx.value(place)
    given = assignable(cx, value, cx.numeric(value), old.type, f"'{ast.unparse(where)}'")
    _check_bits(cx, node, sign, old.type)
    new = cx.call("sub" if sign == "sub" else _OPS[sign], old, given)
    if isinstance(where, ast.Name):
        cx.bind(where.id, new, node)
    else:
        put(cx, where, place, new, value, node)
    return old


def _check_bits(cx: Context, node: ast.Call, sign: str, type_: Type) -> None:
    if _OPS[sign].startswith("bit_") and scalar_of(type_) in FLOATS:
        raise TypeMismatch(cx.span(node), f"'ti.atomic_{sign}' takes integers.", f"{type_}")


def combine(cx: Context, place: Place, op: str, node: ast.expr, item: Item) -> bool:
    """Append `place op= item` as one step that iterations may share, where there is one."""
    element = place.at
    if not isinstance(element, Element) or element.repeated or not place.is_single:
        return False
    if element.array.size is not None:
        return False
    type_ = place_type(cx, place)
    held = scalar_of(type_)
    given = held if is_number(item) else scalar_of(cx.value(item).type)
    is_float = given in FLOATS or (isinstance(item, Static) and isinstance(item.value, float))
    if held not in FLOATS and (op == "div" or is_float):
        return False
    if held in FLOATS and given in FLOATS and FLOATS.index(given) > FLOATS.index(held):
        return False
    cx.check_write(element.array, adds=False)
    value = assignable(cx, node, item, type_, f"'{element.array.name}'")
    for inside, one in assigned_cells(cx, place.components, value):
        cx.b.combine(op, element.array, (*element.index, *inside), one)
    return True


ATOMICS: dict[str, Callable[[Context, ast.Call, str | None], Item]] = {
    f"atomic_{sign}": partial(atomic, sign=sign) for sign in _OPS
}
