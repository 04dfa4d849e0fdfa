"""Parts of vectors and matrices: components, rows, slices and swizzles, to be read or replaced."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import product

from difftile.diagnostics import TypeMismatch, counted
from difftile.frontend.context import Context
from difftile.frontend.items import Item, Part, Static, describe
from difftile.frontend.names import parts_of
from difftile.ir.nodes import Const, Value
from difftile.ir.types import FLOATS, I32, Type, Vector, scalar_of, shape_of, shaped

_COMPONENTS = {letter: k for set_ in ("xyzw", "rgba", "stpq") for k, letter in enumerate(set_)}


def whole(type_: Type) -> Part:
    """Return all components of a vector or matrix."""
    shape = shape_of(type_)
    return Part(tuple(tuple(Const(k, I32) for k in range(n)) for n in shape), (True,) * len(shape))


def part_type(part: Part, type_: Type) -> Type:
    """Return the type of a part of a value of some type."""
    return shaped(part.shape, scalar_of(type_))


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
        return cx.b.cast(value, I32)


def subscripted_part(cx: Context, part: Part, node: ast.expr, type_: Type) -> Part:
    """Return what `[node]` picks of a part; a matrix with one index gives rows.

    Args:
        cx: The context.
        part: The part that is subscripted.
        node: What stands in the brackets.
        type_: The type of the part.
    """
    picks = _picks(cx, node)
    count = len(part.shape)
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
    for axis, stays in zip(part.axes, part.kept, strict=True):
        where, item = next(left, (None, None)) if stays else (None, None)
        if where is None:
            axes.append(axis)
            kept.append(stays)
        elif isinstance(where, ast.Slice):
            axes.append(_sliced(cx, where, axis, type_))
            kept.append(True)
        else:
            assert item is not None
            axes.append((_picked(cx, where, item, axis, type_),))
            kept.append(False)
    return Part(tuple(axes), tuple(kept))


def _picks(cx: Context, node: ast.expr) -> list[tuple[ast.expr, Item | None]]:
    """Return the indices and slices in the brackets; known tuples are spread."""
    found: list[tuple[ast.expr, Item | None]] = []
    for one in node.elts if isinstance(node, ast.Tuple) else [node]:
        if isinstance(one, ast.Slice):
            found.append((one, None))
            continue
        item = cx.operand(one)
        several = parts_of(cx, item)
        found += [(one, item)] if several is None else [(one, each) for each in several]
    return found


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


# Swizzles


def swizzled(part: Part, letters: str, type_: Type) -> Part | None:
    """Return what `.x` or `.zyx` picks of a part that is a vector, or None if it is no swizzle."""
    if not isinstance(type_, Vector):
        return None
    at = part.kept.index(True)
    picks = [_COMPONENTS.get(letter, type_.n) for letter in letters]
    if any(pick >= type_.n for pick in picks):
        return None
    axes, kept = list(part.axes), list(part.kept)
    axes[at] = tuple(part.axes[at][pick] for pick in picks)
    kept[at] = len(picks) > 1
    return Part(tuple(axes), tuple(kept))


# Reading and replacing


def read(cx: Context, value: Value, part: Part, name: str = "") -> Value:
    """Return a part of a vector or matrix."""
    single = name if not part.shape else ""
    cells = [cx.call("extract", value, *cell, name=single) for cell in product(*part.axes)]
    return cx.b.assembled(part.shape, cells, name)


def replaced(cx: Context, value: Value, part: Part, new: Value, name: str) -> Value:
    """Return a vector or matrix with a part of it replaced."""
    for cell, one in cells_of(cx, part, new):
        value = cx.call("insert", value, *cell, one, name=name)
    return value


def cells_of(cx: Context, part: Part, new: Value) -> list[tuple[tuple[Value, ...], Value]]:
    """Return each component of a part with the component of a new value that goes there."""
    cells = list(product(*part.axes))
    if not shape_of(new.type):
        return [(cell, new) for cell in cells]
    places = product(*whole(new.type).axes)
    return [
        (cell, cx.call("extract", new, *place)) for cell, place in zip(cells, places, strict=True)
    ]
