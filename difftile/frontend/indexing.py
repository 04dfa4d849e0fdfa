"""Subscripts and attributes: elements of fields, components of vectors, parts of Python objects."""

from __future__ import annotations

import ast
from typing import Any

from difftile.diagnostics import (
    KernelError,
    TypeMismatch,
    UndefinedAttribute,
    UnsupportedSyntax,
    counted,
)
from difftile.frontend.context import Context
from difftile.frontend.items import (
    Element,
    FieldRef,
    Item,
    Path,
    Several,
    Shape,
    Static,
    describe,
    subscripted,
)
from difftile.frontend.names import captured, part_of, parts_of
from difftile.frontend.syntax import ON_THE_HOST
from difftile.ir.nodes import Array, Const, Value, Var
from difftile.ir.types import FLOATS, I32, Matrix, Type, Vector, scalar_of, shape_of

_COMPONENTS = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}


# Subscripts


def index_of(cx: Context, node: ast.expr, array: Array) -> tuple[Value, ...]:
    """Return the index values of `array[node]`; a vector index is spread."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    index: list[Value] = []
    for part in parts:
        if isinstance(part, ast.Slice):
            raise UnsupportedSyntax(
                cx.span(part),
                "slice of a field",
                "loop over the elements: 'for i in range(start, stop):'.",
            )
        item = cx.operand(part)
        if isinstance(item, Static) and item.value is None and len(parts) == 1:
            continue
        several = parts_of(cx, item)
        if several is not None:
            index += [_index(cx, part, one) for one in several]
        elif isinstance(item, (Var, Const)) and isinstance(item.type, Vector):
            with cx.at(part):
                index += [
                    _index(cx, part, cx.call("extract", item, Const(k, I32)))
                    for k in range(item.type.n)
                ]
        else:
            index.append(_index(cx, part, item))
    if len(index) != array.type.ndim:
        raise _wrong_count(cx, node, array, len(index))
    return tuple(index)


def _wrong_count(cx: Context, node: ast.expr, array: Array, given: int) -> TypeMismatch:
    name, ndim = array.name, array.type.ndim
    hint = f"write '{subscripted(array)}'."
    if given > ndim and shape_of(array.type.element):
        hint = f"write '{subscripted(array)}' for an element, and its components after that."
    return TypeMismatch(
        cx.span(node),
        f"'{name}' has {counted(ndim, 'dimension')} and is given "
        f"{counted(given, 'index', 'indices')}.",
        f"{counted(ndim, 'index', 'indices')} wanted" if ndim else "",
        hint=hint,
    )


def _index(cx: Context, node: ast.expr, item: Item) -> Value:
    with cx.at(node):
        value = cx.value(item)
        if scalar_of(value.type) in FLOATS or shape_of(value.type):
            raise TypeMismatch(
                cx.span(node),
                "an index is an integer.",
                f"{value.type}",
                hint="cast it: 'int(...)' or 'ti.cast(..., ti.i32)'.",
            )
        if isinstance(value, Const) and value.value < 0:
            raise TypeMismatch(
                cx.span(node),
                f"index {value.value} is negative.",
                hint="kernels do not count from the end: write 'x[x.shape[0] - 1]'.",
            )
        return cx.b.cast(value, I32)


def component_index(cx: Context, node: ast.expr, type_: Type) -> tuple[Value, ...]:
    """Return the index of one component of a vector or matrix, checked where it is a literal."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    index = tuple(_index(cx, part, cx.operand(part)) for part in parts)
    shape = shape_of(type_)
    if not shape:
        raise TypeMismatch(cx.span(node), f"{type_} has no components.")
    if len(index) != len(shape):
        raise TypeMismatch(
            cx.span(node),
            f"{type_} has {counted(len(shape), 'index', 'indices')} and is given {len(index)}.",
            hint="write row and column: 'm[0, 1]'." if len(shape) == 2 else None,
        )
    for part, size, value in zip(parts, shape, index, strict=True):
        _check_literal(cx, part, value, size, type_)
    return index


def _check_literal(cx: Context, node: ast.expr, value: Value, size: int, type_: Type) -> None:
    if isinstance(value, Const) and value.value >= size:
        raise TypeMismatch(
            cx.span(node), f"{type_} has no component {value.value}.", f"0 to {size - 1}"
        )


def subscript(cx: Context, node: ast.Subscript, name: str) -> Item:
    """Lower `value[slice]`."""
    item = cx.expr(node.value)
    match item:
        case FieldRef(array):
            return Element(array, index_of(cx, node.slice, array))
        case Element(array, index):
            element = array.type.element
            if isinstance(element, Matrix) and not isinstance(node.slice, ast.Tuple):
                return _row(cx, cx.value(item), node.slice, element)
            if shape_of(element) and len(index) == array.type.ndim:
                return Element(array, (*index, *component_index(cx, node.slice, element)))
            raise _no_components(cx, node, item)
        case Var(_, type_) | Const(_, type_):
            if isinstance(type_, Matrix) and not isinstance(node.slice, ast.Tuple):
                return _row(cx, item, node.slice, type_)
            if not shape_of(type_):
                raise _no_components(cx, node, item)
            return cx.call("extract", item, *component_index(cx, node.slice, type_), name=name)
        case Shape(array):
            return cx.b.size(array, _static_index(cx, node.slice, item, array.type.ndim))
        case Several(items):
            return items[_static_index(cx, node.slice, item, len(items))]
        case Static():
            return _object_item(cx, node, item)
        case _:
            raise TypeMismatch(cx.span(node.value), f"{describe(item)} cannot be indexed.")


def _no_components(cx: Context, node: ast.Subscript, item: Var | Const | Element) -> TypeMismatch:
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


def _row(cx: Context, matrix: Value, node: ast.expr, type_: Matrix) -> Value:
    """Return a row of a matrix as a vector."""
    row = _index(cx, node, cx.operand(node))
    _check_literal(cx, node, row, type_.n, type_)
    parts = (cx.call("extract", matrix, row, Const(j, I32)) for j in range(type_.m))
    return cx.call("vec", *parts)


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


def swizzle(name: str, size: int) -> tuple[int, ...] | None:
    """Return the components that a swizzle such as `x` or `xyz` names, or None."""
    picks = tuple(_COMPONENTS.get(letter, size) for letter in name)
    return picks if name and all(pick < size for pick in picks) else None


def attribute(cx: Context, node: ast.Attribute, name: str) -> Item:
    """Lower `value.attr`."""
    item = cx.expr(node.value)
    match item:
        case FieldRef(array):
            return _field_attribute(cx, node, array)
        case Element(array, index) if isinstance(array.type.element, Vector) and (
            len(index) == array.type.ndim
        ):
            picks = swizzle(node.attr, array.type.element.n)
            if picks is not None and len(picks) == 1:
                return Element(array, (*index, Const(picks[0], I32)))
            return _picked(cx, node, cx.value(item), name)
        case Static(value, path):
            return _object_attribute(cx, node, value, path)
        case Var() | Const() | Element():
            return _picked(cx, node, cx.value(item), name)
        case _:
            raise UndefinedAttribute(
                cx.source.attribute_span(node), _sentence(describe(item)), node.attr
            )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _field_attribute(cx: Context, node: ast.Attribute, array: Array) -> Item:
    if node.attr == "shape":
        return Shape(array)
    if node.attr == "ndim":
        return Static(array.type.ndim)
    span = cx.source.attribute_span(node)
    if node.attr in ("grad", "grad_in", "grad_out"):
        raise KernelError(
            f"The gradient of '{array.name}' cannot be reached in a kernel.",
            span,
            hint=ON_THE_HOST[node.attr],
        )
    hint = ON_THE_HOST.get(node.attr)
    raise UndefinedAttribute(
        span, f"In a kernel, field '{array.name}'", node.attr, ("shape", "ndim"), hint=hint
    )


def _picked(cx: Context, node: ast.Attribute, value: Value, name: str) -> Item:
    type_ = value.type
    if isinstance(type_, Vector):
        picks = swizzle(node.attr, type_.n)
        if picks is not None:
            parts = [cx.call("extract", value, Const(k, I32), name=name) for k in picks]
            return parts[0] if len(parts) == 1 else cx.call("vec", *parts, name=name)
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
