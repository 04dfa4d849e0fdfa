"""How the parallel loops of a launch and of its adjoint run, and why, as text."""

from __future__ import annotations

from collections.abc import Sequence

from difftile.compile.adjoint_plan import AdjointPlan
from difftile.compile.stage import DerivedCode
from difftile.ir.walk import parallel_loops
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.runtime.vector_report import arguments_of
from difftile.schedule.steps import text_of
from difftile.schedule.wishes import line_of
from difftile.substrate import current_session


def programs_of(
    launch: PreparedLaunch, plans: Sequence[AdjointPlan]
) -> list[tuple[str, DerivedCode]]:
    """Return the programs of a launch and of its adjoint, with the names of their stages.

    Args:
        launch: The launch.
        plans: The adjoints of its stages; none where they cannot be had.
    """
    programs = [("forward", stage.primal) for stage in launch.code.stages]
    adjoints = [plan.adjoint for plan in plans if plan.adjoint is not None]
    return programs + [("adjoint", adjoint) for adjoint in adjoints]


def schedule_report(launch: PreparedLaunch, plans: Sequence[AdjointPlan]) -> str:
    """Return the section of a report; an empty text for programs that run as Python.

    Args:
        launch: The launch.
        plans: The adjoints of its stages; none where they cannot be had.
    """
    if not current_session().compiles:
        return ""
    lines: dict[str, None] = {}
    for name, derived in programs_of(launch, plans):
        of, chosen = derived.code.chosen(arguments_of(derived, launch))
        loops = zip(parallel_loops(of.program), chosen.schedule.loops, chosen.reasons, strict=True)
        for loop, steps, reasons in loops:
            line = line_of(loop)
            if line is None:
                continue
            place = f"  {'' if name == 'forward' else f'{name}, '}line {line}"
            for step, why in zip(steps, reasons, strict=True):
                lines[f"{place}: {text_of(step)}: {why}"] = None
    return "\n".join(("Schedule of the parallel loops", *lines)) if lines else ""
