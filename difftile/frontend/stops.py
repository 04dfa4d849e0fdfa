"""`breakpoint()` in kernels, which stops where programs run as Python."""

from __future__ import annotations

import ast

from difftile.diagnostics import CallMismatch
from difftile.frontend.context import Context
from difftile.frontend.items import Item, Local, Place, Record, Static, Tuple
from difftile.ir.nodes import Const, Print, Shown, Text, Var

_LITERALS = (type(None), bool, int, float, str)


def breakpoint_statement(cx: Context, node: ast.Call) -> None:
    """Lower `breakpoint()`: a stop with the locals that have values, under their names."""
    if node.args or node.keywords:
        raise CallMismatch(cx.span(node), "'breakpoint' in a kernel takes no arguments.")
    parts: list[Text] = []
    for name, item in cx.env.items():
        shown = _shown(item) if name.isidentifier() else None
        if shown is not None:
            parts += [f"{', ' if parts else ''}{name}=", *shown]
    cx.b.append(Print(tuple(parts), cx.b.span, stops=True))


def _shown(item: Item) -> list[Text] | None:
    """Return an expression of Python for what a local is, or None for fields and functions."""
    match item:
        case Var() | Const():
            return [Shown(item)]
        case Static(value) if type(value) in _LITERALS:
            return [repr(value)]
        case Place(Local(item=inner), None):
            return _shown(inner)
        case Tuple(items):
            parts = [_shown(part) for part in items]
            if None in parts:
                return None
            return ["(", *(text for part in parts for text in (*(part or ()), ",")), ")"]
        case Record(names, items):
            members = [(name, _shown(part)) for name, part in zip(names, items, strict=True)]
            known = [(f"{name}=", *part, ",") for name, part in members if part is not None]
            return ["ops.struct(", *(text for member in known for text in member), ")"]
        case _:
            return None
