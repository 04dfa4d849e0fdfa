"""The adjoint of a single launch without a tape: what `kernel.bwds` does."""

from __future__ import annotations

from typing import Any

from difftile.diagnostics import LaunchError
from difftile.fields.field import Field
from difftile.runtime.call import Call
from difftile.runtime.history import FullHistory
from difftile.runtime.plan import StagePlan, make_plans
from difftile.runtime.replay import Replay
from difftile.runtime.snapshots import Snapshot


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
    _check_seeds(kernel, [field for field in written.values() if field not in call.code.temps])
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


def _check_seeds(kernel: str, outputs: list[Field]) -> None:
    if not any(field.grad_in is not None for field in outputs):
        what = ", ".join(repr(field) for field in outputs) or "no field"
        raise LaunchError(
            f"{kernel}: bwds() reads the gradient of what the launch writes, and {what} has none. "
            "Make it with grad=True, set y.grad, then call bwds()."
        )
