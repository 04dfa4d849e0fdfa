"""Expressions: literals, names, operators, conditionals."""

from __future__ import annotations

import ast
import operator
from typing import Any

from difftile.diagnostics import TypeMismatch, UnsupportedSyntax
from difftile.frontend.calls import call
from difftile.frontend.context import Context, ExpressionHandler
from difftile.frontend.convert import common, condition, filled, floats, truth
from difftile.frontend.indexing import attribute, subscript
from difftile.frontend.items import Item, Several, Static, is_number
from difftile.frontend.joins import branch
from difftile.frontend.syntax import LITERALS
from difftile.ir.nodes import Const, Let, Size, Stmt, Value, Var
from difftile.ir.types import BOOL, FLOATS, Matrix, Scalar, scalar_of, shape_of, shaped

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
    ast.Not: "not_",
    ast.Invert: "invert",
}
# The ops of comparisons are named as in `operator`.
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
_COMPARE_OBJECTS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Is: ("is", "is_"),
    ast.IsNot: ("is not", "is_not"),
}
_LARGEST_EXPANDED_POWER = 16
_LARGEST_FOLDED_BITS = 256


def _constant(cx: Context, node: ast.Constant, name: str) -> Item:
    if isinstance(node.value, (bool, int, float, str)) or node.value is None:
        return Static(node.value)
    construct, hint = LITERALS[type(node.value)]
    raise UnsupportedSyntax(cx.span(node), construct, hint)


def _name(cx: Context, node: ast.Name, name: str) -> Item:
    return cx.lookup(node)


def _tuple(cx: Context, node: ast.Tuple | ast.List, name: str) -> Item:
    return Several(tuple(cx.operand(element) for element in node.elts))


# Operators


def _binary(cx: Context, node: ast.BinOp, name: str) -> Item:
    left, right = cx.numeric(node.left), cx.numeric(node.right)
    return binary(cx, node, left, right, name)


def binary(
    cx: Context, node: ast.BinOp | ast.AugAssign, left: Item, right: Item, name: str = ""
) -> Item:
    """Return `left op right` for numbers."""
    op, python = _BINARY[type(node.op)]
    if isinstance(left, Static) and isinstance(right, Static):
        return _folded(cx, python, left, right)
    if op == "div":
        return cx.call("div", *floats(cx, [left, right]), name=name)
    if op == "pow":
        return power(cx, left, right, name)
    values = common(cx, [left, right])
    if op == "floordiv" and scalar_of(values[0].type) in FLOATS:
        return cx.call("floor", cx.call("div", *values), name=name)
    try:
        return cx.call(op, *values, name=name)
    except TypeMismatch as error:
        raise _with_hint(cx, error, op, values) from None


def _with_hint(cx: Context, error: TypeMismatch, op: str, values: list[Value]) -> TypeMismatch:
    hint = None
    if op == "mul" and isinstance(values[0].type, Matrix):
        hint = "write '@' for the product of matrices."
    if op == "matmul" and len(shape_of(values[0].type)) == 1:
        hint = "write 'a.dot(b)' for the product of two vectors."
    return TypeMismatch(cx.b.span, error.title.removeprefix("Type error: "), hint=hint)


def _folded(cx: Context, python: str, *items: Static) -> Static:
    """Evaluate an operator on literals, as Python does."""
    values = [item.value for item in items]
    try:
        if python in ("pow", "lshift") and _too_large(python, *values):
            raise OverflowError("the result is too large")
        return Static(getattr(operator, python)(*values))
    except TypeError:
        wanted = "vectors and matrices" if python == "matmul" else "integers"
        raise TypeMismatch(cx.b.span, f"{wanted} are wanted here.") from None
    except (ArithmeticError, ValueError) as error:
        reason = str(error.args[-1])
        raise TypeMismatch(cx.b.span, f"{reason[:1].lower()}{reason[1:]}.") from None


def _too_large(python: str, left: Any, right: Any) -> bool:
    if isinstance(left, float) or isinstance(right, float) or right <= 0:
        return False
    bits = right if python == "lshift" else right * max(1, abs(left)).bit_length()
    return bits > _LARGEST_FOLDED_BITS


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
    values = common(cx, [base, exponent])
    if scalar_of(values[0].type) not in FLOATS:
        raise TypeMismatch(
            cx.b.span,
            "an integer to a power that is known at run time only.",
            hint="cast the base to a float: 'float(n) ** k'.",
        )
    return cx.call("pow", *values, name=name)


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


def _unary(cx: Context, node: ast.UnaryOp, name: str) -> Item:
    item = cx.operand(node.operand)
    if isinstance(item, Static) and isinstance(node.op, ast.Not):
        cx.depend(item)
        return Static(not item.value)
    if isinstance(item, Static) and is_number(item):
        return _folded(cx, _UNARY[type(node.op)], item)
    with cx.at(node.operand):
        value = cx.value(item)
    match node.op:
        case ast.Not():
            return cx.call("not", truth(cx, value), name=name)
        case ast.Invert():
            return cx.call("invert", value, name=name)
        case ast.USub():
            return cx.call("neg", *common(cx, [value]), name=name)
        case _:
            return value


# Comparisons and logic


def _compare(cx: Context, node: ast.Compare, name: str) -> Item:
    for kind in node.ops:
        if isinstance(kind, (ast.In, ast.NotIn)):
            raise UnsupportedSyntax(
                cx.span(node),
                "'in'" if isinstance(kind, ast.In) else "'not in'",
                "compare with each value: 'i == 1 or i == 2'.",
            )
    nodes = [node.left, *node.comparators]
    items = [cx.operand(node.left)]
    result: Item | None = None
    for k, kind in enumerate(node.ops):
        items.append(cx.operand(nodes[k + 1]))
        one = _comparison(cx, node, kind, (nodes[k], nodes[k + 1]), (items[k], items[k + 1]))
        result = one if result is None else _both(cx, result, one)
    assert result is not None
    return result


def _comparison(
    cx: Context,
    node: ast.Compare,
    kind: ast.cmpop,
    nodes: tuple[ast.expr, ast.expr],
    items: tuple[Item, Item],
) -> Item:
    left, right = items
    op = _COMPARE.get(type(kind))
    if isinstance(left, Static) and isinstance(right, Static):
        cx.depend(left)
        cx.depend(right)
        python = op or _COMPARE_OBJECTS[type(kind)][1]
        ordered = isinstance(kind, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
        if not ordered or (is_number(left) and is_number(right)):
            return _folded(cx, python, left, right)
    if op is None:
        if any(isinstance(item, Static) and item.value is None for item in items):
            return Static(isinstance(kind, ast.IsNot))  # a number or a field is never None
        word, _ = _COMPARE_OBJECTS[type(kind)]
        raise UnsupportedSyntax(cx.span(node), f"'{word}'", "compare with '==' or '!='.")
    for where, item in zip(nodes, items, strict=True):
        if not is_number(item):
            with cx.at(where):
                cx.value(item)
    return cx.call(op, *common(cx, items))


def _both(cx: Context, left: Item, right: Item) -> Item:
    if isinstance(left, Static) and isinstance(right, Static):
        return Static(left.value and right.value)
    return cx.call("and", truth(cx, cx.value(left)), truth(cx, cx.value(right)))


def _logic(cx: Context, node: ast.BoolOp, name: str) -> Item:
    """Lower 'and' and 'or'; the right side runs only if the left does not decide."""
    is_and = isinstance(node.op, ast.And)
    left = cx.operand(node.values[0])
    before = node.values[0]
    for right in node.values[1:]:
        left = _logic_pair(cx, is_and, before, left, right)
        before = right
    return left


def _logic_pair(cx: Context, is_and: bool, node: ast.expr, left: Item, right: ast.expr) -> Item:
    if isinstance(left, Static):
        cx.depend(left)
        decided = bool(left.value) != is_and
        return left if decided else cx.operand(right)
    with cx.at(node):
        first = truth(cx, cx.value(left))
    with cx.b.region() as stmts:
        second = truth(cx, cx.number(right))
    if all(isinstance(stmt, (Let, Size)) for stmt in stmts):
        for stmt in stmts:
            cx.b.append(stmt)
        return cx.call("and" if is_and else "or", first, second)
    known: tuple[list[Stmt], Value] = ([], Const(not is_and, BOOL))
    sides = ((stmts, second), known) if is_and else (known, (stmts, second))
    return branch(cx, first, *sides)


def _conditional(cx: Context, node: ast.IfExp, name: str) -> Item:
    test = cx.operand(node.test)
    if isinstance(test, Static):
        cx.depend(test)
        return cx.operand(node.body if test.value else node.orelse, name)
    cond = condition(cx, node.test, test)
    nodes = (node.body, node.orelse)
    with cx.b.region() as then:
        first = cx.numeric(node.body)
    with cx.b.region() as orelse:
        second = cx.numeric(node.orelse)
    # A literal on one side takes the type of the other; casts belong into the branch.
    like = next((i.type for i in (first, second) if isinstance(i, (Var, Const))), None)
    values: list[Value] = []
    for where, item in zip(nodes, (first, second), strict=True):
        with cx.at(where):
            values.append(cx.value(item, like))
    target = _common_scalar(cx, values)
    shapes = [shape_of(value.type) for value in values]
    sides: list[tuple[list[Stmt], Value]] = []
    for stmts, value in zip((then, orelse), values, strict=True):
        with cx.b.region() as casts:
            wide = _as_wide(cx, cx.b.cast(value, target), shapes)
        sides.append(([*stmts, *casts], wide))
    if sides[0][1].type != sides[1][1].type:
        raise TypeMismatch(
            cx.b.span, f"the two sides have the types {values[0].type} and {values[1].type}."
        )
    return branch(cx, cond, *sides, name=name)


def _common_scalar(cx: Context, values: list[Value]) -> Scalar:
    """Return the number type that two branches agree on."""
    first, second = (scalar_of(value.type) for value in values)
    if first == second:
        return first
    with cx.b.region():
        return scalar_of(common(cx, values)[0].type)


def _as_wide(cx: Context, value: Value, shapes: list[tuple[int, ...]]) -> Value:
    """Return a number in every component of the vector or matrix on the other side."""
    wide = shaped(max(shapes), scalar_of(value.type))
    return filled(cx, value, wide) if shape_of(wide) != shape_of(value.type) == () else value


EXPRESSIONS: dict[type[ast.expr], ExpressionHandler] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _logic,
    ast.IfExp: _conditional,
    ast.Subscript: subscript,
    ast.Attribute: attribute,
    ast.Call: call,
}
