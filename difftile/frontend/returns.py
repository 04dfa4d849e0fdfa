"""The body of a func: statements, and a `return` on every path.

Where no `return` stands in a loop, what follows an `if` that returns is its other branch. Where one
does, a `return` sets a flag, as `break` does, and leaves its result in locals. Their types must be
known before the loop, so the body is lowered twice: the first time finds them out.
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
from difftile.frontend.joins import join_branches, starts_as_number
from difftile.frontend.jumps import RETURNED, breaks, returns, run_body
from difftile.frontend.logic import tested
from difftile.frontend.name_lookup import depend
from difftile.ir.nodes import Const, Value
from difftile.ir.types import BOOL, FLOATS, Scalar, Type, scalar_of, shape_of
from difftile.ops.build import zero

_RESULT = "return value"  # no Python name has a space


def lower_body(cx: Context, body: Sequence[ast.stmt]) -> Item:
    """Lower the body of a func and return what it returns; None where it returns nothing."""
    loops = [
        node for stmt in body for node in ast.walk(stmt) if isinstance(node, ast.For | ast.While)
    ]
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
    found = trial.found
    with (
        cx.b.region(),
        cx.frame({**cx.env, RETURNED: Const(False, BOOL)}, dict(cx.bound_at)),
        cx.within(replace(cx.scope, returning=trial)),
    ):
        run_body(cx, body)
        types = _types(cx, body, found)
    cx.draws.pending = 0
    names = tuple(f"{_RESULT} {k}" for k in range(len(types)))
    cx.env[RETURNED] = Const(False, BOOL)
    cx.env |= {name: zero(type_) for name, type_ in zip(names, types, strict=True)}
    with cx.within(replace(cx.scope, returning=Returning(names, types))):
        run_body(cx, body)
    return regrown(found[0][1], iter([cx.env[name] for name in names])) if names else Static(None)


def _types(
    cx: Context, body: Sequence[ast.stmt], found: list[tuple[Span, Item]]
) -> tuple[Type, ...]:
    """Return the types of the parts of the results, which must agree.

    Raises:
        KernelError: They do not, or some path returns nothing.
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
    if not _always_returns(body):
        raise KernelError(
            f"Func '{cx.source.name}' returns a value on some paths only.",
            cx.keyword_span(body[-1]),
            "the end of the func can be reached without 'return'",
            hint="end the func with a 'return'.",
        )
    columns = zip(*(_parts(item) for _, item in found), strict=True)
    places = [at for at, _ in found]
    return tuple(_common(cx, places, [cx.value(part).type for part in parts]) for parts in columns)


def _common(cx: Context, places: list[Span], types: list[Type]) -> Type:
    """Return the type of one part of the result: integers go with floats."""
    common = next((t for t in types if scalar_of(t) in FLOATS), types[0])
    for at, type_ in zip(places, types, strict=True):
        mixes = scalar_of(type_) != scalar_of(common)
        both_float = scalar_of(type_) in FLOATS
        both_not = scalar_of(common) not in FLOATS
        if shape_of(type_) != shape_of(common) or (mixes and (both_float or both_not)):
            other = places[types.index(common)]
            raise _disagree(cx, (other, str(common)), (at, str(type_)))
    return common


def _parts(item: Item) -> tuple[Item, ...]:
    return () if _is_nothing(item) else leaves(item)


def _is_nothing(item: Item | None) -> bool:
    """Tell whether an item is what a bare `return` gives, as does the end of a func."""
    return isinstance(item, Static) and item.value is None


def _disagree(cx: Context, first: tuple[Span, str], second: tuple[Span, str]) -> TypeMismatch:
    return TypeMismatch(
        first[0],
        f"func '{cx.source.name}' returns one type here and another there.",
        first[1],
        related=(Label(*second),),
        hint="return the same type on every path.",
    )


# Without


def _body(cx: Context, body: Sequence[ast.stmt]) -> None:
    for position, stmt in enumerate(body):
        if isinstance(stmt, ast.Return):
            with cx.at(stmt):
                cx.bind(_RESULT, _returned(cx, stmt), stmt)
            return
        if isinstance(stmt, ast.If) and any(True for _ in returns([stmt])):
            # What follows an `if` that returns is the other branch.
            _branches(cx, stmt, body[position + 1 :])
            return
        cx.run([stmt])


def _returned(cx: Context, stmt: ast.Return) -> Item:
    if stmt.value is None:
        return Static(None)
    item = cx.operand(stmt.value)
    return cx.value(item) if is_number(item) else item


def _branches(cx: Context, stmt: ast.If, rest: Sequence[ast.stmt]) -> None:
    with cx.at(stmt):
        test = tested(cx, stmt.test)
        if isinstance(test, Static):
            depend(cx, test)
            _body(cx, [*(stmt.body if test.value else stmt.orelse), *rest])
            return
        cond = condition(cx, stmt.test, test)
        then, orelse = (
            cx.branch(partial(_body, cx, block if _always_returns(block) else [*block, *rest]))
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
        _agree(cx, then, orelse)
        join_branches(cx, cond, (then, orelse), cx.source.span(stmt))


def _agree(cx: Context, then: Branch, orelse: Branch) -> None:
    """Cast an integer returned beside a float, so that `return 0` goes with `return x`.

    Raises:
        KernelError: The two sides return different kinds of things.
    """
    items = (then.env[_RESULT], orelse.env[_RESULT])
    if not is_alike(*items):
        raise _mismatch(cx, then, orelse, describe(items[0]), describe(items[1]))
    parts = zip(leaves(items[0]), leaves(items[1]), strict=True)
    pairs = [_agreed(cx, then, orelse, *pair) for pair in parts]
    for side, k in ((then, 0), (orelse, 1)):
        side.env[_RESULT] = regrown(items[k], iter([pair[k] for pair in pairs]))


def _agreed(
    cx: Context, then: Branch, orelse: Branch, first: Item, second: Item
) -> tuple[Item, Item]:
    if is_same(first, second):
        return first, second
    if not (starts_as_number(first) and starts_as_number(second)):
        return first, second  # joining the branches tells what is wrong with them
    values = (_in(cx, then, first), _in(cx, orelse, second))
    scalars = [scalar_of(value.type) for value in values]
    if shape_of(values[0].type) != shape_of(values[1].type):
        raise _mismatch(cx, then, orelse, str(values[0].type), str(values[1].type))
    if scalars[0] == scalars[1]:
        return values
    wanted = next((s for s in scalars if s in FLOATS), None)
    if wanted is None or (scalars[0] in FLOATS and scalars[1] in FLOATS):
        raise _mismatch(cx, then, orelse, str(values[0].type), str(values[1].type))
    return _in(cx, then, values[0], wanted), _in(cx, orelse, values[1], wanted)


def _in(cx: Context, side: Branch, item: Item, scalar: Scalar | None = None) -> Value:
    """Return an item as a value, perhaps cast, at the end of a branch."""
    with cx.b.region() as made:
        value = cx.value(item)
        value = value if scalar is None else cx.b.cast(value, scalar)
    side.stmts.extend(made)
    return value


def _mismatch(cx: Context, then: Branch, orelse: Branch, first: str, second: str) -> TypeMismatch:
    return _disagree(cx, (then.bound_at[_RESULT], first), (orelse.bound_at[_RESULT], second))


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return):
        return True
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    if isinstance(last, ast.While) and isinstance(last.test, ast.Constant):
        return bool(last.test.value) and not breaks(last.body)
    return False
