"""Accesses of one field that do not go together: races of iterations, reads after writes."""

from __future__ import annotations

from dataclasses import dataclass

from difftile.diagnostics import Label, Race
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    For,
    If,
    Load,
    Memory,
    ParallelFor,
    Program,
    Ruled,
    Stmt,
    Store,
    Var,
    While,
)
from difftile.ir.walk import defined_in, regions
from difftile.passes.affine import Affine, affine, definitions_of, differ, disjoint, owns, ranges_of

_ACT = {
    Load: "read here",
    Store: "stored here",
    Accumulate: "added to here",
    Combine: "changed here",
}


@dataclass(frozen=True, slots=True)
class Access:
    """One access of an array inside a task.

    Args:
        stmt: The statement.
        forms: Its index, one affine form a dimension.
        order: Its position in the text.
        loops: The serial loops around it, outermost first.
        branches: The branches it stands in: the `If` and whether it is its first side.
    """

    stmt: Memory
    forms: tuple[Affine, ...]
    order: int
    loops: tuple[For | While, ...]
    branches: tuple[tuple[If, bool], ...]


def check_races(program: Program) -> None:
    """Check every parallel loop.

    Raises:
        Race: Two iterations may touch the same element, one of them storing to it.
    """
    defs = definitions_of(program.body)
    for task in program.body.stmts:
        if isinstance(task, ParallelFor):
            varying = defined_in(task.body) | set(task.indices)
            for accesses in _accesses(task.body, defs).values():
                _check_array(task, accesses, varying)


def _check_array(task: ParallelFor, accesses: list[Access], varying: set[Var]) -> None:
    kinds = {_kind(access.stmt) for access in accesses}
    if len(kinds) == 1 and kinds != {Store}:
        return
    ranges = ranges_of(task.body)
    if owns([access.forms for access in accesses], task.indices, varying, ranges):
        return
    for write in accesses:
        if isinstance(write.stmt, Load):
            continue
        for other in accesses:
            if _kind(other.stmt) == _kind(write.stmt):
                continue
            same = write.forms == other.forms
            varies = any(v in varying for form in write.forms for v, _ in form.terms)
            # The same data-dependent index read and stored: a permutation is the user's to promise.
            promised = same and varies and {type(write.stmt), type(other.stmt)} == {Load, Store}
            if promised or disjoint(write.forms, other.forms, varying):
                continue
            # These two meet within one iteration alone: others of the accesses are at fault.
            if owns([write.forms, other.forms], task.indices, varying, ranges):
                continue
            raise _race(write.stmt, other.stmt)


def _kind(stmt: Memory) -> type[Memory] | str:
    """Return what statements have in common that may meet at one element, writes at least."""
    match stmt:
        case Accumulate():
            return "add"
        case Combine(op=op):
            return op
        case _:
            return type(stmt)


def _race(write: Memory, other: Memory) -> Race:
    assert other.span is not None
    hint = (
        "write to a second field, or run the loop in order: 'ti.loop_config(serialize=True)' "
        "before it."
    )
    if isinstance(write, Store) and isinstance(other, Load) and write.index == other.index:
        hint = f"add with '+=', whose order does not matter; else {hint}"
    return Race(
        write.span,
        write.array.name,
        _ACT[type(write)],
        Label(other.span, f"{_ACT[type(other)]}, maybe by another iteration"),
        hint,
    )


def stale_loads(program: Program) -> dict[Var, tuple[Load, Memory]]:
    """Return the loads that may read what the same stage has written, with one such write each.

    Their values cannot be read again from the fields as they were before the stage.
    """
    defs = definitions_of(program.body)
    stale: dict[Var, tuple[Load, Memory]] = {}
    for task in program.body.stmts:
        block = task.body if isinstance(task, ParallelFor) else Block((task,))
        for accesses in _accesses(block, defs).values():
            loads = [a for a in accesses if isinstance(a.stmt, Load)]
            writes = [a for a in accesses if not isinstance(a.stmt, Load)]
            for load in loads:
                for write in writes:
                    if _may_precede(write, load):
                        assert isinstance(load.stmt, Load)
                        stale[load.stmt.out] = (load.stmt, write.stmt)
    return stale


def _may_precede(write: Access, load: Access) -> bool:
    """Tell whether the write may reach the load's element before the load, in one iteration."""
    common = [loop for loop in write.loops if any(loop is other for other in load.loops)]
    if common and not disjoint(write.forms, load.forms, _varying(common)):
        indices = tuple(loop.index for loop in common if isinstance(loop, For))
        own_element = len(indices) == len(common) and owns(
            [write.forms, load.forms], indices, _varying(common), ranges_of(common[0].body)
        )
        if not own_element:
            return True
    if write.order > load.order or _exclude_each_other(write, load):
        return False
    return not differ(write.forms, load.forms)


def _varying(loops: list[For | While]) -> set[Var]:
    found: set[Var] = set()
    for loop in loops:
        found |= defined_in(loop.body) | set(loop.carries)
        if isinstance(loop, For):
            found.add(loop.index)
    return found


def _exclude_each_other(a: Access, b: Access) -> bool:
    return any(
        stmt is other and side != other_side
        for stmt, side in a.branches
        for other, other_side in b.branches
    )


def _accesses(block: Block, defs: dict[Var, Stmt]) -> dict[Array, list[Access]]:
    found: dict[Array, list[Access]] = {}
    counter = [0]

    def visit(
        block: Block, loops: tuple[For | While, ...], branches: tuple[tuple[If, bool], ...]
    ) -> None:
        for stmt in block.stmts:
            counter[0] += 1
            if isinstance(stmt, (Load, Store, Accumulate, Combine)):
                if stmt.array.gradient_of is not None or stmt.array.size is not None:
                    continue  # no memory of the program's, or that of one thread
                index = stmt.index[: stmt.array.type.ndim]
                forms = tuple(affine(i, defs) for i in index)
                access = Access(stmt, forms, counter[0], loops, branches)
                found.setdefault(stmt.array, []).append(access)
            elif isinstance(stmt, If):
                visit(stmt.then, loops, (*branches, (stmt, True)))
                visit(stmt.orelse, loops, (*branches, (stmt, False)))
            elif isinstance(stmt, (For, While)):
                for region in regions(stmt):
                    visit(region, (*loops, stmt), branches)
            elif isinstance(stmt, Ruled):
                for region in regions(stmt):
                    visit(region, loops, branches)

    visit(block, (), ())
    return found
