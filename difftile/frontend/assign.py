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
    Record,
    Selection,
    Static,
    describe,
    is_number,
    leaves,
    subscripted,
)
from difftile.frontend.joins import holds_numbers
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
from difftile.ir.types import BOOL, I32, Vector, scalar_of, shape_of


@dataclass(frozen=True, slots=True)
class LocalPart:
    """A part of a local: a member of a struct, components of a vector or matrix, or both.

    Args:
        root: The name of the local.
        members: The way through nested structs, outermost first.
        item: The struct, vector or matrix there.
        part: Its components that are meant; None for all of it.
    """

    root: ast.Name
    members: tuple[int, ...]
    item: Item
    part: Part | None = None


def place_of(cx: Context, node: ast.expr) -> LocalPart | Item:
    """Return what stands left of a '='; each index in it is lowered once."""
    with cx.at(node):
        match node:
            case ast.Name():
                item = lookup(cx, node)
                return LocalPart(node, (), item) if _has_parts(item) else item
            case ast.Subscript(value=owner) | ast.Attribute(value=owner):
                place = place_of(cx, owner)
                if isinstance(place, LocalPart):
                    return _narrowed(cx, node, place)
                if isinstance(node, ast.Subscript):
                    return subscript_of(cx, node, place)
                return attribute_of(cx, node, place)
            case _:
                return cx.expr(node)


def _has_parts(item: Item) -> bool:
    """Tell whether parts of a local can be replaced: it is a struct, vector or matrix."""
    if isinstance(item, Record):
        in_memory = (FieldRef, Element, Selection)
        return not all(isinstance(leaf, in_memory) for leaf in leaves(item))
    return isinstance(item, (Var, Const)) and bool(shape_of(item.type))


def _narrowed(cx: Context, node: ast.Subscript | ast.Attribute, place: LocalPart) -> LocalPart:
    item = place.item
    if isinstance(item, Record):
        found = (
            attribute_of(cx, node, item)
            if isinstance(node, ast.Attribute)
            else subscript_of(cx, node, item)
        )
        at = next(k for k, one in enumerate(item.items) if one is found)
        return LocalPart(place.root, (*place.members, at), found)
    with cx.at(node.value):
        value = cx.value(item)
    part = place.part or whole(value.type)
    type_ = part_type(part, value.type)
    if isinstance(node, ast.Subscript):
        picked = subscripted_part(cx, part, node.slice, type_)
        return LocalPart(place.root, place.members, value, picked)
    swizzle = swizzled(part, node.attr, type_)
    if swizzle is None:
        raise TypeMismatch(
            cx.source.attribute_span(node), f"'{node.attr}' is not a component of {type_}."
        )
    return LocalPart(place.root, place.members, value, swizzle)


def assign_to(cx: Context, target: ast.expr, item: Item, value: ast.expr, stmt: ast.AST) -> None:
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
                if in_memory(cx.env.get(name)):  # a parameter of a func that stands for a place
                    put(cx, target, cx.env[name], item, value, stmt)
                    return
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
    stmt: ast.AST,
) -> None:
    """Assign an item to the place that a subscript or attribute stands for.

    Raises:
        KernelError: It is none that can be assigned to, or holds another type.
    """
    match place:
        case LocalPart(root, members):
            _check_local(cx, root, target)
            # The right side may have changed another part of it.
            now = lookup(cx, root)
            cx.bind(root.id, _replaced(cx, place, target, members, now, item, value), stmt)
        case Record(names, places) if in_memory(place):
            if not isinstance(item, Record) or item.names != names:
                raise _other_struct(cx, value, place, item)
            for one, new in zip(places, item.items, strict=True):
                put(cx, target, one, new, value, stmt)
        case Element(repeated=True) | Selection(repeated=True):
            raise TypeMismatch(
                cx.span(target),
                f"'{place.array.name}' is a view that repeats elements, which is not stored to.",
                "other indices stand for this element too",
                hint="add with '+=', or write to the field that the view was made of.",
            )
        case Element(array, index):
            cx.check_write(array, adds=False)
            type_ = element_type(array, index)
            cx.b.store(array, index, assignable(cx, value, item, type_, f"'{array.name}'"))
        case Selection(array, index, part):
            cx.check_write(array, adds=False)
            _check_distinct(cx, target, part)
            _, type_ = element_part(place)
            stored = assignable(cx, value, item, type_, f"'{array.name}'")
            for cell, one in cells_of(cx, part, stored):
                cx.b.store(array, (*index, *cell), one)
        case _:
            raise _unassignable(cx, target, place)


def in_memory(item: Item | None) -> bool:
    """Tell whether an item is an element of a field, or a part of one, which is not read yet."""
    return item is not None and all(isinstance(i, (Element, Selection)) for i in leaves(item))


def _replaced(
    cx: Context,
    place: LocalPart,
    target: ast.expr,
    members: tuple[int, ...],
    now: Item,
    item: Item,
    value: ast.expr,
) -> Item:
    """Return what a local holds once a part of it is replaced."""
    if members:
        assert isinstance(now, Record)
        first, *rest = members
        items = list(now.items)
        items[first] = _replaced(cx, place, target, tuple(rest), items[first], item, value)
        return now.with_items(items)
    what = f"'{ast.unparse(target)}'"
    if isinstance(now, Record):
        if not isinstance(item, Record) or item.names != now.names:
            raise _other_struct(cx, value, now, item)
        pairs = zip(now.items, item.items, strict=True)
        return now.with_items(
            [_replaced(cx, place, target, (), one, new, value) for one, new in pairs]
        )
    if not holds_numbers(now):
        return item
    old = cx.value(now)
    if place.part is None:
        return assignable(cx, value, item, old.type, what)
    _check_distinct(cx, target, place.part)
    stored = assignable(cx, value, item, part_type(place.part, old.type), what)
    return replaced(cx, old, place.part, stored, place.root.id)


def _other_struct(cx: Context, node: ast.expr, place: Record, item: Item) -> TypeMismatch:
    wanted = ", ".join(place.names)
    given = describe(item)
    if isinstance(item, Record):
        given = f"a struct of {', '.join(item.names)}"
    return TypeMismatch(cx.span(node), f"a struct of {wanted} is wanted here.", given)


def accumulate(
    cx: Context, place: Element | Selection, node: ast.expr, item: Item, *, negate: bool
) -> None:
    """Append `place += item`, or `-=`."""
    cx.check_write(place.array, adds=True)
    _, type_ = element_part(place)
    if scalar_of(type_) == BOOL:
        raise TypeMismatch(
            cx.b.span,
            f"'{place.array.name}' holds bools, which do not add up.",
            hint="count in a field of 'ti.i32'.",
        )
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
    if not isinstance(place, LocalPart):
        return cx.value(place)
    value = cx.value(place.item)
    return value if place.part is None else read(cx, value, place.part)


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
