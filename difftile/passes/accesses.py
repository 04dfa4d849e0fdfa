"""The accesses of a parallel loop to fields, and where its values come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from difftile.ir.facts import arrays_written, defined_in, fact
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    For,
    If,
    Let,
    Load,
    Memory,
    ParallelFor,
    Ruled,
    Size,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import is_float
from difftile.ir.walk import definitions, regions, rules, walk
from difftile.records import dataclass

Leaf: TypeAlias = Var | tuple[Array, int]
"""A number that a kernel is given: one of its parameters, or the size of a field along an axis."""


@dataclass(frozen=True, slots=True)
class Access:
    """One access of an array inside a task.

    Args:
        stmt: The statement.
        order: Its position in the text.
        loops: The serial loops around it, outermost first.
        branches: The branches it stands in: the `If` and whether it is its first side.
    """

    stmt: Memory
    order: int
    loops: tuple[For | While, ...]
    branches: tuple[tuple[If, bool], ...]


class Scope:
    """The origins of the values of a program: the statement of each, and its loop for an index."""

    def __init__(self, body: Block) -> None:
        self.origin: dict[Var, tuple[Stmt, int]] = {}
        self.loops: dict[Var, For] = {}
        for stmt in walk(body):
            for k, out in enumerate(definitions(stmt)):
                self.origin[out] = (stmt, k)
            if isinstance(stmt, For):
                self.loops[stmt.index] = stmt


@fact
def scope_of(body: Block) -> Scope:
    """Return the origins of the values of a program."""
    return Scope(body)


class Task:
    """A parallel loop of a program."""

    def __init__(self, loop: ParallelFor, scope: Scope) -> None:
        self.loop = loop
        self.scope = scope
        self.varying = defined_in(loop.body) | set(loop.indices)
        self.written = arrays_written(loop.body)


@fact
def accesses_of(block: Block, *, own: bool = False) -> Mapping[Array, Sequence[Access]]:
    """Return the accesses of a block to each field of the program, in the order of the text.

    Gradients that rules use are not memory of the program.

    Args:
        block: The block.
        own: Return the accesses to arrays of the thread, and not those to fields.
    """
    found: dict[Array, list[Access]] = {}
    for order, (stmt, loops, branches) in enumerate(_placed(block, (), (), own=own)):
        found.setdefault(stmt.array, []).append(Access(stmt, order, loops, branches))
    return found


def _placed(
    block: Block,
    loops: tuple[For | While, ...],
    branches: tuple[tuple[If, bool], ...],
    *,
    own: bool,
) -> Iterator[tuple[Memory, tuple[For | While, ...], tuple[tuple[If, bool], ...]]]:
    for stmt in block.stmts:
        if isinstance(stmt, (Load, Store, Accumulate, Combine)):
            if stmt.array.gradient_of is None and (stmt.array.size is not None) == own:
                yield stmt, loops, branches
        elif isinstance(stmt, If):
            yield from _placed(stmt.then, loops, (*branches, (stmt, True)), own=own)
            yield from _placed(stmt.orelse, loops, (*branches, (stmt, False)), own=own)
        else:
            inner = (*loops, stmt) if isinstance(stmt, (For, While)) else loops
            parts = regions(stmt)
            if own and isinstance(stmt, Ruled):  # a rule finds what the call leaves in them
                parts = (stmt.body, *(rule.block for rule in rules(stmt)))
            for region in parts:
                yield from _placed(region, inner, branches, own=own)


def leaves_of(task: Task, accesses: Iterable[Access]) -> list[Leaf]:
    """Return the numbers given to the kernel that the answers about some accesses depend on."""
    found: dict[Leaf, None] = {}
    seen: set[Var] = set()
    waiting: list[Value] = [*task.loop.starts, *task.loop.stops]
    for access in accesses:
        waiting += access.stmt.index
        waiting += [cond.cond for cond, _ in access.branches]
        waiting += [loop.index for loop in access.loops if isinstance(loop, For)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Const) or value in seen:
            continue
        seen.add(value)
        origin, place = task.scope.origin.get(value, (None, 0))
        match origin:
            case Let(args=args):
                waiting += args
            case Size(array=array, axis=axis):
                found[array, axis] = None
            case If(cond=cond, then=then, orelse=orelse):
                waiting += [cond, then.results[place], orelse.results[place]]
            case None if value in task.scope.loops:
                waiting += [task.scope.loops[value].start, task.scope.loops[value].stop]
            case None if value not in task.varying and not is_float(value.type):
                found[value] = None
            case _:
                pass
    return list(found)
