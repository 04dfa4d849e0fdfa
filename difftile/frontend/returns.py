"""The body of a func: statements, and a `return` on every path.

Where no `return` stands in a loop, the statements after an `if` that returns are its other branch.
Where one does, a `return` sets a flag, as `break` does, and leaves its result in locals. Their
types must be known before the loop, so the body is lowered twice: the first time finds them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from difftile.diagnostics import KernelError, Label, Span, TypeMismatch
from difftile.frontend.context import Branch, Context, Returning
from difftile.frontend.convert import condition
from difftile.frontend.items import (
    Item,
    Static,
    describe,
    is_alike,
    is_number,
    is_same,
    leaves,
    regrown,
)
from difftile.frontend.joins import at_end, join_branches, starts_as_number
from difftile.frontend.jumps import RETURNED, breaks, returns, run_body
from difftile.frontend.logic import tested
from difftile.frontend.name_lookup import depend
from difftile.frontend.syntax import nodes_of
from difftile.ir.nodes import Const
from difftile.ir.types import BOOL, FLOATS, Type, scalar_of, shape_of
from difftile.ops.build import zero

_RESULT = "return value"  # no Python name has a space


def lower_body(cx: Context, body: Sequence[ast.stmt]) -> Item:
    """Lower the body of a func and return its result: None where it has no `return`."""
    loops = [node for stmt in body for node in nodes_of(stmt, ast.For, ast.While)]
    if any(True for _ in returns(loops)):
        return _with_flags(cx, body)
    _body(cx, body)
    return cx.env.get(_RESULT, Static(None))


# With a `return` in a loop


def return_statement(cx: Context, node: ast.Return) -> None:
    """Lower a `return` that may not come last: set a flag, and the locals of the result."""
    place = cx.source.span(node)
    item = _returned(cx, node)
    returning = cx.scope.returning
    returning.found.append((place, item))
    for name, type_, part in zip(returning.names, returning.types, _parts(item), strict=False):
        cx.bind(name, cx.b.cast(cx.value(part), scalar_of(type_)), node)
    cx.env[RETURNED] = Const(True, BOOL)


def _with_flags(cx: Context, body: Sequence[ast.stmt]) -> Item:
    cx.count_draws()
    trial = Returning()
    with (
        cx.b.region(),
        cx.frame({**cx.env, RETURNED: Const(False, BOOL)}, dict(cx.bound_at)),
        cx.within(replace(cx.scope, returning=trial)),
    ):
        run_body(cx, body)
        types = _types(cx, body, trial.found)
    cx.draws.pending = 0
    names = tuple(f"{_RESULT} {k}" for k in range(len(types)))
    cx.env[RETURNED] = Const(False, BOOL)
    cx.env |= {name: zero(type_) for name, type_ in zip(names, types, strict=True)}
    with cx.within(replace(cx.scope, returning=Returning(names, types))):
        run_body(cx, body)
    if not names:
        return Static(None)
    return regrown(trial.found[0][1], iter([cx.env[name] for name in names]))


def _types(
    cx: Context, body: Sequence[ast.stmt], found: list[tuple[Span, Item]]
) -> tuple[Type, ...]:
    """Return the types of the parts of the results, which must agree; integers go with floats.

    Raises:
        KernelError: The types do not agree, or some path returns no value.
    """
    first_at, first = found[0]
    for at, item in found:
        if not is_alike(item, first) or len(_parts(item)) != len(_parts(first)):
            raise _disagree(cx, (first_at, describe(first)), (at, describe(item)))
        for part in _parts(item):
            if not starts_as_number(part):
                raise KernelError(
                    f"Func '{cx.source.name}' returns {describe(part)} from a loop.",
                    at,
                    "not a number",
                    hint="return numbers, vectors or matrices, or a tuple of them.",
                )
    if not _parts(first):
        return ()
    if not always_returns(body):
        raise KernelError(
            f"Func '{cx.source.name}' returns a value on some paths only.",
            cx.keyword_span(body[-1]),
            "the end of the func can be reached without 'return'",
            hint="end the func with a 'return'.",
        )
    places = [at for at, _ in found]
    agreed: list[Type] = []
    for parts in zip(*(_parts(item) for _, item in found), strict=True):
        types = [cx.value(part).type for part in parts]
        common = next((type_ for type_ in types if scalar_of(type_) in FLOATS), types[0])
        for at, type_ in zip(places, types, strict=True):
            mixes = scalar_of(type_) != scalar_of(common)
            is_cast = scalar_of(type_) not in FLOATS and scalar_of(common) in FLOATS
            if shape_of(type_) != shape_of(common) or (mixes and not is_cast):
                other = places[types.index(common)]
                raise _disagree(cx, (other, str(common)), (at, str(type_)))
        agreed.append(common)
    return tuple(agreed)


def _parts(item: Item) -> tuple[Item, ...]:
    return () if _is_nothing(item) else leaves(item)


def _is_nothing(item: Item | None) -> bool:
    """Tell whether an item is the result of a bare `return`, or of the end of a func."""
    return isinstance(item, Static) and item.value is None


def _disagree(
    cx: Context, first: tuple[Span | None, str], second: tuple[Span | None, str]
) -> TypeMismatch:
    at, text = second
    return TypeMismatch(
        first[0],
        f"func '{cx.source.name}' returns one type here and another there.",
        first[1],
        related=() if at is None else (Label(at, text),),
        hint="return the same type on every path.",
    )


# Without


def _body(cx: Context, body: Sequence[ast.stmt]) -> None:
    for position, stmt in enumerate(body):
        if isinstance(stmt, ast.Return):
            with cx.at(stmt):
                cx.bind(_RESULT, _returned(cx, stmt, known=True), stmt)
            return
        if isinstance(stmt, ast.If) and any(True for _ in returns([stmt])):
            # The statements after an `if` that returns are the other branch.
            with cx.at(stmt):
                _branches(cx, stmt, body[position + 1 :])
            return
        cx.run([stmt])


def _returned(cx: Context, stmt: ast.Return, *, known: bool = False) -> Item:
    """Lower the value of a `return`; a known bool stays one: an 'if' of it has one branch."""
    if stmt.value is None:
        return Static(None)
    item = cx.operand(stmt.value)
    if known and isinstance(item, Static) and isinstance(item.value, bool):
        depend(cx, item)
        return Static(item.value)
    return cx.value(item) if is_number(item) else item


def _branches(cx: Context, stmt: ast.If, rest: Sequence[ast.stmt]) -> None:
    test = tested(cx, stmt.test)
    if isinstance(test, Static):
        depend(cx, test)
        _body(cx, [*(stmt.body if test.value else stmt.orelse), *rest])
        return
    cond = condition(cx, stmt.test, test)
    then, orelse = (
        cx.branch(partial(_body, cx, block if always_returns(block) else [*block, *rest]))
        for block in (stmt.body, stmt.orelse)
    )
    for side, other in ((then, orelse), (orelse, then)):
        if _is_nothing(other.env.get(_RESULT)):
            side.env.setdefault(_RESULT, other.env[_RESULT])
    if _RESULT not in then.env or _RESULT not in orelse.env:
        raise KernelError(
            f"Func '{cx.source.name}' returns a value on some paths only.",
            cx.keyword_span(stmt),
            "one way from here ends without 'return'",
            hint="end both branches with a 'return'.",
        )
    _cast_results(cx, (then, orelse))
    join_branches(cx, cond, (then, orelse), cx.source.span(stmt))


def _cast_results(cx: Context, sides: tuple[Branch, Branch]) -> None:
    """Cast an integer returned in one branch to the float of the other: `return 0`, `return x`.

    Raises:
        TypeMismatch: The two sides return different kinds of things.
    """
    places = [side.bound_at.get(_RESULT, cx.b.span) for side in sides]
    results = [side.env[_RESULT] for side in sides]
    if not is_alike(*results):
        raise _disagree(cx, *zip(places, map(describe, results), strict=True))
    pairs: list[tuple[Item, Item]] = []
    for first, second in zip(*map(leaves, results), strict=True):
        if is_same(first, second) or not (starts_as_number(first) and starts_as_number(second)):
            pairs.append((first, second))  # joining the branches tells what is wrong with them
            continue
        values = [at_end(cx, side, item) for side, item in zip(sides, (first, second), strict=True)]
        types = [value.type for value in values]
        scalars = [scalar_of(type_) for type_ in types]
        floats = [scalar for scalar in scalars if scalar in FLOATS]
        mixes = scalars[0] != scalars[1]
        if shape_of(types[0]) != shape_of(types[1]) or (mixes and len(floats) != 1):
            raise _disagree(cx, *zip(places, map(str, types), strict=True))
        if mixes:
            one, other = zip(sides, values, strict=True)
            values = [at_end(cx, *one, floats[0]), at_end(cx, *other, floats[0])]
        pairs.append((values[0], values[1]))
    for k, side in enumerate(sides):
        side.env[_RESULT] = regrown(results[k], iter([pair[k] for pair in pairs]))


def always_returns(body: Sequence[ast.stmt]) -> bool:
    """Tell whether no path leads to the end of some statements without a `return`."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return):
        return True
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    if isinstance(last, ast.While) and isinstance(last.test, ast.Constant):
        return bool(last.test.value) and not breaks(last.body)
    return False
