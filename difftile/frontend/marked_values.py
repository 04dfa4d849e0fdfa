"""`dt.stop_grad(x)` and `dt.exact(x)`: values with a mark for later passes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from difftile.frontend.context import Context
from difftile.frontend.convert import counted_arguments
from difftile.frontend.items import Item, is_number, mapped
from difftile.ir.nodes import Block, Let, Stmt, Var
from difftile.ir.types import is_float
from difftile.ir.walk import with_blocks

_ROUNDED = frozenset(("add", "sub", "mul", "div", "dot", "cross", "outer", "sum", "matmul"))


def stop_grad(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `dt.stop_grad(x)`: the same value, which no gradient passes."""
    (argument,) = counted_arguments(cx, node, 1, 1)
    return _marked(cx, "stop_grad", argument, cx.operand(argument), name)


def exact(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `dt.exact(x)`: the arithmetic of `x` is done as it is written, step by step."""
    (argument,) = counted_arguments(cx, node, 1, 1)
    with cx.b.region() as stmts:
        item = cx.operand(argument)
    for stmt in _with_exact_results(stmts):
        cx.b.append(stmt)
    return _marked(cx, "exact", argument, item, name)


def _marked(cx: Context, op: str, node: ast.expr, item: Item, name: str) -> Item:
    """Return an item with a mark on each float that it holds."""

    def mark(part: Item) -> Item:
        if is_number(part):
            return part
        with cx.at(node):
            value = cx.value(part)
        made = cx.b.definition(value)
        is_marked = op == "exact" and made is not None and made.op == op
        return cx.call(op, value, name=name) if is_float(value.type) and not is_marked else value

    return mapped(item, mark)


def _with_exact_results(stmts: Sequence[Stmt]) -> Iterator[Stmt]:
    """Yield statements with a mark on each result that is rounded, also inside regions."""
    for stmt in stmts:
        if isinstance(stmt, Let) and stmt.op in _ROUNDED and is_float(stmt.out.type):
            rounded = Var("", stmt.out.type)
            yield Let(rounded, stmt.op, stmt.args, stmt.span)
            yield Let(stmt.out, "exact", (rounded,), stmt.span)
        else:
            yield with_blocks(
                stmt, lambda block: Block(tuple(_with_exact_results(block.stmts)), block.results)
            )
