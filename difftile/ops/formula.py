"""Formulas: the little language of the rows, evaluated into ops.

A formula is a Python expression over the op's arguments `a`, `b`, `c`, its result `z` and the
adjoint `z_bar`. `x[0]` is a component, a list of lists a matrix. Functions are rows, composites, or
one of the few macros of `macros.py`. `polynomial(x, NAME)` and `fraction(x, NAME)` take
their coefficients from a table.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from difftile.ir.nodes import Const, Value, is_scalar
from difftile.ir.types import F64, FLOATS, I32, Type, is_float, scalar_of, shape_of, shaped
from difftile.ops.build import OpBuilder, zero
from difftile.ops.coefficients import TABLES
from difftile.ops.composites import COMPOSITES
from difftile.ops.macros import MACROS, FormulaScope, component
from difftile.ops.numeric import parsed_lines
from difftile.ops.row import BILINEAR, LINEAR, Op
from difftile.ops.table import ELEMENTWISE

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Gt: "gt",
    ast.Lt: "lt",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.GtE: "ge",
    ast.LtE: "le",
}
_PARAMETERS: str = "abc"


_PRODUCTS = frozenset(
    (
        *("matmul", "dot", "cross", "outer", "times_transpose", "cofactor"),
        *("svd_adjoint", "sym_eig_adjoint", "polar_adjoint"),
    )
)


def adjoints(
    b: OpBuilder, op: Op, args: tuple[Value, ...], z: Value, z_bar: Value, wanted: tuple[bool, ...]
) -> list[Value | None]:
    """Append the adjoint of each wanted argument of an op and return them.

    A scalar argument of a componentwise op on vectors takes the sum over the components.
    """
    found: list[Value | None] = []
    names = dict(zip(_PARAMETERS, args, strict=False)) | {"z": z, "z_bar": z_bar}
    for k, (arg, text) in enumerate(zip(args, op.formulas(len(args)), strict=True)):
        if text is None or not wanted[k] or scalar_of(arg.type) not in FLOATS:
            found.append(None)
            continue
        value = _evaluate(_parsed(text), FormulaScope(b, names, args, k), arg.type)
        if shape_of(value.type) and not shape_of(arg.type) and op.name in ELEMENTWISE:
            value = b.call("sum", value)
        found.append(value)
    return found


def tangent(
    b: OpBuilder, op: Op, args: tuple[Value, ...], z: Value, dots: tuple[Value | None, ...]
) -> Value | None:
    """Append the tangent of an op's result and return it, or None if it is zero.

    Args:
        b: Where ops are appended.
        op: The op.
        args: Its arguments.
        z: Its result.
        dots: The tangents of the arguments; None stands for zero.
    """
    if not op.vjp:
        return None
    if op.jvp == LINEAR:
        full = (zero(a.type) if d is None else d for a, d in zip(args, dots, strict=True))
        moved = (d if is_float(a.type) else a for a, d in zip(args, full, strict=True))
        return b.call(op.name, *moved, type_=z.type)
    if op.jvp == BILINEAR:
        return _total(
            b,
            z,
            (
                b.call(op.name, *args[:k], dot, *args[k + 1 :])
                for k, dot in enumerate(dots)
                if dot is not None
            ),
        )
    if op.jvp:
        names = dict(zip(_PARAMETERS, args, strict=False)) | {"z": z}
        for name, arg, dot in zip(_PARAMETERS, args, dots, strict=False):
            names[f"{name}_dot"] = zero(arg.type) if dot is None else dot
        return _evaluate(_parsed(op.jvp), FormulaScope(b, names, args), z.type)
    if op.name in ELEMENTWISE:
        return _total(b, z, _componentwise(b, op, args, z, dots))
    return _by_components(b, op, args, z, dots)


def unless_zero(b: OpBuilder, bar: Value, part: Value, *, componentwise: bool) -> Value:
    """Return the part, or zero where the derivative that it was made from is zero.

    The part is that derivative times a slope, so zero differs from it only where the slope is not
    finite. Elsewhere the part itself is taken, whose own derivative may be different from zero.
    """
    size, whole = bar, part
    if not (componentwise and bar.type == part.type):
        size = bar if is_scalar(bar) else b.call("sum", b.call("abs", bar))
        whole = part if is_scalar(part) else b.call("sum", part)
    infinite = b.call("isnan", whole)
    is_zero = b.call("and", b.call("eq", size, zero(size.type)), infinite)
    return b.call("select", is_zero, zero(part.type), part)


def _total(b: OpBuilder, z: Value, parts: Iterable[Value]) -> Value | None:
    total: Value | None = None
    for part in parts:
        total = part if total is None else b.call("add", total, part)
    if total is not None and shape_of(total.type) != shape_of(z.type):
        return b.call("add", zero(z.type), total)  # a scalar stands for each component
    return total


def _componentwise(
    b: OpBuilder, op: Op, args: tuple[Value, ...], z: Value, dots: tuple[Value | None, ...]
) -> Iterator[Value]:
    """Yield the part of each argument: its Jacobian is diagonal, and so its own transpose."""
    names = dict(zip(_PARAMETERS, args, strict=False)) | {"z": z}
    for k, (dot, text) in enumerate(zip(dots, op.formulas(len(args)), strict=True)):
        if dot is None or text is None:
            continue
        scope = FormulaScope(b, names | {"z_bar": dot}, args, k)
        part = _evaluate(_parsed(text), scope, args[k].type)
        # A direction that is zero stays zero where the slope is infinite.
        yield unless_zero(b, dot, part, componentwise=True) if op.singular else part


def _by_components(
    b: OpBuilder, op: Op, args: tuple[Value, ...], z: Value, dots: tuple[Value | None, ...]
) -> Value:
    """Return the tangent as the product of each row of the Jacobian, an adjoint, with the dots."""
    shape = shape_of(z.type)
    wanted = tuple(dot is not None for dot in dots)
    parts: list[Value] = []
    for cell in np.ndindex(shape):
        where = (Const(i, I32) for i in cell)
        one = Const(1.0, scalar_of(z.type))
        unit = b.call("insert", zero(z.type), *where, one) if shape else one
        bars = adjoints(b, op, args, z, unit, wanted)
        total: Value = zero(scalar_of(z.type))
        for bar, dot in zip(bars, dots, strict=True):
            if bar is not None and dot is not None:
                product = b.call("mul", bar, dot)
                part = b.call("sum", product) if shape_of(product.type) else product
                total = b.call("add", total, part)
        parts.append(total)
    if not shape:
        return parts[0]
    return b.call("vec" if len(shape) == 1 else "mat", *parts, type_=z.type)


@cache
def multiplies(op: Op) -> bool:
    """Tell whether an adjoint of the op is a product with a primal value, which may be infinite."""
    nodes = (n for text in op.vjp if isinstance(text, str) for n in ast.walk(_parsed(text)))
    return any(
        isinstance(node, ast.BinOp)
        or (
            (isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
            and node.func.id in _PRODUCTS
        )
        for node in nodes
    )


def tie(b: OpBuilder, op: Op, args: tuple[Value, ...], z: Value) -> Value:
    """Append the test whether the arguments of an op are at its kink, and return it."""
    names = dict(zip(_PARAMETERS, args, strict=False)) | {"z": z}
    return _evaluate(_parsed(op.tie), FormulaScope(b, names, args), args[0].type)


def composite(b: OpBuilder, name: str, args: tuple[Value, ...]) -> Value:
    """Append a function of the table of composites and return its value."""
    one = COMPOSITES[name]
    names = dict(zip(one.parameters, args, strict=True))
    return _evaluate(
        _parsed(one.formula), FormulaScope(b, names, args, structural=False), args[0].type
    )


def value(b: OpBuilder, op: Op, args: tuple[Value, ...]) -> Value:
    """Append the formula that an op is, in double precision, and return its value."""
    wide = tuple(b.cast(arg, F64) if is_float(arg.type) else arg for arg in args)
    names = dict(zip(_PARAMETERS, wide, strict=False))
    scope = FormulaScope(b, names, wide, structural=False)
    assignments, last = parsed_lines(op.value)
    for name, text in assignments:
        names[name] = _evaluate(text, scope, wide[-1].type, name)
    return b.cast(_evaluate(last, scope, wide[-1].type), scalar_of(args[-1].type))


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _evaluate(node: ast.expr, scope: FormulaScope, like: Type, name: str = "") -> Value:
    """Evaluate; `like` gives literals their type, and `name` is one for the printed value."""
    b = scope.builder
    match node:
        case ast.Name(known):
            return scope.names[known]
        case ast.Constant(float() | int() as number):
            scalar = scalar_of(like)
            value = float(number) if scalar in FLOATS else number
            return Const(value, scalar, scope.structural and not value)
        case ast.UnaryOp(ast.USub(), operand):
            return b.call("neg", _evaluate(operand, scope, like))
        case ast.BinOp(left, operator, right):
            return b.call(_OPERATORS[type(operator)], *_pair(left, right, scope, like), name=name)
        case ast.Compare(left, [operator], [right]):
            return b.call(_COMPARISONS[type(operator)], *_pair(left, right, scope, like))
        case ast.Subscript(whole, ast.Constant(int() as position)):
            return component(b, _evaluate(whole, scope, like), position)
        case ast.List(rows):
            table = [row.elts for row in rows if isinstance(row, ast.List)]
            parts = tuple(_evaluate(entry, scope, like) for row in table for entry in row)
            return b.matrix((len(table), len(table[0])), parts)
        case ast.Call(ast.Name("polynomial"), [x, ast.Name(table)]):
            return _polynomial(scope, _evaluate(x, scope, like), table)
        case ast.Call(ast.Name("fraction"), [x, ast.Name(table)]):
            at = _evaluate(x, scope, like)
            over, under = (_polynomial(scope, at, name) for name in (table, f"{table}_UNDER"))
            return b.call("div", over, under)
        case ast.Call(ast.Name(function), arguments):
            if function in MACROS:
                values = [_evaluate(a, scope, like) for a in arguments]
                return MACROS[function](scope, *values)
            if function == "select":
                return _select(arguments, scope, like, name)
            values = [_evaluate(a, scope, like) for a in arguments]
            if function in COMPOSITES:
                return composite(b, function, tuple(values))
            return b.call(function, *values, name=name)
        case _:
            raise ValueError(f"not part of the formula language: {ast.unparse(node)}")


def _pair(left: ast.expr, right: ast.expr, scope: FormulaScope, like: Type) -> tuple[Value, Value]:
    return _evaluate(left, scope, like), _evaluate(right, scope, like)


def _select(arguments: list[ast.expr], scope: FormulaScope, like: Type, name: str) -> Value:
    b = scope.builder
    cond, x, y = (_evaluate(argument, scope, like) for argument in arguments)
    shapes = [shape_of(v.type) for v in (x, y, cond) if shape_of(v.type)]
    if shapes:  # `0` stands for the zero vector next to a vector, and under a vector of conditions
        x, y = (
            replace(v, type=shaped(shapes[0], scalar_of(v.type)))
            if isinstance(v, Const) and not shape_of(v.type)
            else v
            for v in (x, y)
        )
    return b.call("select", cond, x, y, name=name)


def _polynomial(scope: FormulaScope, x: Value, table: str) -> Value:
    """Append the polynomial with the coefficients of a table, by Horner's rule."""
    b, scalar = scope.builder, scalar_of(x.type)
    *rest, total = (Const(number, scalar) for number in TABLES[table])
    for number in reversed(rest):
        total = b.call("add", number, b.call("mul", x, total))
    return total
