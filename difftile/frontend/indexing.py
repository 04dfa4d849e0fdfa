"""Subscripts and attributes: elements of fields, components of vectors, parts of Python objects."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType

from difftile.diagnostics import (
    KernelError,
    TypeMismatch,
    UndefinedAttribute,
    UnsupportedSyntax,
    counted,
    did_you_mean,
)
from difftile.frontend.components import (
    all_components,
    components_of,
    index_value,
    subscripted,
    swizzled,
)
from difftile.frontend.context import Context
from difftile.frontend.field_views import element_of, size_of
from difftile.frontend.foreign import attribute_hint
from difftile.frontend.items import (
    Element,
    FieldRef,
    FieldShape,
    Item,
    Local,
    Place,
    Record,
    Static,
    Tuple,
    describe,
    element_text,
    field_of,
    leaves,
)
from difftile.frontend.name_lookup import captured, part_of, parts_of
from difftile.frontend.rule_scope import CONTENTS, GRADIENTS
from difftile.frontend.syntax import OF_ELEMENTS, OF_LISTS, ON_THE_HOST
from difftile.ir.nodes import Const, Value, Var
from difftile.ir.types import I32, Matrix, Type, Vector, is_float, shape_of

# Subscripts


def subscript(cx: Context, node: ast.Subscript, name: str) -> Item:
    """Lower `value[slice]`."""
    return subscript_of(cx, node, cx.expr(node.value), name)


def subscript_of(cx: Context, node: ast.Subscript, item: Item, name: str = "") -> Item:
    """Return `item[slice]`, where the item stands before the brackets."""
    match item:
        case FieldRef():
            return element_of(cx, item, _index_of(cx, node.slice, item))
        case Record() if (field := field_of(item)) is not None:
            name = field.array.name.partition(".")[0]  # for errors
            named = replace(field, array=replace(field.array, name=name))
            return elements(cx, item, _index_of(cx, node.slice, named))
        case Place(at):
            with cx.at(node.value):
                components, type_ = components_of(cx, item)
            if not components.shape and isinstance(at, Element):
                raise _no_components(cx, node, item, type_)
            return replace(item, components=subscripted(cx, components, node.slice, type_))
        case Var(_, type_) | Const(_, type_):
            if not shape_of(type_):
                raise _no_components(cx, node, item, type_)
            picked = subscripted(cx, all_components(type_), node.slice, type_)
            return cx.extracted(item, picked, name)
        case Static(int() | float()):
            return subscript_of(cx, node, cx.value(item))
        case Static():
            key = cx.operand(node.slice)
            if not isinstance(key, Static):
                raise _known_at_run_time(cx, node.slice, item, key)
            try:
                return part_of(cx, item, key.value)
            except (LookupError, TypeError, ValueError):
                what = describe(item)
                raise TypeMismatch(cx.span(node), f"{what} has no item {key.value!r}.") from None
        case FieldShape(field):
            return size_of(cx, field, _static_index(cx, node.slice, item, field.ndim))
        case Tuple(items):
            return items[_static_index(cx, node.slice, item, len(items))]
        case _:
            raise TypeMismatch(cx.span(node.value), f"{describe(item)} cannot be indexed.")


def elements(cx: Context, item: Item, index: tuple[Value, ...]) -> Item:
    """Return the element of a field, or of the fields of a struct, at an index."""
    if isinstance(item, Record):
        return item.with_items([elements(cx, part, index) for part in item.items])
    assert isinstance(item, FieldRef)
    return element_of(cx, item, index)


def _index_of(cx: Context, node: ast.expr, field: FieldRef) -> tuple[Value, ...]:
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
        known = parts_of(cx, item)
        if known is not None:
            index += [index_value(cx, part, one) for one in known]
        elif isinstance(item, (Var, Const)) and isinstance(item.type, Vector):
            with cx.at(part):
                index += [
                    index_value(cx, part, cx.call("extract", item, Const(k, I32)))
                    for k in range(item.type.n)
                ]
        else:
            index.append(index_value(cx, part, item))
    name, ndim = field.array.name, field.ndim
    if len(index) == ndim:
        return tuple(index)
    hint = f"write '{element_text(field)}'."
    numbers = field.array.size is None and not shape_of(field.array.type.element)
    if numbers and 0 < len(index) < ndim:
        # An array of vectors has an axis more than the field that its kernel is written for.
        vectors = f"dt.from_numpy({name}, dtype=ti.math.vec3)"
        hint = f"write '{element_text(field)}', or pass vectors: '{vectors}'."
    if len(index) > ndim and shape_of(field.array.type.element):
        hint = f"write '{element_text(field)}' for an element, and its components after that."
    raise TypeMismatch(
        cx.span(node),
        f"'{name}' has {counted(ndim, 'dimension')} and is given "
        f"{counted(len(index), 'index', 'indices')}.",
        f"{counted(ndim, 'index', 'indices')} wanted" if ndim else "",
        hint=hint,
    )


def _no_components(cx: Context, node: ast.Subscript, item: Item, type_: Type) -> TypeMismatch:
    what = f"{describe(item)} has no components."
    return TypeMismatch(cx.span(node.value), what, f"{type_}, one number")


def _static_index(cx: Context, node: ast.expr, owner: FieldShape | Tuple, size: int) -> int:
    key = cx.operand(node)
    if not isinstance(key, (Const, Static)) or not isinstance(key.value, int):
        raise _known_at_run_time(cx, node, owner, key)
    number = int(key.value)
    if not -size <= number < size:
        parts = counted(size, "entry", "entries")
        raise TypeMismatch(
            cx.span(node), f"{describe(owner)} has {parts}.", f"{number} is out of range"
        )
    return number % size


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
    """Return `item.attr`, where the item stands before the dot."""
    match item:
        case FieldRef():
            return _field_attribute(cx, node, item)
        case Record():
            return _member(cx, node, item)
        case Place(at):
            components, type_ = components_of(cx, item)
            picked = swizzled(components, node.attr)
            if picked is not None:
                return replace(item, components=picked)
            if isinstance(at, Local):
                span = cx.source.attribute_span(node)
                raise TypeMismatch(span, f"'{node.attr}' is not a component of {type_}.")
            return _of_type(cx, node, type_)
        case Var(_, type_) | Const(_, type_):
            picked = swizzled(all_components(type_), node.attr)
            if picked is not None:
                return cx.extracted(item, picked, name)
            return _of_type(cx, node, type_)
        case Static(value, path):
            missing = object()
            found = getattr(value, node.attr, missing)
            if found is missing:
                known = [n for n in dir(value) if not n.startswith("_")]
                is_module = isinstance(value, ModuleType)
                hint = attribute_hint(value.__name__, node.attr, known) if is_module else None
                raise _undefined(cx, node, item, known, hint)
            return captured(cx, found, None if path is None else path.then("attribute", node.attr))
        case _:
            raise _undefined(cx, node, item, hint=OF_LISTS.get(node.attr))


def _undefined(
    cx: Context,
    node: ast.Attribute,
    owner: Item | str,
    known: Iterable[str] = (),
    hint: str | None = None,
) -> UndefinedAttribute:
    text = owner if isinstance(owner, str) else describe(owner)
    sentence = text[:1].upper() + text[1:]
    span = cx.source.attribute_span(node)
    return UndefinedAttribute(span, sentence, node.attr, tuple(known), hint=hint)


def _member(cx: Context, node: ast.Attribute, item: Record) -> Item:
    if node.attr in item.names:
        return item.items[item.names.index(node.attr)]
    field = field_of(item)
    if field is None:
        known = (*item.names, *(name for name, _ in item.methods))
        hint = did_you_mean(node.attr, known) or f"it has {', '.join(known)}."
        raise _undefined(cx, node, item, hint=hint)
    if cx.rule is None or node.attr not in (*CONTENTS, *GRADIENTS):
        return _field_attribute(cx, node, field, item.names)
    parts = {
        name: attribute_of(cx, node, part)
        for name, part in zip(item.names, item.items, strict=True)
        if node.attr in CONTENTS or any(map(_is_float_field, leaves(part)))
    }
    return Record(tuple(parts), tuple(parts.values()))


def _is_float_field(item: Item) -> bool:
    return isinstance(item, FieldRef) and is_float(item.array.type.element)


def _field_attribute(
    cx: Context, node: ast.Attribute, field: FieldRef, members: tuple[str, ...] = ()
) -> Item:
    if node.attr == "shape" and field.array.size is not None:
        return Tuple(tuple(map(Static, field.array.lengths)))
    if node.attr == "shape":
        return FieldShape(field)
    if node.attr == "ndim":
        return Static(field.ndim)
    array = field.array
    if cx.rule is not None and node.attr in (*CONTENTS, *GRADIENTS):
        span = cx.source.attribute_span(node)
        return replace(field, array=cx.rule.attribute(array, node.attr, span))
    hint = ON_THE_HOST.get(node.attr)
    if node.attr in ("grad", *GRADIENTS):
        raise KernelError(
            f"The gradient of '{array.name}' cannot be reached in a kernel.",
            cx.source.attribute_span(node),
            hint=hint,
        )
    if hint is None and node.attr in OF_ELEMENTS:
        hint = f"elements have it: '{element_text(field)}.{node.attr}'."
        if not shape_of(array.type.element):
            annotated = f"'{array.name}: ti.math.vec3'"
            hint = f"an array that is one vector needs an annotation of its parameter: {annotated}."
    known = (*members, "shape", "ndim")
    raise _undefined(cx, node, f"In a kernel, field '{array.name}'", known, hint)


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
    raise _undefined(cx, node, f"A value of type {type_}", hint=hint)
