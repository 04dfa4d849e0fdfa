"""Bringing operands to common types, as arithmetic in the kernel language does."""

from __future__ import annotations

from difftile.diagnostics import TypeMismatch
from difftile.frontend.context import Context
from difftile.frontend.items import Item, Several, Static
from difftile.ir.nodes import Const, Value
from difftile.ir.types import BOOL, FLOATS, I32, Type, promote, scalar_of, shape_of
from difftile.ops.formula import composite
from difftile.ops.row import OpTypeError
from difftile.ops.table import COMPOSITES


def common(cx: Context, items: list[Item]) -> list[Value]:
    """Return the items as values of one number type; literals take the type of the others."""
    typed = [cx.value(item) for item in items if not _is_literal(item)]
    like: Type | None = typed[0].type if typed else None
    has_float_literal = any(isinstance(i, Static) and isinstance(i.value, float) for i in items)
    if like is not None and scalar_of(like) not in FLOATS and has_float_literal:
        like = cx.float_type
    known = iter(typed)
    values = [cx.value(item, like) if _is_literal(item) else next(known) for item in items]
    scalar = scalar_of(values[0].type)
    for value in values[1:]:
        scalar = promote(scalar, scalar_of(value.type))
    if scalar == BOOL:
        scalar = I32
    return [cx.b.cast(value, scalar) for value in values]


def floats(cx: Context, items: list[Item]) -> list[Value]:
    """Return the items as values of one float type."""
    values = common(cx, items)
    if scalar_of(values[0].type) in FLOATS:
        return values
    return [cx.b.cast(value, cx.float_type) for value in values]


def _is_literal(item: Item) -> bool:
    return isinstance(item, Static) and isinstance(item.value, (bool, int, float))


def truth(cx: Context, value: Value) -> Value:
    """Return a value as a bool, by comparing a number with 0."""
    if scalar_of(value.type) == BOOL:
        return value
    zero = 0.0 if scalar_of(value.type) in FLOATS else 0
    return cx.call("ne", value, Const(zero, scalar_of(value.type)))


def assignable(cx: Context, value: Value, target: Type, what: str) -> Value:
    """Return a value cast to the type of the place it is stored in.

    A scalar fills every component of a vector. An integer place takes no float, since Taichi would cut
    the fraction in silence.
    """
    if scalar_of(target) not in FLOATS and scalar_of(value.type) in FLOATS:
        raise TypeMismatch(
            cx.b.span,
            f"{what} holds {scalar_of(target)} and is given {scalar_of(value.type)}.",
            hint="cast the value: 'ti.cast(..., ti.i32)', or 'ti.floor' first.",
        )
    value = cx.b.cast(value, scalar_of(target))
    if shape_of(value.type) == shape_of(target):
        return value
    if not shape_of(value.type):
        return filled(cx, value, target)
    raise TypeMismatch(cx.b.span, f"{what} holds {target} and is given {value.type}.")


def filled(cx: Context, value: Value, type_: Type) -> Value:
    """Return a vector or matrix with a scalar in every component."""
    shape = shape_of(type_)
    if isinstance(value, Const):
        return Const(value.value, type_)
    if len(shape) == 1:
        return cx.call("vec", *(value,) * shape[0])
    return cx.b.matrix((shape[0], shape[1]), (value,) * (shape[0] * shape[1]))


def apply(cx: Context, op: str, items: list[Item], name: str = "") -> Value:
    """Append an op or composite of the tables by name, with the operands brought to one type."""
    if op in COMPOSITES:
        parameters, _ = COMPOSITES[op]
        if len(parameters) != len(items):
            raise TypeMismatch(
                cx.b.span, f"'{op}' takes {len(parameters)} arguments, not {len(items)}."
            )
        try:
            return composite(cx.b, op, tuple(floats(cx, items)))
        except OpTypeError as error:
            raise TypeMismatch(cx.b.span, f"{error}.") from None
    if op == "select":
        cond = truth(cx, cx.value(items[0]))
        return cx.call("select", cond, *common(cx, items[1:]), name=name)
    if op in ("max", "min") and len(items) > 2:
        return apply(cx, op, [apply(cx, op, items[:-1]), items[-1]], name)
    wants_floats = op not in _ANY_NUMBER
    values = floats(cx, items) if wants_floats else common(cx, items)
    return cx.call(op, *values, name=name)


_ANY_NUMBER = frozenset(
    ("add", "sub", "mul", "neg", "mod", "max", "min", "abs", "sign", "floordiv", "dot", "cross")
    + ("lt", "le", "gt", "ge", "eq", "ne", "sum", "transpose", "trace", "matmul", "outer")
    + ("bit_and", "bit_or", "bit_xor", "invert", "shl", "shr")
)


def as_items(item: Item) -> tuple[Item, ...] | None:
    """Return the parts of something that can be unpacked while compiling."""
    if isinstance(item, Several):
        return item.items
    if isinstance(item, Static) and isinstance(item.value, (tuple, list, range)):
        values: list[object] = list(item.value)  # pyright: ignore[reportUnknownArgumentType]
        return tuple(Static(value) for value in values)
    return None
