"""Lists of known length: comprehensions, `[0.0] * n`, and one list after another."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from difftile.diagnostics import TypeMismatch, UnsupportedSyntax
from difftile.frontend.assign import bind_names
from difftile.frontend.context import Context
from difftile.frontend.items import Item, Static, Tuple, describe, is_tuple
from difftile.frontend.name_lookup import depend, parts_of
from difftile.ir.nodes import Const, Var
from difftile.ir.types import BOOL, FLOATS, shape_of

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


def is_joined(op: ast.operator, left: Item, right: Item) -> bool:
    """Tell whether an operator joins or repeats tuples in Python; others take them as vectors."""
    if isinstance(op, ast.Add):
        return is_tuple(left) and is_tuple(right)
    if isinstance(op, ast.Mult):
        return (is_tuple(left) and _is_integer(right)) or (is_tuple(right) and _is_integer(left))
    return False


def _is_integer(item: Item) -> bool:
    if isinstance(item, (Var, Const)):
        return item.type not in (*FLOATS, BOOL) and not shape_of(item.type)
    return isinstance(item, Static) and isinstance(item.value, int)


def joined(cx: Context, node: ast.BinOp, left: Item, right: Item) -> Item:
    """Return `[a, b] + [c]` or `[0.0] * n`.

    A tuple from outside is more likely meant as a vector: it is not joined.
    """
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
            joins = isinstance(node.op, ast.Add)
            raise TypeMismatch(
                cx.span(node),
                "'+' joins tuples in Python." if joins else "'*' repeats tuples in Python.",
                hint="for arithmetic make a vector of the tuple: 'ti.Vector(...)'.",
            )
