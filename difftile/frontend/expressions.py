"""Expressions: the handler of each kind of syntax."""

from __future__ import annotations

import ast

from difftile.diagnostics import UnsupportedSyntax
from difftile.frontend.calls import call
from difftile.frontend.context import Context, ExpressionHandler
from difftile.frontend.indexing import attribute, subscript
from difftile.frontend.items import Item, Static, Tuple
from difftile.frontend.lists import comprehension
from difftile.frontend.logic import compare, conditional, logic, negation
from difftile.frontend.name_lookup import lookup
from difftile.frontend.operators import binary_chain, unary
from difftile.frontend.syntax import LITERALS


def _constant(cx: Context, node: ast.Constant, name: str) -> Item:
    if isinstance(node.value, (bool, int, float, str)) or node.value is None:
        return Static(node.value)
    construct, hint = LITERALS[type(node.value)]
    raise UnsupportedSyntax(cx.span(node), construct, hint)


def _tuple(cx: Context, node: ast.Tuple | ast.List, name: str) -> Item:
    return Tuple(tuple(cx.operand(element) for element in node.elts))


def _unary(cx: Context, node: ast.UnaryOp, name: str) -> Item:
    if isinstance(node.op, ast.Not):
        return negation(cx, node.operand, name)
    return unary(cx, node, name)


EXPRESSIONS: dict[type[ast.expr], ExpressionHandler] = {
    ast.Constant: _constant,
    ast.Name: lambda cx, node, name: lookup(cx, node),
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.ListComp: comprehension,
    ast.BinOp: binary_chain,
    ast.UnaryOp: _unary,
    ast.Compare: compare,
    ast.BoolOp: logic,
    ast.IfExp: conditional,
    ast.Subscript: subscript,
    ast.Attribute: attribute,
    ast.Call: call,
}
