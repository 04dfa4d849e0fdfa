"""`dt.exact(x)`: arithmetic that is done as it is written, step by step."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from difftile.frontend.context import Context
from difftile.frontend.convert import counted_arguments
from difftile.frontend.items import Item, is_number, leaves, regrown
from difftile.ir.nodes import Block, Let, Stmt, Var
from difftile.ir.types import is_float
from difftile.ir.walk import with_blocks

_ROUNDED = frozenset(("add", "sub", "mul", "div", "dot", "cross", "outer", "sum", "matmul"))


def exact(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `dt.exact(x)`, for each number in a struct or tuple; integers pass."""
    (argument,) = counted_arguments(cx, node, 1, 1)
    with cx.b.region() as stmts:
        item = cx.operand(argument)
    for stmt in _marked(stmts):
        cx.b.append(stmt)

    def mark(part: Item) -> Item:
        if is_number(part):
            return part
        with cx.at(argument):
            value = cx.value(part)
        made = cx.b.definition(value)
        if not is_float(value.type) or (made is not None and made.op == "exact"):
            return value
        return cx.call("exact", value, name=name)

    return regrown(item, map(mark, leaves(item)))


def _marked(stmts: Sequence[Stmt]) -> Iterator[Stmt]:
    """Yield statements with a mark on each result that is rounded, those of regions included."""
    for stmt in stmts:
        if isinstance(stmt, Let) and stmt.op in _ROUNDED and is_float(stmt.out.type):
            rounded = Var("", stmt.out.type)
            yield Let(rounded, stmt.op, stmt.args, stmt.span)
            yield Let(stmt.out, "exact", (rounded,), stmt.span)
        else:
            yield with_blocks(stmt, _marked_block)


def _marked_block(block: Block) -> Block:
    return Block(tuple(_marked(block.stmts)), block.results)
