"""Derivatives of a single launch without a tape: what `kernel.bwds` and `kernel.fwds` do."""

from __future__ import annotations

import warnings
from typing import Any

from difftile.diagnostics import GradientCut, Label, LaunchError, render
from difftile.fields.field import Field, make
from difftile.launch.call import Call
from difftile.launch.plan import StagePlan, make_plans
from difftile.launch.push import push_tangents
from difftile.launch.specialisation import make_writable
from difftile.tape.history import FullHistory
from difftile.tape.replay import Replay
from difftile.tape.snapshots import Snapshot


def run_adjoint(kernel: str, call: Call, values: list[Any]) -> None:
    """Run the adjoint of a launch whose fields hold what they held before it.

    The launch itself runs once more, in other memory: a kernel of several stages needs it.

    Args:
        kernel: The kernel in the words of an error.
        call: The launch.
        values: The values of its parameters.

    Raises:
        LaunchError: No field that the launch writes has a gradient.
    """
    plans: list[StagePlan] = call.plans(make_plans)
    written = {values[k].storage: values[k] for plan in plans for k in plan.writes}
    _check_seeds(kernel, call, values)
    read = {values[k].storage for plan in plans for k in plan.loads}
    before = Snapshot(0)
    for storage in written:
        before.hold(storage)
    history = FullHistory()
    try:
        history.launch(call, values, plans)
        replay = Replay(written, accumulate=False, seeds=written.keys() - read)
        for field in written.values():
            if field.has_grads:
                replay.gradient(field)  # what no adjoint touches passes through, too
        for record in history.backwards(keep=False):
            replay.reverse(record)
        replay.finish()
    finally:
        history.release()
        before.restore()
        before.release()


def _check_seeds(kernel: str, call: Call, values: list[Any]) -> None:
    outputs = {
        call.code.params[k].name: values[k]
        for k in call.code.writes
        if values[k] not in call.code.temps
    }
    if not any(field.grad_in is not None for field in outputs.values()):
        what = " and ".join(f"'{name}'" for name in outputs) or "no field"
        raise LaunchError(
            f"{kernel}: bwds() reads the gradient of what the launch writes, and {what} has none. "
            "Make it with grad=True, set y.grad, then call bwds()."
        )


def run_tangents(kernel: str, call: Call, values: list[Any]) -> None:
    """Launch a kernel and push the tangents of its fields through the launch.

    Args:
        kernel: The kernel in the words of an error.
        call: The launch.
        values: The values of its parameters.

    Raises:
        LaunchError: No field has a gradient buffer, which holds the tangents.
    """
    code = call.code
    graded = {k: value for k, value in enumerate(values) if _has_grads(value)}
    if not any(field not in code.temps for field in graded.values()):
        raise LaunchError(
            f"{kernel}: fwds() keeps tangents in gradient buffers, and no field has one. "
            "Make fields with grad=True, set x.grad, then call fwds()."
        )
    _warn_of_cuts(call.plans(make_plans))
    dots = {k: _tangent_of(field) for k, field in graded.items()}
    push_tangents(code, values, dots)
    for k, field in graded.items():
        if field.grad_in is not None and dots[k] is not field.grad_in:
            field.grad_in.fresh_if_pinned(keep=False).copy_from(dots[k].buffer)


def _has_grads(value: object) -> bool:
    return isinstance(value, Field) and value.has_grads


def _tangent_of(field: Field) -> Field:
    """Return the memory for a field's tangent, as it is before the launch."""
    if field.grad_out is not None and field.grad_in is field.grad_out:
        make_writable(field.grad_out)
        return field.grad_out
    work = make(field.element, field.shape)
    if field.grad_out is None:
        work.buffer.fill(0.0)
    else:
        work.buffer.copy_from(field.grad_out.buffer)
    return work


def _warn_of_cuts(plans: list[StagePlan]) -> None:
    for plan in plans:
        for name, span in plan.cuts.values():
            labels = [] if span is None else [Label(span, "written here, without a tangent")]
            title = f"The tangent is cut: field '{name}' has no gradient buffer to hold it."
            hint = f"make it with grad=True, or {name} = {name}.with_grads()."
            warnings.warn(GradientCut(render(title, labels, (), hint)), stacklevel=4)
