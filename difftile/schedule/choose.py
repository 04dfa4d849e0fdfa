"""The choice of a schedule: the estimates of a launch, from its shapes, numbers and target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias

from difftile.ir.nodes import Array, Program, Var
from difftile.ir.types import shape_of
from difftile.passes.privatise import ATOMICS, Plan, Scatter, scatters_of
from difftile.passes.split_index_sets import BLOCK
from difftile.passes.spread import has_long_sums, may_spread
from difftile.records import dataclass
from difftile.schedule.costs import Costs
from difftile.schedule.device_loops import DeviceLoops, device_loops
from difftile.schedule.scatters import choose as choose_plan
from difftile.schedule.scatters import rows_of
from difftile.schedule.schedule import Schedule, arrays_by_name, parallel_loops
from difftile.schedule.speed import STEP, Speed, speaks, speed_of
from difftile.schedule.steps import (
    Copies,
    Grid,
    Rows,
    Serial,
    SmallCopies,
    Spread,
    Step,
    Threads,
)
from difftile.schedule.target import SHORT, Target
from difftile.schedule.vectorise_functions import long_and_brief
from difftile.schedule.work import WAKING, LoopWork, Work, work_of

# Vector instructions take longer to compile (a fifth), which pays where they save more than the
# launch itself takes. In elementary steps, of which one takes 0.1 to 0.2 ns without them.
_VECTORS = 5_000

_IN_ROWS = "its sums are ordered: a row for each iteration, added up in one order"


@dataclass(frozen=True, slots=True)
class Analysis:
    """What choices for a program depend on.

    Args:
        program: A finished program.
        target: What it is compiled for.
        speed: How fast its loops are.
        scatters: The sums into shared elements that need no atomics.
        work: The estimate of its work.
        names: The names of its arrays, as in schedules.
    """

    program: Program
    target: Target
    speed: Speed
    scatters: tuple[Scatter, ...]
    work: Work
    names: Mapping[Array, str]

    @property
    def params(self) -> tuple[Array | Var, ...]:
        """The parameters of a launch."""
        return (*self.program.params, *self.program.temps)

    @property
    def device_loops(self) -> DeviceLoops:
        """The loops that can have another form on a device."""
        warps, reorders = self.target.warps, self.speed.reorders
        return device_loops(self.program.body, warps=warps, reorders=reorders)

    def given(self, key: tuple[Any, ...]) -> dict[Array | Var, Any]:
        """Return the shapes and numbers of a launch by the parameters."""
        places = zip(self.work.positions, key, strict=True)
        return {self.params[k]: value for k, value in places}


def analyse(
    program: Program, target: Target, taken: Sequence[Array | Var] = (), *, scatters: bool = True
) -> Analysis:
    """Return what choices for a program depend on.

    Args:
        program: A finished program.
        target: What it is compiled for.
        taken: Parameters that other choices depend on.
        scatters: Look for sums that need no atomics.
    """
    speed = speed_of(program, target)
    found = scatters_of(program) if scatters and not speaks(program.body) else ()
    shares = target.on_host and target.threads > 1
    in_order = {s.loop for s in found if s.ordered and (target.on_host or target.warps)}
    kept = tuple(s for s in found if shares or s.loop in in_order)
    work = work_of(program, speed, (*(s.target for s in kept), *taken))
    names = {array: name for name, array in arrays_by_name(program).items()}
    return Analysis(program, target, speed, kept, work, names)


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
    return Chosen(schedule, tuple(tuple(why for _, why in here) for here in steps))


Steps: TypeAlias = list[list[tuple[Step, str]]]
"""The steps of each loop, each with its reason."""


def _on_device(of: Analysis, key: tuple[Any, ...]) -> Steps:
    """Return the steps of loops that the threads of a device share."""
    works = of.work.loops(key)
    steps: Steps = [[(Grid(), "the threads of the device share its iterations")] for _ in works]
    rows = rows_of(of.scatters, works, shapes_of(of, key)).rows if of.scatters else ()
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
    target, works, shapes = of.target, of.work.loops(key), shapes_of(of, key)
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
        scattering = None if target.strategy == "atomics" else (choice.alone, choice.shared)
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
        short=outlined and not serial and is_short(of, key),
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
    for number in few:
        work = works[number]
        why = f"{work.axes[0]:,.0f} iterations or rows are fewer than threads can share"
        loops[number].append((Spread(target.parts), why))
    return program, loops


def _why_serial(threads: int, works: Sequence[LoopWork]) -> str:
    """Return why one thread runs a program."""
    steps = sum(work.steps for work in works)
    if threads < 2:
        return "there is one thread"
    if steps * STEP * (1 - 1 / threads) > WAKING * len(works):
        return f"{threads} threads would wait for each other at elements that they add to"
    return f"{steps:,.0f} steps take less than waking threads"


def _shared(of: Analysis, plan: Plan, number: int, work: LoopWork) -> list[tuple[Step, str]]:
    """Return the steps of a loop of a program that threads share."""
    if number in plan.alone:
        targets = ", ".join(s.target.name for s in of.scatters if s.loop == number)
        return [(Serial(), f"several threads would take longer to add to {targets}")]
    why = f"{work.steps:,.0f} steps take longer than waking {of.target.threads} threads"
    return [(Threads(of.target.parts), why)]


def _copies(of: Analysis, plan: Plan, scatter: Scatter) -> tuple[Step, str]:
    """Return the step of a scatter that has copies."""
    if scatter.ordered:
        why = "its sums are ordered: the same for any number of threads"
    elif of.target.strategy == "copies":
        why = "dt.init(scatter='copies') asks for them"
    else:
        why = "a copy for each thread takes less than atomic additions"
    kind = SmallCopies if scatter in plan.small else Copies
    return kind(of.names[scatter.target]), why


def shapes_of(of: Analysis, key: tuple[Any, ...]) -> dict[Array, tuple[int, ...]]:
    """Return the shapes of the arrays whose elements iterations share."""
    if not of.scatters:
        return {}
    known = of.given(key)
    return {s.target: known[s.target] for s in of.scatters}


def is_short(of: Analysis, key: tuple[Any, ...]) -> bool:
    """Tell whether all loops end early, including the loops that add copies up."""
    shapes = shapes_of(of, key).items()
    numbers = [prod((*shape, *shape_of(target.type.element))) for target, shape in shapes]
    return max(of.work.highest(key), *numbers, 0) < SHORT


def _few(of: Analysis, works: Sequence[LoopWork]) -> frozenset[int]:
    """Return the numbers of the loops that have more parts than iterations or rows."""
    loops = parallel_loops(of.program)
    if not of.speed.reorders or not any(map(may_spread, loops)):
        return frozenset()
    most = of.target.parts // 2
    found: set[int] = set()
    for number, (loop, work) in enumerate(zip(loops, works, strict=True)):
        *outer, last = work.axes
        if has_long_sums(loop):
            few = prod(work.axes) <= most
        else:
            few = may_spread(loop) and prod(outer) <= most and last > 2 * BLOCK
        if few:
            found.add(number)
    return frozenset(found)
