"""Gradients that reach contacts before they touch: `Worlds(contact_gradient="distance")`.

The forward pass is the model's. In reverse each step is replaced by the one that a second model
takes from the same state, in which contacts have rows up to a `distance` d beyond their margin:

* Rows with dist < margin are the model's.
* Where rho = dist - margin is in [0, d), the row is of a contact whose margin is larger by d, and
  whose impedance grows from 0 there: rho - d stands for rho, and (0, d1, d, midpoint, power) for
  the `solimp` of the pair. Its `solref`, friction and cone are the model's.

The derivative is exact for the step of the second model, whose acceleration is computed in reverse.
Thus it differs from the model's only where a contact is within d of touching, and jumps where it
touches. After Paulus et al., Hard contacts with soft gradients (arXiv 2506.14186), "contacts from
distance".
"""

from __future__ import annotations

import difftile as dt
from difftile.worlds.dynamics import advanced, forward
from difftile.worlds.quaternions import vec3


@dt.func
def accelerated_afar(step, far, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info):
    """Compute accelerations, with the derivative of those that `far` finds."""
    forward(step, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info)


@accelerated_afar.backward(approx=True)
def _(step, far, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info):
    a, b, b_bar = dt.local(step.nv), dt.local(step.nv), dt.local(step.nv)
    multiplier, beta = dt.local(step.nv), dt.local(step.nv)
    com = dt.local(step.nbody, vec3)
    depends = False
    for i in range(step.nv):
        a[i] = acc.after[i]
        b_bar[i] = out.grad_in[i]
        if b_bar[i] != 0.0:
            depends = True
    if depends:  # as in `dynamics`
        far.accelerate(m, qpos, qvel, ctrl, act, qfrc, xfrc, a, b)
        far.multipliers(m, qpos, qvel, ctrl, act, a, b_bar, com, multiplier, beta)
        dt.bwd_diff(solution.phi)(
            m, qpos, qvel, ctrl, act, qfrc, xfrc, com, a, b, multiplier, beta, 1.0
        )


@dt.kernel
def take_step_afar(step, far, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info):
    """Replace the state of a world by that after a step; see `accelerate_afar`."""
    accelerated_afar(step, far, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info)
    advanced(step, m, qpos, qvel, ctrl, act, out)


@dt.kernel
def accelerate_afar(step, far, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info):
    """Compute the accelerations of a world, with gradients from a distance.

    Args:
        step: The funcs of `Step`, for the sizes of the model.
        far, solution: The funcs of `Step` and `Solution` with a distance, for the reverse pass.
        m: The parameters of the model.
        qpos, qvel, ctrl, act, qfrc, xfrc: The state, controls, and applied forces, see `Step`.
        acc: A start for the solver, (nv,), through which no gradient passes, and the result: the
            acceleration under constraints.
        out: Result: the acceleration that the integrator takes, (nv,).
        info: Result: the residual and the number of steps of the solver, (2,).
    """
    accelerated_afar(step, far, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info)
