"""Whether anything on a tape makes an output depend on a field with a gradient."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from difftile.ad.activity import active_values
from difftile.compile.adjoint_plan import AdjointPlan
from difftile.fields.field import Storage
from difftile.ir.derived import Bar
from difftile.ir.nodes import Accumulate, Const, Store
from difftile.ir.walk import WRITES, walk
from difftile.recording.opaque import Opaque, OpaqueRecord
from difftile.recording.records import HostCopy, HostWrite, LaunchRecord, Record
from difftile.recording.steps import Launch, Step


def depends(steps: Iterable[Record | Step], outputs: Collection[Storage]) -> bool:
    """Tell whether a step writes into an output what varies smoothly with a field's contents.

    Where it does the output may still be constant, as the field may hold constants.
    """

    def writes(plan: AdjointPlan, values: list[object]) -> bool:
        if plan.varying is None:
            plan.varying = _varying(plan)
        return any(values[k].storage in outputs for k in plan.varying)  # type: ignore[attr-defined]

    for step in steps:
        match step:
            case LaunchRecord(plan, _, values):
                found = writes(plan, values)
            case Launch(_, values, plans):
                found = any(writes(plan, values) for plan in plans)
            case HostCopy(target, source):
                found = source.has_grads and target.base.storage in outputs
            case Opaque() | OpaqueRecord():
                opaque = step.opaque if isinstance(step, OpaqueRecord) else step
                found = opaque.flows and any(f.storage in outputs for f in opaque.written)
            case HostWrite():
                found = False
        if found:
            return True
    return False


def _varying(plan: AdjointPlan) -> frozenset[int]:
    """Return the positions of the fields that a stage gives values which vary with fields."""
    adjoint = plan.adjoint
    bars = {} if adjoint is None else adjoint.derived.of(Bar)
    gradients = bars.values()
    if adjoint is None or not any(
        isinstance(stmt, Accumulate | Store)
        and stmt.array in gradients
        and not (isinstance(stmt.value, Const) and not stmt.value.value)
        for stmt in walk(adjoint.derived.program.body)
    ):
        return frozenset()  # it only takes the gradient of what it overwrites
    program = plan.stage.program
    active = active_values(program, frozenset(bars))
    return frozenset(
        plan.code.position[stmt.array]
        for stmt in walk(program.body)
        if isinstance(stmt, WRITES) and stmt.value in active and stmt.array in plan.code.position
    )
