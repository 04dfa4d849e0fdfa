"""Steps by the classical Runge-Kutta method of fourth order, `integrator="RK4"`.

The accelerations of four states are solved for, each with the derivative of its solution: of the
state itself, of two in the middle of the step, and of one at its end. Source: Hairer, Norsett and
Wanner, Solving Ordinary Differential Equations I, 1993, table 1.2; `mj_RungeKutta` of MuJoCo 4.0.

Rotations are a vector from the one at the beginning of the step, whose derivative by time is not
the angular velocity but what `rotation_rate` makes of it (Munthe-Kaas, High order Runge-Kutta
methods on manifolds, 1999). Quaternions keep their length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import BALL, FREE
from difftile.worlds.quaternions import three_at

_PARTS = (0.5, 0.5, 1.0)  # of the step, at which the later states are
_NEXT = ("q_next", "v_next", "w_next", "rate_next")
_SHIFT = ("qpos", "qvel", "act", "ctrl", "rate", "acc", "before", *_NEXT)
_COMBINE = ("qpos", "qvel", "act", "ctrl", *(f"{x}{k}" for x in "vaw" for k in range(1, 5)))
_NEAR = 0.1  # the square of an angle below which a series stands for a quotient


@dt.func
def rotation_rate(turn, spin):
    """Return the derivative of a rotation vector by time.

    Args:
        turn: The vector, in the axes of the body [rad].
        spin: The angular velocity, in the axes of the body [rad/s].
    """
    x = turn.norm_sqr()
    c = 1.0 / 12.0 + x / 720.0 + x * x / 30240.0 + x**3 / 1209600.0 + x**4 / 47900160.0
    if x > _NEAR:
        half = 0.5 * ti.sqrt(x)
        c = (1.0 - half / ti.tan(half)) / x
    return spin + 0.5 * turn.cross(spin) + c * turn.cross(turn.cross(spin))


@dt.kernel
def shift(
    step, m, part, qpos, qvel, act, ctrl, rate, acc, before, q_next, v_next, w_next, rate_next
):
    """Compute the state of a world a part of a step later.

    Args:
        step: The funcs of `Step`.
        m: The parameters of the model.
        part: The part.
        qpos, qvel, act, ctrl: The state at the beginning, and controls.
        rate: The rates by which coordinates go on, (nv,).
        acc, before: Accelerations, and the activations whose rates count.
        q_next, v_next, w_next: Result: the state.
        rate_next: Result: the rates of coordinates there.
    """
    h = part * m.timestep[None]
    q, v, k = dt.local(step.nq), dt.local(step.nv), dt.local(step.nv)
    for i in range(step.nv):
        k[i] = rate[i]
        v[i] = qvel[i] + h * acc[i]
    for i in range(step.nv):
        v_next[i] = v[i]
        rate_next[i] = v[i]
    for j in range(step.integrator.njnt):
        i = m.jnt_dofadr[j]
        free = step.integrator.joints.match(m.jnt_type[j], FREE)
        if free:
            i += 3
        if free or step.integrator.joints.match(m.jnt_type[j], BALL):
            spin = rotation_rate(h * three_at(k, i), three_at(v, i))
            for n in range(3):
                rate_next[i + n] = spin[n]
    step.integrator.move(m, h, qpos, k, q)
    for i in range(step.nq):
        q_next[i] = q[i]
    for u in range(step.forces.nu):
        a = m.actuator_actadr[u]
        if a >= 0:
            w_next[a] = act[a] + h * step.forces.activation_rate(m, u, ctrl, before[a])


@dt.kernel
def combine(step, m, qpos, qvel, act, ctrl, v1, v2, v3, v4, a1, a2, a3, a4, w1, w2, w3, w4):
    """Replace the state of a world by that after a step, from those of the four states.

    Args:
        step: The funcs of `Step`.
        m: The parameters of the model.
        qpos, qvel, act: The state.
        ctrl: Controls.
        v1, v2, v3, v4: Rates of coordinates.
        a1, a2, a3, a4, w1, w2, w3, w4: Accelerations and activations.
    """
    h = m.timestep[None]
    q, v = dt.local(step.nq), dt.local(step.nv)
    for i in range(step.nv):
        v[i] = (v1[i] + 2.0 * (v2[i] + v3[i]) + v4[i]) / 6.0
    step.integrator.move(m, h, qpos, v, q)
    for u in range(step.forces.nu):
        a = m.actuator_actadr[u]
        if a >= 0:
            rate = step.forces.activation_rate(m, u, ctrl, w1[a])
            rate += 2.0 * step.forces.activation_rate(m, u, ctrl, w2[a])
            rate += 2.0 * step.forces.activation_rate(m, u, ctrl, w3[a])
            rate += step.forces.activation_rate(m, u, ctrl, w4[a])
            act[a] = step.forces.activated_at(m, h, u, rate / 6.0, act[a])
    for i in range(step.nv):
        qvel[i] = qvel[i] + h * (a1[i] + 2.0 * (a2[i] + a3[i]) + a4[i]) / 6.0
    for i in range(step.nq):
        qpos[i] = q[i]


class StageStates:
    """The states within steps of worlds.

    Args:
        worlds: The number of worlds.
        field: Makes a field of a number of values for each world.
        sizes: The numbers of coordinates, velocities and activations.
        own: The parameters that each world has of its own, as `dt.batch` names them.
    """

    def __init__(
        self,
        worlds: int,
        field: Callable[[int], Any],
        sizes: tuple[int, int, int],
        own: Sequence[str],
    ) -> None:
        self._states = [tuple(field(size) for size in (*sizes, sizes[1])) for _ in _PARTS]
        self._accelerations = [field(sizes[1]) for _ in range(4)]
        self._shift = dt.batch(shift, worlds, shared="m", batched=(*_SHIFT, *own))
        self._combine = dt.batch(combine, worlds, shared="m", batched=(*_COMBINE, *own))

    def step(
        self,
        step: Any,
        m: Any,
        state: tuple[Any, Any, Any],
        ctrl: Any,
        accelerate: Callable[[tuple[Any, Any, Any], Any], None],
    ) -> None:
        """Replace the state by that after a step.

        Args:
            step: The funcs of `Step`.
            m: The parameters of the model.
            state: Coordinates, velocities and activations.
            ctrl: Controls.
            accelerate: Computes the accelerations of a state, into a field.
        """
        states = [(*state, state[1]), *self._states]
        for k, found in enumerate(self._accelerations):
            if k:
                before = states[k - 1]
                given = before[3], self._accelerations[k - 1], before[2]
                self._shift(step, m, _PARTS[k - 1], *state, ctrl, *given, *states[k])
            accelerate(states[k][:3], found)
        _, _, activations, rates = zip(*states, strict=True)
        self._combine(step, m, *state, ctrl, *rates, *self._accelerations, *activations)
