"""Plans for recording stages, worked out once for each set of fields with gradients."""

from __future__ import annotations

from dataclasses import field

from difftile.compile.ownership import Ownership
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import Adjoint, DerivedCode, Stage
from difftile.diagnostics import Span
from difftile.ir.derived import After, Bar, Before
from difftile.ir.nodes import Array
from difftile.records import dataclass


@dataclass(slots=True, eq=False)
class AdjointPlan:
    """How a stage is recorded. Fields are given by their positions in the arguments.

    Args:
        code: The kernel.
        stage: The stage.
        request: The request of the adjoint.
        adjoint: The adjoint, or None if no gradient passes through.
        reads: The fields whose contents from before the launch the adjoint reads.
        reads_after: The same for contents from after it.
        loads: The fields that the stage reads.
        writes: The fields that the stage writes.
        cuts: The fields without gradient to which values are written that vary with fields that
            have one, and the name and place of such a write.
        ownership: The check before a launch is recorded, or None.
        ungraded: The fields without gradient on which a written value depends: the fields read
            before the stage writes them, and the fields read after.
        passing_by: Whether the stage writes fields with gradients and has no adjoint, as it only
            adds constants. A tape records it to tell which launch wrote a field last.

    Attributes:
        kept: The fields whose buffers a record keeps, in their order: `reads`, then `reads_after`.
        both: The fields of which the adjoint reads both versions.
        bars: The fields whose gradients the adjoint reads or writes.
        varying: The fields to which values are written that vary with fields that have a gradient;
            None until requested.
    """

    code: Specialisation
    stage: Stage
    request: Adjoint
    adjoint: DerivedCode | None
    reads: tuple[int, ...]
    reads_after: tuple[int, ...]
    loads: tuple[int, ...]
    writes: tuple[int, ...]
    cuts: dict[int, tuple[str, Span | None]]
    ownership: Ownership | None
    ungraded: tuple[tuple[int, ...], tuple[int, ...]]
    passing_by: bool
    kept: tuple[int, ...] = field(init=False)
    both: frozenset[int] = field(init=False)
    bars: tuple[int, ...] = field(init=False)
    varying: frozenset[int] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.kept = (*self.reads, *self.reads_after)
        self.both = frozenset(self.reads) & frozenset(self.reads_after)
        position = self.code.position
        self.bars = tuple(position[a] for a in self.adjoint.fields(Bar)) if self.adjoint else ()


def make_plans(
    code: Specialisation, grads: tuple[bool, ...], *, constant: bool = False
) -> list[AdjointPlan]:
    """Return the plans of all stages of a kernel.

    Args:
        code: The kernel.
        grads: Which of its parameters have gradients.
        constant: Whether all computed values count as constants.

    Raises:
        NotDifferentiable: A stage has no adjoint.
    """
    plans: list[AdjointPlan] = []
    for stage in code.stages:
        key = (stage.number, grads, constant)
        plan = code.plans.get(key)
        if plan is None:
            plan = code.plans[key] = _make_plan(code, stage, grads, constant=constant)
        plans.append(plan)
    return plans


def _make_plan(
    code: Specialisation, stage: Stage, grads: tuple[bool, ...], *, constant: bool
) -> AdjointPlan:
    wanted = code.wanted(grads)
    request = Adjoint(wanted, constant)
    adjoint = stage.code(request)
    writes = code.stage_writes[stage.number]

    def positions(kind: type[Before | After]) -> tuple[int, ...]:
        return tuple(code.position[a] for a in adjoint.fields(kind)) if adjoint else ()

    candidates = (
        set[Array]() if constant else stage.passing([a for a in stage.loaded if a not in wanted])
    )
    early = sorted(code.position[a] for a in candidates if a not in stage.loaded_late)
    late = sorted(code.position[a] for a in candidates if a in stage.loaded_late)
    return AdjointPlan(
        code,
        stage,
        request,
        adjoint,
        positions(Before),
        positions(After),
        tuple(sorted(code.position[a] for a in stage.loaded)),
        writes,
        {
            code.position[a]: (a.name, span)
            for a, span in stage.cuts(frozenset[Array]() if constant else wanted).items()
        },
        None if constant or adjoint is None else code.passed(stage, wanted),
        (tuple(early), tuple(late)),
        adjoint is None and any(grads[k] for k in writes),
    )
