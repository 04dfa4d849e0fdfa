"""Calls of funcs: the body of the func is lowered in place of the call."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from difftile.diagnostics import CallMismatch, KernelError, TypeMismatch, counted, did_you_mean
from difftile.frontend.annotations import annotated
from difftile.frontend.assign import assign_to
from difftile.frontend.captures import Path, default_values
from difftile.frontend.changes import by_reference, root_of
from difftile.frontend.components import place_type
from difftile.frontend.context import Context, Env
from difftile.frontend.convert import spread
from difftile.frontend.draws import DRAWS
from difftile.frontend.items import Item, Place, Static, is_same
from difftile.frontend.name_lookup import captured
from difftile.frontend.returns import lower_body
from difftile.frontend.source import Source, source_of
from difftile.ir.nodes import Const, Var
from difftile.ir.types import scalar_of, shape_of, shaped
from difftile.ops.vocabulary import PythonFunction, TypeName

_DEEPEST = 32  # calls of a func inside each other; Python's own stack ends not much later

Argument: TypeAlias = tuple[ast.expr, Item]


def inline(
    cx: Context, node: ast.Call, function: PythonFunction, receiver: Argument | None = None
) -> Item:
    """Lower the body of a func in place of its call and return its result.

    Args:
        cx: The context.
        node: The call.
        function: The func.
        receiver: The object before the dot, if the func is a method: its first argument.

    Parameters annotated `ti.template()`, and the receiver, stand for the places that are passed:
    assignments to them change these places.
    """
    source, env, places = bind_call(cx, node, function, receiver)
    before = dict(env)
    returned, after = run_func(cx, source, env)
    for name, place in places.items():
        # Values computed for the call only have no place.
        if not is_same(before[name], after[name]) and root_of(place) is not None:
            assign_to(cx, place, after[name], place, node)
    return returned


def bind_call(
    cx: Context, node: ast.Call, function: PythonFunction, receiver: Argument | None = None
) -> tuple[Source, Env, dict[str, ast.expr]]:
    """Return a func's source, the bindings of its parameters, and the places some stand for.

    Raises:
        KernelError: The arguments do not fit, or the func is being lowered already.
    """
    source = source_of(function).called(cx.source, node)
    tree, name = source.tree.args, function.__name__
    _check_recursion(cx, node, function, tree)
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
    references = by_reference(tree, method=receiver is not None)
    arguments = [] if receiver is None else [receiver]
    for one in node.args:
        at = by_place[len(arguments)] if len(arguments) < len(by_place) else ""
        arguments += [(one, cx.expr(one))] if at in references else spread(cx, [one])
    places = {name: where for name, (where, _) in zip(by_place, arguments, strict=False)}
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
        lowered = cx.expr if keyword.arg in references else cx.operand
        env[keyword.arg] = lowered(keyword.value, keyword.arg)
        places[keyword.arg] = keyword.value
    defaults = default_values(function)
    for parameter in parameters:
        if parameter in env:
            continue
        if parameter not in defaults:
            hint = listed
            if parameters[0] == "self":
                hint = "call it as a method of an object, or make it a '@staticmethod'."
            raise CallMismatch(
                cx.span(node), f"'{name}' is missing its argument '{parameter}'.", hint
            )
        value = defaults[parameter]
        if isinstance(value, (bool, int, float, str, type(None))):
            env[parameter] = Static(value)  # numbers are constants, as they are in Python
            continue
        with cx.at(node):
            env[parameter] = captured(cx, value, Path(function, (("default", parameter),)))
    for parameter, item in env.items():
        _check_annotation(cx, places.get(parameter, node), function, parameter, item)
    return source, env, {name: where for name, where in places.items() if name in references}


def _check_annotation(
    cx: Context, node: ast.expr, function: PythonFunction, parameter: str, item: Item
) -> None:
    """Check that a vector or matrix has the shape of the annotated one.

    A func that reads its components one by one would compute with the wrong ones.

    Raises:
        TypeMismatch: The shape differs.
    """
    declared = annotated(function, parameter)
    if declared is None or not isinstance(item, (Var, Const, Place)):
        return
    meaning = cx.meaning(Static(declared))
    wanted = meaning.type if isinstance(meaning, TypeName) else None
    given = place_type(cx, item) if isinstance(item, Place) else item.type
    if wanted is None or not shape_of(wanted) or not shape_of(given):
        return
    if shape_of(wanted) != shape_of(given):
        named = shaped(shape_of(wanted), scalar_of(given))  # the kernel chooses the number type
        raise TypeMismatch(
            cx.span(node),
            f"'{parameter}' of '{function.__name__}' is annotated {named} and is given {given}.",
            str(given),
        )


def _check_recursion(
    cx: Context, node: ast.Call, function: PythonFunction, tree: ast.arguments
) -> None:
    """Check that a func that calls itself may end, by a `ti.template()` number, and before long.

    Raises:
        KernelError: It may not.
    """
    active = [source.function for source in (*cx.scope.callers, cx.source)]
    if function not in active:
        return
    others = [one for one in active[active.index(function) :] if one is not function]
    what = f" through '{others[0].__name__}'" if others else ""
    if not by_reference(tree, method=False):
        raise KernelError(
            f"Func '{function.__name__}' calls itself{what}.",
            cx.span(node),
            "recursion",
            hint="write it as a loop; or count down a parameter 'n: ti.template()', which "
            "'if ti.static(n == 0):' ends.",
        )
    if active.count(function) >= _DEEPEST:
        raise KernelError(
            f"Func '{function.__name__}' calls itself{what} more than {_DEEPEST} times.",
            cx.span(node),
            "recursion",
            hint="end it by a condition that is known while compiling: 'if ti.static(n == 0):'.",
        )


def run_func(cx: Context, source: Source, env: Env) -> tuple[Item, Env]:
    """Lower the body of a func; return its result, and the bindings at its end."""
    caller = cx.env
    with cx.within(cx.scope.called(source)), cx.frame({**env, DRAWS: caller[DRAWS]}, {}):
        returned = lower_body(cx, source.tree.body)
        caller[DRAWS] = cx.env[DRAWS]
        return returned, cx.env


# Calls whose arguments are lowered already

CALLED = "function called"  # no Python name has a space


def call_with(
    cx: Context,
    node: ast.AST,
    function: Item,
    items: Sequence[Item],
    named: Mapping[str, Item] | None = None,
) -> Item:
    """Lower a call of something with arguments that are lowered already.

    Args:
        cx: The context.
        node: The place of the call.
        function: The function or other object that is called.
        items: The arguments by position.
        named: The arguments by name.
    """
    given = {f"argument {k}": item for k, item in enumerate(items)}
    args: list[ast.expr] = [hidden_name(name, node) for name in given]
    named = named or {}
    keywords = [ast.keyword(name, hidden_name(f"argument {name}", node)) for name in named]
    given |= {f"argument {name}": item for name, item in named.items()}
    call = ast.Call(hidden_name(CALLED, node), args, keywords)
    for part in (call, *keywords):
        ast.copy_location(part, node)
    with cx.frame({**cx.env, CALLED: function, **given}):
        return cx.expr(call)


def hidden_name(name: str, node: ast.AST) -> ast.expr:
    """Return a name that no Python code can have, at the place of a node."""
    return ast.copy_location(ast.Name(name, ast.Load()), node)
