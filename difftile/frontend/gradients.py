"""Functions that change gradients and leave values as they are."""

from __future__ import annotations

import ast

from difftile.frontend.context import Context
from difftile.frontend.convert import counted_arguments
from difftile.frontend.items import Item, is_number, leaves, regrown
from difftile.ir.types import is_float


def stop_grad(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `dt.stop_grad(x)`, for each number in a struct or tuple; integers pass."""
    (argument,) = counted_arguments(cx, node, 1, 1)
    item = cx.operand(argument)

    def cut(part: Item) -> Item:
        if is_number(part):
            return part
        with cx.at(argument):
            value = cx.value(part)
        return cx.call("stop_grad", value, name=name) if is_float(value.type) else value

    return regrown(item, map(cut, leaves(item)))
