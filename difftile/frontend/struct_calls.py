"""Structs built in kernels: `P(pos=..., m=...)` and `ti.Struct(a=..., b=...)`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from difftile.diagnostics import CallMismatch, TypeMismatch, counted, did_you_mean
from difftile.frontend.context import Context
from difftile.frontend.convert import assignable
from difftile.frontend.items import Item, Record, Static, describe, is_number
from difftile.frontend.name_lookup import parts_of
from difftile.ir.nodes import Const
from difftile.ir.types import FLOATS, Struct, Type, promote, scalar_of, with_scalar
from difftile.ops.vocabulary import ClassName


def struct_call(cx: Context, node: ast.Call, struct: Struct, name: str) -> Item:
    """Lower `P(...)`: members by place or by name; those left out are zero.

    Float members are at least as wide as the given values, as kernels follow their data.
    """
    names = [member for member, _ in struct.members]
    given = _given(cx, node, names)
    items: list[Item] = []
    for member, type_ in struct.members:
        argument = given.get(member)
        if argument is None:
            items.append(_zero(cx, type_))
            continue
        item = cx.operand(argument, member)
        with cx.at(argument):
            parts = None if isinstance(type_, Struct) else parts_of(cx, item)
            if parts is not None:
                item = cx.call("vec", *map(cx.value, parts))
            items.append(_converted(cx, argument, item, type_, member))
    return Record(tuple(names), tuple(items), struct.methods)


def class_call(cx: Context, node: ast.Call, made: ClassName) -> Item:
    """Lower a call of a dataclass of Python; members are any items, fields and structs too.

    Raises:
        CallMismatch: It does more than to set its members, or a member is missing.
    """
    called = f"'{ast.unparse(node.func)}'"
    if made.reason:
        what = f"{called} cannot be called in a kernel: {made.reason}."
        raise CallMismatch(cx.span(node), what, "make it in Python, and pass it to the kernel.")
    given, defaults = _given(cx, node, made.members), dict(made.defaults)
    items: list[Item] = []
    for member in made.members:
        argument = given.get(member)
        if argument is None and not isinstance(defaults.get(member), (bool, int, float)):
            raise CallMismatch(
                cx.span(node),
                f"{called} is given no '{member}'.",
                f"its members are {', '.join(made.members)}.",
            )
        item = Static(defaults[member]) if argument is None else cx.operand(argument, member)
        items.append(cx.value(item) if is_number(item) else item)
    return Record(made.members, tuple(items), made.methods)


def _given(cx: Context, node: ast.Call, names: Sequence[str]) -> dict[str, ast.expr]:
    """Return the arguments of a call by the members that they are for."""
    called = f"'{ast.unparse(node.func)}'"
    given: dict[str, ast.expr] = {}
    for place, argument in enumerate(node.args):
        if isinstance(argument, ast.Starred):
            raise cx.refusal(argument)
        if place >= len(names):
            takes = counted(len(names), "member")
            raise CallMismatch(cx.span(argument), f"{called} has {takes}, not {len(node.args)}.")
        given[names[place]] = argument
    for keyword in node.keywords:
        if keyword.arg is None:
            raise CallMismatch(cx.span(keyword.value), f"{called} is called with '**'.")
        if keyword.arg in given:
            raise CallMismatch(cx.span(keyword), f"{called} is given '{keyword.arg}' twice.")
        if keyword.arg not in names:
            hint = did_you_mean(keyword.arg, names) or f"its members are {', '.join(names)}."
            raise CallMismatch(cx.span(keyword), f"{called} has no member '{keyword.arg}'.", hint)
        given[keyword.arg] = keyword.value
    return given


def _converted(cx: Context, node: ast.expr, item: Item, type_: Type | Struct, name: str) -> Item:
    """Return an item in the type of a member; a float one is as wide as its value or the kernel."""
    if isinstance(type_, Struct):
        names = tuple(name for name, _ in type_.members)
        if not isinstance(item, Record) or item.names != names:
            wanted = f"expected a struct of {', '.join(names)}."
            raise TypeMismatch(cx.span(node), wanted, describe(item))
        pairs = zip(item.items, type_.members, strict=True)
        items = [_converted(cx, node, part, one, name) for part, (name, one) in pairs]
        return Record(names, tuple(items), type_.methods)
    scalar = scalar_of(type_)
    if scalar in FLOATS:
        given = cx.float_type if is_number(item) else scalar_of(cx.value(item).type)
        wide = promote(scalar, given if given in FLOATS else cx.float_type)
        type_ = with_scalar(type_, wide)
    return assignable(cx, node, item, type_, f"'{name}'")


def _zero(cx: Context, type_: Type | Struct) -> Item:
    if isinstance(type_, Struct):
        items = tuple(_zero(cx, one) for _, one in type_.members)
        return Record(tuple(name for name, _ in type_.members), items, type_.methods)
    scalar = scalar_of(type_)
    if scalar in FLOATS:
        return Const(0.0, with_scalar(type_, promote(scalar, cx.float_type)))
    return Const(0, type_)


def free_struct(cx: Context, node: ast.Call, name: str) -> Item:
    """Lower `ti.Struct(a=..., b=...)`."""
    if node.args or not node.keywords:
        raise CallMismatch(
            cx.span(node), "'ti.Struct' takes its members by name.", "write 'ti.Struct(a=1.0)'."
        )
    names: list[str] = []
    items: list[Item] = []
    for keyword in node.keywords:
        if keyword.arg is None:
            raise CallMismatch(cx.span(keyword.value), "'ti.Struct' is called with '**'.")
        item = cx.operand(keyword.value, keyword.arg)
        names.append(keyword.arg)
        items.append(cx.value(item) if is_number(item) else item)
    return Record(tuple(names), tuple(items))
