"""Bringing operands to common types, as arithmetic in the kernel language does."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from difftile.diagnostics import CallMismatch, TypeMismatch, counted
from difftile.frontend.context import Context
from difftile.frontend.items import Item, Static, is_number, is_tuple
from difftile.frontend.name_lookup import entries_of, parts_of
from difftile.frontend.narrow_products import warn_of_narrow_product
from difftile.ir.nodes import Const, Value, Var
from difftile.ir.types import (
    BOOL,
    FLOATS,
    I8,
    I16,
    I32,
    U8,
    U16,
    Type,
    promote,
    scalar_of,
    shape_of,
)
from difftile.ops.composites import COMPOSITES
from difftile.ops.formula import composite
from difftile.ops.row import OpTypeError
from difftile.ops.table import ANY_NUMBER, OF_FLOATS

_NARROW = (I8, I16, U8, U16)


def common(cx: Context, items: Sequence[Item]) -> list[Value]:
    """Return the items as values of one number type; literals take the type of the others."""
    typed = [cx.value(item) for item in items if not is_number(item)]
    like: Type | None = typed[0].type if typed else None
    if like is not None and scalar_of(like) not in FLOATS and _has_float_literal(items):
        like = cx.float_type
    if like is not None and scalar_of(like) in _NARROW:
        like = I32  # as in Taichi, where a literal is an i32: `2 * x[i]` of u8 goes beyond 255
    known = iter(typed)
    values = [cx.value(item, like) if is_number(item) else next(known) for item in items]
    scalar = scalar_of(values[0].type)
    for value in values[1:]:
        scalar = promote(scalar, scalar_of(value.type))
    if scalar == BOOL:
        scalar = I32
    return [cx.b.cast(value, scalar) for value in values]


def _has_float_literal(items: Sequence[Item]) -> bool:
    return any(isinstance(item, Static) and isinstance(item.value, float) for item in items)


def vector_of(cx: Context, item: Item) -> Value | None:
    """Return a tuple or list of numbers as a vector, one of rows as a matrix; None for others."""
    if not is_tuple(item):
        return None
    parts = parts_of(cx, item) or ()
    rows = [entries_of(cx, part) or () for part in parts]
    if any(rows):
        numbers = [number for row in rows for number in row]
        shape = (len(rows), len(rows[0]))
        if any(len(row) != shape[1] for row in rows):
            return None
    else:
        numbers, shape = parts, (len(parts),)
    if not numbers or not all(map(_is_scalar, numbers)):
        return None
    return cx.b.assembled(shape, common(cx, numbers))


def _is_scalar(item: Item) -> bool:
    return is_number(item) or (isinstance(item, (Var, Const)) and not shape_of(item.type))


def floats(cx: Context, items: Sequence[Item]) -> list[Value]:
    """Return the items as values of one float type."""
    values = common(cx, items)
    if scalar_of(values[0].type) in FLOATS:
        return values
    return [cx.b.cast(value, cx.float_type) for value in values]


def truth(cx: Context, value: Value) -> Value:
    """Return a value as a bool, by comparing a number with 0."""
    if scalar_of(value.type) == BOOL:
        return value
    zero = 0.0 if scalar_of(value.type) in FLOATS else 0
    return cx.call("ne", value, Const(zero, scalar_of(value.type)))


def condition(cx: Context, node: ast.expr, item: Item) -> Value:
    """Return the item of a test as one bool."""
    with cx.at(node):
        value = cx.value(item)
        if shape_of(value.type):
            raise TypeMismatch(
                cx.span(node),
                "a condition is one number or bool.",
                f"{value.type}",
                hint="test the components: 'v[0] > 0 and v[1] > 0'.",
            )
        return truth(cx, value)


def assignable(cx: Context, node: ast.expr, item: Item, target: Type, what: str) -> Value:
    """Return an item cast to the type of the place it is stored in.

    A scalar fills every component of a vector. An integer place takes no float, since Taichi would
    cut the fraction in silence.

    Args:
        cx: The context.
        node: The expression of the item, for errors.
        item: The item to store.
        target: The type of the place.
        what: The place in the user's words.
    """
    with cx.at(node):
        value = cx.value(item, target)
        given, wanted = scalar_of(value.type), scalar_of(target)
        if wanted not in FLOATS and given in FLOATS:
            cast = "bool" if wanted == BOOL else f"ti.{wanted}"
            raise TypeMismatch(
                cx.span(node),
                f"{what} holds {wanted} and is given {given}.",
                f"{value.type}",
                hint=f"cast it, which cuts the fraction: 'ti.cast(..., {cast})'.",
            )
        if shape_of(value.type) not in (shape_of(target), ()):
            raise TypeMismatch(
                cx.span(node), f"{what} holds {target} and is given {value.type}.", f"{value.type}"
            )
        warn_of_narrow_product(cx, value, wanted, what)
        value = cx.b.cast(value, wanted)
        return value if shape_of(value.type) == shape_of(target) else filled(cx, value, target)


def filled(cx: Context, value: Value, type_: Type) -> Value:
    """Return a vector or matrix with a scalar in every component."""
    if isinstance(value, Const):
        return Const(value.value, type_)
    shape = shape_of(type_)
    return cx.b.assembled(shape, [value] * math.prod(shape))


def apply(cx: Context, op: str, items: Sequence[Item], name: str = "") -> Value:
    """Append an op or composite of the tables by name, with the operands brought to one type."""
    types = [item.type for item in items if isinstance(item, (Var, Const))]
    if op == "cross" and all(shape_of(type_) == (2,) for type_ in types):
        op = "cross_2d"
    has_float = any(scalar_of(type_) in FLOATS for type_ in types) or _has_float_literal(items)
    if has_float:
        op = OF_FLOATS.get(op, op)
    if op in COMPOSITES:
        values = common(cx, items) if op in ANY_NUMBER else floats(cx, items)
        try:
            return composite(cx.b, op, tuple(values))
        except OpTypeError as error:
            raise TypeMismatch(cx.b.span, f"{error}.") from None
    if op == "select":
        cond = truth(cx, cx.value(items[0]))
        return cx.call("select", cond, *common(cx, items[1:]), name=name)
    if op in ("max", "min") and len(items) == 1:
        return cx.value(items[0])
    if op in ("max", "min") and len(items) > 2:
        return apply(cx, op, [apply(cx, op, items[:-1]), items[-1]], name)
    values = common(cx, items) if op in ANY_NUMBER else floats(cx, items)
    return cx.call(op, *values, name=name)


# Arguments of calls


def positional(cx: Context, node: ast.Call) -> list[ast.expr]:
    """Return the arguments of a function that takes none by name."""
    if node.keywords:
        raise CallMismatch(
            cx.span(node.keywords[0]),
            f"'{ast.unparse(node.func)}' takes no arguments by name.",
            "write only the value.",
        )
    return node.args


def counted_arguments(cx: Context, node: ast.Call, low: int, high: int) -> list[ast.expr]:
    """Return the positional arguments of a call, if their number is right."""
    arguments = positional(cx, node)
    if not low <= len(arguments) <= high:
        wanted = counted(low, "argument")
        if high > low:
            wanted = f"{low} or {'more' if high > low + 1 else high} arguments"
        # The smallest span: the surplus argument, or the call that misses one.
        where = node if len(arguments) < low else arguments[high]
        raise CallMismatch(
            cx.span(where),
            f"'{ast.unparse(node.func)}' takes {wanted}, not {len(arguments)}.",
        )
    return arguments


def spread(cx: Context, arguments: Sequence[ast.expr]) -> list[tuple[ast.expr, Item]]:
    """Lower arguments, each with its place; `*values` are spread."""
    found: list[tuple[ast.expr, Item]] = []
    for node in arguments:
        if not isinstance(node, ast.Starred):
            found.append((node, cx.operand(node)))
            continue
        parts = parts_of(cx, cx.operand(node.value))
        if parts is None:
            raise cx.refusal(node)
        found += [(node, part) for part in parts]
    return found
