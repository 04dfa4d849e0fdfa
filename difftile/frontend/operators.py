"""Operators: on values, and on numbers and objects that are known while compiling."""

from __future__ import annotations

import ast
import operator

from difftile.diagnostics import TypeMismatch
from difftile.frontend.context import Context
from difftile.frontend.convert import common, counted_arguments, filled, floats
from difftile.frontend.items import Item, Static, is_number, is_tuple
from difftile.frontend.lists import is_joined, joined
from difftile.ir.nodes import Const, Value
from difftile.ir.types import FLOATS, Matrix, Vector, is_signed, scalar_of, shape_of

# The op of the tables, and the function of Python's `operator` that folds literals.
_BINARY: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("add", "add"),
    ast.Sub: ("sub", "sub"),
    ast.Mult: ("mul", "mul"),
    ast.Div: ("div", "truediv"),
    ast.FloorDiv: ("floordiv", "floordiv"),
    ast.Mod: ("mod", "mod"),
    ast.Pow: ("pow", "pow"),
    ast.MatMult: ("matmul", "matmul"),
    ast.BitAnd: ("bit_and", "and_"),
    ast.BitOr: ("bit_or", "or_"),
    ast.BitXor: ("bit_xor", "xor"),
    ast.LShift: ("shl", "lshift"),
    ast.RShift: ("shr", "rshift"),
}
_UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
}
_LARGEST_BITS = 256  # of integers that are computed while compiling
_LARGEST_EXPANDED_POWER = 16


def binary_chain(cx: Context, node: ast.BinOp, name: str) -> Item:
    """Lower `left op right`.

    A long sum nests to the left: a loop, since Python's stack is not deep enough for hundreds.
    """
    chain = [node]
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)
    item = _operand(cx, chain[-1].left)
    for one in reversed(chain):
        with cx.at(one):
            right = _operand(cx, one.right)
            if is_joined(one.op, item, right):
                item = joined(cx, one, item, right)
            else:
                item = binary(cx, one, item, right, name if one is node else "")
    return item


def _operand(cx: Context, node: ast.expr) -> Item:
    """Lower an operand: a number, or a tuple, which the operator may join to another."""
    item = cx.operand(node)
    if is_tuple(item) or is_number(item):
        return item
    with cx.at(node):
        return cx.value(item)


def binary(
    cx: Context, node: ast.BinOp | ast.AugAssign, left: Item, right: Item, name: str = ""
) -> Item:
    """Return `left op right` for numbers."""
    op, python = _BINARY[type(node.op)]
    literals = [one for one in (left, right) if isinstance(one, Static) and is_number(one)]
    if len(literals) == 2:
        return folded(cx, python, *literals)
    if op == "div":
        return cx.call("div", *floats(cx, [left, right]), name=name)
    if op == "pow":
        return power(cx, left, right, name)
    first, second = common(cx, [left, right])
    if op == "matmul" and isinstance(first.type, Vector):
        # `v @ w` is their dot product, and `v @ m` a row times a matrix.
        if isinstance(second.type, Matrix) and shape_of(second.type)[:1] == shape_of(first.type):
            return cx.call("matmul", cx.call("transpose", second), first, name=name)
        op = "dot" if isinstance(second.type, Vector) else op
        return cx.call(op, first, second, name=name)
    if op == "floordiv" and scalar_of(first.type) in FLOATS:
        return cx.call("floor", cx.call("div", first, second), name=name)
    try:
        return cx.call(op, first, second, name=name)
    except TypeMismatch as error:
        is_product = op == "mul" and isinstance(first.type, Matrix)
        hint = "write '@' for the product of matrices." if is_product else None
        message = error.title.removeprefix("Type error: ")
        raise TypeMismatch(cx.b.span, message, hint=hint) from None


def unary(cx: Context, node: ast.UnaryOp, name: str) -> Item:
    """Lower `-x`, `+x` and `~x`."""
    item = cx.operand(node.operand)
    if isinstance(item, Static) and is_number(item):
        return folded(cx, _UNARY[type(node.op)], item)
    with cx.at(node.operand):
        value = cx.value(item)
    match node.op:
        case ast.Invert():
            return cx.call("invert", value, name=name)
        case ast.USub():
            return cx.call("neg", *common(cx, [value]), name=name)
        case _:
            return value


def folded(cx: Context, python: str, *items: Static) -> Static:
    """Evaluate an operator on literals, as Python does."""
    values = [item.value for item in items]
    try:
        if python in ("pow", "lshift") and not any(isinstance(v, float) for v in values):
            left, right = values
            bits = right if python == "lshift" else right * max(1, abs(left)).bit_length()
            if right > 0 and bits > _LARGEST_BITS:
                raise OverflowError("the result is too large")
        found = getattr(operator, python)(*values)
        if isinstance(found, complex):
            raise ValueError("a negative number has no fractional power")
        return Static(found)
    except TypeError:
        wanted = "vectors and matrices" if python == "matmul" else "integers"
        raise TypeMismatch(cx.b.span, f"expected {wanted}.") from None
    except (ArithmeticError, ValueError) as error:
        reason = str(error.args[-1])
        raise TypeMismatch(cx.b.span, f"{reason[:1].lower()}{reason[1:]}.") from None


# Powers


def power_call(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.pow(base, exponent)`."""
    base, exponent = (cx.numeric(argument) for argument in counted_arguments(cx, node, 2, 2))
    return power(cx, base, exponent, name)


def power(cx: Context, base: Item, exponent: Item, name: str = "") -> Value:
    """Return base ** exponent; a literal whole exponent becomes products."""
    if isinstance(exponent, Static) and abs(exponent.value) <= _LARGEST_EXPANDED_POWER:
        whole = int(exponent.value)
        if whole == exponent.value:
            value = cx.value(base)
            if isinstance(exponent.value, float) or whole < 0:
                (value,) = floats(cx, [value])
            positive = _repeated(cx, value, abs(whole), name)
            if whole >= 0:
                return positive
            return cx.call("div", Const(1.0, scalar_of(value.type)), positive, name=name)
    negative = isinstance(exponent, Static) and exponent.value < 0
    values = (floats if negative else common)(cx, [base, exponent])
    if scalar_of(values[0].type) in FLOATS:
        return cx.call("pow", *values, name=name)
    return _whole_power(cx, *values, name=name)


def _whole_power(cx: Context, base: Value, exponent: Value, name: str) -> Value:
    """Return base ** exponent of integers; a negative exponent gives 1 / base ** |exponent| cut.

    That is 0, but for a base of 1 or -1. (Taichi takes the sign of the exponent away.)
    """
    scalar, type_ = scalar_of(base.type), base.type
    if isinstance(exponent, Const) and exponent.value >= 0:
        return cx.call("ipow", base, exponent, name=name)
    zero, one, minus = (Const(number, scalar) for number in (0, 1, -1))
    zeros, ones, minuses = (Const(number, type_) for number in (0, 1, -1))
    forward = cx.call("ipow", base, cx.call("max", exponent, zero))
    if not is_signed(scalar):
        return forward
    odd = cx.call("eq", cx.call("bit_and", exponent, one), one)
    of_minus = cx.call("select", odd, minuses, ones)
    otherwise = cx.call("select", cx.call("eq", base, minus), of_minus, zeros)
    inverse = cx.call("select", cx.call("eq", base, one), ones, otherwise)
    return cx.call("select", cx.call("lt", exponent, zero), inverse, forward, name=name)


def _repeated(cx: Context, value: Value, times: int, name: str) -> Value:
    """Return value ** times by squaring."""
    if times == 0:
        one = Const(1.0 if scalar_of(value.type) in FLOATS else 1, scalar_of(value.type))
        return filled(cx, one, value.type) if shape_of(value.type) else one
    if times == 1:
        return value
    half = _repeated(cx, value, times // 2, "")
    squared = cx.call("mul", half, half, name=name if times % 2 == 0 else "")
    return squared if times % 2 == 0 else cx.call("mul", squared, value, name=name)
