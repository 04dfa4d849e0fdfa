"""Joining the values of two branches, and of the iterations of a loop."""

from __future__ import annotations

from difftile.diagnostics import Span, TypeMismatch
from difftile.frontend.context import Context, Env, describe
from difftile.frontend.items import Item, Several, Static, Unbound
from difftile.ir.nodes import Block, If, Let, Stmt, Value, Var
from difftile.ir.types import FLOATS, Type, scalar_of
from difftile.ops.table import OPS

# Cheaper than a jump, and safe to run when not taken.
_SPECULATED = 2


def branch(
    cx: Context,
    cond: Value,
    then: tuple[list[Stmt], Value],
    orelse: tuple[list[Stmt], Value],
    name: str = "",
) -> Value:
    """Return the value of one of two sides; only the side taken runs, unless both are trivial."""
    stmts = [*then[0], *orelse[0]]
    trivial = len(stmts) <= _SPECULATED and all(
        isinstance(s, Let) and not OPS[s.op].singular for s in stmts
    )
    if then[1].type != orelse[1].type:
        raise TypeMismatch(
            cx.b.span, f"the two sides have the types {then[1].type} and {orelse[1].type}."
        )
    if trivial:
        for stmt in stmts:
            cx.b.append(stmt)
        return cx.call("select", cond, then[1], orelse[1], name=name)
    out = Var(name, then[1].type)
    blocks = (Block(tuple(side[0]), (side[1],)) for side in (then, orelse))
    cx.b.append(If(cond, *blocks, (out,), cx.b.span))
    return out


def join_branches(
    cx: Context,
    cond: Value,
    before: Env,
    then: tuple[list[Stmt], Env],
    orelse: tuple[list[Stmt], Env],
    span: Span,
) -> None:
    """Append the `If` of two lowered branches and bind the names that they changed."""
    env = dict(before)
    results: list[tuple[str, Value, Value]] = []
    names = [*before, *(n for n in then[1] if n not in before)]
    names += [n for n in orelse[1] if n not in before and n not in then[1]]
    casts: tuple[list[Stmt], list[Stmt]] = ([], [])
    for name in names:
        first, second = then[1].get(name), orelse[1].get(name)
        if first is second and first is not None:
            env[name] = first
            continue
        if first is None or second is None or isinstance(first, Unbound | None):
            env[name] = Unbound("bound in one branch only")
            continue
        if isinstance(second, Unbound):
            env[name] = second
            continue
        if _same_static(first, second):
            env[name] = first
            continue
        pair = _joined(cx, name, first, second, casts, span)
        results.append((name, *pair))
    outs: list[Var] = []
    for name, first, _ in results:
        out = Var(name, first.type)
        env[name] = out
        outs.append(out)
    blocks = (
        Block((*then[0], *casts[0]), tuple(first for _, first, _ in results)),
        Block((*orelse[0], *casts[1]), tuple(second for _, _, second in results)),
    )
    cx.b.append(If(cond, *blocks, tuple(outs), span))
    cx.env = env


def _same_static(first: Item, second: Item) -> bool:
    if isinstance(first, Several) and isinstance(second, Several):
        pairs = zip(first.items, second.items, strict=False)
        return len(first.items) == len(second.items) and all(
            a is b or _same_static(a, b) for a, b in pairs
        )
    return (
        isinstance(first, Static)
        and isinstance(second, Static)
        and type(first.value) is type(second.value)
        and first.value == second.value
    )


def _joined(
    cx: Context,
    name: str,
    first: Item,
    second: Item,
    casts: tuple[list[Stmt], list[Stmt]],
    span: Span,
) -> tuple[Value, Value]:
    values: list[Value] = []
    for item, stmts in zip((first, second), casts, strict=True):
        if isinstance(item, Several):
            raise TypeMismatch(span, f"'{name}' is a different tuple in each branch.")
        with cx.b.region() as made:
            values.append(cx.value(item))
        stmts += made
    if values[0].type != values[1].type:
        raise changed_type(name, values[0].type, values[1].type, span, "one branch", "the other")
    return values[0], values[1]


def changed_type(
    name: str, first: Type, second: Type, span: Span, here: str, there: str
) -> TypeMismatch:
    """Return the error for a local with two types at one place."""
    hint = None
    integer_and_float = (scalar_of(first) in FLOATS) != (scalar_of(second) in FLOATS)
    if integer_and_float:
        hint = f"start it as a float: '{name} = 0.0'."
    return TypeMismatch(
        span, f"local '{name}' is {first} in {here} and {second} in {there}.", hint=hint
    )


def unbind(env: Env, names: list[str], reason: str) -> None:
    """Mark names whose binding ends with a block."""
    for name in names:
        env[name] = Unbound(reason)


__all__ = ["branch", "changed_type", "describe", "join_branches", "unbind"]
