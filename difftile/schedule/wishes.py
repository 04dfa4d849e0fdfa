"""Steps that users set for the parallel loops of a launch, in place of the chosen ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from difftile.diagnostics import ScheduleMismatch, counted
from difftile.ir.nodes import ParallelFor, Program
from difftile.ir.walk import parallel_loops
from difftile.passes.scatter_to_gather import is_rim
from difftile.schedule.analysis import Analysis
from difftile.schedule.choose import Chosen, with_forms
from difftile.schedule.legal import Steps, legal, others, reorders_sums
from difftile.schedule.steps import (
    Copies,
    Plain,
    Serial,
    SmallCopies,
    Step,
    Threads,
    of_code,
    of_iterations,
    steps_of,
    written,
)

_SHOWN = 8  # alternatives


def line_of(loop: ParallelFor) -> int | None:
    """Return the line of a loop by which users name it; loops around a gather have none."""
    return None if loop.span is None or is_rim(loop) else loop.span.line


def lines_of(program: Program) -> list[int]:
    """Return the lines of the parallel loops of a program."""
    lines = {line_of(loop) for loop in parallel_loops(program)}
    return sorted(line for line in lines if line is not None)


def granted(
    of: Analysis, key: tuple[Any, ...], chosen: Chosen, wishes: Mapping[int, str]
) -> Chosen:
    """Return a schedule with the steps that users have set.

    A line may have several loops, as the adjoint of one loop may. All that can have the steps get
    them. A text that names no form of the code of iterations leaves that to the library.

    Args:
        of: The program.
        key: The shapes and numbers of the launch.
        chosen: What is chosen.
        wishes: Texts of steps, by the line of the loop.

    Raises:
        ScheduleMismatch: No loop of a line can have the steps in this launch.
    """
    wanted = {line: steps_of(text, of.target.parts) for line, text in wishes.items()}
    loops = parallel_loops(of.program)
    steps: dict[int, Steps] = {}
    for k, loop in enumerate(loops):
        wish = wanted.get(line_of(loop) or 0)
        found = None if wish is None else _fitting(of, k, key, chosen.schedule.loops[k], wish)
        if found is not None:
            steps[k] = found
    made = _made(of, key, chosen, steps)
    while unfit := {k for k in steps if not _has(made.schedule.loops[k], steps[k])}:
        steps = {k: one for k, one in steps.items() if k not in unfit}
        made = _made(of, key, chosen, steps)
    for line, text in wishes.items():
        numbers = [k for k, loop in enumerate(loops) if line_of(loop) == line]
        if numbers and steps.keys().isdisjoint(numbers):
            now, every = chosen.schedule, dict[Steps, None]()
            for k in numbers:
                every |= dict.fromkeys((now.loops[k], *others(of, k, key, now)))
            raise _misfit(loops[numbers[0]], text, [*every])
    return made


def _fitting(
    of: Analysis, number: int, key: tuple[Any, ...], now: Steps, wish: Steps
) -> Steps | None:
    """Return the steps of a loop that are wanted; None if it cannot have them."""
    wanted = _kinds(of_iterations(wish))
    for one in (of_iterations(now), *legal(of, number, key)):
        if _kinds(one) == wanted:
            return (*one, *of_code(wish))
    return None


def _has(steps: Steps, wanted: Steps) -> bool:
    """Tell whether a loop has all the forms that are wanted: a pass may leave it as it is."""
    forms = {*of_code(wanted)} - {Plain()}
    return forms <= {*of_code(steps)}


def _kinds(steps: Steps) -> frozenset[Step]:
    """Return steps as they are compared: sizes decide whether one thread adds up copies."""
    return frozenset(Copies(s.target) if isinstance(s, SmallCopies) else s for s in steps)


def _made(
    of: Analysis, key: tuple[Any, ...], chosen: Chosen, wanted: Mapping[int, Steps]
) -> Chosen:
    """Return what is chosen, with other steps of some loops."""
    steps = [*map(of_iterations, chosen.schedule.loops)]
    reasons = [*chosen.reasons]
    for k, one in wanted.items():
        steps[k] = of_iterations(one)
        reasons[k] = (_why(of, k, key, one),) * len(one)
    whole = _whole(of, key, replace(chosen, reasons=tuple(reasons)), steps)
    possible = of.forms(whole.schedule)
    forms = [of_code(wanted.get(k, ())) or one for k, one in enumerate(possible)]
    made = with_forms(whole, of.forms(whole.schedule, forms) if forms != possible else forms)
    reasons = [*made.reasons]
    for k, one in wanted.items():
        if of_code(one):
            reasons[k] = (_why(of, k, key, one),) * len(made.schedule.loops[k])
    return replace(made, reasons=tuple(reasons))


def _why(of: Analysis, number: int, key: tuple[Any, ...], steps: Steps) -> str:
    why = "kernel.schedule() sets it"
    if reorders_sums(of, number, key, steps):
        why += ", which changes the order of sums of floats"
    return why


def _misfit(loop: ParallelFor, text: str, others: Sequence[Steps]) -> ScheduleMismatch:
    shown = [f"'{written(steps)}'" for steps in others]
    if len(shown) > _SHOWN:
        shown[_SHOWN:] = [counted(len(shown) - _SHOWN, "other")]
    return ScheduleMismatch(
        loop.span,
        f"this loop cannot run as '{text}' in this launch.",
        "not possible here",
        hint=f"it can run as {' or '.join(shown)}.",
    )


def _whole(of: Analysis, key: tuple[Any, ...], chosen: Chosen, steps: Sequence[Steps]) -> Chosen:
    """Return the schedule with the steps of all loops, which decide how the whole program runs."""
    before = chosen.schedule
    if not of.target.on_host:
        return replace(chosen, schedule=replace(before, loops=tuple(steps)))
    if before.serial and any(Serial() not in every for every in steps):
        # Copies of ordered sums are by threads where the program is.
        parts = Threads(of.target.parts)
        steps = [(parts, *s[1:]) if any(map(_is_copies, s)) else s for s in steps]
    serial = all(every[0] == Serial() for every in steps)
    short = before.outlined and not serial and of.is_short(key)
    return replace(chosen, schedule=replace(before, loops=tuple(steps), serial=serial, short=short))


def _is_copies(step: Step) -> bool:
    return isinstance(step, (Copies, SmallCopies))
