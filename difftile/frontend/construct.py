"""Casts, and the constructors of vectors and matrices."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from contextlib import suppress
from itertools import product

from difftile.diagnostics import CallMismatch, TypeMismatch, counted
from difftile.frontend.context import Context
from difftile.frontend.convert import common, counted_arguments, filled, positional, spread
from difftile.frontend.items import Item, Static, describe, is_number
from difftile.frontend.name_lookup import depend, entries_of, parts_of
from difftile.ir.nodes import Const, Value, Var
from difftile.ir.types import (
    BOOL,
    FLOATS,
    I32,
    Scalar,
    Type,
    is_signed,
    numpy_dtype,
    scalar_of,
    shape_of,
    with_scalar,
)
from difftile.ops.vocabulary import StructName, TypeName

# Types


def type_of(cx: Context, node: ast.expr) -> Type:
    """Return the type that an expression names.

    Raises:
        TypeMismatch: It does not name a type.
    """
    return type_named(cx, node, cx.operand(node))


def type_named(cx: Context, node: ast.expr, item: Item) -> Type:
    """Return the type that an item is.

    Raises:
        TypeMismatch: It is not a type.
    """
    meaning = cx.meaning(item)
    if not isinstance(meaning, TypeName):
        raise TypeMismatch(cx.span(node), "expected a type, such as 'ti.f32'.", describe(item))
    return cx.float_type if meaning.type is None else meaning.type


def make_type(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.types.vector(n, t)` and its like, which is called while compiling."""
    maker = cx.expr(node.func)
    assert isinstance(maker, Static)

    def known(where: ast.expr) -> object:
        item = cx.operand(where)
        if not isinstance(item, Static):
            raise TypeMismatch(
                cx.span(where),
                "a type is made of what is known while compiling.",
                describe(item),
                hint="write a literal, or 'ti.static(...)'.",
            )
        depend(cx, item)
        return item.value

    args = [known(where) for where in node.args]
    named = {one.arg: known(one.value) for one in node.keywords if one.arg is not None}
    made = Static(None)
    with suppress(Exception):  # whatever Taichi says of them, they name no type
        made = Static(maker.value(*args, **named))
    if not isinstance(cx.meaning(made), (TypeName, StructName)):
        raise CallMismatch(
            cx.span(node),
            f"'{ast.unparse(node)}' is not a type.",
            "write 'ti.types.vector(3, ti.f32)', 'ti.types.matrix(3, 3, ti.f32)' or "
            "'ti.types.struct(a=ti.f32)'.",
        )
    return made


def as_declared(cx: Context, type_: Type, node: ast.expr, item: Item, name: str) -> Item:
    """Return the value of `name: type = value` in the declared type."""
    with cx.at(node):
        if is_number(item):
            value = _literal(cx, item, scalar_of(type_))
        else:
            value = cx.b.cast(cx.value(item), scalar_of(type_), name)
        if not shape_of(value.type) and shape_of(type_):
            return filled(cx, value, type_)
        if shape_of(value.type) != shape_of(type_):
            raise TypeMismatch(cx.span(node), f"'{name}' is declared {type_}.", f"{value.type}")
        return value


# Casts


def cast(cx: Context, node: ast.expr, item: Item, scalar: Scalar, name: str) -> Value:
    """Return an item cast to a number type."""
    with cx.at(node):
        if is_number(item):
            return _literal(cx, item, scalar)
        if isinstance(item, Static) and isinstance(item.value, str):
            raise TypeMismatch(
                cx.span(node),
                "expected a number, got text.",
                hint="write 'math.inf' or 'math.nan' for those.",
            )
        value = cx.value(item)
        if scalar == BOOL and scalar_of(value.type) != BOOL:
            return cx.call("ne", *common(cx, [value, Static(0)]), name=name)
        return cx.b.cast(value, scalar, name)


def _literal(cx: Context, item: Item, scalar: Scalar) -> Const:
    number: float | int | bool = getattr(item, "value", 0)
    if scalar == BOOL:
        return Const(bool(number), scalar)
    if scalar in FLOATS:
        is_float = isinstance(number, float)
        return Const(number, scalar) if is_float else cx.literal(int(number), scalar)
    if not math.isfinite(number):
        raise TypeMismatch(cx.b.span, f"{number} is not an integer.")
    # An explicit cast of an integer keeps its low bits, as in C.
    bits = 8 * numpy_dtype(scalar).itemsize
    low = int(number) % (1 << bits)
    return Const(low - (1 << bits) if is_signed(scalar) and low >> (bits - 1) else low, scalar)


def cast_call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.cast(value, type)`."""
    value, target = counted_arguments(cx, node, 2, 2)
    item = cx.operand(value)
    return cast(cx, value, item, scalar_of(type_of(cx, target)), name)


def bit_cast_call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.bit_cast(value, type)`: the same bits as another type of the same size."""
    given, target = counted_arguments(cx, node, 2, 2)
    value, scalar = cx.number(given), scalar_of(type_of(cx, target))
    if shape_of(value.type):
        raise TypeMismatch(cx.span(given), "expected one number.", f"{value.type}")
    sizes = [numpy_dtype(one).itemsize for one in (scalar_of(value.type), scalar)]
    if sizes[0] != sizes[1] or BOOL in (value.type, scalar):
        raise TypeMismatch(
            cx.span(node),
            f"{value.type} has {8 * sizes[0]} bits, {scalar} has {8 * sizes[1]}.",
            hint="'ti.bit_cast' keeps the bits; 'ti.cast' converts numbers.",
        )
    return value if value.type == scalar else cx.call("bit_cast", value, name=name, type_=scalar)


# Vectors and matrices


def construct(cx: Context, node: ast.Call, type_: Type, name: str) -> Item:
    """Lower `ti.f32(x)`, `vec3(...)`, `mat2(...)`."""
    arguments = spread(cx, positional(cx, node))
    if isinstance(type_, Scalar):
        if len(arguments) != 1:
            what = f"'{ast.unparse(node.func)}' takes 1 argument, not {len(arguments)}."
            raise CallMismatch(cx.span(node), what)
        return cast(cx, *arguments[0], type_, name)
    items = [one for where, item in arguments for one in _flat(cx, where, item)]
    # As in Taichi, the number type of `ti.math.vec3` follows its arguments.
    given = [scalar_of(item.type) for _, item in items if isinstance(item, (Var, Const))]
    widest = max((one for one in given if one in FLOATS), key=FLOATS.index, default=cx.float_type)
    scalar = widest if type_.scalar in FLOATS else type_.scalar
    values: list[Value] = []
    for where, item in items:
        with cx.at(where):
            values.append(cx.b.cast(cx.value(item, scalar), scalar))
    parts = [part for value in values for part in components(cx, value)]
    target = with_scalar(type_, scalar)
    size = math.prod(shape_of(target))
    if len(parts) == 1 and not shape_of(values[0].type):
        return filled(cx, values[0], target)
    if len(parts) != size:
        what = f"{target} is built from {counted(size, 'number')}, not {len(parts)}."
        raise CallMismatch(cx.span(node), what)
    return cx.b.assembled(shape_of(target), parts, name)


def _flat(cx: Context, node: ast.expr, item: Item) -> list[tuple[ast.expr, Item]]:
    parts = parts_of(cx, item)
    if parts is None:
        return [(node, item)]
    return [one for part in parts for one in _flat(cx, node, part)]


def components(cx: Context, value: Value) -> list[Value]:
    """Return the scalars of a value, row after row."""
    shape = shape_of(value.type)
    if not shape:
        return [value]
    cells = product(*(range(n) for n in shape))
    return [cx.call("extract", value, *(Const(k, I32) for k in cell)) for cell in cells]


def vector_call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.Vector([a, b])`."""
    argument, scalar = _one_list(cx, node)
    rows = _parts(cx, argument, cx.operand(argument), "components")
    if rows and parts_of(cx, rows[0]) is not None:
        return _matrix(cx, argument, rows, scalar, name)
    return cx.call("vec", *_numbers(cx, argument, rows, scalar), name=name)


def matrix_call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.Matrix([[a, b], [c, d]])`."""
    argument, scalar = _one_list(cx, node)
    return _of_rows(cx, argument, scalar, name)


def rows_call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.Matrix.rows([u, v])`."""
    (argument,) = counted_arguments(cx, node, 1, 1)
    return _of_rows(cx, argument, None, name)


def columns_call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.Matrix.cols([u, v])`."""
    (argument,) = counted_arguments(cx, node, 1, 1)
    return cx.call("transpose", _of_rows(cx, argument, None, ""), name=name)


def _of_rows(cx: Context, node: ast.expr, scalar: Scalar | None, name: str) -> Value:
    return _matrix(cx, node, _parts(cx, node, cx.operand(node), "rows"), scalar, name)


def _matrix(
    cx: Context, node: ast.expr, rows: Sequence[Item], scalar: Scalar | None, name: str
) -> Value:
    nodes = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node] * len(rows)
    table = [_parts(cx, one, row, "numbers") for one, row in zip(nodes, rows, strict=True)]
    if len({len(row) for row in table}) > 1:
        raise TypeMismatch(cx.span(node), "the rows have different lengths.")
    values = _numbers(cx, node, [item for row in table for item in row], scalar)
    return cx.b.matrix((len(table), len(table[0])), tuple(values), name)


def _one_list(cx: Context, node: ast.Call) -> tuple[ast.expr, Scalar | None]:
    """Return the argument of a constructor, and the number type that `dt=` asks for."""
    name = ast.unparse(node.func)
    scalar: Scalar | None = None
    for keyword in node.keywords:
        if keyword.arg != "dt":
            raise CallMismatch(cx.span(keyword), f"'{name}' has no argument '{keyword.arg}'.")
        scalar = scalar_of(type_of(cx, keyword.value))
    if len(node.args) == 2 and scalar is None:
        scalar = scalar_of(type_of(cx, node.args[1]))
    elif len(node.args) != 1:
        raise CallMismatch(cx.span(node), f"'{name}' takes one list.", f"write '{name}([a, b])'.")
    return node.args[0], scalar


def _parts(cx: Context, node: ast.expr, item: Item, what: str) -> Sequence[Item]:
    parts = entries_of(cx, item)
    if parts is None:
        raise TypeMismatch(cx.span(node), f"expected a list of {what}.", describe(item))
    if not parts:
        raise TypeMismatch(cx.span(node), "a vector or matrix has at least one component.")
    return parts


def _numbers(
    cx: Context, node: ast.expr, items: Sequence[Item], scalar: Scalar | None
) -> list[Value]:
    """Return components as values of one number type."""
    nodes = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    for k, item in enumerate(items):
        where = nodes[k] if len(nodes) == len(items) else node
        with cx.at(where):
            type_ = I32 if is_number(item) else cx.value(item).type
            if shape_of(type_):
                raise TypeMismatch(cx.span(where), "a component is one number.", f"{type_}")
    if scalar is None:
        return common(cx, items)
    return [cast(cx, node, item, scalar, "") for item in items]
