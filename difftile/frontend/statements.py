"""Statements: assignments to locals and fields, branches, calls for their effect."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from difftile.diagnostics import (
    CallMismatch,
    KernelError,
    TypeMismatch,
    UnsupportedSyntax,
    counted,
    did_you_mean,
)
from difftile.frontend.calls import accumulate, atomic_statement
from difftile.frontend.construct import as_declared
from difftile.frontend.context import Context, StatementHandler
from difftile.frontend.convert import assignable, condition
from difftile.frontend.expressions import binary
from difftile.frontend.indexing import component_index, swizzle
from difftile.frontend.items import (
    Element,
    FieldRef,
    Item,
    Static,
    describe,
    is_number,
    subscripted,
)
from difftile.frontend.joins import join_branches
from difftile.frontend.jumps import break_statement, continue_statement, run_body
from difftile.frontend.logic import tested
from difftile.frontend.loops import for_statement, while_statement
from difftile.frontend.names import depend, lookup, parts_of
from difftile.ir.build import element_type
from difftile.ir.nodes import Const, Value, Var
from difftile.ir.types import FLOATS, I32, Vector, scalar_of

_LOOP_OPTIONS = ("serialize", "parallelize", "block_dim", "block_dim_adaptive", "bit_vectorize")


def _assign(cx: Context, node: ast.Assign) -> None:
    wanted = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
    item = cx.operand(node.value, wanted)
    for target in node.targets:
        assign_to(cx, target, item, node.value, node)


def _annotated(cx: Context, node: ast.AnnAssign) -> None:
    if node.value is None:
        raise UnsupportedSyntax(
            cx.span(node), "a declaration without a value", "give it a value: 's: float = 0.0'."
        )
    wanted = node.target.id if isinstance(node.target, ast.Name) else ""
    item = cx.operand(node.value, wanted)
    item = as_declared(cx, node.annotation, node.value, item, ast.unparse(node.target))
    assign_to(cx, node.target, item, node.value, node)


def assign_to(cx: Context, target: ast.expr, item: Item, value: ast.expr, stmt: ast.stmt) -> None:
    """Bind a name, or store into a field or a component of a local.

    Args:
        cx: The context.
        target: What stands left of the '='.
        item: What is assigned.
        value: Its expression, for errors.
        stmt: The statement.
    """
    with cx.at(target):
        match target:
            case ast.Name(name):
                with cx.at(value):
                    cx.bind(name, cx.value(item) if is_number(item) else item, stmt)
            case ast.Tuple(elts) | ast.List(elts):
                starred = next((e for e in elts if isinstance(e, ast.Starred)), None)
                if starred is not None:
                    raise cx.refusal(starred)
                parts = _unpacked(cx, value, item, target, len(elts))
                nodes = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
                for k, (part, one) in enumerate(zip(elts, parts, strict=True)):
                    where = nodes[k] if len(nodes) == len(parts) else value
                    assign_to(cx, part, one, where, stmt)
            case ast.Subscript() | ast.Attribute():
                _assign_part(cx, target, item, value, stmt)
            case _:
                raise cx.refusal(target)


def _unpacked(
    cx: Context, value: ast.expr, item: Item, target: ast.expr, count: int
) -> Sequence[Item]:
    parts: Sequence[Item] | None = parts_of(cx, item)
    if isinstance(item, (Var, Const)) and isinstance(item.type, Vector):
        parts = [cx.call("extract", item, Const(k, I32)) for k in range(item.type.n)]
    if parts is None:
        raise TypeMismatch(cx.span(value), f"{describe(item)} cannot be unpacked.")
    if len(parts) != count:
        names = counted(count, "name")
        raise TypeMismatch(cx.span(target), f"{names} for {counted(len(parts), 'value')}.")
    return parts


def _assign_part(
    cx: Context,
    target: ast.Subscript | ast.Attribute,
    item: Item,
    value: ast.expr,
    stmt: ast.stmt,
) -> None:
    """Lower `x[i] = v`, `x[i].y = v`, `v[0] = s`, `v.x = s`."""
    root = target.value
    if isinstance(root, ast.Name) and isinstance(lookup(cx, root), (Var, Const)):
        _assign_component(cx, root, target, item, value, stmt)
        return
    place = cx.expr(target)
    if not isinstance(place, Element):
        raise _unassignable(cx, target, place)
    type_ = element_type(place.array, place.index)
    stored = assignable(cx, value, item, type_, f"'{place.array.name}'")
    cx.b.store(place.array, place.index, stored)


def _unassignable(cx: Context, target: ast.Subscript | ast.Attribute, place: Item) -> KernelError:
    owner = cx.expr(target.value)
    hint = "assign to an element of a field, a component of a vector, or a local."
    if isinstance(target, ast.Attribute) and isinstance(owner, Element) and len(target.attr) > 1:
        hint = f"assign to one component at a time: '.{target.attr[0]} = ...'."
    if isinstance(owner, Static):
        hint = "Python objects do not change in a kernel; store the value in a field."
    if isinstance(place, FieldRef):
        hint = f"assign to an element: '{subscripted(place.array)} = ...'."
    return TypeMismatch(cx.span(target), f"{describe(place)} cannot be assigned to.", hint=hint)


def _assign_component(
    cx: Context,
    root: ast.Name,
    target: ast.Subscript | ast.Attribute,
    item: Item,
    value: ast.expr,
    stmt: ast.stmt,
) -> None:
    if root.id not in cx.env:
        raise KernelError(
            f"'{root.id}' comes from outside the kernel.",
            cx.span(target),
            "cannot be assigned to",
            hint="copy it into a local first, or use a field.",
        )
    old = cx.value(lookup(cx, root))
    index = _component_of(cx, target, old)
    scalar = scalar_of(old.type)
    stored = assignable(cx, value, item, scalar, f"'{root.id}'")
    cx.bind(root.id, cx.call("insert", old, *index, stored, name=root.id), stmt)


def _component_of(
    cx: Context, target: ast.Subscript | ast.Attribute, value: Value
) -> tuple[Value, ...]:
    if isinstance(target, ast.Subscript):
        return component_index(cx, target.slice, value.type)
    size = value.type.n if isinstance(value.type, Vector) else 0
    picks = swizzle(target.attr, size)
    if picks is None or len(picks) != 1:
        raise TypeMismatch(
            cx.source.attribute_span(target),
            f"'{target.attr}' is not one component of {value.type}.",
            hint="assign to one component at a time." if picks else None,
        )
    return (Const(picks[0], I32),)


def _augmented(cx: Context, node: ast.AugAssign) -> None:
    """Lower `target op= value`; adding to a field accumulates, which keeps no old value."""
    adds = isinstance(node.op, (ast.Add, ast.Sub))
    negate = isinstance(node.op, ast.Sub)
    if isinstance(node.target, ast.Name):
        name = node.target.id
        cell = cx.reductions.get(name)
        if cell is not None and adds:
            item = cx.numeric(node.value)
            _check_sum(cx, node, item, name)
            accumulate(cx, Element(cell, ()), node.value, item, negate=negate)
            return
        with cx.at(node.target):
            old = lookup(cx, node.target)
        value = binary(cx, node, old, cx.numeric(node.value), name)
        cx.bind(name, cx.value(value) if is_number(value) else value, node)
        return
    place = cx.expr(node.target)
    if isinstance(place, Element):
        item = cx.numeric(node.value)
        if adds:
            accumulate(cx, place, node.value, item, negate=negate)
            return
        type_ = element_type(place.array, place.index)
        old = cx.b.load(place.array, place.index)
        changed = binary(cx, node, old, item)
        value = assignable(cx, node.value, changed, type_, f"'{place.array.name}'")
        cx.b.store(place.array, place.index, value)
        return
    with cx.at(node.target):
        old = cx.value(place)
    assign_to(cx, node.target, binary(cx, node, old, cx.numeric(node.value)), node.value, node)


def _check_sum(cx: Context, node: ast.AugAssign, item: Item, name: str) -> None:
    """Check that a local that starts as an integer is given no floats by a parallel loop."""
    held = scalar_of(cx.reductions[name].type.element)
    given = scalar_of(cx.value(item).type)
    if held not in FLOATS and given in FLOATS:
        raise TypeMismatch(
            cx.span(node),
            f"local '{name}' is {held} before the loop and becomes {given} in it.",
            f"{given}",
            related=cx.note(name, cx.bound_at, f"{held}"),
            hint=f"start it as a float: '{name} = 0.0'.",
        )


def _if(cx: Context, node: ast.If) -> None:
    test = tested(cx, node.test)
    if isinstance(test, Static):
        depend(cx, test)
        run_body(cx, node.body if test.value else node.orelse)
        return
    cond = condition(cx, node.test, test)
    with cx.nested():
        then, orelse = (cx.side(partial(run_body, cx, block)) for block in (node.body, node.orelse))
    join_branches(cx, cond, (then, orelse), cx.source.span(node))


def _expression(cx: Context, node: ast.Expr) -> None:
    value = node.value
    if isinstance(value, ast.Constant):
        return  # a docstring, or `...`
    if isinstance(value, ast.Compare):
        raise KernelError(
            "This comparison has no effect.",
            cx.span(value),
            hint="write '=' to assign." if isinstance(value.ops[0], ast.Eq) else "leave it out.",
        )
    if isinstance(value, ast.Call):
        special = cx.special(value)
        if special in ("atomic_add", "atomic_sub"):
            atomic_statement(cx, value, special.removeprefix("atomic_"))
            return
        if special == "loop_config":
            _loop_config(cx, value)
            return
    cx.expr(value)


def _loop_config(cx: Context, node: ast.Call) -> None:
    """Lower `ti.loop_config(serialize=True)`; its other options are hints and change no result."""
    if node.args:
        raise CallMismatch(
            cx.span(node.args[0]),
            "'ti.loop_config' takes its options by name.",
            "write 'ti.loop_config(serialize=True)'.",
        )
    for keyword in node.keywords:
        if keyword.arg not in _LOOP_OPTIONS:
            hint = did_you_mean(keyword.arg or "", _LOOP_OPTIONS)
            raise CallMismatch(
                cx.span(keyword), f"'ti.loop_config' has no option '{keyword.arg}'.", hint
            )
        item = cx.expr(keyword.value)
        if not is_number(item):
            raise TypeMismatch(
                cx.span(keyword.value),
                "an option of a loop must be known while compiling.",
                describe(item),
            )
        if keyword.arg == "serialize" and isinstance(item, Static):
            cx.serialize_next = bool(item.value)


def _pass(cx: Context, node: ast.Pass) -> None:
    pass


def _return(cx: Context, node: ast.Return) -> None:
    hint = "store the result in a field of shape (): 'result[None] = ...'."
    if node.value is None:
        hint = "put an 'if' around what follows."
    raise UnsupportedSyntax(cx.keyword_span(node), "'return' in a kernel", hint)


STATEMENTS: dict[type[ast.stmt], StatementHandler] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.For: for_statement,
    ast.While: while_statement,
    ast.Break: break_statement,
    ast.Continue: continue_statement,
    ast.Expr: _expression,
    ast.Pass: _pass,
    ast.Return: _return,
}
