"""Assignment: to names, to elements of fields, and to parts of both."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from difftile.diagnostics import KernelError, TypeMismatch, counted
from difftile.frontend.context import Context
from difftile.frontend.convert import assignable
from difftile.frontend.indexing import attribute_of, element_part, subscript_of
from difftile.frontend.items import (
    Element,
    FieldRef,
    Item,
    Part,
    Selection,
    Static,
    describe,
    is_number,
    subscripted,
)
from difftile.frontend.names import lookup, parts_of
from difftile.frontend.parts import (
    cells_of,
    part_type,
    read,
    replaced,
    subscripted_part,
    swizzled,
    whole,
)
from difftile.ir.build import element_type
from difftile.ir.nodes import Const, Value, Var
from difftile.ir.types import I32, Type, Vector, shape_of


@dataclass(frozen=True, slots=True)
class LocalPart:
    """A part of a local vector or matrix.

    Args:
        root: The name of the local.
        value: The vector or matrix.
        part: Its components that are meant.
    """

    root: ast.Name
    value: Value
    part: Part

    @property
    def type(self) -> Type:
        """The type of the part."""
        return part_type(self.part, self.value.type)


def place_of(cx: Context, node: ast.expr) -> LocalPart | Item:
    """Return what stands left of a '='; each index in it is lowered once."""
    with cx.at(node):
        match node:
            case ast.Name():
                item = lookup(cx, node)
                if isinstance(item, (Var, Const)) and shape_of(item.type):
                    return LocalPart(node, item, whole(item.type))
                return item
            case ast.Subscript(value=owner):
                place = place_of(cx, owner)
                if not isinstance(place, LocalPart):
                    return subscript_of(cx, node, place)
                part = subscripted_part(cx, place.part, node.slice, place.type)
                return LocalPart(place.root, place.value, part)
            case ast.Attribute(value=owner):
                place = place_of(cx, owner)
                if not isinstance(place, LocalPart):
                    return attribute_of(cx, node, place)
                part = swizzled(place.part, node.attr, place.type)
                if part is None:
                    raise TypeMismatch(
                        cx.source.attribute_span(node),
                        f"'{node.attr}' is not a component of {place.type}.",
                    )
                return LocalPart(place.root, place.value, part)
            case _:
                return cx.expr(node)


def assign_to(cx: Context, target: ast.expr, item: Item, value: ast.expr, stmt: ast.stmt) -> None:
    """Bind a name, or store into a field or a part of a local.

    Args:
        cx: The context.
        target: What stands left of the '='.
        item: What is assigned.
        value: Its expression, for errors.
        stmt: The statement.
    """
    with cx.at(target):
        match target:
            case ast.Name(name):
                with cx.at(value):
                    cx.bind(name, cx.value(item) if is_number(item) else item, stmt)
            case ast.Tuple(elts) | ast.List(elts):
                starred = next((e for e in elts if isinstance(e, ast.Starred)), None)
                if starred is not None:
                    raise cx.refusal(starred)
                parts = _unpacked(cx, value, item, target, len(elts))
                nodes = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
                for k, (part, one) in enumerate(zip(elts, parts, strict=True)):
                    where = nodes[k] if len(nodes) == len(parts) else value
                    assign_to(cx, part, one, where, stmt)
            case ast.Subscript() | ast.Attribute():
                put(cx, target, place_of(cx, target), item, value, stmt)
            case _:
                raise cx.refusal(target)


def _unpacked(
    cx: Context, value: ast.expr, item: Item, target: ast.expr, count: int
) -> Sequence[Item]:
    parts: Sequence[Item] | None = parts_of(cx, item)
    if isinstance(item, (Var, Const)) and isinstance(item.type, Vector):
        parts = [cx.call("extract", item, Const(k, I32)) for k in range(item.type.n)]
    if parts is None:
        raise TypeMismatch(cx.span(value), f"{describe(item)} cannot be unpacked.")
    if len(parts) != count:
        names = counted(count, "name")
        raise TypeMismatch(cx.span(target), f"{names} for {counted(len(parts), 'value')}.")
    return parts


def put(
    cx: Context,
    target: ast.expr,
    place: LocalPart | Item,
    item: Item,
    value: ast.expr,
    stmt: ast.stmt,
) -> None:
    """Assign an item to the place that a subscript or attribute stands for.

    Raises:
        KernelError: It is none that can be assigned to, or holds another type.
    """
    match place:
        case LocalPart(root, _, part):
            _check_local(cx, root, target)
            _check_distinct(cx, target, part)
            stored = assignable(cx, value, item, place.type, f"'{root.id}'")
            # The right side may have changed another part of it.
            now = cx.value(lookup(cx, root))
            cx.bind(root.id, replaced(cx, now, part, stored, root.id), stmt)
        case Element(repeated=True) | Selection(repeated=True):
            raise TypeMismatch(
                cx.span(target),
                f"'{place.array.name}' is a view that repeats elements, which is not stored to.",
                "other indices stand for this element too",
                hint="add with '+=', or write to the field that the view was made of.",
            )
        case Element(array, index):
            type_ = element_type(array, index)
            cx.b.store(array, index, assignable(cx, value, item, type_, f"'{array.name}'"))
        case Selection(array, index, part):
            _check_distinct(cx, target, part)
            _, type_ = element_part(place)
            stored = assignable(cx, value, item, type_, f"'{array.name}'")
            for cell, one in cells_of(cx, part, stored):
                cx.b.store(array, (*index, *cell), one)
        case _:
            raise _unassignable(cx, target, place)


def accumulate(
    cx: Context, place: Element | Selection, node: ast.expr, item: Item, *, negate: bool
) -> None:
    """Append `place += item`, or `-=`."""
    _, type_ = element_part(place)
    value = assignable(cx, node, item, type_, f"'{place.array.name}'")
    if negate:
        value = cx.call("neg", value)
    if isinstance(place, Element):
        cx.b.accumulate(place.array, place.index, value)
        return
    for cell, one in cells_of(cx, place.part, value):
        cx.b.accumulate(place.array, (*place.index, *cell), one)


def current(cx: Context, place: LocalPart | Item) -> Value:
    """Return what a place holds."""
    return read(cx, place.value, place.part) if isinstance(place, LocalPart) else cx.value(place)


def _check_local(cx: Context, root: ast.Name, target: ast.expr) -> None:
    if root.id not in cx.env:
        raise KernelError(
            f"'{root.id}' comes from outside the kernel.",
            cx.span(target),
            "cannot be assigned to",
            hint="copy it into a local first, or use a field.",
        )


def _check_distinct(cx: Context, target: ast.expr, part: Part) -> None:
    """Check that `v.xx = w` does not give one component two values."""
    for axis in part.axes:
        known = [at.value for at in axis if isinstance(at, Const)]
        if len(set(known)) < len(known):
            raise TypeMismatch(cx.span(target), "this names one component twice.")


def _unassignable(cx: Context, target: ast.expr, place: Item) -> KernelError:
    hint = "assign to an element of a field, a component of a vector, or a local."
    owner = target.value if isinstance(target, (ast.Subscript, ast.Attribute)) else target
    if isinstance(cx.expr(owner), Static):
        hint = "Python objects do not change in a kernel; store the value in a field."
    if isinstance(place, FieldRef):
        hint = f"assign to an element: '{subscripted(place)} = ...'."
    return TypeMismatch(cx.span(target), f"{describe(place)} cannot be assigned to.", hint=hint)
