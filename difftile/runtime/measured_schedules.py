"""Measurements of the steps that the parallel loops of a launch can have, for `explain --try`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from statistics import median

from difftile.compile.adjoint_plan import AdjointPlan, make_plans
from difftile.compile.arguments import Arguments, field_at
from difftile.compile.stage import Wishes
from difftile.diagnostics import LaunchError, NotDifferentiable
from difftile.fields.field import Field
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.work_fields import copied
from difftile.records import dataclass
from difftile.runtime.explicit import launched_for_adjoint
from difftile.runtime.schedule_report import programs_of
from difftile.runtime.set_schedule import graded_of
from difftile.runtime.vector_report import arguments_of
from difftile.schedule.steps import written
from difftile.schedule.wishes import line_of

_TURNS = 7
_FEW_TURNS = 3
_LONG = 0.5  # [s], of which fewer launches are measured
_WORTH = 0.95  # a smaller gain may be noise


@dataclass(frozen=True, slots=True)
class MeasuredSteps:
    """The time of a launch, or of its adjoint, with certain steps of one loop.

    Args:
        stage: The name of the stage.
        line: The line of the loop.
        steps: The text of the steps.
        seconds: The time.
        present: These are the steps that the loop has now.
    """

    stage: str
    line: int
    steps: str
    seconds: float
    present: bool


def measured_schedules(launch: PreparedLaunch) -> Iterator[MeasuredSteps]:
    """Yield the times of a launch with all steps that each of its loops can have.

    The alternatives of a loop take turns, so that other work of the machine slows down all of them.
    Everything runs on copies of the fields. The loop's present steps come first.

    Args:
        launch: The launch.
    """
    code = launch.code
    before = code.wishes
    trial = _Trial(launch)
    try:
        for (stage, line), (present, others) in _alternatives(launch).items():
            every = [before, *(_with(before, stage, line, text) for text in others)]
            times = trial.medians(stage, every)
            for text, seconds in zip((present, *others), times, strict=False):
                yield MeasuredSteps(stage, line, text, seconds, text == present)
    finally:
        code.wish(before)


def measurements_report(kernel: str, found: Sequence[MeasuredSteps]) -> str:
    """Return a table of measurements, and the lines of Python that set what is fastest.

    Args:
        kernel: The name of the kernel in Python.
        found: The measurements.
    """
    if not found:
        return "Schedules measured: none, as no parallel loop can run in another way"
    rows: list[str] = []
    pasted: list[str] = []
    width = max(len(one.steps) for one in found)
    places = dict.fromkeys((one.stage, one.line) for one in found)
    for stage, line in places:
        first, *others = [one for one in found if (one.stage, one.line) == (stage, line)]
        rows.append(
            f"  {stage}, line {line}: the {'launch' if stage == 'forward' else stage} takes"
        )
        for one in (first, *others):
            ratio = "now" if one.present else f"{one.seconds / first.seconds:.2f}"
            rows.append(f"    {one.steps:{width}}  {one.seconds * 1e3:10.4f} ms  {ratio}")
        best = min((first, *others), key=lambda one: one.seconds)
        if best.seconds < _WORTH * first.seconds:
            pasted.append(f'  {kernel}.schedule("{stage}", {line}, "{best.steps}")')
    said = "Fastest, each with the other loops as they are now"
    return "\n".join(
        (
            "Schedules measured in turn, on copies of the fields (medians; ratios to those of now)",
            *rows,
            *((said, *pasted) if pasted else ("The present steps are the fastest.",)),
        )
    )


def _with(wishes: Wishes, stage: str, line: int, text: str) -> Wishes:
    return {**wishes, stage: {**wishes.get(stage, {}), line: text}}


def _alternatives(launch: PreparedLaunch) -> dict[tuple[str, int], tuple[str, list[str]]]:
    """Return the present steps by stage and line, and the others that are possible."""
    plans: Sequence[AdjointPlan] = ()
    if not launch.code.rules:
        try:
            plans = make_plans(launch.code, graded_of(launch))
        except NotDifferentiable:
            plans = ()
    present: dict[tuple[str, int], dict[str, None]] = {}
    others: dict[tuple[str, int], dict[str, None]] = {}
    for stage, derived in programs_of(launch, plans):
        for loop, steps, allowed in derived.code.alternatives(arguments_of(derived, launch)):
            line = line_of(loop)
            if line is not None:
                present.setdefault((stage, line), {})[written(steps)] = None
                others.setdefault((stage, line), {}).update(dict.fromkeys(map(written, allowed)))
    found: dict[tuple[str, int], tuple[str, list[str]]] = {}
    for place, now in present.items():
        rest = [text for text in others[place] if [text] != [*now]]
        if rest:
            found[place] = " or ".join(now), rest
    return found


class _Trial:
    """Launches on copies of the fields of a launch, which start with the same contents each time.

    Args:
        launch: The launch.
    """

    def __init__(self, launch: PreparedLaunch) -> None:
        self.code = launch.code
        self.values: Arguments = [*launch.values]
        self.contents: list[tuple[Field, Field]] = []
        graded, own = graded_of(launch), len(launch.values) - len(launch.code.temps)
        for k in range(own):
            if isinstance(launch.values[k], Field):
                field = field_at(launch.values, k)
                twin = copied(field)
                self.contents.append((twin, copied(field)))
                self.values[k] = twin.with_grads() if graded[k] else twin

    def medians(self, stage: str, every: Sequence[Wishes]) -> list[float]:
        """Return the time of a stage with each of some steps, which take turns.

        Nothing if its adjoint cannot run without a tape.
        """
        launch = PreparedLaunch.bare(self.code, self.values)
        times: list[list[float]] = [[] for _ in every]
        turns, turn = _TURNS, 0
        try:
            while turn < turns:
                for wishes, found in zip(every, times, strict=True):
                    self.code.wish(wishes)
                    self._once(stage, launch)  # chooses, and compiles in the first turn
                    found.append(self._once(stage, launch))
                turn += 1
                if max(map(max, times)) >= _LONG:
                    turns = _FEW_TURNS
        except LaunchError:  # of a kernel whose results are numbers
            return []
        return [*map(median, times)]

    def _once(self, stage: str, launch: PreparedLaunch) -> float:
        for twin, contents in self.contents:
            twin.buffer.copy_from(contents.buffer)
        for value in self.values:
            if isinstance(value, Field) and value.has_grads:
                value.grad.buffer.fill(1.0)
        ready: AbstractContextManager[Callable[[], None]]
        if stage == "forward":
            ready = nullcontext(lambda: launch.run(self.values))
        else:
            ready = launched_for_adjoint(self.code.name, launch, self.values)
        with ready as timed:
            self._wait()
            start = time.perf_counter()
            timed()
            self._wait()
            return time.perf_counter() - start

    def _wait(self) -> None:
        """Wait for the device, which a read of memory does."""
        for value in self.values:
            if isinstance(value, Field) and value.size:
                value.buffer.read_at((0,) * len(value.shape))
                return
