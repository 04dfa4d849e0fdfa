"""The fields to which a stage gives values that vary smoothly with fields with gradients."""

from __future__ import annotations

from difftile.ad.activity import active_values
from difftile.compile.adjoint_plan import AdjointPlan
from difftile.ir.derived import Bar
from difftile.ir.nodes import Accumulate, Const, Store
from difftile.ir.walk import WRITES, walk


def varying_writes(plan: AdjointPlan) -> frozenset[int]:
    """Return the positions of the fields that a stage gives values which vary with fields."""
    if plan.varying is None:
        plan.varying = _varying_writes(plan)
    return plan.varying


def _varying_writes(plan: AdjointPlan) -> frozenset[int]:
    bars = {} if plan.adjoint is None else plan.adjoint.derived.of(Bar)
    gradients, position = bars.values(), plan.code.position
    # Where an adjoint stores only zeros, it clears the gradient of overwritten contents.
    if plan.adjoint is None or not any(
        isinstance(stmt, Accumulate | Store)
        and stmt.array in gradients
        and not (isinstance(stmt.value, Const) and not stmt.value.value)
        for stmt in walk(plan.adjoint.derived.program.body)
    ):
        return frozenset()
    active = active_values(plan.stage.program, frozenset(bars))
    return frozenset(
        position[stmt.array]
        for stmt in walk(plan.stage.program.body)
        if isinstance(stmt, WRITES) and stmt.value in active and stmt.array in position
    )
