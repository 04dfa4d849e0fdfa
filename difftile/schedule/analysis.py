"""What the choices for a program depend on, found out once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

from difftile.ir.nodes import Array, Program, Var
from difftile.ir.types import shape_of
from difftile.passes.privatise import Scatter, scatters_of
from difftile.records import dataclass
from difftile.schedule.apply import forms_of
from difftile.schedule.device_loops import DeviceLoops, device_loops
from difftile.schedule.forms import Forms, Wanted
from difftile.schedule.schedule import Schedule, arrays_by_name
from difftile.schedule.speed import Speed, speaks, speed_of
from difftile.schedule.target import SHORT, Target
from difftile.schedule.work import Work, work_of

Recall: TypeAlias = Callable[[Hashable, Callable[[], Forms]], Forms]
"""Returns what is kept under a key, made now if it is not there."""


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
        recall: Returns what is kept under a key, or makes it.
    """

    program: Program
    target: Target
    speed: Speed
    scatters: tuple[Scatter, ...]
    work: Work
    names: Mapping[Array, str]
    recall: Recall

    @property
    def params(self) -> tuple[Array | Var, ...]:
        """The parameters of a launch."""
        return (*self.program.params, *self.program.temps)

    @property
    def device_loops(self) -> DeviceLoops:
        """The loops that can have another form on a device."""
        warps, reorders = self.target.warps, self.speed.reorders
        return device_loops(self.program.body, warps=warps, reorders=reorders)

    def forms(self, schedule: Schedule, wanted: Wanted = None) -> Forms:
        """Return which forms the code of loops can have in a schedule: see `forms_of`."""
        if not schedule.outlined:
            return [()] * len(schedule.loops)
        plain = schedule.without_forms
        key = "forms", plain, None if wanted is None else tuple(wanted)
        return self.recall(key, lambda: forms_of(self.program, plain, self.target, wanted))

    def given(self, key: tuple[Any, ...]) -> dict[Array | Var, Any]:
        """Return the shapes and numbers of a launch by the parameters."""
        places = zip(self.work.positions, key, strict=True)
        return {self.params[k]: value for k, value in places}

    def shapes(self, key: tuple[Any, ...]) -> dict[Array, tuple[int, ...]]:
        """Return the shapes of the arrays whose elements iterations share."""
        if not self.scatters:
            return {}
        known = self.given(key)
        return {s.target: known[s.target] for s in self.scatters}

    def is_short(self, key: tuple[Any, ...]) -> bool:
        """Tell whether all loops end early, including the loops that add copies up."""
        shapes = self.shapes(key).items()
        numbers = [prod((*shape, *shape_of(target.type.element))) for target, shape in shapes]
        return max(self.work.highest(key), *numbers, 0) < SHORT


def analyse(
    program: Program,
    target: Target,
    taken: Sequence[Array | Var] = (),
    *,
    scatters: bool = True,
    recall: Recall = lambda key, make: make(),
) -> Analysis:
    """Return what choices for a program depend on.

    Args:
        program: A finished program.
        target: What it is compiled for.
        taken: Parameters that other choices depend on.
        scatters: Look for sums that need no atomics.
        recall: Returns what is kept of the program under a key, or makes it.
    """
    speed = speed_of(program, target)
    looks = target.repeats or (scatters and not speaks(program.body))
    found = scatters_of(program) if looks else ()
    shares = target.on_host and target.threads > 1
    in_order = {s.loop for s in found if s.ordered and (target.on_host or target.warps)}
    kept = tuple(s for s in found if shares or s.loop in in_order)
    work = work_of(program, speed, (*(s.target for s in kept), *taken))
    names = {array: name for name, array in arrays_by_name(program).items()}
    return Analysis(program, target, speed, kept, work, names, recall)
