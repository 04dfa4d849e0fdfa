"""The indices of a `for`: ranges, `ti.ndrange`, `ti.grouped`, a field."""

from __future__ import annotations

import ast
import itertools
from dataclasses import replace

from difftile.diagnostics import CallMismatch, TypeMismatch, counted
from difftile.frontend.components import place_type
from difftile.frontend.context import Context
from difftile.frontend.convert import counted_arguments, positional, spread
from difftile.frontend.counted_objects import count_of, is_counted, is_object
from difftile.frontend.field_views import size_of
from difftile.frontend.items import (
    FieldShape,
    Item,
    Place,
    Record,
    Static,
    describe,
    field_of,
)
from difftile.frontend.name_lookup import parts_of
from difftile.ir.failures import AssertionFailed
from difftile.ir.nodes import Block, Const, Fail, If, Value, Var
from difftile.ir.types import I32, shape_of
from difftile.records import dataclass

ONE = Const(1, I32)


@dataclass(frozen=True, slots=True)
class IndexBox:
    """The indices of a loop: one half-open range an axis.

    Args:
        starts: Start of each axis.
        stops: Stop of each axis.
        step: Step of the only axis, which may be known at run time only.
        grouped: The loop variable takes all indices as one vector.
        lanes: Lanes of a device may share the loop.
        of: The object whose items the loop variable takes, one for each index.
    """

    starts: tuple[Value, ...]
    stops: tuple[Value, ...]
    step: Value = ONE
    grouped: bool = False
    lanes: bool = False
    of: Item | None = None


def box_of(cx: Context, node: ast.expr) -> IndexBox:
    """Return the indices of the expression after 'in'."""
    special = cx.special(node)
    if isinstance(node, ast.Call) and special in _BOXES:
        with cx.at(node):
            return _BOXES[special](cx, node)
    item = cx.expr(node)
    if is_counted(cx, item):
        return IndexBox((Const(0, I32),), (count_of(cx, node, item),), of=item)
    field = field_of(item)
    if field is not None:
        if not field.ndim:
            name = field.array.name
            raise TypeMismatch(
                cx.span(node),
                f"'{name}' has no dimensions to loop over.",
                "a single element",
                hint=f"leave the loop out and write '{name}[None]'.",
            )
        with cx.at(node):
            sizes = tuple(size_of(cx, field, axis) for axis in range(field.ndim))
        return IndexBox((Const(0, I32),) * len(sizes), sizes)
    if isinstance(item, Static) and isinstance(item.value, range):
        whole = item.value
        start, stop, step = (Const(n, I32) for n in (whole.start, whole.stop, whole.step))
        return IndexBox((start,), (stop,), step)
    hint = "loop over 'range(n)', a field, 'ti.ndrange(...)', or 'ti.static(...)'."
    parts = isinstance(item, Static) and isinstance(item.value, (tuple, list))
    if special == "static":
        hint = "unroll a range with known bounds, or a tuple."
    elif parts or isinstance(node, (ast.Tuple, ast.List)):
        hint = f"unroll it: 'for k in ti.static({ast.unparse(node)}):'."
    elif isinstance(item, FieldShape):
        hint = f"unroll it: 'for n in ti.static({ast.unparse(node)}):'."
    elif isinstance(item, (Var, Const, Place)):
        type_ = place_type(cx, item) if isinstance(item, Place) else item.type
        if shape_of(type_):
            size = shape_of(type_)[0]
            hint = f"loop over its components: 'for k in ti.static(range({size})):'."
    elif isinstance(item, Record) or is_object(cx, item):
        hint = "give it funcs 'count(self)' and 'item(self, k)', and loop over it."
    raise TypeMismatch(cx.span(node), f"{describe(item)} cannot be looped over.", hint=hint)


def steps_of(cx: Context, box: IndexBox) -> Value:
    """Return how many steps a range takes; not positive if it takes none."""
    start, stop, step = box.starts[0], box.stops[0], box.step
    if isinstance(step, Const):
        size = abs(int(step.value))
        span = cx.call("sub", stop, start) if step.value > 0 else cx.call("sub", start, stop)
        rounded = cx.call("add", span, Const(size - 1, I32))
        return cx.call("floordiv", rounded, Const(size, I32))
    nothing = Const(0, I32)
    stays = cx.call("eq", step, nothing)  # not an error without debug: a range without steps
    divisor = cx.call("select", stays, ONE, step)
    back = cx.call("floordiv", cx.call("sub", start, stop), divisor)
    return cx.call("select", stays, nothing, cx.call("neg", back))


def at_step(cx: Context, box: IndexBox, count: Value, name: str) -> Value:
    """Return the index that a range has after some steps."""
    return cx.call("add", box.starts[0], cx.call("mul", count, box.step), name=name)


def _range(cx: Context, node: ast.Call) -> IndexBox:
    arguments = spread(cx, positional(cx, node))
    if not 1 <= len(arguments) <= 3:
        raise CallMismatch(
            cx.span(node), f"'range' takes one to three integers, not {len(arguments)}."
        )
    bounds = [cx.integer(where, item, "a bound of a range") for where, item in arguments]
    if len(bounds) == 1:
        return IndexBox((Const(0, I32),), (bounds[0],))
    if len(bounds) == 2:
        return IndexBox((bounds[0],), (bounds[1],))
    start, stop, step = bounds
    where, _ = arguments[2]
    if isinstance(step, Const) and not step.value:
        raise TypeMismatch(cx.span(where), "the step of a range is not 0.")
    if not isinstance(step, Const):
        failure = AssertionFailed(f"{ast.unparse(where)} != 0", "the step of a range is 0")
        with cx.b.region() as stmts:
            cx.b.append(Fail(failure, (), cx.span(where)))
        is_zero = cx.call("eq", step, Const(0, I32))
        cx.b.append(If(is_zero, Block(tuple(stmts)), Block(()), (), cx.span(where)))
    return IndexBox((start,), (stop,), step)


def _ndrange(cx: Context, node: ast.Call) -> IndexBox:
    axes: list[tuple[Value, Value]] = []
    for where, item in spread(cx, positional(cx, node)):
        parts = parts_of(cx, item) or (Static(0), item)
        if len(parts) != 2:
            given = counted(len(parts), "number")
            what = f"an axis of 'ti.ndrange' is n or (start, stop), not {given}."
            raise CallMismatch(cx.span(where), what)
        start, stop = (cx.integer(where, part, "a bound of a range") for part in parts)
        axes.append((start, stop))
    if not axes:
        raise CallMismatch(cx.span(node), "'ti.ndrange' takes one range or more.")
    starts, stops = zip(*axes, strict=True)
    return IndexBox(starts, stops)


def _lanes(cx: Context, node: ast.Call) -> IndexBox:
    if len(node.args) > 2:
        raise CallMismatch(cx.span(node), "'dt.lanes' takes one or two integers.")
    return replace(_range(cx, node), lanes=True)


def _grouped(cx: Context, node: ast.Call) -> IndexBox:
    (inner,) = counted_arguments(cx, node, 1, 1)
    box = box_of(cx, inner)
    if box.of is not None:
        what = "'ti.grouped' takes a range or a field, not an object."
        raise CallMismatch(cx.span(inner), what, "loop over the object itself.")
    return replace(box, grouped=True)


_BOXES = {"range": _range, "ndrange": _ndrange, "grouped": _grouped, "lanes": _lanes}


# As values, under `ti.static`


def unrolled(cx: Context, node: ast.Call) -> range:
    """Return the numbers of a range that is known while compiling."""
    arguments = spread(cx, positional(cx, node))
    if not 1 <= len(arguments) <= 3:
        raise CallMismatch(cx.span(node), "'range' takes one to three integers.")
    numbers = [_known(cx, where, item) for where, item in arguments]
    if len(numbers) == 3 and numbers[2] == 0:
        raise TypeMismatch(cx.span(arguments[2][0]), "the step of a range is not 0.")
    return range(*numbers)


def cells_of(cx: Context, node: ast.Call) -> list[tuple[int, ...]]:
    """Return the tuples of an ndrange, known while compiling."""
    axes: list[range] = []
    for where, item in spread(cx, positional(cx, node)):
        parts = parts_of(cx, item)
        bounds = [_known(cx, where, part) for part in (parts or (item,))]
        if len(bounds) not in (1, 2):
            raise CallMismatch(cx.span(where), "an axis of 'ti.ndrange' is n or (start, stop).")
        axes.append(range(*bounds))
    return list(itertools.product(*axes))


def _known(cx: Context, node: ast.expr, item: Item) -> int:
    if isinstance(item, Static) and isinstance(item.value, int):
        return item.value
    raise TypeMismatch(
        cx.span(node),
        "a range is unrolled only if its bounds are known while compiling.",
        "known at run time only" if isinstance(item, (Var, Const)) else "",
        hint="leave 'ti.static' out, or take the bound from a Python integer outside the kernel.",
    )
