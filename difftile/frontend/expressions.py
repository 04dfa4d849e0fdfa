"""Expressions: literals, names, operators, conditionals."""

from __future__ import annotations

import ast

from difftile.diagnostics import TypeMismatch, UnsupportedSyntax
from difftile.frontend.calls import call
from difftile.frontend.context import Context, ExpressionHandler
from difftile.frontend.convert import common, floats
from difftile.frontend.indexing import attribute, subscript
from difftile.frontend.items import Item, Static, Tuple, is_number
from difftile.frontend.lists import comprehension, joined
from difftile.frontend.literals import folded
from difftile.frontend.logic import compare, conditional, logic, negation
from difftile.frontend.name_lookup import lookup
from difftile.frontend.power import power
from difftile.frontend.syntax import LITERALS
from difftile.ir.nodes import Value
from difftile.ir.types import FLOATS, Matrix, Vector, scalar_of, shape_of

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


def _constant(cx: Context, node: ast.Constant, name: str) -> Item:
    if isinstance(node.value, (bool, int, float, str)) or node.value is None:
        return Static(node.value)
    construct, hint = LITERALS[type(node.value)]
    raise UnsupportedSyntax(cx.span(node), construct, hint)


def _name(cx: Context, node: ast.Name, name: str) -> Item:
    return lookup(cx, node)


def _tuple(cx: Context, node: ast.Tuple | ast.List, name: str) -> Item:
    return Tuple(tuple(cx.operand(element) for element in node.elts))


# Operators


def _binary(cx: Context, node: ast.BinOp, name: str) -> Item:
    # A long sum nests to the left: a loop, since Python's stack is not deep enough for hundreds.
    chain = [node]
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)
    item = _term(cx, chain[-1].left)
    for one in reversed(chain):
        with cx.at(one):
            right = _term(cx, one.right)
            if isinstance(item, Tuple) or isinstance(right, Tuple):
                item = joined(cx, one, item, right)
            else:
                item = binary(cx, one, item, right, name if one is node else "")
    return item


def _term(cx: Context, node: ast.expr) -> Item:
    """Lower an operand: a number, or a list."""
    lists = (ast.List, ast.Tuple, ast.ListComp, ast.BinOp)
    return cx.operand(node) if isinstance(node, lists) else cx.numeric(node)


def binary(
    cx: Context, node: ast.BinOp | ast.AugAssign, left: Item, right: Item, name: str = ""
) -> Item:
    """Return `left op right` for numbers."""
    op, python = _BINARY[type(node.op)]
    if isinstance(left, Static) and isinstance(right, Static):
        return folded(cx, python, left, right)
    if op == "div":
        return cx.call("div", *floats(cx, [left, right]), name=name)
    if op == "pow":
        return power(cx, left, right, name)
    values = common(cx, [left, right])
    if op == "matmul" and isinstance(values[0].type, Vector):
        return _vector_times(cx, *values, name=name)
    if op == "floordiv" and scalar_of(values[0].type) in FLOATS:
        return cx.call("floor", cx.call("div", *values), name=name)
    try:
        return cx.call(op, *values, name=name)
    except TypeMismatch as error:
        raise _with_hint(cx, error, op, values) from None


def _vector_times(cx: Context, left: Value, right: Value, name: str) -> Value:
    """Return `v @ w`, which is their dot product, or `v @ m`, a row times a matrix."""
    if isinstance(right.type, Matrix) and shape_of(right.type)[:1] == shape_of(left.type):
        return cx.call("matmul", cx.call("transpose", right), left, name=name)
    return cx.call("dot" if isinstance(right.type, Vector) else "matmul", left, right, name=name)


def _with_hint(cx: Context, error: TypeMismatch, op: str, values: list[Value]) -> TypeMismatch:
    hint = None
    if op == "mul" and isinstance(values[0].type, Matrix):
        hint = "write '@' for the product of matrices."
    return TypeMismatch(cx.b.span, error.title.removeprefix("Type error: "), hint=hint)


def _unary(cx: Context, node: ast.UnaryOp, name: str) -> Item:
    if isinstance(node.op, ast.Not):
        return negation(cx, node.operand, name)
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


EXPRESSIONS: dict[type[ast.expr], ExpressionHandler] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.ListComp: comprehension,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: compare,
    ast.BoolOp: logic,
    ast.IfExp: conditional,
    ast.Subscript: subscript,
    ast.Attribute: attribute,
    ast.Call: call,
}
