"""Steps that users set for the parallel loops of a launch, in place of those that are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from difftile.diagnostics import ScheduleMismatch, counted
from difftile.ir.nodes import ParallelFor, Program
from difftile.passes.scatter_to_gather import is_rim
from difftile.schedule.choose import Analysis, Chosen, is_short
from difftile.schedule.legal import Steps, legal, reorders_sums
from difftile.schedule.schedule import parallel_loops
from difftile.schedule.steps import Copies, Serial, SmallCopies, Step, Threads, steps_of, written

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
    them.

    Args:
        of: The program.
        key: The shapes and numbers of the launch.
        chosen: What is chosen.
        wishes: Texts of steps, by the line of the loop.

    Raises:
        ScheduleMismatch: No loop of a line can have the steps in this launch.
    """
    loops = parallel_loops(of.program)
    steps, reasons = [*chosen.schedule.loops], [*chosen.reasons]
    for line, text in wishes.items():
        wanted = _kinds(steps_of(text, of.target.parts))
        numbers = [k for k, loop in enumerate(loops) if line_of(loop) == line]
        others: dict[Steps, None] = {}
        found = False
        for k in numbers:
            allowed = dict.fromkeys((chosen.schedule.loops[k], *legal(of, k, key)))
            others |= allowed
            for one in allowed:
                if _kinds(one) == wanted:
                    found, steps[k] = True, one
                    reasons[k] = _reasons(of, k, key, one)
        if numbers and not found:
            raise _misfit(loops[numbers[0]], text, [*others])
    return _whole(of, key, replace(chosen, reasons=tuple(reasons)), steps)


def _kinds(steps: Steps) -> frozenset[Step]:
    """Return steps as they are compared: sizes decide whether one thread adds up copies."""
    return frozenset(Copies(s.target) if isinstance(s, SmallCopies) else s for s in steps)


def _reasons(of: Analysis, number: int, key: tuple[Any, ...], steps: Steps) -> tuple[str, ...]:
    why = "kernel.schedule() sets it"
    if reorders_sums(of, number, key, steps):
        why += ", which changes the order of sums of floats"
    return (why,) * len(steps)


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
        steps = [(parts, *s[1:]) if s[0] == Serial() and s[1:] else s for s in steps]
    serial = all(every[0] == Serial() for every in steps)
    short = before.outlined and not serial and is_short(of, key)
    return replace(chosen, schedule=replace(before, loops=tuple(steps), serial=serial, short=short))
