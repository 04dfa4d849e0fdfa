"""A schedule applied to its program: the statements that are emitted, and the memory they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from difftile.ir.nodes import Array, Program, Var
from difftile.passes.by_warps import by_warps
from difftile.passes.flatten import flatten
from difftile.passes.privatise import Copies as MadeCopies
from difftile.passes.privatise import Plan, privatise, scatters_of
from difftile.passes.rows import Rows as MadeRows
from difftile.passes.rows import in_rows
from difftile.passes.split_index_sets import split_index_sets
from difftile.passes.spread import spread
from difftile.passes.unroll_and_jam import unroll_and_jam
from difftile.passes.unroll_loops import unroll_loops
from difftile.records import dataclass
from difftile.schedule.clears import without_clears
from difftile.schedule.device_loops import device_loops
from difftile.schedule.grids import Grid, on_grids
from difftile.schedule.opaque_steps import opaque_steps
from difftile.schedule.scatters import parts_of
from difftile.schedule.schedule import (
    Schedule,
    arrays_by_name,
    loops_of_functions,
    parallel_loops,
)
from difftile.schedule.speed import reorders
from difftile.schedule.steps import Copies, Flat, Lanes, Rows, Serial, SmallCopies, Spread, Tile
from difftile.schedule.strips import in_strips
from difftile.schedule.target import Target
from difftile.schedule.vector_loops import LoopCode, loop_codes
from difftile.schedule.vectorise_functions import Ends, Vectorised, ends_of, vectorise_functions


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that a program needs besides its parameters, with any contents.

    Args:
        copies: Copies of arrays.
        sums: The sums of the pieces of loops, with an element for each part.
        rows: Rows of sums, and their stripes.
    """

    copies: tuple[MadeCopies, ...] = ()
    sums: tuple[Array, ...] = ()
    rows: tuple[MadeRows, ...] = ()


@dataclass(frozen=True, slots=True)
class Applied:
    """A program as it is emitted.

    Args:
        program: The program.
        memory: What it needs.
        polynomials: The ops of the functions that are polynomials, by their results.
        fresh: The arrays that hold zeros, where a single addition becomes a store.
        grids: The threads of each parallel loop on a device; empty elsewhere.
        tiles: The arrays that the threads of a warp copy together.
        opaque: The indices of loops whose step the compiler is not to know: see `opaque_steps`.
    """

    program: Program
    memory: Memory
    polynomials: Mapping[Var, str]
    fresh: frozenset[Array] = frozenset()
    grids: tuple[Grid, ...] = ()
    tiles: frozenset[Array] = frozenset()
    opaque: frozenset[Var] = frozenset()


def apply(program: Program, schedule: Schedule, target: Target) -> Applied:
    """Return a program with the steps of a schedule applied to its loops.

    Args:
        program: A finished program.
        schedule: A schedule of the program.
        target: What the program is compiled for.
    """
    arrays = arrays_by_name(program)
    fresh = frozenset(arrays[name] for name in schedule.before)
    mixes = reorders(program, target)
    made, memory, tiled = _formed(program, schedule, target, mixes=mixes)
    program = made.program
    if target.grids is not None and not schedule.serial:
        on = on_grids(program, target.grids, fresh, tiled)
        return Applied(on.program, memory, made.polynomials, fresh, tuple(on.grids), on.tiles)
    opaque: frozenset[Var] = frozenset()
    if target.unrolls:
        opaque = opaque_steps(program, _codes(made, schedule, mixes=mixes))
    return Applied(program, memory, made.polynomials, fresh, opaque=opaque)


def codes_of(program: Program, schedule: Schedule, target: Target) -> list[list[LoopCode]]:
    """Return the machine code forms of the loops of a program on a CPU: `loop_codes`."""
    mixes = reorders(program, target)
    made, _, _ = _formed(program, schedule, target, mixes=mixes)
    return _codes(made, schedule, mixes=mixes)


def _codes(made: Vectorised, schedule: Schedule, *, mixes: bool) -> list[list[LoopCode]]:
    return loop_codes(made.program, made.polynomials, serial=schedule.serial, reorders=mixes)


def _formed(
    program: Program, schedule: Schedule, target: Target, *, mixes: bool
) -> tuple[Vectorised, Memory, frozenset[int]]:
    """Return the program with other loops, its memory, and the numbers of the loops in tiles.

    Args:
        program: As for `apply`.
        schedule: As for `apply`.
        target: As for `apply`.
        mixes: Sums of floats may be computed in another order.
    """
    arrays, whole = arrays_by_name(program), program
    by_lanes, as_axes = schedule.numbers_of(Lanes), schedule.numbers_of(Flat)
    if schedule.after:
        program, left = without_clears(program, [arrays[name] for name in schedule.after])
        schedule = replace(schedule, loops=tuple(schedule.loops[k] for k in left))
    else:
        left = range(len(schedule.loops))
    functions = () if target.functions is None else target.functions.ops
    plan = _plan(program, schedule, arrays)
    if schedule.outlined:
        program = in_strips(program, functions, atomics=False, loops=plan.loops)
    spreads = schedule.numbers_of(Spread)
    few = [loop for k, loop in enumerate(parallel_loops(program)) if k in spreads]
    program, copies = privatise(program, plan, parts_of(target.threads))
    program, rows = in_rows(program, plan.rows)
    # Copies and rows have loops of their own, which come between.
    found = {k for k, one in enumerate(parallel_loops(program)) if any(one is s for s in few)}
    program, sums = spread(program, found, target.parts)
    if by_lanes or as_axes:
        forms = device_loops(whole.body, warps=target.warps, reorders=mixes)
        program = by_warps(program, [forms.lanes[k] for k in by_lanes])
        program = flatten(program, [forms.flat[k] for k in as_axes])
    memory = Memory(copies, sums, tuple(_as_numbered(one, left) for one in rows))
    if not schedule.outlined:
        return Vectorised(program, {}, ()), memory, schedule.numbers_of(Tile)
    # Loops of a few iterations leave others innermost, of which the other passes take care.
    # Indices that are sums need no strips, and strips have loops of functions.
    program = split_index_sets(unroll_and_jam(unroll_loops(program)))
    program = in_strips(program, functions, atomics=not schedule.serial)
    if target.functions is None:
        return Vectorised(program, {}, ()), memory, frozenset()
    made = vectorise_functions(
        program,
        target.functions,
        serial=schedule.serial,
        reorders=mixes,
        long=_ends(whole, schedule.long),
        brief=_ends(whole, schedule.brief),
    )
    return made, memory, frozenset()


def _as_numbered(rows: MadeRows, numbers: Sequence[int]) -> MadeRows:
    """Return rows with the number that their loop has in the program of the schedule."""
    return replace(rows, scatter=replace(rows.scatter, loop=numbers[rows.scatter.loop]))


def _ends(program: Program, numbers: Sequence[int]) -> Ends:
    """Return the ends of some of the loops of functions."""
    if not numbers:
        return frozenset()
    loops = loops_of_functions(program.body)
    return frozenset(ends_of(loops[k]) for k in numbers)


def _plan(program: Program, schedule: Schedule, arrays: Mapping[str, Array]) -> Plan:
    """Return the loops that scatter without atomics."""
    alone = frozenset[int]() if schedule.serial else schedule.numbers_of(Serial)
    steps = [
        (number, step)
        for number, every in enumerate(schedule.loops)
        for step in every
        if isinstance(step, (Copies, SmallCopies, Rows))
    ]
    known = {(s.loop, s.target): s for s in scatters_of(program)} if steps else {}
    found = [(step, known[number, arrays[step.target]]) for number, step in steps]
    return Plan(
        alone,
        copied=tuple(s for step, s in found if not isinstance(step, Rows)),
        small=frozenset(s for step, s in found if isinstance(step, SmallCopies)),
        rows=tuple(s for step, s in found if isinstance(step, Rows)),
    )
