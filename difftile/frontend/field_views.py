"""Views of fields in kernels: an index or a size of a view, in terms of the whole field."""

from __future__ import annotations

from difftile.frontend.context import Context
from difftile.frontend.items import Element, FieldRef, Place, ViewBounds
from difftile.ir.failures import BadIndex
from difftile.ir.nodes import Block, Const, Fail, If, Value, Var
from difftile.ir.types import BOOL, I32
from difftile.ir.views import ViewKind


def hidden(name: str, kind: ViewKind) -> tuple[Var, ...]:
    """Return the run-time integers that come with a view: starts, then sizes."""
    starts = [f"{name}_start{k}" for k, one in enumerate(kind.axes) if not one.whole]
    sizes = [f"{name}_size{axis}" for axis in range(kind.ndim) if axis not in kind.whole]
    return tuple(Var(text, I32) for text in (*starts, *sizes))


def view_of(kind: ViewKind, numbers: tuple[Value, ...]) -> ViewBounds:
    """Return a view, given the numbers that `hidden` lists."""
    rest = iter(numbers)
    starts = tuple(None if one.whole else next(rest) for one in kind.axes)
    sizes = tuple(None if axis in kind.whole else next(rest) for axis in range(kind.ndim))
    return ViewBounds(kind, starts, sizes)


def size_of(cx: Context, field: FieldRef, axis: int) -> Value:
    """Return the number of elements along an axis."""
    view = field.view
    if view is None:
        array = field.array
        if array.size is not None:
            return Const(array.lengths[axis], I32)
        return cx.b.size(array, axis)
    size = view.sizes[axis]
    return cx.b.size(field.array, view.kind.whole[axis]) if size is None else size


def element_of(cx: Context, field: FieldRef, index: tuple[Value, ...]) -> Place:
    """Return an element, its index converted to the axes of the whole field."""
    view = field.view
    if view is None:
        return Place(Element(field.array, index))
    if any(size is not None for size in view.sizes):
        # An index outside the view may be inside the field all the same.
        sizes = tuple(size_of(cx, field, axis) for axis in range(field.ndim))
        outside: Value = Const(False, BOOL)
        for one, size in zip(index, sizes, strict=True):
            low, high = cx.call("lt", one, Const(0, I32)), cx.call("ge", one, size)
            outside = cx.call("or", outside, cx.call("or", low, high))
        fail = Fail(BadIndex(f"'{field.array.name}'"), (*index, *sizes), cx.b.span)
        cx.b.append(If(outside, Block((fail,)), Block(()), (), cx.b.span))
    found: list[Value] = []
    for one, start in zip(view.kind.axes, view.starts, strict=True):
        if start is None:
            found.append(Const(0, I32) if one.axis is None else index[one.axis])
        elif one.axis is None:
            found.append(start)
        else:
            offset = cx.call("mul", index[one.axis], Const(one.step, I32))
            found.append(cx.call("add", start, offset))
    return Place(Element(field.array, tuple(found), view.kind.repeats))
