"""Components of vectors and matrices: indices, rows, slices and swizzles."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from difftile.diagnostics import TypeMismatch, counted
from difftile.frontend.context import Context
from difftile.frontend.items import Components, Element, Item, Place, Static, describe
from difftile.frontend.name_lookup import parts_of
from difftile.ir.nodes import Const, Value
from difftile.ir.types import FLOATS, I32, Type, scalar_of, shape_of, shaped

_COMPONENTS = {letter: k for set_ in ("xyzw", "rgba", "stpq") for k, letter in enumerate(set_)}


def all_components(type_: Type) -> Components:
    """Return all components of a vector or matrix."""
    shape = shape_of(type_)
    axes = tuple(tuple(Const(k, I32) for k in range(n)) for n in shape)
    return Components(axes, (True,) * len(shape))


# Subscripts


def index_value(cx: Context, node: ast.expr, item: Item) -> Value:
    """Return an item as an index that counts from the front."""
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
        return cx.narrowed(value, "an index")


def subscripted(cx: Context, components: Components, node: ast.expr, type_: Type) -> Components:
    """Return the components that `[node]` picks of others; a matrix with one index gives rows.

    Args:
        cx: The context.
        components: The components that are subscripted.
        node: The indices and slices in the brackets.
        type_: The type of the components together.
    """
    picks: list[tuple[ast.expr, Item | None]] = []
    for one in node.elts if isinstance(node, ast.Tuple) else [node]:
        if isinstance(one, ast.Slice):
            picks.append((one, None))
        else:
            item = cx.operand(one)
            parts = parts_of(cx, item)  # known tuples are spread
            picks += [(one, item)] if parts is None else [(one, part) for part in parts]
    count = len(components.shape)
    if not count:
        raise TypeMismatch(cx.span(node), f"{type_} has no components.")
    if len(picks) > count:
        raise TypeMismatch(
            cx.span(node),
            f"{type_} has {counted(count, 'index', 'indices')} and is given {len(picks)}.",
            hint="write row and column: 'm[0, 1]'." if count == 2 else None,
        )
    left = iter(picks)
    axes: list[tuple[Value, ...]] = []
    kept: list[bool] = []
    for axis, stays in zip(components.axes, components.kept, strict=True):
        where, item = next(left, (None, None)) if stays else (None, None)
        if isinstance(where, ast.Slice):
            axes.append(_sliced(cx, where, axis, type_))
        elif where is not None and item is not None:
            axes.append((_picked(cx, where, item, axis, type_),))
        else:
            axes.append(axis)
        kept.append(stays and item is None)
    return Components(tuple(axes), tuple(kept))


def _picked(cx: Context, node: ast.expr, item: Item, axis: Sequence[Value], type_: Type) -> Value:
    index = index_value(cx, node, item)
    if isinstance(index, Const):
        if index.value >= len(axis):
            raise _beyond(cx, node, int(index.value), len(axis), type_)
        return axis[int(index.value)]
    if all(isinstance(at, Const) and at.value == k for k, at in enumerate(axis)):
        return index
    return cx.call("extract", cx.call("vec", *axis), index)


def _beyond(cx: Context, node: ast.expr, index: int, size: int, type_: Type) -> TypeMismatch:
    return TypeMismatch(cx.span(node), f"{type_} has no component {index}.", f"0 to {size - 1}")


def _sliced(
    cx: Context, node: ast.Slice, axis: tuple[Value, ...], type_: Type
) -> tuple[Value, ...]:
    start = 0 if node.lower is None else _bound(cx, node.lower)
    stop = len(axis) if node.upper is None else _bound(cx, node.upper)
    step = 1 if node.step is None else _bound(cx, node.step)
    if step == 0:
        raise TypeMismatch(cx.span(node), "the step of a slice is not 0.")
    if stop > len(axis):
        raise _beyond(cx, node, stop - 1, len(axis), type_)
    picked = axis[start:stop:step]
    if not picked:
        raise TypeMismatch(cx.span(node), "this slice has no components.")
    return picked


def _bound(cx: Context, node: ast.expr) -> int:
    item = cx.operand(node)
    if not isinstance(item, Static) or not isinstance(item.value, int):
        raise TypeMismatch(
            cx.span(node),
            "a bound of a slice is an integer that is known while compiling.",
            describe(item),
            hint="read the components in a loop: 'for k in range(start, stop):'.",
        )
    if item.value < 0:
        raise TypeMismatch(
            cx.span(node),
            f"{item.value} is negative.",
            hint="kernels do not count from the end; write the bounds from the front.",
        )
    return item.value


def swizzled(components: Components, letters: str) -> Components | None:
    """Return the components that `.x` or `.zyx` picks of a vector, or None if it is no swizzle."""
    if len(components.shape) != 1:
        return None
    at = components.kept.index(True)
    axis = components.axes[at]
    picks = [_COMPONENTS.get(letter, len(axis)) for letter in letters]
    if any(pick >= len(axis) for pick in picks):
        return None
    axes, kept = list(components.axes), list(components.kept)
    axes[at] = tuple(axis[pick] for pick in picks)
    kept[at] = len(picks) > 1
    return Components(tuple(axes), tuple(kept))


# Places


def components_of(cx: Context, place: Place) -> tuple[Components, Type]:
    """Return the components that a place means, and their type together."""
    type_ = place_type(cx, place)
    return place.components or all_components(type_), type_


def place_type(cx: Context, place: Place) -> Type:
    """Return the type of the values in a place."""
    at, components = place.at, place.components
    whole = at.array.type.element if isinstance(at, Element) else cx.value(at.item).type
    return whole if components is None else shaped(components.shape, scalar_of(whole))


def assigned_cells(
    cx: Context, components: Components | None, new: Value
) -> list[tuple[tuple[Value, ...], Value]]:
    """Return the position of each component with the component of a new value that goes there."""
    if components is None:
        return [((), new)]
    if not shape_of(new.type):
        return [(cell, new) for cell in components.cells]
    pairs = zip(components.cells, all_components(new.type).cells, strict=True)
    return [(cell, cx.call("extract", new, *place)) for cell, place in pairs]
