"""Subscripts and attributes: elements of fields, components of vectors, parts of Python objects."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from difftile.diagnostics import (
    KernelError,
    TypeMismatch,
    UndefinedAttribute,
    UnsupportedSyntax,
    counted,
    did_you_mean,
)
from difftile.frontend.captures import Path
from difftile.frontend.context import Context
from difftile.frontend.items import (
    Element,
    FieldRef,
    Item,
    Part,
    Record,
    Selection,
    Several,
    Shape,
    Static,
    describe,
    field_of,
    leaves,
    subscripted,
)
from difftile.frontend.names import captured, part_of, parts_of
from difftile.frontend.parts import (
    index_value,
    part_type,
    read,
    subscripted_part,
    swizzled,
    whole,
)
from difftile.frontend.rule_scope import RuleScope
from difftile.frontend.syntax import ON_THE_HOST
from difftile.frontend.views import element_of, size_of
from difftile.ir.nodes import Const, Value, Var
from difftile.ir.types import I32, Matrix, Type, Vector, is_float, shape_of

# Subscripts


def index_of(cx: Context, node: ast.expr, field: FieldRef) -> tuple[Value, ...]:
    """Return the index values of `field[node]`; a vector index is spread."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    index: list[Value] = []
    for part in parts:
        if isinstance(part, ast.Slice):
            raise UnsupportedSyntax(
                cx.span(part),
                "slice of a field",
                "loop over the elements: 'for i in range(start, stop):'; "
                "or pass the slice to the kernel.",
            )
        item = cx.operand(part)
        if isinstance(item, Static) and item.value is None and len(parts) == 1:
            continue
        several = parts_of(cx, item)
        if several is not None:
            index += [index_value(cx, part, one) for one in several]
        elif isinstance(item, (Var, Const)) and isinstance(item.type, Vector):
            with cx.at(part):
                index += [
                    index_value(cx, part, cx.call("extract", item, Const(k, I32)))
                    for k in range(item.type.n)
                ]
        else:
            index.append(index_value(cx, part, item))
    if len(index) != field.ndim:
        raise _wrong_count(cx, node, field, len(index))
    return tuple(index)


def _wrong_count(cx: Context, node: ast.expr, field: FieldRef, given: int) -> TypeMismatch:
    name, ndim = field.array.name, field.ndim
    hint = f"write '{subscripted(field)}'."
    if given > ndim and shape_of(field.array.type.element):
        hint = f"write '{subscripted(field)}' for an element, and its components after that."
    return TypeMismatch(
        cx.span(node),
        f"'{name}' has {counted(ndim, 'dimension')} and is given "
        f"{counted(given, 'index', 'indices')}.",
        f"{counted(ndim, 'index', 'indices')} wanted" if ndim else "",
        hint=hint,
    )


def subscript(cx: Context, node: ast.Subscript, name: str) -> Item:
    """Lower `value[slice]`."""
    return subscript_of(cx, node, cx.expr(node.value), name)


def subscript_of(cx: Context, node: ast.Subscript, item: Item, name: str = "") -> Item:
    """Return `item[slice]`, where the item is what stands before the brackets."""
    match item:
        case FieldRef():
            return element_of(cx, item, index_of(cx, node.slice, item))
        case Record() if (field := field_of(item)) is not None:
            name = field.array.name.partition(".")[0]  # for errors
            named = replace(field, array=replace(field.array, name=name))
            return elements(cx, item, index_of(cx, node.slice, named))
        case Element() | Selection():
            part, type_ = element_part(item)
            if not part.shape:
                raise _no_components(cx, node, item)
            return _of_element(cx, item, subscripted_part(cx, part, node.slice, type_))
        case Var(_, type_) | Const(_, type_):
            if not shape_of(type_):
                raise _no_components(cx, node, item)
            return read(cx, item, subscripted_part(cx, whole(type_), node.slice, type_), name)
        case Shape(field):
            return size_of(cx, field, _static_index(cx, node.slice, item, field.ndim))
        case Several(items):
            return items[_static_index(cx, node.slice, item, len(items))]
        case Static(int() | float()):
            raise _no_components(cx, node, cx.value(item))
        case Static():
            return _object_item(cx, node, item)
        case _:
            raise TypeMismatch(cx.span(node.value), f"{describe(item)} cannot be indexed.")


def elements(cx: Context, item: Item, index: tuple[Value, ...]) -> Item:
    """Return the element of a field, or of the fields of a struct, at an index."""
    if isinstance(item, Record):
        return item.with_items([elements(cx, part, index) for part in item.items])
    assert isinstance(item, FieldRef)
    return element_of(cx, item, index)


def element_part(item: Element | Selection) -> tuple[Part, Type]:
    """Return which components of an element of a field an item stands for, and their type."""
    element = item.array.type.element
    if isinstance(item, Selection):
        return item.part, part_type(item.part, element)
    inside = item.index[item.array.type.ndim :]
    part = whole(element)
    if inside:
        part = Part(tuple((at,) for at in inside), (False,) * len(inside))
    return part, part_type(part, element)


def _of_element(cx: Context, item: Element | Selection, part: Part) -> Element | Selection:
    """Return the item of a part of an element of a field."""
    index = item.index[: item.array.type.ndim]
    if part.shape:
        return Selection(item.array, index, part, item.repeated)
    return Element(item.array, (*index, *(at for (at,) in part.axes)), item.repeated)


def _no_components(
    cx: Context, node: ast.Subscript, item: Var | Const | Element | Selection
) -> TypeMismatch:
    with cx.b.region():
        type_ = cx.value(item).type
    return TypeMismatch(
        cx.span(node.value), f"{describe(item)} has no components.", f"{type_}, one number"
    )


def _object_item(cx: Context, node: ast.Subscript, item: Static) -> Item:
    key = cx.operand(node.slice)
    if not isinstance(key, Static):
        raise _known_at_run_time(cx, node.slice, item, key)
    try:
        return part_of(cx, item, key.value)
    except (LookupError, TypeError, ValueError):
        what = describe(item)
        raise TypeMismatch(cx.span(node), f"{what} has no item {key.value!r}.") from None


def _static_index(cx: Context, node: ast.expr, owner: Shape | Several, size: int) -> int:
    key = cx.operand(node)
    if isinstance(key, (Const, Static)) and isinstance(key.value, int):
        number = int(key.value)
        if not -size <= number < size:
            parts = counted(size, "entry", "entries")
            raise TypeMismatch(
                cx.span(node), f"{describe(owner)} has {parts}.", f"{number} is out of range"
            )
        return number % size
    raise _known_at_run_time(cx, node, owner, key)


def _known_at_run_time(cx: Context, node: ast.expr, owner: Item, key: Item) -> TypeMismatch:
    return TypeMismatch(
        cx.span(node),
        f"{describe(owner)} is indexed with a value that is known at run time only.",
        describe(key),
        hint="index it with a literal or in a loop under 'ti.static', or make it a field.",
    )


# Attributes


def attribute(cx: Context, node: ast.Attribute, name: str) -> Item:
    """Lower `value.attr`."""
    return attribute_of(cx, node, cx.expr(node.value), name)


def attribute_of(cx: Context, node: ast.Attribute, item: Item, name: str = "") -> Item:
    """Return `item.attr`, where the item is what stands before the dot."""
    match item:
        case FieldRef():
            return _field_attribute(cx, node, item)
        case Static(value, path):
            return _object_attribute(cx, node, value, path)
        case Record():
            return _member(cx, node, item)
        case Element() | Selection():
            part, type_ = element_part(item)
            picked = swizzled(part, node.attr, type_)
            if picked is not None:
                return _of_element(cx, item, picked)
            return _of_type(cx, node, type_)
        case Var(_, type_) | Const(_, type_):
            picked = swizzled(whole(type_), node.attr, type_)
            return _of_type(cx, node, type_) if picked is None else read(cx, item, picked, name)
        case _:
            raise UndefinedAttribute(
                cx.source.attribute_span(node), _sentence(describe(item)), node.attr
            )


def _member(cx: Context, node: ast.Attribute, item: Record) -> Item:
    if node.attr in item.names:
        return item.items[item.names.index(node.attr)]
    field = field_of(item)
    if field is not None and node.attr in _CONTENTS and cx.rule is not None:
        parts = (attribute_of(cx, node, part) for part in item.items)
        return Record(item.names, tuple(parts))
    if field is not None and node.attr in ("grad_in", "grad_out") and cx.rule is not None:
        floats = [k for k, part in enumerate(item.items) if _holds_floats(part)]
        return Record(
            tuple(item.names[k] for k in floats),
            tuple(attribute_of(cx, node, item.items[k]) for k in floats),
        )
    if field is not None:
        return _field_attribute(cx, node, field, item.names)
    known = (*item.names, *(name for name, _ in item.methods))
    hint = did_you_mean(node.attr, known) or f"it has {', '.join(known)}."
    raise UndefinedAttribute(
        cx.source.attribute_span(node), _sentence(describe(item)), node.attr, hint=hint
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _field_attribute(
    cx: Context, node: ast.Attribute, field: FieldRef, members: tuple[str, ...] = ()
) -> Item:
    if node.attr == "shape":
        return Shape(field)
    if node.attr == "ndim":
        return Static(field.ndim)
    array = field.array
    span = cx.source.attribute_span(node)
    if node.attr in ("grad_in", "grad_out") and cx.rule is not None:
        return _gradient(cx, node, field, cx.rule)
    if node.attr in _CONTENTS and cx.rule is not None:
        if array.gradient_of is not None:
            raise UndefinedAttribute(span, "A gradient", node.attr)
        of = array.contents_of or array
        return replace(field, array=cx.rule.content(of, late=node.attr == "after"))
    if node.attr in ("grad", "grad_in", "grad_out"):
        raise KernelError(
            f"The gradient of '{array.name}' cannot be reached in a kernel.",
            span,
            hint=ON_THE_HOST[node.attr],
        )
    hint = ON_THE_HOST.get(node.attr)
    raise UndefinedAttribute(
        span,
        f"In a kernel, field '{array.name}'",
        node.attr,
        (*members, "shape", "ndim"),
        hint=hint,
    )


_CONTENTS = ("before", "after")


def _holds_floats(item: Item) -> bool:
    return any(
        isinstance(leaf, FieldRef) and is_float(leaf.array.type.element) for leaf in leaves(item)
    )


def _gradient(cx: Context, node: ast.Attribute, field: FieldRef, rule: RuleScope) -> FieldRef:
    """Return the gradient of a field inside a rule: to be read, or to be added to."""
    array, incoming = field.array.contents_of or field.array, node.attr == "grad_in"
    span = cx.source.attribute_span(node)
    if array.gradient_of is not None:
        raise UndefinedAttribute(span, "A gradient", node.attr)
    if not is_float(array.type.element):
        raise KernelError(f"Field '{array.name}' of integers has no gradient.", span)
    if incoming and rule.written is not None and array not in rule.written:
        raise KernelError(
            f"'{rule.name}' does not write '{array.name}': no gradient comes in.",
            span,
            hint=f"add to '{array.name}.grad_out[...]'; the adjoint of the result is an argument.",
        )
    if not incoming and rule.written is not None and array in rule.written:
        raise KernelError(
            f"'{rule.name}' writes '{array.name}', and its rule adds to the gradient of that.",
            span,
            hint="make it a kernel with a rule, which has gradients in and out apart.",
        )
    return replace(field, array=rule.gradient(array, incoming=incoming))


def _of_type(cx: Context, node: ast.Attribute, type_: Type) -> Item:
    """Return an attribute that follows from the type of a value."""
    if isinstance(type_, Matrix) and node.attr in ("n", "m"):
        return Static(getattr(type_, node.attr))
    if isinstance(type_, Vector) and node.attr == "n":
        return Static(type_.n)
    hint = None
    if isinstance(type_, Vector):
        letters = "xyzw"[: type_.n]
        hint = f"its components are {', '.join(letters)}, or v[0] to v[{type_.n - 1}]."
    raise UndefinedAttribute(
        cx.source.attribute_span(node), f"A value of type {type_}", node.attr, hint=hint
    )


def _object_attribute(cx: Context, node: ast.Attribute, value: Any, path: Path | None) -> Item:
    missing = object()
    found = getattr(value, node.attr, missing)
    if found is missing:
        known = [name for name in dir(value) if not name.startswith("_")]
        owner = _sentence(describe(Static(value)))
        raise UndefinedAttribute(cx.source.attribute_span(node), owner, node.attr, known)
    return captured(cx, found, None if path is None else path.then("attribute", node.attr))
