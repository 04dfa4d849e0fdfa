"""Joining the values of two branches, and of the iterations of a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from difftile.diagnostics import KernelError, Label, Span, TypeMismatch
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
    leaf_names,
    leaves,
    regrown,
)
from difftile.ir.nodes import Block, Const, If, Let, Stmt, Value, Var
from difftile.ir.types import BOOL, FLOATS, I32, Type, scalar_of, shape_of
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
    if trivial:
        for stmt in stmts:
            cx.b.append(stmt)
        return cx.call("select", cond, then[1], orelse[1], name=name)
    out = Var(name, then[1].type)
    first, second = (Block(tuple(stmts), (value,)) for stmts, value in (then, orelse))
    cx.b.append(If(cond, first, second, (out,), cx.b.span))
    return out


@dataclass
class _Join:
    """The results of an `If` while they are collected.

    Args:
        cx: The context.
        sides: The two branches.
        span: The place of the `if`.
        results: The value of each result in the two branches.
        outs: The variable of each result.
        casts: What each branch runs at its end.
    """

    cx: Context
    sides: tuple[Branch, Branch]
    span: Span
    results: list[tuple[Value, Value]] = field(default_factory=list[tuple[Value, Value]])
    outs: list[Var] = field(default_factory=list[Var])
    casts: tuple[list[Stmt], list[Stmt]] = field(default_factory=lambda: ([], []))

    def join(self, name: str, first: Item, second: Item) -> Item:
        """Return what a name stands for after the branches, adding results where they differ."""
        if is_same(first, second):
            return first
        if isinstance(first, (Tuple, Record)) and is_alike(first, second):
            pairs = zip(leaves(first), leaves(second), strict=True)
            return regrown(first, iter([self.join(name, a, b) for a, b in pairs]))
        if isinstance(first, Tuple) and isinstance(second, Tuple):
            raise self.differ(name, "tuples of different length")
        if isinstance(first, Record) and isinstance(second, Record):
            raise self.differ(name, "structs with different members")
        for item in (first, second):
            if not isinstance(item, (Var, Const)) and not is_number(item):
                raise self.differ(name, f"{describe(first)} and {describe(second)}")
        values: list[Value] = []
        for item, stmts in zip((first, second), self.casts, strict=True):
            with self.cx.b.region() as made:
                values.append(self.cx.value(item))
            stmts.extend(made)
        self.widen(name, values)
        if values[0].type != values[1].type:
            raise self.changed(name, values[0].type, values[1].type)
        out = Var(name.replace(" ", "_"), values[0].type)
        self.outs.append(out)
        self.results.append((values[0], values[1]))
        return out

    def widen(self, name: str, values: list[Value]) -> None:
        """Cast an integer given in one branch to a local that was a float before the branches."""
        before = self.cx.env.get(name)
        if not isinstance(before, (Var, Const)) or scalar_of(before.type) not in FLOATS:
            return
        for k, stmts in enumerate(self.casts):
            if scalar_of(values[k].type) not in FLOATS:
                with self.cx.b.region() as made:
                    values[k] = self.cx.b.cast(values[k], scalar_of(before.type))
                stmts.extend(made)

    def labels(self, name: str, first: str, second: str) -> list[Label]:
        places = (side.bound_at.get(name) for side in self.sides)
        return [
            Label(at, text)
            for at, text in zip(places, (first, second), strict=True)
            if at is not None
        ]

    def differ(self, name: str, what: str) -> KernelError:
        first, *rest = self.labels(name, "bound here", "bound here") or [Label(self.span, "")]
        return TypeMismatch(
            first.span,
            f"'{name}' is not the same thing in both branches: {what}.",
            first.text,
            related=rest,
            hint="a branch chooses between numbers; use it inside each branch.",
        )

    def changed(self, name: str, first: Type, second: Type) -> KernelError:
        at, *rest = self.labels(name, f"{first}", f"{second}") or [Label(self.span, "")]
        return TypeMismatch(
            at.span,
            f"local '{name}' is {first} in one branch and {second} in the other.",
            at.text,
            related=rest,
            hint=type_hint(name, first, second),
        )


def join_branches(cx: Context, cond: Value, sides: tuple[Branch, Branch], span: Span) -> None:
    """Append the `If` of two lowered branches and bind the names that they changed."""
    before = cx.env
    then, orelse = sides
    _count_draws(cx, sides)
    env = dict(before)
    joined = _Join(cx, sides, span)
    for name in {**before, **then.env, **orelse.env}:
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
        Block((*side.stmts, *casts), tuple(pair[k] for pair in joined.results))
        for k, (side, casts) in enumerate(zip(sides, joined.casts, strict=True))
    ]
    cx.b.append(If(cond, blocks[0], blocks[1], tuple(joined.outs), span))
    cx.env = env
    cx.bound_at |= then.bound_at | orelse.bound_at


def _count_draws(cx: Context, sides: tuple[Branch, Branch]) -> None:
    """Let the hidden local count the draws of both branches, unless they draw equally often."""
    first, second = sides
    cx.draws.pending = first.pending
    if first.env[DRAWS] is second.env[DRAWS] and first.pending == second.pending:
        return
    for side in sides:
        with cx.b.region() as made:
            before = cx.value(side.env[DRAWS])
            side.env[DRAWS] = cx.call("add", before, Const(side.pending, I32), name="draws")
        side.stmts.extend(made)
    cx.draws.pending = 0


def type_hint(name: str, first: Type, second: Type) -> str | None:
    """Return what to write where a local starts with one number type and goes on with another."""
    if shape_of(first) != shape_of(second):
        return "use two names."
    scalars = (scalar_of(first), scalar_of(second))
    if (scalars[0] in FLOATS) != (scalars[1] in FLOATS) and not shape_of(first):
        return f"start it as a float: '{name} = 0.0'."
    if BOOL in scalars:
        return f"start it as a bool: '{name} = False'."
    return "cast one of them: 'ti.cast(..., ...)'."


def check_kept(cx: Context, name: str, before: Item, place: Span | None) -> None:
    """Check that a loop did not bind a name to another thing that is no number.

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
    """Tell whether a local is a tuple or struct of numbers alone, or a number itself."""
    return all(starts_as_number(leaf) for leaf in leaves(item))


# Structs and tuples in loops: the IR carries their parts, each under a name with a dot


def put_together(
    cx: Context, carried: Sequence[tuple[str, Value]], before: Mapping[str, Item]
) -> None:
    """Bind the structs whose parts a loop carries to what the names of the parts stand for."""
    for name in _wholes(carried):
        parts = [cx.env.pop(part) for part in leaf_names(name, before[name])]
        cx.env[name] = regrown(before[name], iter(parts))


def take_apart(
    cx: Context, carried: Sequence[tuple[str, Value]], before: Mapping[str, Item]
) -> None:
    """Bind the names of the parts that a loop carries, at its end.

    Raises:
        TypeMismatch: The local is another struct now, or none.
    """
    for name in _wholes(carried):
        item = cx.env[name]
        if not is_alike(before[name], item):
            raise TypeMismatch(
                cx.bound_at.get(name, cx.b.span),
                f"'{name}' becomes {describe(item)} in the loop.",
                f"{describe(before[name])} before it",
                hint="keep its members from iteration to iteration.",
            )
        cx.env |= dict(zip(leaf_names(name, item), leaves(item), strict=True))
        for part in leaf_names(name, item):
            if name in cx.bound_at:
                cx.bound_at[part] = cx.bound_at[name]


def _wholes(carried: Sequence[tuple[str, Value]]) -> list[str]:
    return list(dict.fromkeys(name.partition(".")[0] for name, _ in carried if "." in name))
