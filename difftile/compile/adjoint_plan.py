"""What recording a launch does, worked out once for each set of fields with gradients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from difftile.compile.ownership import Ownership
from difftile.compile.specialisation import Specialisation, StageLaunch
from difftile.compile.stage import AdjointCode, Stage
from difftile.diagnostics import Span
from difftile.ir.nodes import Array
from difftile.ir.types import Type


class Source(Enum):
    """Where a parameter of an adjoint comes from."""

    NUMBER = "a number"
    SHAPE = "a field of which the shape alone matters"
    KEPT = "a buffer with contents from before the launch"
    KEPT_AFTER = "a buffer with contents from after the launch"
    GRADIENT = "the gradient of a field"
    SCRATCH = "memory that the adjoint needs while it runs"


@dataclass(slots=True, eq=False)
class AdjointPlan:
    """How a stage is recorded.

    Args:
        launch_of: The stage and its specialisation.
        adjoint: Its adjoint, or None if no gradient passes through.
        adjoint_params: For each parameter of the adjoint its source, and a position: in the values,
            or for kept buffers and scratch in their own lists.
        reads: Positions of the fields whose contents from before the launch the adjoint reads.
        reads_after: The same for contents from after it; their buffers are kept behind the others.
        loads: Positions of the fields that the stage reads.
        writes: Positions of the fields that the stage writes.
        scratch: Element types of the scratch memory, and the position of the field whose shape it
            has, if it is more than one element.
        cuts: Positions of fields without gradient that take values which vary with fields that
            have one, and the name and place of such a write.
        ownership: What has to be checked before a launch is recorded, or None.
        ungraded: Positions of fields without gradient from which something written varies: those
            read before the stage writes them, and those read after.
        passing_by: It writes fields with gradients, and has no adjoint as it leaves those alone: it
            adds constants. A tape records it, for who asks when a field was written last.

    Attributes:
        number: That of the stage.
        numbers: Places among the parameters of the adjoint, and positions, of numbers.
        kept_places: The same for kept buffers, in their order.
        kept: The positions of the fields whose buffers those are.
        both: Positions of fields of which the adjoint reads both versions.
        scratch_places: Places of scratch memory.
        varying: Positions of fields that are given values which vary with fields that have a
            gradient; None until somebody asks.
    """

    code: Specialisation
    stage_launch: StageLaunch
    number: int = field(init=False)
    adjoint: AdjointCode | None
    adjoint_params: tuple[tuple[Source, int], ...]
    reads: tuple[int, ...]
    reads_after: tuple[int, ...]
    loads: tuple[int, ...]
    writes: tuple[int, ...]
    scratch: tuple[tuple[Type, int | None], ...]
    cuts: dict[int, tuple[str, Span | None]]
    ownership: Ownership | None
    ungraded: tuple[tuple[int, ...], tuple[int, ...]]
    passing_by: bool
    numbers: tuple[tuple[int, int], ...] = field(init=False)
    shapes: tuple[tuple[int, int], ...] = field(init=False)
    kept_places: tuple[int, ...] = field(init=False)
    kept: tuple[int, ...] = field(init=False)
    both: frozenset[int] = field(init=False)
    scratch_places: tuple[int, ...] = field(init=False)
    varying: frozenset[int] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.number = self.stage_launch.number
        self.numbers = tuple((place, which) for place, (_, which) in self._places(Source.NUMBER))
        self.shapes = tuple((place, which) for place, (_, which) in self._places(Source.SHAPE))
        before, after = self._places(Source.KEPT), self._places(Source.KEPT_AFTER)
        self.kept_places = tuple(place for place, _ in (*before, *after))
        self.kept = (*self.reads, *self.reads_after)
        self.both = frozenset(self.reads) & frozenset(self.reads_after)
        self.scratch_places = tuple(place for place, _ in self._places(Source.SCRATCH))

    def _places(self, source: Source) -> list[tuple[int, tuple[Source, int]]]:
        return [(place, p) for place, p in enumerate(self.adjoint_params) if p[0] is source]


def make_plans(
    code: Specialisation, grads: tuple[bool, ...], *, constant: bool = False
) -> list[AdjointPlan]:
    """Return the plans of all stages of a kernel.

    Args:
        code: The kernel.
        grads: Which of its parameters have gradients.
        constant: Take all that the kernel computes as constants.

    Raises:
        NotDifferentiable: A stage has no adjoint.
    """
    plans: list[AdjointPlan] = []
    for launch in code.launches:
        key = (grads, constant)
        plan = launch.plans.get(key)
        if plan is None:
            plan = launch.plans[key] = make_plan(code, launch, grads, constant=constant)
        plans.append(plan)
    return plans


def make_plan(
    code: Specialisation, launch: StageLaunch, grads: tuple[bool, ...], *, constant: bool
) -> AdjointPlan:
    """Work out a plan.

    Raises:
        NotDifferentiable: The stage has no adjoint.
    """
    stage = launch.stage
    wanted = code.wanted(grads)
    adjoint = stage.adjoint(wanted, constant=constant)
    passing = frozenset[Array]() if constant else wanted
    reads: list[int] = []
    after: list[int] = []
    scratch: list[tuple[Type, int | None]] = []
    params: list[tuple[Source, int]] = []
    for p in () if adjoint is None else adjoint.code.params:
        if adjoint is not None and isinstance(p, Array) and p in adjoint.bars:
            params.append((Source.GRADIENT, code.position[adjoint.bars[p]]))
        elif adjoint is not None and p in adjoint.reads:
            params.append((Source.KEPT, len(reads)))
            reads.append(code.position[p])
        elif adjoint is not None and p in adjoint.after:
            params.append((Source.KEPT_AFTER, len(after)))
            after.append(code.position[adjoint.after[p]])
        elif p in code.position:
            source = Source.SHAPE if isinstance(p, Array) else Source.NUMBER
            params.append((source, code.position[p]))
        else:
            assert isinstance(p, Array)
            params.append((Source.SCRATCH, len(scratch)))
            scratch.append((p.type.element, None if p.like is None else code.position[p.like]))
    return AdjointPlan(
        code,
        launch,
        adjoint,
        tuple(params),
        tuple(reads),
        tuple(after),
        tuple(sorted(code.position[a] for a in stage.loaded)),
        launch.writes,
        tuple(scratch),
        {code.position[a]: (a.name, span) for a, span in stage.cuts(passing).items()},
        None if constant or adjoint is None else code.passed(stage, wanted),
        _ungraded(code, stage, wanted) if not constant else ((), ()),
        adjoint is None and any(grads[k] for k in launch.writes),
    )


def check_ownership(plans: Iterable[AdjointPlan], values: Sequence[Any]) -> None:
    """Check a launch that is going to be recorded.

    Raises:
        Race: A gradient would have to pass through stores of different iterations that meet.
    """
    for plan in plans:
        if plan.ownership is not None:
            plan.ownership.check(values)


def _ungraded(
    code: Specialisation, stage: Stage, wanted: frozenset[Array]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    candidates = [a for a in stage.loaded if a not in wanted and stage.passes_on(a)]
    early = sorted(code.position[a] for a in candidates if a not in stage.loaded_late)
    late = sorted(code.position[a] for a in candidates if a in stage.loaded_late)
    return tuple(early), tuple(late)
