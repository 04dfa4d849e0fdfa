"""Statements: assignments to locals and fields, branches, calls for their effect."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from difftile.diagnostics import (
    CallMismatch,
    KernelError,
    TypeMismatch,
    UnsupportedSyntax,
    did_you_mean,
)
from difftile.frontend.assign import accumulate, assign_to, place_of, put
from difftile.frontend.atomic_calls import ATOMICS, combine
from difftile.frontend.construct import as_declared, type_of
from difftile.frontend.context import Context, StatementHandler
from difftile.frontend.convert import condition, counted_arguments
from difftile.frontend.items import (
    Element,
    Place,
    Static,
    describe,
    is_number,
)
from difftile.frontend.joins import join_branches
from difftile.frontend.jumps import forget_after_jumps, jump_statement, run_body
from difftile.frontend.logic import tested
from difftile.frontend.loops import for_statement, while_statement
from difftile.frontend.name_lookup import depend, lookup
from difftile.frontend.operators import binary
from difftile.frontend.results import kernel_return
from difftile.frontend.returns import return_statement
from difftile.frontend.stops import breakpoint_statement
from difftile.frontend.texts import assert_statement, print_statement
from difftile.ir.types import FLOATS, scalar_of

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
    type_ = type_of(cx, node.annotation)
    item = as_declared(cx, type_, node.value, item, ast.unparse(node.target))
    assign_to(cx, node.target, item, node.value, node)


def _augmented(cx: Context, node: ast.AugAssign) -> None:
    """Lower `target op= value`; adding to a field accumulates, which keeps no old value."""
    adds = isinstance(node.op, (ast.Add, ast.Sub))
    negate = isinstance(node.op, ast.Sub)
    if isinstance(node.target, ast.Name):
        name = node.target.id
        cell = cx.scope.reductions.get(name)
        if cell is not None and adds:
            item = cx.numeric(node.value)
            held, given = scalar_of(cell.type.element), scalar_of(cx.value(item).type)
            if held not in FLOATS and given in FLOATS:
                raise TypeMismatch(
                    cx.span(node),
                    f"local '{name}' is {held} before the loop and becomes {given} in it.",
                    f"{given}",
                    related=cx.note(name, f"{held}"),
                    hint=f"start it as a float: '{name} = 0.0'.",
                )
            accumulate(cx, Element(cell, ()), None, node.value, item, negate=negate)
            return
        with cx.at(node.target):
            old = lookup(cx, node.target)
        value = binary(cx, node, old, cx.numeric(node.value), name)
        cx.bind(name, cx.value(value) if is_number(value) else value, node)
        return
    place = place_of(cx, node.target)
    item = cx.numeric(node.value)
    if isinstance(place, Place):
        if adds and isinstance(place.at, Element):
            accumulate(cx, place.at, place.components, node.value, item, negate=negate)
            return
        op = _COMBINING.get(type(node.op))
        if op is not None and combine(cx, place, op, node.value, item):
            return
    with cx.at(node.target):
        old = cx.value(place)
    put(cx, node.target, place, binary(cx, node, old, item), node.value, node)


_COMBINING: dict[type[ast.operator], str] = {ast.Mult: "mul", ast.Div: "div"}


def _if(cx: Context, node: ast.If) -> None:
    test = tested(cx, node.test)
    if isinstance(test, Static):
        depend(cx, test)
        run_body(cx, node.body if test.value else node.orelse)
        return
    cond = condition(cx, node.test, test)
    with cx.nested():
        then = cx.branch(partial(run_body, cx, node.body))
        orelse = cx.branch(partial(run_body, cx, node.orelse))
    forget_after_jumps(then, orelse)
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
    if isinstance(value, (ast.BinOp, ast.UnaryOp, ast.BoolOp)):
        raise KernelError(
            "This expression has no effect.",
            cx.span(value),
            hint="write '=' or '+=' to change something, or leave it out.",
        )
    if isinstance(value, ast.Call):
        special = cx.special(value)
        if special in ATOMICS:
            ATOMICS[special](cx, value, None)
            return
        if special in _CALLS:
            _CALLS[special](cx, value)
            return
        if isinstance(value.func, ast.Attribute) and value.func.attr == "fill":
            place = place_of(cx, value.func.value)
            if isinstance(place, Place):
                (filling,) = counted_arguments(cx, value, 1, 1)
                put(cx, value.func.value, place, cx.numeric(filling), filling, node)
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


_CALLS: dict[str, Callable[[Context, ast.Call], None]] = {
    "print": print_statement,
    "breakpoint": breakpoint_statement,
    "loop_config": _loop_config,
}


def _return(cx: Context, node: ast.Return) -> None:
    if cx.scope.callers:
        return_statement(cx, node)
    else:
        kernel_return(cx, node)


STATEMENTS: dict[type[ast.stmt], StatementHandler] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.For: for_statement,
    ast.While: while_statement,
    ast.Break: jump_statement,
    ast.Continue: jump_statement,
    ast.Expr: _expression,
    ast.Pass: lambda cx, node: None,
    ast.Return: _return,
    ast.Assert: assert_statement,
}
