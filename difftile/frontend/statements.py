"""Statements: assignments to locals and fields, branches, calls for their effect."""

from __future__ import annotations

import ast

from difftile.diagnostics import KernelError, TypeMismatch, UnsupportedSyntax
from difftile.frontend.calls import accumulate, atomic_statement
from difftile.frontend.context import Context, StatementHandler, describe
from difftile.frontend.convert import assignable, truth
from difftile.frontend.expressions import binary, component_index, swizzle
from difftile.frontend.items import Element, Item, Several, Static
from difftile.frontend.joins import join_branches
from difftile.frontend.loops import for_statement
from difftile.ir.build import element_type
from difftile.ir.nodes import Const, Value, Var
from difftile.ir.types import I32, Vector, shape_of
from difftile.ops.vocabulary import Special


def _assign(cx: Context, node: ast.Assign) -> None:
    wanted = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
    item = cx.operand(node.value, wanted)
    for target in node.targets:
        assign_to(cx, target, item)


def _annotated(cx: Context, node: ast.AnnAssign) -> None:
    if node.value is None:
        raise UnsupportedSyntax(cx.span(node), "a declaration without a value", "assign a value.")
    wanted = node.target.id if isinstance(node.target, ast.Name) else ""
    assign_to(cx, node.target, cx.operand(node.value, wanted))


def assign_to(cx: Context, target: ast.expr, item: Item) -> None:
    """Bind a name, or store into a field or a component of a local."""
    with cx.at(target):
        match target:
            case ast.Name(name):
                cx.env[name] = _bound(cx, item, name)
            case ast.Tuple(elts) | ast.List(elts):
                for part, value in zip(elts, _unpacked(cx, target, item, len(elts)), strict=True):
                    assign_to(cx, part, value)
            case ast.Subscript() | ast.Attribute():
                _assign_part(cx, target, item)
            case _:
                raise cx.refusal(target)


def _bound(cx: Context, item: Item, name: str) -> Item:
    """Return what a name is bound to: numbers become run-time values of the kernel's types."""
    if isinstance(item, Static) and isinstance(item.value, (bool, int, float)):
        return cx.value(item)
    return item


def _unpacked(cx: Context, target: ast.expr, item: Item, count: int) -> list[Item]:
    if isinstance(item, Several):
        parts = list(item.items)
    elif isinstance(item, (Var, Const)) and isinstance(item.type, Vector):
        parts = [cx.call("extract", item, Const(k, I32)) for k in range(item.type.n)]
    else:
        raise TypeMismatch(cx.span(target), f"{describe(item)} cannot be unpacked.")
    if len(parts) != count:
        raise TypeMismatch(cx.span(target), f"{count} names for {len(parts)} values.")
    return list(parts)


def _assign_part(cx: Context, target: ast.Subscript | ast.Attribute, item: Item) -> None:
    """Lower `x[i] = v`, `x[i].y = v`, `v[0] = s`, `v.x = s`."""
    root = target.value
    if isinstance(root, ast.Name) and not _is_field_like(cx, root):
        _assign_component(cx, root, target, item)
        return
    place = cx.expr(target)
    if not isinstance(place, Element):
        raise TypeMismatch(
            cx.span(target),
            f"{describe(place)} cannot be assigned to.",
            hint="assign to an element 'x[i]', one component 'x[i][0]', or a local.",
        )
    type_ = element_type(place.array, place.index)
    value = assignable(cx, cx.value(item, type_), type_, f"'{place.array.name}'")
    cx.b.store(place.array, place.index, value)


def _is_field_like(cx: Context, root: ast.Name) -> bool:
    return not isinstance(cx.lookup(root), (Var, Const))


def _assign_component(
    cx: Context, root: ast.Name, target: ast.Subscript | ast.Attribute, item: Item
) -> None:
    old = cx.value(cx.lookup(root))
    if root.id not in cx.env:
        raise KernelError(
            f"'{root.id}' is a captured number.", cx.span(target), "cannot be assigned to"
        )
    index = _component_of(cx, target, old)
    scalar = cx.call("extract", old, *index).type
    value = assignable(cx, cx.value(item, scalar), scalar, f"'{root.id}'")
    cx.env[root.id] = cx.call("insert", old, *index, value, name=root.id)


def _component_of(
    cx: Context, target: ast.Subscript | ast.Attribute, value: Value
) -> tuple[Value, ...]:
    if isinstance(target, ast.Subscript):
        return component_index(cx, target.slice, value.type)
    size = value.type.n if isinstance(value.type, Vector) else 0
    picks = swizzle(target.attr, size)
    if picks is None or len(picks) != 1:
        raise TypeMismatch(
            cx.span(target), f"'{target.attr}' names no single component of {value.type}."
        )
    return (Const(picks[0], I32),)


def _augmented(cx: Context, node: ast.AugAssign) -> None:
    """Lower `target op= value`; adding to a field accumulates, which keeps no old value."""
    if isinstance(node.target, ast.Name):
        name = node.target.id
        cell = cx.reductions.get(name)
        if cell is not None and isinstance(node.op, (ast.Add, ast.Sub)):
            item = cx.operand(node.value)
            accumulate(cx, Element(cell, ()), item, negate=isinstance(node.op, ast.Sub))
            return
        with cx.at(node.target):
            old = cx.lookup(node.target)
        cx.env[name] = _bound(cx, binary(cx, type(node.op), old, cx.operand(node.value), name), name)
        return
    place = cx.expr(node.target)
    if isinstance(place, Element):
        item = cx.operand(node.value)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            accumulate(cx, place, item, negate=isinstance(node.op, ast.Sub))
            return
        type_ = element_type(place.array, place.index)
        old = cx.b.load(place.array, place.index)
        value = cx.value(binary(cx, type(node.op), old, item))
        value = assignable(cx, value, type_, f"'{place.array.name}'")
        cx.b.store(place.array, place.index, value)
        return
    old = cx.value(place)
    assign_to(cx, node.target, binary(cx, type(node.op), old, cx.operand(node.value)))


def _if(cx: Context, node: ast.If) -> None:
    test = cx.operand(node.test)
    if isinstance(test, Static):
        cx.run(node.body if test.value else node.orelse)
        return
    cond = truth(cx, cx.value(test))
    if shape_of(cond.type):
        raise TypeMismatch(
            cx.span(node.test), f"a condition is one bool, not {cond.type}.", hint="combine them."
        )
    before = dict(cx.env)
    sides: list[tuple[list[object], dict[str, Item]]] = []
    for branch in (node.body, node.orelse):
        cx.env = dict(before)
        with cx.nested(), cx.b.region() as stmts:
            cx.run(branch)
        sides.append((stmts, cx.env))  # pyright: ignore[reportArgumentType]
    join_branches(cx, cond, before, sides[0], sides[1], cx.source.span(node))  # pyright: ignore[reportArgumentType]


def _expression(cx: Context, node: ast.Expr) -> None:
    value = node.value
    if isinstance(value, ast.Constant):
        return  # a docstring, or `...`
    if isinstance(value, ast.Call):
        special = _special(cx, value)
        if special in ("atomic_add", "atomic_sub"):
            atomic_statement(cx, value, special.removeprefix("atomic_"))
            return
        if special == "loop_config":
            _loop_config(cx, value)
            return
    cx.expr(value)


def _special(cx: Context, node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute) and not isinstance(cx.expr(node.func.value), Static):
        return ""
    item = cx.expr(node.func)
    meaning = cx.meanings(item.value) if isinstance(item, Static) else None
    return meaning.name if isinstance(meaning, Special) else ""


def _loop_config(cx: Context, node: ast.Call) -> None:
    """Lower `ti.loop_config(serialize=True)`; its other options are hints and change no result."""
    for keyword in node.keywords:
        if keyword.arg == "serialize":
            item = cx.expr(keyword.value)
            cx.serialize_next = isinstance(item, Static) and bool(item.value)


def _pass(cx: Context, node: ast.Pass) -> None:
    pass


def _return(cx: Context, node: ast.Return) -> None:
    raise UnsupportedSyntax(
        cx.keyword_span(node),
        "'return' in a kernel",
        "store the result in a field of shape (): 'result[None] = ...'.",
    )


STATEMENTS: dict[type[ast.stmt], StatementHandler] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.For: for_statement,
    ast.Expr: _expression,
    ast.Pass: _pass,
    ast.Return: _return,
}
