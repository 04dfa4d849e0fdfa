"""Joining the values of two branches, and of the iterations of a loop."""

from __future__ import annotations

from dataclasses import field

from difftile.diagnostics import Label, Span, TypeMismatch
from difftile.frontend.context import Branch, Context
from difftile.frontend.draws import DRAWS
from difftile.frontend.items import (
    Item,
    Record,
    Static,
    Tuple,
    Unbound,
    describe,
    is_alike,
    is_number,
    is_same,
    leaves,
    regrown,
)
from difftile.ir.nodes import Block, Const, If, Let, Stmt, Value, Var
from difftile.ir.types import BOOL, FLOATS, I32, Scalar, Type, scalar_of, shape_of
from difftile.ops.table import OPS
from difftile.records import dataclass

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
    if len(stmts) <= _SPECULATED and all(map(_is_harmless, stmts)):
        for stmt in stmts:
            cx.b.append(stmt)
        return cx.call("select", cond, then[1], orelse[1], name=name)
    out = Var(name, then[1].type)
    first, second = (Block(tuple(stmts), (value,)) for stmts, value in (then, orelse))
    cx.b.append(If(cond, first, second, (out,), cx.b.span))
    return out


def _is_harmless(stmt: Stmt) -> bool:
    """Tell whether a statement may run where its result is not used."""
    return isinstance(stmt, Let) and not OPS[stmt.op].singular and not picks_at_run_time(stmt)


def picks_at_run_time(stmt: Stmt) -> bool:
    """Tell whether a statement picks a component at an index that may be outside."""
    if not isinstance(stmt, Let) or stmt.op not in ("extract", "insert"):
        return False
    index = stmt.args[1:] if stmt.op == "extract" else stmt.args[1:-1]
    return not all(isinstance(i, Const) for i in index)


def at_end(cx: Context, side: Branch, item: Item, scalar: Scalar | None = None) -> Value:
    """Return an item as a value, perhaps cast, at the end of a branch."""
    with cx.b.region() as made:
        value = cx.value(item)
        value = value if scalar is None else cx.b.cast(value, scalar)
    side.stmts.extend(made)
    return value


@dataclass
class _Join:
    """The results of an `If` while they are collected.

    Args:
        cx: The context.
        cond: The condition.
        sides: The two branches.
        span: The place of the `if`.
        results: The value of each result in the two branches.
        outs: The variable of each result.
    """

    cx: Context
    cond: Value
    sides: tuple[Branch, Branch]
    span: Span
    results: list[tuple[Value, Value]] = field(default_factory=list[tuple[Value, Value]])
    outs: list[Var] = field(default_factory=list[Var])

    def join(self, name: str, first: Item, second: Item) -> Item:
        """Return the item of a name after the branches, adding results where they differ."""
        if is_same(first, second):
            return first
        if isinstance(first, (Tuple, Record)) and is_alike(first, second):
            pairs = zip(leaves(first), leaves(second), strict=True)
            return regrown(first, iter([self.join(name, a, b) for a, b in pairs]))
        differ = f"{describe(first)} and {describe(second)}"
        if isinstance(first, Tuple) and isinstance(second, Tuple):
            differ = "tuples of different length"
        if isinstance(first, Record) and isinstance(second, Record):
            differ = "structs with different members"
        if not (starts_as_number(first) and starts_as_number(second)):
            at, *rest = self.labels(name, "bound here", "bound here")
            raise TypeMismatch(
                at.span,
                f"'{name}' is not the same thing in both branches: {differ}.",
                at.text,
                related=rest,
                hint="a branch chooses between numbers; use it inside each branch.",
            )
        pairs = zip(self.sides, (first, second), strict=True)
        values = [at_end(self.cx, side, item) for side, item in pairs]
        before = self.cx.env.get(name)
        if isinstance(before, (Var, Const)) and scalar_of(before.type) in FLOATS:
            # An integer given in one branch to a local that was a float before the branches.
            for k, side in enumerate(self.sides):
                if scalar_of(values[k].type) not in FLOATS:
                    values[k] = at_end(self.cx, side, values[k], scalar_of(before.type))
        types = values[0].type, values[1].type
        if types[0] != types[1]:
            at, *rest = self.labels(name, f"{types[0]}", f"{types[1]}")
            raise TypeMismatch(
                at.span,
                f"local '{name}' is {types[0]} in one branch and {types[1]} in the other.",
                at.text,
                related=rest,
                hint=type_hint(name, *types),
            )
        if values == [Const(True, BOOL), Const(False, BOOL)]:
            return self.cond  # a flag that is set on one side only
        out = Var(name.replace(" ", "_"), types[0])
        self.outs.append(out)
        self.results.append((values[0], values[1]))
        return out

    def labels(self, name: str, first: str, second: str) -> list[Label]:
        """Return labels for the statements that bound a name in the branches, or for the `if`."""
        places = (side.bound_at.get(name) for side in self.sides)
        pairs = zip(places, (first, second), strict=True)
        labels = [Label(at, text) for at, text in pairs if at is not None]
        return labels or [Label(self.span, "")]


def join_branches(cx: Context, cond: Value, sides: tuple[Branch, Branch], span: Span) -> None:
    """Append the `If` of two lowered branches and bind the names that they changed."""
    then, orelse = sides
    cx.draws.pending = then.pending
    if then.env[DRAWS] is not orelse.env[DRAWS] or then.pending != orelse.pending:
        # The hidden local counts the draws of both branches, unless they draw equally often.
        for side in sides:
            before = at_end(cx, side, side.env[DRAWS])
            with cx.b.region() as made:
                side.env[DRAWS] = cx.call("add", before, Const(side.pending, I32), name="draws")
            side.stmts.extend(made)
        cx.draws.pending = 0
    env = dict(cx.env)
    joined = _Join(cx, cond, sides, span)
    for name in {**env, **then.env, **orelse.env}:
        first, second = then.env.get(name), orelse.env.get(name)
        if first is second and first is not None:
            env[name] = first
        elif first is None or second is None or isinstance(first, Unbound | None):
            reason = "it has a value in one branch only"
            env[name] = Unbound(reason, f"give '{name}' a value before the 'if'.")
        elif isinstance(second, Unbound):
            env[name] = second
        else:
            env[name] = joined.join(name, first, second)
    blocks = [
        Block(tuple(side.stmts), tuple(pair[k] for pair in joined.results))
        for k, side in enumerate(sides)
    ]
    cx.b.append(If(cond, blocks[0], blocks[1], tuple(joined.outs), span))
    cx.env = env
    cx.bound_at |= then.bound_at | orelse.bound_at


def type_hint(name: str, first: Type, second: Type) -> str | None:
    """Return a hint about a local that starts with one number type and goes on with another."""
    if shape_of(first) != shape_of(second):
        return "use two names."
    scalars = (scalar_of(first), scalar_of(second))
    if (scalars[0] in FLOATS) != (scalars[1] in FLOATS) and not shape_of(first):
        return f"start it as a float: '{name} = 0.0'."
    if BOOL in scalars:
        return f"start it as a bool: '{name} = False'."
    return "cast one of them: 'ti.cast(..., ...)'."


def check_kept(cx: Context, name: str, before: Item, place: Span | None) -> None:
    """Check that a loop did not bind a name to another thing that is not a number.

    Raises:
        TypeMismatch: It did; which thing is meant then depends on the number of iterations.
    """
    after = cx.env[name]
    if is_same(before, after) or isinstance(before, Unbound):
        return
    related = () if place is None else (Label(place, f"{describe(before)}"),)
    raise TypeMismatch(
        cx.bound_at.get(name, cx.b.span),
        f"'{name}' becomes {describe(after)} in the loop.",
        f"{describe(after)}",
        related=related,
        hint="bind another name in the loop; only numbers change from iteration to iteration.",
    )


def starts_as_number(item: Item) -> bool:
    """Tell whether a local holds a number, vector or matrix, which a loop may change."""
    return isinstance(item, (Var, Const)) or (isinstance(item, Static) and is_number(item))


def holds_numbers(item: Item) -> bool:
    """Tell whether a local is a number, or a tuple or struct of numbers only."""
    return all(starts_as_number(leaf) for leaf in leaves(item))
