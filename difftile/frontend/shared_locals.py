"""The outer locals that a loop at the top level of a kernel changes, and how.

Iterations may run in parallel if each such local is a total: it is only added to, or only combined
by one kind of atomic. A local that carries anything else from one iteration to the next, as
`t *= 1 - x[i]` and `best = max(best, x[i])` do, puts them in order.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from difftile.diagnostics import KernelError
from difftile.frontend.changes import changed
from difftile.frontend.context import Context
from difftile.frontend.items import Tuple, Unbound
from difftile.frontend.joins import holds_numbers, starts_as_number
from difftile.frontend.syntax import nodes_of
from difftile.ir.nodes import Array
from difftile.ir.types import FieldType
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class SharedLocals:
    """The outer locals that a loop changes.

    Args:
        totals: The locals that iterations in any order may change.
        carried: The locals that put the iterations in order.
        kept: Other names, which may be bound to the same thing again only.
    """

    totals: tuple[str, ...]
    carried: tuple[str, ...]
    kept: tuple[str, ...]


def shared_locals(cx: Context, node: ast.For, inner: Collection[str]) -> SharedLocals:
    """Return the outer locals that a loop changes.

    Args:
        cx: The context.
        node: The loop.
        inner: The names that it binds to its indices.

    Raises:
        KernelError: Each iteration gives an outer local a value of its own.
    """
    found: dict[str, list[str]] = {"totals": [], "carried": [], "kept": []}
    for name in changed(cx, node.body):
        item = cx.env.get(name)
        if item is None or isinstance(item, Unbound) or name in inner:
            continue
        if not (holds_numbers(item) or isinstance(item, Tuple)):
            found["kept"].append(name)
        elif starts_as_number(item) and _is_total(cx, name, node.body):
            found["totals"].append(name)
        else:
            _check_carried(cx, name, node.body)
            found["carried"].append(name)
    return SharedLocals(**{kind: tuple(names) for kind, names in found.items()})


def cells_of(cx: Context, names: Sequence[str]) -> list[tuple[str, Array]]:
    """Give each total a cell in memory, which holds its value from before the loop."""
    cells: list[tuple[str, Array]] = []
    for name in names:
        value = cx.value(cx.env[name])
        cell = Array(name, FieldType(value.type, 0))
        cx.temps.append(cell)
        cx.b.store(cell, (), value)
        cells.append((name, cell))
    return cells


def _is_total(cx: Context, name: str, body: Sequence[ast.stmt]) -> bool:
    """Tell whether statements only combine values into a local, all by one operation."""
    how: set[str] = set()
    places: set[ast.expr] = set()
    for node in _nodes(body):
        match node:
            case ast.AugAssign(target=ast.Name(id) as place, op=ast.Add() | ast.Sub()):
                op = "atomic_add"
            case ast.Call(args=[ast.Name(id) as place, _]):
                op = cx.special(node) if id == name else ""
            case _:
                continue
        if id == name and op.startswith("atomic_"):
            how.add("atomic_add" if op == "atomic_sub" else op)
            places.add(place)
    return len(how) == 1 and all(node in places for node in _nodes(body) if _names(node, name))


def _check_carried(cx: Context, name: str, body: Sequence[ast.stmt]) -> None:
    """Check that iterations use the value that earlier ones have left in a local.

    Raises:
        KernelError: The first statement with the local binds it again. It is then most likely meant
            to belong to the iteration, and a loop in order would only be slow.
    """
    first = next((stmt for stmt in body if any(_names(n, name) for n in _nodes([stmt]))), None)
    match first:
        case ast.Assign(targets=targets, value=value):
            whole, rest = targets, [value]
        case ast.AnnAssign(target=target, value=value):
            whole, rest = [target], [] if value is None else [value]
        case ast.For(target=target, iter=iterable):
            whole, rest = [target], [iterable]
        case _:
            return
    bound = [n for one in whole for n in _whole(one)]
    if not any(_names(n, name) for n in bound):
        return
    if any(_names(n, name) for one in rest for n in nodes_of(one)):
        return
    raise KernelError(
        f"Local '{name}' is shared by the iterations of a parallel loop.",
        cx.span(first.target if isinstance(first, ast.For) else first),
        "bound anew by each iteration, in any order",
        related=cx.note(name, "bound here, outside the loop"),
        hint="bind a new name inside the loop; or run the loop in order, which leaves the value of "
        "the last iteration: 'ti.loop_config(serialize=True)' before it.",
    )


def _whole(target: ast.expr) -> Iterator[ast.expr]:
    """Yield the names that an assignment to a target binds as a whole."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _whole(part)
    elif isinstance(target, ast.Name):
        yield target


def _nodes(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    return (node for stmt in body for node in nodes_of(stmt))


def _names(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
