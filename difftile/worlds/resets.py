"""Kernels of one world that replace its state, for `dt.batch`."""

from __future__ import annotations

import difftile as dt
from difftile import ti


@dt.kernel
def reset(done, start_qpos, start_qvel, start_act, qpos, qvel, act, qacc):
    """Put a world into a state if it is done; the solver starts anew as well.

    `ti.select` leaves the unused side out of the gradient, even where it is NaN.

    Args:
        done: Not 0 if it is, ().
        start_qpos, start_qvel, start_act: The state.
        qpos, qvel, act: The state to replace.
        qacc: The start of the solver.
    """
    over = done[None] != 0
    for i in qpos:
        qpos[i] = ti.select(over, start_qpos[i], qpos[i])
    for i in qvel:
        qvel[i] = ti.select(over, start_qvel[i], qvel[i])
        qacc[i] = ti.select(over, 0.0, qacc[i])
    for i in act:
        act[i] = ti.select(over, start_act[i], act[i])


@dt.kernel
def hold(x):
    """Make the contents of a field constants."""
    for i in x:
        x[i] = dt.stop_grad(x[i])
