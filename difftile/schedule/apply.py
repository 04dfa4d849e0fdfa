"""A schedule applied to its program: the statements that are emitted, and the memory they need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from difftile.ir.nodes import Array, ParallelFor, Program, Stmt, Var
from difftile.ir.walk import parallel_loops, with_stmts
from difftile.passes.by_warps import by_warps
from difftile.passes.exact_sums import Bins, exact_sums
from difftile.passes.flatten import flatten
from difftile.passes.in_squares import in_squares
from difftile.passes.privatise import ScatterPlan, TargetCopies, privatise, scatters_of
from difftile.passes.rows import RowMemory, in_rows
from difftile.passes.spread import spread
from difftile.records import dataclass
from difftile.schedule.clears import without_clears
from difftile.schedule.device_loops import device_loops
from difftile.schedule.forms import Formed, Forms, Wanted
from difftile.schedule.grids import Grid, Grids, on_grids
from difftile.schedule.opaque_steps import opaque_steps
from difftile.schedule.scatters import parts_of
from difftile.schedule.schedule import Schedule, arrays_by_name, loops_of_functions
from difftile.schedule.speed import reorders
from difftile.schedule.steps import (
    Copies,
    Flat,
    Lanes,
    Rows,
    Serial,
    SmallCopies,
    Spread,
    Squares,
    Tile,
)
from difftile.schedule.target import Polynomials, Target
from difftile.schedule.vector_loops import LoopCode, loop_codes
from difftile.schedule.vectorise_functions import Ends, Vectorised, ends_of, vectorise_functions


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that a program needs besides its parameters, with any contents.

    Args:
        copies: Copies of arrays.
        sums: The sums of the pieces of loops, with an element for each part.
        rows: Rows of sums, and their stripes.
        bins: The bins of sums that are exact.
    """

    copies: tuple[TargetCopies, ...] = ()
    sums: tuple[Array, ...] = ()
    rows: tuple[RowMemory, ...] = ()
    bins: tuple[Bins, ...] = ()


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
    if target.grids is not None and not schedule.serial:
        return _on_device(program, schedule, target, target.grids)
    host = _on_host(program, schedule, target, schedule.forms)
    made = host.made
    opaque = opaque_steps(made.program, host.codes) if target.unrolls else frozenset[Var]()
    fresh = frozenset(_named(program, schedule.before))
    return Applied(made.program, host.memory, made.polynomials, fresh, opaque=opaque)


def forms_of(program: Program, schedule: Schedule, target: Target, wanted: Wanted) -> Forms:
    """Return which of some forms the code of each loop can have, with other steps of a schedule.

    Args:
        program: A finished program.
        schedule: A schedule of the program for a CPU.
        target: What the program is compiled for.
        wanted: The forms.
    """
    return _on_host(program, schedule, target, wanted).forms


def codes_of(program: Program, schedule: Schedule, target: Target) -> list[list[LoopCode]]:
    """Return the machine code forms of the loops of a program on a CPU: `loop_codes`."""
    return _on_host(program, schedule, target, schedule.forms).codes


def _on_device(program: Program, schedule: Schedule, target: Target, grids: Grids) -> Applied:
    fresh = frozenset(_named(program, schedule.before))
    plan, cleared = _plan(program, schedule), _without_clears(program, schedule)
    tasks = _with_memory(*cleared, schedule, plan, target)
    changed = tasks.program
    by_lanes, as_axes = schedule.numbers_of(Lanes), schedule.numbers_of(Flat)
    if by_lanes or as_axes:
        mixes = reorders(program, target)
        forms = device_loops(program.body, warps=target.warps, reorders=mixes)
        changed = by_warps(changed, [forms.lanes[k] for k in by_lanes])
        changed = flatten(changed, [forms.flat[k] for k in as_axes])
    memory = tasks.memory
    if target.repeats:
        changed, bins = exact_sums(changed)
        memory = replace(memory, bins=bins)
    in_tiles = schedule.numbers_of(Tile)
    loops = zip(tasks.numbers, parallel_loops(tasks.program), strict=True)
    tiled = {loop.indices for number, loop in loops if number in in_tiles}  # other loops may split
    numbers = {k for k, loop in enumerate(parallel_loops(changed)) if loop.indices in tiled}
    on = on_grids(changed, grids, fresh, numbers)
    return Applied(on.program, memory, {}, fresh, tuple(on.grids), on.tiles)


@dataclass(frozen=True, slots=True)
class _OnHost:
    """A program as a CPU runs it.

    Args:
        made: The program.
        memory: What it needs.
        forms: The forms that the code of each loop has been given.
        serial: One thread runs it, without atomics.
        mixes: Sums of floats may be computed in another order.
    """

    made: Vectorised
    memory: Memory
    forms: Forms
    serial: bool
    mixes: bool

    @property
    def codes(self) -> list[list[LoopCode]]:
        """The machine code forms of the loops."""
        made = self.made
        return loop_codes(made.program, made.polynomials, serial=self.serial, reorders=self.mixes)


def _on_host(program: Program, schedule: Schedule, target: Target, wanted: Wanted) -> _OnHost:
    math, serial, mixes = target.functions, schedule.serial, reorders(program, target)
    functions = () if math is None else math.ops
    plan = _plan(program, schedule)
    formed = Formed(*_without_clears(program, schedule), wanted)
    if schedule.outlined:
        # Ahead of copies, whose loops have others inside.
        formed.strip(functions, atomics=False, only=plan.loops)
    tasks = _with_memory(formed.program, formed.numbers, schedule, plan, target)
    made = Vectorised(tasks.program, {})
    if schedule.outlined:
        formed.follow(tasks.program, tasks.numbers)
        formed.write_out()
        formed.strip(functions, atomics=not serial)
        made = Vectorised(formed.program, {})
        if math is not None:
            made = formed.compute(_polynomials(program, schedule, math, mixes=mixes))
    return _OnHost(made, tasks.memory, formed.forms(len(schedule.loops)), serial, mixes)


def _polynomials(
    program: Program, schedule: Schedule, math: Polynomials, *, mixes: bool
) -> Callable[[Program, Collection[int]], Vectorised]:
    """Return what computes functions as polynomials in some loops of the program so far."""
    long, brief = _ends(program, schedule.long), _ends(program, schedule.brief)
    return lambda formed, loops: vectorise_functions(
        formed,
        math,
        serial=schedule.serial,
        reorders=mixes,
        long=long,
        brief=brief,
        loops=loops,
    )


@dataclass(frozen=True, slots=True)
class _Tasks:
    """A program whose parallel loops add into memory of its own.

    Args:
        program: The program.
        numbers: The number in the schedule of the loop that each of its parallel loops is made of.
        memory: The memory.
    """

    program: Program
    numbers: list[int]
    memory: Memory


def _with_memory(
    program: Program, numbers: Iterable[int], schedule: Schedule, plan: ScatterPlan, target: Target
) -> _Tasks:
    """Return the program with the copies, rows and pieces of each of its loops.

    Args:
        program: A program.
        numbers: The numbers in the schedule of its parallel loops.
        schedule: The schedule.
        plan: The loops that scatter without atomics.
        target: What the program is compiled for.
    """
    left, spreads, parts = iter(numbers), schedule.numbers_of(Spread), parts_of(target.threads)
    squares = {
        k: step.side
        for k, steps in enumerate(schedule.loops)
        for step in steps
        if isinstance(step, Squares)
    }
    stmts, made_of = list[Stmt](), list[int]()
    copies, rows, sums = list[TargetCopies](), list[RowMemory](), list[Array]()
    for stmt in program.body.stmts:
        if not isinstance(stmt, ParallelFor):
            stmts.append(stmt)
            continue
        number = next(left)
        here, one = plan.of(number), with_stmts(program, (stmt,))
        if number in squares:
            one = in_squares(one, {0: squares[number]})
        one, its_copies = privatise(one, here, parts)
        one, its_rows = in_rows(one, here.rows)
        if number in spreads and not here.loops:
            one, its_sums = spread(one, (0,), target.parts)
            sums += its_sums
        copies += its_copies
        rows += (replace(r, scatter=replace(r.scatter, loop=number)) for r in its_rows)
        stmts += one.body.stmts
        made_of += [number] * len(parallel_loops(one))
    temps = (
        *(one.array for one in copies),
        *(array for one in rows for array in (one.array, one.stripes)),
        *sums,
    )
    whole = replace(with_stmts(program, stmts), temps=(*program.temps, *temps))
    return _Tasks(whole, made_of, Memory(tuple(copies), tuple(sums), tuple(rows)))


def _without_clears(program: Program, schedule: Schedule) -> tuple[Program, Sequence[int]]:
    """Return the program without zeros that are stored later, and the numbers of its loops."""
    if not schedule.after:
        return program, range(len(parallel_loops(program)))
    return without_clears(program, _named(program, schedule.after))


def _named(program: Program, names: Iterable[str]) -> list[Array]:
    arrays = arrays_by_name(program)
    return [arrays[name] for name in names]


def _ends(program: Program, numbers: Sequence[int]) -> Ends:
    """Return the ends of some of the loops of functions."""
    if not numbers:
        return frozenset()
    loops = loops_of_functions(program.body)
    return frozenset(ends_of(loops[k]) for k in numbers)


def _plan(program: Program, schedule: Schedule) -> ScatterPlan:
    """Return the loops that scatter without atomics."""
    serial = frozenset[int]() if schedule.serial else schedule.numbers_of(Serial)
    steps = [
        (number, step)
        for number, every in enumerate(schedule.loops)
        for step in every
        if isinstance(step, (Copies, SmallCopies, Rows))
    ]
    if not steps:
        return ScatterPlan(serial)
    arrays = arrays_by_name(program)
    known = {(s.loop, s.target): s for s in scatters_of(program)}
    found = [(step, known[number, arrays[step.target]]) for number, step in steps]
    return ScatterPlan(
        serial,
        copied=tuple(s for step, s in found if not isinstance(step, Rows)),
        small=frozenset(s for step, s in found if isinstance(step, SmallCopies)),
        rows=tuple(s for step, s in found if isinstance(step, Rows)),
    )
