"""Which loops of a launch and of its adjoint are vector instructions on the CPU, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from difftile.compile.adjoint_plan import AdjointPlan
from difftile.compile.stage import DerivedCode
from difftile.diagnostics import located
from difftile.ir.derived import After, Bar, Before, Same, Shape
from difftile.ir.nodes import Array, ParallelFor
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.passes.scatter_to_gather import is_rim
from difftile.schedule.apply import codes_of
from difftile.schedule.speed import speaks
from difftile.schedule.vector_loops import REASONS, LoopCode
from difftile.substrate import current_session


class _Unknown(NamedTuple):
    """Memory that a program has besides the fields of its launch."""

    shape: tuple[int, ...]


def vector_report(launch: PreparedLaunch, plans: Sequence[AdjointPlan]) -> str:
    """Return the section of a report; an empty text on other devices than the CPU.

    Args:
        launch: The launch.
        plans: The adjoints of its stages; none where they cannot be had.
    """
    if not current_session().on_host:
        return ""
    programs = [("", stage.primal) for stage in launch.code.stages]
    programs += [("adjoint, ", plan.adjoint) for plan in plans if plan.adjoint is not None]
    lines: dict[str, None] = {}
    refusals: dict[str, None] = {}
    any_loops = False
    for which, derived in programs:
        found = _codes(derived, launch)
        if isinstance(found, str):
            refusals[found] = None
            lines[f"  {'adjoint' if which else 'forward'}: none, {found}"] = None
            continue
        any_loops = any_loops or bool(found)
        for group in found:
            lines |= dict.fromkeys(_of_loop(which, group))
    if any_loops:
        return "\n".join(("Loops as vector instructions", *lines))
    return f"No vector instructions: {'; '.join(refusals)}" if refusals else ""


def _codes(derived: DerivedCode, launch: PreparedLaunch) -> list[list[LoopCode]] | str:
    """Return the forms of the loops of a program; or why none is vectorised, as a clause."""
    session, program = current_session(), derived.code.program
    if session.debug:
        return "debug sessions run without them"
    if speaks(program.body):
        return "kernels that print or report failures run without them"
    if not session.compiles:
        return "it runs as Python"
    of, chosen = derived.code.chosen(arguments_of(derived, launch))
    if not of.speed.outlined:
        return "its functions tell zeros of both signs apart"
    if not chosen.schedule.outlined:
        return "launches as small as this one run without them"
    return codes_of(of.program, chosen.schedule, of.target)


def _of_loop(which: str, group: list[LoopCode]) -> Iterator[str]:
    loop = group[0].loop
    if loop.span is None or (isinstance(loop, ParallelFor) and is_rim(loop)):
        return
    place = f"  {which}line {loop.span.line}"
    against = [code.obstacle for code in group if code.obstacle is not None]
    if len(against) < len(group):
        yield f"{place}: vectorised"
        return
    obstacle = against[len(against) // 2]  # of parts, the one between the ends
    yield f"{place}: not vectorised: it {obstacle.why}"
    if obstacle.span is not None and obstacle.span != loop.span:
        yield f"    at {located(obstacle.span)}"
    hint = REASONS[obstacle.kind].hint
    if hint and not which:  # about the code of the user
        yield f"    {hint}"


def arguments_of(derived: DerivedCode, launch: PreparedLaunch) -> list[Any]:
    """Return values with the shapes and numbers of a program's arguments."""
    values = dict(zip(launch.code.params, launch.values, strict=True))
    found: list[Any] = []
    for param, role in zip(derived.code.params, derived.roles, strict=True):
        match role:
            case Same(of):
                value = values.get(of)
            case Before(array) | After(array) | Bar(array) | Shape(array):
                value = values.get(array)
            case _:
                value = None
        if value is None:
            value = _Unknown((1,) * param.type.ndim) if isinstance(param, Array) else 0
        found.append(value)
    return found
