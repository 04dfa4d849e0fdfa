"""Methods of vectors and matrices, and the functions that reduce their components."""

from __future__ import annotations

import ast
from collections.abc import Callable

from difftile.diagnostics import TypeMismatch, UndefinedAttribute, did_you_mean
from difftile.frontend.construct import cast, components, type_of
from difftile.frontend.context import Context
from difftile.frontend.convert import apply, counted_arguments, truth
from difftile.frontend.foreign import spelled
from difftile.frontend.items import Item, Static, Tuple
from difftile.frontend.syntax import OF_LISTS
from difftile.ir.nodes import Value
from difftile.ir.types import scalar_of, shape_of
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class _Method:
    """A method that is an op or composite of the tables.

    Args:
        op: Its name.
        arguments: How many it takes besides the receiver.
        with_eps: The op where the optional `eps` is given, '' if it has none.
    """

    op: str
    arguments: int = 0
    with_eps: str = ""


_METHODS: dict[str, _Method] = {
    "dot": _Method("dot", 1),
    "cross": _Method("cross", 1),
    "outer_product": _Method("outer", 1),
    "norm": _Method("norm", with_eps="norm_eps"),
    "norm_sqr": _Method("norm_sqr"),
    "norm_inv": _Method("norm_inv", with_eps="norm_inv_eps"),
    "normalized": _Method("normalized", with_eps="normalized_eps"),
    "sum": _Method("sum"),
    "transpose": _Method("transpose"),
    "trace": _Method("trace"),
    "determinant": _Method("determinant"),
    "inverse": _Method("inverse"),
}


def method_call(
    cx: Context, node: ast.Call, function: ast.Attribute, receiver: Value, name: str
) -> Item:
    """Lower `receiver.method(...)` of a number, vector or matrix."""
    if function.attr == "cast":
        (target,) = counted_arguments(cx, node, 1, 1)
        return cast(cx, node, receiver, scalar_of(type_of(cx, target)), name)
    if not shape_of(receiver.type):
        raise _missing(cx, function, receiver)
    known = _METHODS.get(function.attr)
    if known is not None:
        if known.with_eps and [k.arg for k in node.keywords] == ["eps"] and not node.args:
            arguments = [node.keywords[0].value]
        else:
            most = known.arguments + bool(known.with_eps)
            arguments = counted_arguments(cx, node, known.arguments, most)
        op = known.op if len(arguments) == known.arguments else known.with_eps
        return apply(cx, op, [receiver, *(cx.numeric(a) for a in arguments)], name)
    special = _SPECIAL.get(function.attr)
    if special is None:
        raise _missing(cx, function, receiver)
    counted_arguments(cx, node, 0, 0)
    return special(cx, receiver, name)


def _missing(cx: Context, function: ast.Attribute, receiver: Value) -> UndefinedAttribute:
    names = (*_METHODS, *_SPECIAL, "cast")
    if function.attr in names:
        hint = f"'{function.attr}' is a method of vectors and matrices."
    else:
        known = OF_LISTS.get(function.attr) or spelled(function.attr)
        hint = known or did_you_mean(function.attr, names)
    if hint is None and shape_of(receiver.type):
        hint = f"vectors and matrices have {', '.join(names)}."
    return UndefinedAttribute(
        cx.source.attribute_span(function),
        f"A value of type {receiver.type}",
        function.attr,
        hint=hint,
    )


# Reductions


def _extreme(op: str) -> Callable[[Context, Value, str], Item]:
    def handler(cx: Context, value: Value, name: str) -> Item:
        return apply(cx, op, components(cx, value), name)

    return handler


def _truth(op: str) -> Callable[[Context, Value, str], Item]:
    def handler(cx: Context, value: Value, name: str) -> Item:
        first, *others = (truth(cx, part) for part in components(cx, value))
        for other in others:
            first = cx.call(op, first, other, name=name)
        return first

    return handler


_SPECIAL: dict[str, Callable[[Context, Value, str], Item]] = {
    "max": _extreme("max"),
    "min": _extreme("min"),
    "any": _truth("or"),
    "all": _truth("and"),
    "get_shape": lambda cx, value, name: Tuple(tuple(map(Static, shape_of(value.type)))),
}


def truth_call(op: str) -> Callable[[Context, ast.Call, str], Item]:
    """Return the handler of Python's `any(v)` or `all(v)`."""
    handler = _truth(op)

    def lower(cx: Context, node: ast.Call, name: str) -> Item:
        (argument,) = counted_arguments(cx, node, 1, 1)
        value = cx.number(argument)
        if not shape_of(value.type):
            raise TypeMismatch(
                cx.span(argument),
                "expected a vector or matrix.",
                f"{value.type}",
                hint="compare one number: 'x != 0'.",
            )
        return handler(cx, value, name)

    return lower
