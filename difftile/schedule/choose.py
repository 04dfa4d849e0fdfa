"""The choice of a schedule: the estimates of a launch, from its shapes, numbers and target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias

from difftile.ir.nodes import Array, ParallelFor
from difftile.ir.walk import parallel_loops
from difftile.passes.in_squares import loops_over_columns
from difftile.passes.privatise import ATOMICS, Scatter, ScatterPlan
from difftile.passes.split_index_sets import BLOCK
from difftile.passes.spread import has_long_sums
from difftile.records import dataclass
from difftile.schedule.analysis import Analysis
from difftile.schedule.costs import Costs
from difftile.schedule.forms import WHY, Forms
from difftile.schedule.legal import fits_in_pieces
from difftile.schedule.scatters import choose as choose_plan
from difftile.schedule.scatters import rows_of
from difftile.schedule.schedule import Schedule
from difftile.schedule.speed import STEP
from difftile.schedule.steps import (
    Copies,
    Grid,
    Rows,
    Serial,
    SmallCopies,
    Spread,
    Squares,
    Step,
    Threads,
    of_iterations,
)
from difftile.schedule.vectorise_functions import long_and_brief
from difftile.schedule.work import WAKING, LoopWork

# Vector instructions take longer to compile (a fifth), which pays where they save more than the
# launch itself takes. In elementary steps, of which one takes 0.1 to 0.2 ns without them.
_VECTORS = 5_000

_SIDE = 16  # of a square: the numbers of a cache line
_WIDE = 256  # rows and columns of which a cache does not hold all that collide

# Rows so many bytes apart, or a multiple of it, share four of the 64 sets of the nearest cache, or
# fewer: it holds 32 of their lines. Columns of such rows take 1.2 to 3 times as long as in squares;
# other columns take as long, or 0.7 to 1 of it (two cores of an AMD EPYC, 256 to 4096 rows).
_COLLIDING = 1024

_IN_SQUARES = "the rows of an array that it walks along columns push each other out of the cache"
_IN_ROWS = "its sums are ordered: a row for each iteration, added up in one order"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A schedule, and why it is that.

    Args:
        schedule: The schedule.
        reasons: The reason of each step, loop by loop.
    """

    schedule: Schedule
    reasons: tuple[tuple[str, ...], ...]


def choose(
    of: Analysis,
    key: tuple[Any, ...],
    costs: Callable[[], Costs],
    before: Sequence[Array] = (),
    after: Sequence[Array] = (),
) -> Chosen:
    """Return the schedule of a launch.

    Args:
        of: The program.
        key: The shapes and numbers of the launch: `Work.key`.
        costs: Measures the costs of threads, where the choice depends on them.
        before: The arrays that hold zeros before the launch.
        after: The arrays that hold zeros after it.
    """
    if of.target.on_host:
        program, steps = _on_host(of, key, costs)
    else:
        program, steps = Schedule(), _on_device(of, key)
    schedule = replace(
        program,
        loops=tuple(tuple(step for step, _ in here) for here in steps),
        before=tuple(of.names[array] for array in before),
        after=tuple(of.names[array] for array in after),
    )
    chosen = Chosen(schedule, tuple(tuple(why for _, why in here) for here in steps))
    return with_forms(chosen, of.forms(schedule))


def with_forms(chosen: Chosen, forms: Forms) -> Chosen:
    """Return a schedule with other forms of the code of its loops, and the reasons."""
    reasons = (
        (*whys[: len(of_iterations(steps))], *(WHY[type(form)] for form in more))
        for whys, steps, more in zip(chosen.reasons, chosen.schedule.loops, forms, strict=True)
    )
    return Chosen(chosen.schedule.with_forms(forms), tuple(reasons))


Steps: TypeAlias = list[list[tuple[Step, str]]]
"""The steps of each loop, each with its reason."""


def _on_device(of: Analysis, key: tuple[Any, ...]) -> Steps:
    """Return the steps of loops that the threads of a device share."""
    works = of.work.loops(key)
    steps: Steps = [[(Grid(), "the threads of the device share its iterations")] for _ in works]
    rows = rows_of(of.scatters, works, of.shapes(key)).rows if of.scatters else ()
    for scatter in rows:
        steps[scatter.loop].append((Rows(of.names[scatter.target]), _IN_ROWS))
    if not rows:  # which have other loops
        for number, work in enumerate(works):
            found = of.device_loops.step(number, work)
            if found is not None:
                steps[number].append(found)
    return steps


def _on_host(
    of: Analysis, key: tuple[Any, ...], costs: Callable[[], Costs]
) -> tuple[Schedule, Steps]:
    """Return the schedule of a program on a CPU, and the steps of its loops."""
    target, works, shapes = of.target, of.work.loops(key), of.shapes(key)
    plan, scattering = ATOMICS, None
    if of.scatters:
        choice = choose_plan(
            of.scatters,
            works,
            shapes,
            strategy=target.strategy,
            threads=target.threads,
            costs=costs,
        )
        plan = choice.plan
        scattering = None if target.strategy == "atomics" else (choice.serial, choice.shared)
    serial = of.work.is_for_one(key, target.threads, scattering, lambda: costs().waking)
    outlined = of.speed.outlined and of.work.amount(key) >= _VECTORS
    few: frozenset[int] = frozenset()
    if outlined and not serial and plan == ATOMICS:
        few = _few(of, works)
    long, brief = (), ()
    if outlined and target.functions is not None:
        long, brief = long_and_brief(of.program, of.given(key))
    program = Schedule(
        serial=serial,
        outlined=outlined,
        short=outlined and not serial and of.is_short(key),
        long=long,
        brief=brief,
    )
    plan = plan.in_order if serial else plan
    if serial:
        why = _why_serial(target.threads, works)
        loops: Steps = [[(Serial(), why)] for _ in works]
    else:
        loops = [_shared(of, plan, k, work) for k, work in enumerate(works)]
    for scatter in plan.copied:
        loops[scatter.loop].append(_copies(of, plan, scatter))
    for scatter in plan.rows:
        loops[scatter.loop].append((Rows(of.names[scatter.target]), _IN_ROWS))
    for number, nbytes in loops_over_columns(of.program.body).items():
        if _collide(works[number], nbytes):
            loops[number].append((Squares(_SIDE), _IN_SQUARES))
    for number in few:
        work = works[number]
        why = f"{work.axes[0]:,.0f} iterations or rows are fewer than threads can share"
        loops[number].append((Spread(target.parts), why))
    return program, loops


def _collide(work: LoopWork, nbytes: int) -> bool:
    """Tell whether rows of the array that a loop walks along columns collide in a cache.

    Args:
        work: The work of the loop, whose ranges are taken for the extents of the array.
        nbytes: The bytes of an element.
    """
    rows, columns = work.axes[-2:]
    return min(rows, columns) >= _WIDE and rows * nbytes % _COLLIDING == 0


def _why_serial(threads: int, works: Sequence[LoopWork]) -> str:
    """Return why one thread runs a program."""
    steps = sum(work.steps for work in works)
    if threads < 2:
        return "there is one thread"
    if steps * STEP * (1 - 1 / threads) > WAKING * len(works):
        return f"{threads} threads would wait for each other at elements that they add to"
    return f"{steps:,.0f} steps take less than waking threads"


def _shared(of: Analysis, plan: ScatterPlan, number: int, work: LoopWork) -> list[tuple[Step, str]]:
    """Return the steps of a loop of a program that threads share."""
    if number in plan.serial:
        targets = ", ".join(s.target.name for s in of.scatters if s.loop == number)
        return [(Serial(), f"several threads would take longer to add to {targets}")]
    why = f"{work.steps:,.0f} steps take longer than waking {of.target.threads} threads"
    return [(Threads(of.target.parts), why)]


def _copies(of: Analysis, plan: ScatterPlan, scatter: Scatter) -> tuple[Step, str]:
    """Return the step of a scatter that has copies."""
    if scatter.ordered:
        why = "its sums are ordered: the same for any number of threads"
    elif of.target.strategy == "copies":
        why = "dt.init(scatter='copies') asks for them"
    else:
        why = "a copy for each thread takes less than atomic additions"
    kind = SmallCopies if scatter in plan.small else Copies
    return kind(of.names[scatter.target]), why


def _few(of: Analysis, works: Sequence[LoopWork]) -> frozenset[int]:
    """Return the numbers of the loops that have fewer iterations or rows than half the parts."""
    few = of.target.parts // 2
    loops = enumerate(zip(parallel_loops(of.program), works, strict=True))
    return frozenset(
        k for k, (loop, work) in loops if fits_in_pieces(of, k, work) and _has_few(loop, work, few)
    )


def _has_few(loop: ParallelFor, work: LoopWork, few: int) -> bool:
    if has_long_sums(loop):
        return prod(work.axes) <= few
    *outer, last = work.axes
    return prod(outer) <= few and last > 2 * BLOCK
