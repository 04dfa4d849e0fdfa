"""The dynamics of one world as kernels over fields, for `dt.batch`.

The first half of a step computes accelerations. Its derivative is a rule (`solution`), so that the
iterations of the solver are neither kept nor run again: what the tape keeps are the state and the
accelerations. The second half advances the state. Both halves are one kernel, `take_step`; with
`diagnose`, which looks at accelerations before the state advances, they are two.
"""

from __future__ import annotations

import difftile as dt
from difftile.worlds.quaternions import vec3


@dt.func
def forward(step, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info):
    """Compute accelerations; see `accelerate`."""
    a, b = dt.local(step.nv), dt.local(step.nv)
    for i in range(step.nv):
        a[i] = acc[i]
    residual, steps = step.accelerate(m, qpos, qvel, ctrl, act, qfrc, xfrc, a, b)
    for i in range(step.nv):
        acc[i] = a[i]
        out[i] = b[i]
    info[0] = residual
    info[1] = steps


@dt.func
def accelerated(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info):
    """Compute accelerations, with the derivative of their solution."""
    forward(step, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info)


@accelerated.backward
def _(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info):
    a, b, b_bar = dt.local(step.nv), dt.local(step.nv), dt.local(step.nv)
    multiplier, beta = dt.local(step.nv), dt.local(step.nv)
    com = dt.local(step.nbody, vec3)
    depends = False
    for i in range(step.nv):
        a[i] = acc.after[i]
        b[i] = out[i]
        b_bar[i] = out.grad_in[i]
        if b_bar[i] != 0.0:
            depends = True
    # Of a world that is reset later there is no gradient, also where its state was not a number.
    if depends:
        step.multipliers(m, qpos, qvel, ctrl, act, a, b_bar, com, multiplier, beta)
        dt.bwd_diff(solution.phi)(
            m, qpos, qvel, ctrl, act, qfrc, xfrc, com, a, b, multiplier, beta, 1.0
        )


@accelerated.forward
def _(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info):
    a, b = dt.local(step.nv), dt.local(step.nv)
    a_dot, b_dot = dt.local(step.nv), dt.local(step.nv)
    push, excess = dt.local(step.nv), dt.local(step.nv)
    com, still = dt.local(step.nbody, vec3), dt.local(step.nbody, vec3)
    for i in range(step.nv):
        a[i] = acc.after[i]
        b[i] = out.after[i]
    step.centres(m, qpos, com)
    none = dt.local(step.nv)
    for k in range(2 * step.nv):  # Phi is linear in lambda and beta: its tangents at unit vectors
        multiplier, beta = dt.local(step.nv), dt.local(step.nv)
        if k < step.nv:
            multiplier[k] = 1.0
        else:
            beta[k - step.nv] = 1.0
        moved = dt.fwd_diff(solution.phi)(
            *(m, qpos, qvel, ctrl, act, qfrc, xfrc, com, a, b, multiplier, beta),
            *(still, none, none, none, none),
        )
        if k < step.nv:
            push[k] = moved
        else:
            excess[k - step.nv] = moved
    step.tangents(m, qpos, qvel, ctrl, act, a, push, excess, a_dot, b_dot)
    for i in range(step.nv):
        acc.grad_in[i] = a_dot[i]
        out.grad_in[i] = b_dot[i]
    info.grad_in[0] = 0.0
    info.grad_in[1] = 0.0


@dt.kernel
def accelerate(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info):
    """Compute the accelerations of a world.

    Args:
        step, solution: The funcs of `Step` and `Solution`, for the sizes of the model.
        m: The parameters of the model.
        qpos, qvel, ctrl, act, qfrc, xfrc: The state, controls, and applied forces, see `Step`.
        acc: A start for the solver, (nv,), through which no gradient passes, and the result: the
            acceleration under constraints.
        out: Result: the acceleration that the integrator takes, (nv,).
        info: Result: the residual, or the negative number of contacts if there is no room for them,
            and the number of steps of the solver, (2,).
    """
    accelerated(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info)


@dt.func
def advanced(step, m, qpos, qvel, ctrl, act, out):
    """Replace the state of a world by that after a step, from the accelerations `out`."""
    b, v = dt.local(step.nv), dt.local(step.nv)
    q, w = dt.local(step.nq), dt.local(step.na)
    for i in range(step.nv):
        b[i] = out[i]
    step.advance(m, qpos, qvel, ctrl, act, b, q, v, w)
    for i in range(step.nq):
        qpos[i] = q[i]
    for i in range(step.nv):
        qvel[i] = v[i]
    for i in range(step.nact):
        act[i] = w[i]


@dt.kernel
def advance(step, m, qpos, qvel, ctrl, act, out):
    """Replace the state of a world by that after a step; see `advanced`."""
    advanced(step, m, qpos, qvel, ctrl, act, out)


@dt.kernel
def take_step(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info):
    """Replace the state of a world by that after a step; arguments are those of `accelerate`."""
    accelerated(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info)
    advanced(step, m, qpos, qvel, ctrl, act, out)
