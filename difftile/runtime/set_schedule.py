"""Steps that `kernel.schedule` sets for parallel loops, and their checks."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType

from difftile.compile.adjoint_plan import make_plans
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import STAGES, Wishes
from difftile.diagnostics import KernelError, ScheduleMismatch, Span
from difftile.frontend.source import source_of
from difftile.ir.nodes import Array
from difftile.ir.types import is_float
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.runtime.schedule_report import programs_of
from difftile.runtime.vector_report import arguments_of
from difftile.schedule.steps import steps_of
from difftile.schedule.wishes import lines_of


def with_steps(
    function: FunctionType, wishes: Wishes, stage: object, line: object, steps: object
) -> Wishes:
    """Return the steps that are set, with the steps of one more loop.

    Args:
        function: The function of the kernel.
        wishes: The steps that are set.
        stage: One of `STAGES`.
        line: The line of the loop.
        steps: The text of its steps; None for the steps that are chosen.

    Raises:
        ScheduleMismatch: The stage or a step is not known.
    """
    if not isinstance(line, int) or isinstance(line, bool):
        raise ScheduleMismatch(_span(function, 0), f"a loop is named by its line, not {line!r}.")
    span = _span(function, line)
    if stage not in STAGES or not isinstance(stage, str):
        others = f"stages are {', '.join(map(repr, STAGES))}."
        raise ScheduleMismatch(span, f"there is no stage {stage!r}.", hint=others)
    found = {name: dict(lines) for name, lines in wishes.items()}
    if steps is None:
        found.get(stage, {}).pop(line, None)
    else:
        try:
            steps_of(str(steps), 1)
        except ValueError as error:
            raise ScheduleMismatch(span, f"{error}.", "of this loop") from None
        found.setdefault(stage, {})[line] = str(steps)
    return {name: lines for name, lines in found.items() if lines}


def check_lines(function: FunctionType, code: Specialisation, wishes: Wishes) -> None:
    """Check that the kernel has the loops for which steps are set.

    Args:
        function: The function of the kernel.
        code: Its code for some types of arguments.
        wishes: The steps that are set.

    Raises:
        ScheduleMismatch: A loop is missing, or the adjoint is a rule.
    """
    forward = {line for stage in code.stages for line in lines_of(stage.primal.code.program)}
    # Loops that are merged in the launch may be apart in its derivatives.
    apart = {line for stage in code.stages for line in lines_of(stage.program)}
    for name, steps in wishes.items():
        if name != "forward" and code.rules:
            raise ScheduleMismatch(
                _span(function, min(steps)),
                f"the {name} of kernel '{code.name}' is a rule.",
                hint="the loops of a rule run as they are chosen.",
            )
        for line in steps:
            if line not in (forward if name == "forward" else forward | apart):
                raise _missing(function, name, line, forward)


def check_launch(function: FunctionType, launch: PreparedLaunch, wishes: Wishes) -> None:
    """Check the steps that are set for a launch and its adjoint; tangents are checked at theirs.

    Args:
        function: The function of the kernel.
        launch: The latest launch.
        wishes: The steps that are set.

    Raises:
        ScheduleMismatch: A loop is missing, or cannot have its steps.
        NotDifferentiable: There is no adjoint.
    """
    plans = make_plans(launch.code, graded_of(launch)) if "adjoint" in wishes else ()
    lines: dict[str, set[int]] = {}
    for name, derived in programs_of(launch, plans):
        of, _ = derived.code.chosen(arguments_of(derived, launch))
        lines.setdefault(name, set()).update(lines_of(of.program))
    for line in wishes.get("adjoint", ()):
        if line not in lines.get("adjoint", ()):
            raise _missing(function, "adjoint", line, lines.get("adjoint", ()))


def graded_of(launch: PreparedLaunch) -> tuple[bool, ...]:
    """Return which parameters have gradients, or could have one if none has."""
    found = launch.grads()
    if any(found):
        return found
    return tuple(isinstance(p, Array) and is_float(p.type.element) for p in launch.code.params)


def _missing(
    function: FunctionType, name: str, line: int, others: Iterable[int]
) -> ScheduleMismatch:
    known = ", ".join(map(str, sorted(others)))
    kernel = f"kernel '{function.__name__}'"
    what = kernel if name == "forward" else f"the {name} of {kernel}"
    return ScheduleMismatch(
        _span(function, line),
        f"{what} has no parallel loop on line {line}.",
        "no loop of its own",
        hint=f"it has parallel loops on these lines: {known}." if known else "it has none.",
    )


def _span(function: FunctionType, line: int) -> Span | None:
    """Return a line of a kernel, or the line of its name where the line is elsewhere."""
    try:
        source = source_of(function)
    except KernelError:  # Python cannot find it
        return None
    number = line - source.first_line
    if not 0 <= number < len(source.lines):
        return source.span(source.tree)
    text = source.lines[number]
    code = text.partition("#")[0].rstrip()
    return Span(source.file, line, len(code) - len(code.lstrip()), len(code), text)
