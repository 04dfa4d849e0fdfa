"""Assignment: to names, to elements of fields, and to components and members of both."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from difftile.diagnostics import KernelError, TypeMismatch, UnsupportedSyntax, counted
from difftile.frontend.components import assigned_cells, place_type
from difftile.frontend.context import Context
from difftile.frontend.convert import assignable
from difftile.frontend.indexing import attribute_of, subscript_of
from difftile.frontend.items import (
    Components,
    Element,
    FieldRef,
    Item,
    Local,
    Place,
    Record,
    Static,
    describe,
    element_text,
    in_memory,
    is_number,
    leaves,
)
from difftile.frontend.joins import holds_numbers
from difftile.frontend.name_lookup import entries_of, lookup
from difftile.ir.nodes import Const, Value, Var
from difftile.ir.types import BOOL, Type, scalar_of, shape_of, shaped


def place_of(cx: Context, node: ast.expr) -> Item:
    """Return the place left of a '=', or a struct of places.

    Each index in it is lowered once. Anything else is returned as it is.
    """
    with cx.at(node):
        match node:
            case ast.Name():
                return _local(node, (), lookup(cx, node))
            case ast.Subscript(value=owner):
                return subscript_of(cx, node, place_of(cx, owner))
            case ast.Attribute(value=owner):
                return attribute_of(cx, node, place_of(cx, owner))
            case _:
                return cx.expr(node)


def _local(name: ast.Name, members: tuple[int, ...], item: Item) -> Item:
    """Return the place of a local, or a struct of the places of its members."""
    if isinstance(item, Record):
        if all(isinstance(leaf, (FieldRef, Place)) for leaf in leaves(item)):
            return item
        parts = enumerate(item.items)
        return item.with_items([_local(name, (*members, k), part) for k, part in parts])
    if isinstance(item, FieldRef):  # of a struct that holds fields and numbers
        return item
    has_parts = isinstance(item, (Var, Const)) and shape_of(item.type)
    return Place(Local(name, members, item)) if members or has_parts else item


def assign_to(cx: Context, target: ast.expr, item: Item, value: ast.expr, stmt: ast.AST) -> None:
    """Bind a name, or store into a field or a part of a local.

    Args:
        cx: The context.
        target: The expression left of the '='.
        item: The assigned item.
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
                    # `n = ti.static(...)` stays known while compiling.
                    stays = not is_number(item) or cx.special(value) == "static"
                    cx.bind(name, item if stays else cx.value(item), stmt)
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


def bind_names(cx: Context, target: ast.expr, item: Item) -> None:
    """Bind the names of an unrolled loop, which stay compile-time values."""
    if isinstance(target, ast.Name):
        cx.bind(target.id, item, target)
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = _unpacked(cx, target, item, target, len(target.elts))
        for one, part in zip(target.elts, parts, strict=True):
            bind_names(cx, one, part)
    else:
        raise bad_loop_variable(cx, target)


def bad_loop_variable(cx: Context, target: ast.expr) -> UnsupportedSyntax:
    """Return the error for a loop variable that is not a name."""
    construct = f"'{ast.unparse(target)}' as a loop variable"
    return UnsupportedSyntax(cx.span(target), construct, "write a plain name for each index.")


def _unpacked(
    cx: Context, value: ast.expr, item: Item, target: ast.expr, count: int
) -> Sequence[Item]:
    """Return the parts of a tuple or vector that is assigned to several names."""
    parts = entries_of(cx, item)
    if parts is None:
        raise TypeMismatch(cx.span(value), f"{describe(item)} cannot be unpacked.")
    if len(parts) != count:
        names = counted(count, "name")
        raise TypeMismatch(cx.span(target), f"{names} for {counted(len(parts), 'value')}.")
    return parts


def put(
    cx: Context, target: ast.expr, place: Item, item: Item, value: ast.expr, stmt: ast.AST
) -> None:
    """Assign an item to the place that a subscript or attribute stands for.

    Raises:
        KernelError: It cannot be assigned to, or holds another type.
    """
    match place:
        case Record(names, places) if all(isinstance(leaf, Place) for leaf in leaves(place)):
            if not isinstance(item, Record) or item.names != names:
                given = describe(item)
                if isinstance(item, Record):
                    given = f"a struct of {', '.join(item.names)}"
                wanted = f"expected a struct of {', '.join(names)}."
                raise TypeMismatch(cx.span(value), wanted, given)
            for one, new in zip(places, item.items, strict=True):
                put(cx, target, one, new, value, stmt)
        case Place(Local() as local, components):
            _put_local(cx, target, local, components, item, value, stmt)
        case Place(Element(array, repeated=True)):
            raise TypeMismatch(
                cx.span(target),
                f"'{array.name}' is a view that repeats elements, which is not stored to.",
                "other indices stand for this element too",
                hint="add with '+=', or write to the field that the view was made of.",
            )
        case Place(Element(array, index), components):
            cx.check_write(array, adds=False)
            _check_distinct(cx, target, components)
            type_ = place_type(cx, place)
            stored = assignable(cx, value, item, type_, f"'{array.name}'")
            for cell, one in assigned_cells(cx, components, stored):
                cx.b.store(array, (*index, *cell), one)
        case _:
            hint = "assign to an element of a field, a component of a vector, or a local."
            owner = target.value if isinstance(target, (ast.Subscript, ast.Attribute)) else target
            if isinstance(cx.expr(owner), Static):
                hint = "Python objects do not change in a kernel; store the value in a field."
            if isinstance(place, FieldRef):
                hint = f"assign to an element: '{element_text(place)} = ...'."
            what = f"{describe(place)} cannot be assigned to."
            raise TypeMismatch(cx.span(target), what, hint=hint)


def _put_local(
    cx: Context,
    target: ast.expr,
    place: Local,
    components: Components | None,
    item: Item,
    value: ast.expr,
    stmt: ast.AST,
) -> None:
    """Bind a local again with components of it, or of a member, replaced."""
    name = place.name.id
    if name not in cx.env:
        raise KernelError(
            f"'{name}' comes from outside the kernel.",
            cx.span(target),
            "cannot be assigned to",
            hint="copy it into a local first, or use a field.",
        )

    records: list[Record] = []
    now: Item = lookup(cx, place.name)  # the right side may have changed another part of it
    for member in place.members:
        assert isinstance(now, Record)
        records.append(now)
        now = now.items[member]
    if holds_numbers(now):
        made = cx.value(now)
        type_: Type = made.type
        if components is not None:
            _check_distinct(cx, target, components)
            type_ = shaped(components.shape, scalar_of(type_))
        item = assignable(cx, value, item, type_, f"'{ast.unparse(target)}'")
        if components is not None:
            for cell, one in assigned_cells(cx, components, item):
                made = cx.call("insert", made, *cell, one, name=name)
            item = made
    for record, member in zip(reversed(records), reversed(place.members), strict=True):
        items = list(record.items)
        items[member] = item
        item = record.with_items(items)
    cx.bind(name, item, stmt)


def accumulate(
    cx: Context,
    element: Element,
    components: Components | None,
    node: ast.expr,
    item: Item,
    *,
    negate: bool,
) -> None:
    """Append `element += item`, or `-=`, for some of its components."""
    array = element.array
    cx.check_write(array, adds=True)
    type_ = place_type(cx, Place(element, components))
    if scalar_of(type_) == BOOL:
        raise TypeMismatch(
            cx.b.span,
            f"'{array.name}' holds bools, which do not add up.",
            hint="count in a field of 'ti.i32'.",
        )
    value: Value = assignable(cx, node, item, type_, f"'{array.name}'")
    if negate:
        value = cx.call("neg", value)
    for cell, one in assigned_cells(cx, components, value):
        cx.b.accumulate(array, (*element.index, *cell), one, atomic=array.size is None)


def _check_distinct(cx: Context, target: ast.expr, components: Components | None) -> None:
    """Check that `v.xx = w` does not give one component two values."""
    for axis in () if components is None else components.axes:
        known = [at.value for at in axis if isinstance(at, Const)]
        if len(set(known)) < len(known):
            raise TypeMismatch(cx.span(target), "this names one component twice.")
