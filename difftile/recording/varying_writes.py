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
        plan.varying = _varying(plan)
    return plan.varying


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
