"""Lists of known length: comprehensions, `[0.0] * n`, and one list after another."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from difftile.diagnostics import TypeMismatch, UnsupportedSyntax
from difftile.frontend.assign import bind_names
from difftile.frontend.context import Context
from difftile.frontend.items import Item, Static, Tuple, describe
from difftile.frontend.name_lookup import depend, parts_of

_LONGEST = 4096


def comprehension(cx: Context, node: ast.ListComp, name: str) -> Item:
    """Lower `[f(k) for k in range(3)]`, whose range must be known while compiling."""
    outside = dict(cx.env)
    parts = tuple(cx.operand(node.elt) for _ in _rounds(cx, node, node.generators))
    # The names that it binds end with it; a func in it may have changed others.
    for inside in cx.env.keys() - outside.keys():
        del cx.env[inside]
    hidden = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    cx.env |= {one: outside[one] for one in hidden & outside.keys()}
    return Tuple(parts)


def _rounds(
    cx: Context, node: ast.ListComp, generators: Sequence[ast.comprehension]
) -> Iterator[None]:
    if not generators:
        yield
        return
    first, *rest = generators
    try:
        parts = parts_of(cx, cx.expr(first.iter))
    except TypeMismatch:
        if cx.special(first.iter) not in ("range", "ndrange"):
            raise
        parts = None
    if parts is None:
        raise UnsupportedSyntax(
            cx.span(node),
            "list comprehension over what is known at run time only",
            "write an explicit 'for' over a range.",
        )
    for item in parts:
        bind_names(cx, first.target, item)
        for test in first.ifs:
            known = cx.operand(test)
            if not isinstance(known, Static):
                what = "the 'if' of a list comprehension must be known while compiling."
                raise TypeMismatch(cx.span(test), what, describe(known))
            depend(cx, known)
            if not known.value:
                break
        else:
            yield from _rounds(cx, node, rest)


def joined(cx: Context, node: ast.BinOp, left: Item, right: Item) -> Item:
    """Return `[a, b] + [c]` or `[0.0] * n`."""
    match node.op, left, right:
        case ast.Add(), Tuple(first), Tuple(second):
            return Tuple((*first, *second))
        case (ast.Mult(), Tuple(items), Static(int() as count)) | (
            ast.Mult(),
            Static(int() as count),
            Tuple(items),
        ):
            if len(items) * count > _LONGEST:
                raise TypeMismatch(
                    cx.b.span,
                    f"a list of {len(items) * count} entries.",
                    hint="keep them in a field; vectors are for up to 64 components.",
                )
            return Tuple(items * count)
        case _:
            other = right if isinstance(left, Tuple) else left
            raise TypeMismatch(
                cx.span(node),
                f"a tuple or list does not go with {describe(other)} here.",
                hint="make a vector of it: 'ti.Vector([...])'.",
            )
