"""The steps that a parallel loop can have in a launch.

One table, for the check of steps that users set and for measurements of all alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod
from typing import Any, TypeAlias

from difftile.ir.types import FLOATS, scalar_of
from difftile.ir.walk import parallel_loops
from difftile.passes.in_squares import loops_over_columns
from difftile.passes.privatise import ORDERED_PARTS, Scatter
from difftile.passes.spread import has_long_sums, may_spread
from difftile.schedule.analysis import Analysis
from difftile.schedule.scatters import copies_of, rows_of
from difftile.schedule.schedule import Schedule
from difftile.schedule.steps import (
    Copies,
    Form,
    Grid,
    Lanes,
    Plain,
    Rows,
    Serial,
    SmallCopies,
    Spread,
    Squares,
    Step,
    Strips,
    Threads,
    of_code,
    of_iterations,
)
from difftile.schedule.work import LoopWork

Steps: TypeAlias = tuple[Step, ...]

SIDES = (16, 32, 64)
"""The iterations along a side of a square."""

_SHORTEST, _LONGEST = 8, 64  # strips that are worth a measurement

_MOST_TARGETS = 4  # of a loop, any of which may have copies; of more, one or all


def legal(of: Analysis, number: int, key: tuple[Any, ...]) -> tuple[Steps, ...]:
    """Return the alternatives for a parallel loop in a launch, except for the form of its code.

    A loop whose sums are ordered has one: another one would change the sums.

    Args:
        of: The program.
        number: The number of the loop.
        key: The shapes and numbers of the launch: `Work.key`.
    """
    make = _on_host if of.target.on_host else _on_device
    return tuple(make(of, number, key))


def others(of: Analysis, number: int, key: tuple[Any, ...], schedule: Schedule) -> Iterator[Steps]:
    """Yield alternatives to the steps that a parallel loop has in a launch.

    Args:
        of: The program.
        number: The number of the loop.
        key: The shapes and numbers of the launch.
        schedule: The schedule of the launch.
    """
    now = schedule.loops[number]
    here = of_iterations(now)
    yield from (steps for steps in legal(of, number, key) if steps != here)
    forms = [*schedule.forms]
    for some in _other_forms(of_code(now)):
        forms[number] = some
        if {*of.forms(schedule, forms)[number]} == {*some} - {Plain()}:
            yield (*here, *some)


def _other_forms(forms: tuple[Form, ...]) -> Iterator[tuple[Form, ...]]:
    """Yield forms with one left out, with strips of other lengths, and none."""
    for k, form in enumerate(forms):
        before, after = forms[:k], forms[k + 1 :]
        yield (*before, *after) or (Plain(),)
        if isinstance(form, Strips):
            for length in (form.length // 2, form.length * 2):
                if _SHORTEST <= length <= _LONGEST:
                    yield (*before, Strips(length), *after)
    if len(forms) > 1:
        yield (Plain(),)


def reorders_sums(of: Analysis, number: int, key: tuple[Any, ...], steps: Steps) -> bool:
    """Tell whether steps of a loop add floats in another order than the loop is written in.

    Args:
        of: The program.
        number: The number of the loop.
        key: The shapes and numbers of the launch.
        steps: The steps.
    """
    if Serial() in steps:
        return False
    loop, work = parallel_loops(of.program)[number], of.work.loops(key)[number]
    splits = any(isinstance(step, Spread) for step in steps) and has_long_sums(loop)
    by_lanes = of.speed.reorders and any(isinstance(step, Lanes) for step in steps)
    shared = any(scalar_of(array.type.element) in FLOATS for array in work.added)
    return splits or by_lanes or shared


def _on_host(of: Analysis, number: int, key: tuple[Any, ...]) -> Iterator[Steps]:
    threads = Threads(of.target.parts)
    here = [s for s in of.scatters if s.loop == number]
    ordered = [s for s in here if s.ordered]
    if ordered:
        yield threads, *_copied(of, ordered, key, ORDERED_PARTS)
        return
    yield (Serial(),)
    yield (threads,)
    sizes = (*range(1, len(here) + 1),) if len(here) <= _MOST_TARGETS else (1, len(here))
    for size in sizes:
        for some in combinations(here, size):
            copies = _copied(of, some, key, of.target.threads)
            if len(copies) == size:
                yield threads, *copies
    if fits_in_pieces(of, number, of.work.loops(key)[number]):
        yield threads, Spread(of.target.parts)
    if number in loops_over_columns(of.program.body):
        for side in SIDES:
            yield Serial(), Squares(side)
            yield threads, Squares(side)


def fits_in_pieces(of: Analysis, number: int, work: LoopWork) -> bool:
    """Tell whether a loop of a CPU can be spread over all threads in a launch.

    Args:
        of: The program.
        number: The number of the loop.
        work: Its work.
    """
    loop = parallel_loops(of.program)[number]
    fits = not has_long_sums(loop) or prod(work.axes) <= of.target.parts
    return of.speed.reorders and may_spread(loop) and fits


def _copied(
    of: Analysis, scatters: tuple[Scatter, ...] | list[Scatter], key: tuple[Any, ...], threads: int
) -> Steps:
    """Return the steps of the scatters that can have copies together."""
    plan = copies_of(scatters, of.shapes(key), threads)
    return tuple(
        (SmallCopies if s in plan.small else Copies)(of.names[s.target]) for s in plan.copied
    )


def _on_device(of: Analysis, number: int, key: tuple[Any, ...]) -> Iterator[Steps]:
    works = of.work.loops(key)
    rows = rows_of(of.scatters, works, of.shapes(key)).rows if of.scatters else ()
    if rows:  # which have other loops
        yield Grid(), *(Rows(of.names[s.target]) for s in rows if s.loop == number)
        return
    yield (Grid(),)
    for step in of.device_loops.possible(number, works[number]):
        yield Grid(), step
