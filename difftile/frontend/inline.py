"""Calls of funcs: the body of the func is lowered in place of the call."""

from __future__ import annotations

import ast
from typing import Any

from difftile.diagnostics import CallMismatch, KernelError, counted, did_you_mean
from difftile.frontend.captures import default_values
from difftile.frontend.context import Context, Env
from difftile.frontend.convert import spread
from difftile.frontend.draws import DRAWS
from difftile.frontend.items import Item, Path, Static
from difftile.frontend.names import captured
from difftile.frontend.returns import lower_body
from difftile.frontend.source import source_of
from difftile.ops.vocabulary import PythonFunction


def inline(cx: Context, node: ast.Call, function: PythonFunction) -> Item:
    """Lower the body of a func in place of its call and return what it returns."""
    active = [source.function for source in (*cx.calls, cx.source)]
    if function in active:
        through = [one.__name__ for one in active[active.index(function) + 1 :]]
        what = f" through '{through[0]}'" if through else ""
        raise KernelError(
            f"Func '{function.__name__}' calls itself{what}.",
            cx.span(node),
            "recursion",
            hint="write it as a loop: funcs are put in place of their calls.",
        )
    source = source_of(function)
    env = _bind(cx, node, function, source.tree.args)
    env[DRAWS] = cx.env[DRAWS]
    saved = (cx.source, cx.env, cx.bound_at, cx.calls, cx.top_level)
    cx.calls = (*cx.calls, cx.source)
    cx.source, cx.env, cx.bound_at, cx.top_level = source, env, {}, False
    try:
        returned = lower_body(cx, source.tree.body)
        saved[1][DRAWS] = cx.env[DRAWS]
        return returned
    finally:
        cx.source, cx.env, cx.bound_at, cx.calls, cx.top_level = saved


def _bind(cx: Context, node: ast.Call, function: PythonFunction, tree: ast.arguments) -> Env:
    """Return the bindings of a func's parameters for one call."""
    name = function.__name__
    for starred, mark in ((tree.vararg, "*"), (tree.kwarg, "**")):
        if starred is not None:
            raise CallMismatch(
                cx.span(node.func),
                f"func '{name}' has a parameter '{mark}{starred.arg}'.",
                "name its parameters one by one.",
            )
    by_place = [a.arg for a in (*tree.posonlyargs, *tree.args)]
    by_name = [a.arg for a in (*tree.args, *tree.kwonlyargs)]
    parameters = [*by_place, *(a.arg for a in tree.kwonlyargs)]
    listed = f"its parameters are {', '.join(parameters)}." if parameters else "it has none."
    env: Env = {}
    arguments = spread(cx, node.args)
    for place, (where, item) in enumerate(arguments):
        if place >= len(by_place):
            takes = counted(len(by_place), "argument")
            raise CallMismatch(
                cx.span(where), f"'{name}' takes {takes}, not {len(arguments)}.", listed
            )
        env[by_place[place]] = item
    for keyword in node.keywords:
        if keyword.arg is None:
            raise CallMismatch(
                cx.span(keyword.value),
                f"'{name}' is called with '**'.",
                "write the arguments one by one.",
            )
        if keyword.arg in env:
            raise CallMismatch(cx.span(keyword), f"'{name}' is given '{keyword.arg}' twice.")
        if keyword.arg not in by_name:
            hint = did_you_mean(keyword.arg, by_name) or listed
            raise CallMismatch(
                cx.span(keyword), f"'{name}' takes no argument by the name '{keyword.arg}'.", hint
            )
        env[keyword.arg] = cx.operand(keyword.value, keyword.arg)
    defaults = default_values(function)
    for parameter in parameters:
        if parameter in env:
            continue
        if parameter not in defaults:
            hint = listed
            if parameters[0] == "self":
                hint = "funcs have no 'self': decorate it with '@staticmethod' above '@dt.func'."
            raise CallMismatch(
                cx.span(node), f"'{name}' is missing its argument '{parameter}'.", hint
            )
        with cx.at(node):
            env[parameter] = _default(cx, function, parameter, defaults[parameter])
    return env


def _default(cx: Context, function: PythonFunction, name: str, value: Any) -> Item:
    """Return the item of a default: numbers are constants, as they are in Python."""
    if isinstance(value, (bool, int, float, str, type(None))):
        return Static(value)
    return captured(cx, value, Path(function, (("default", name),)))
