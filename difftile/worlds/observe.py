"""What a state looks like: frames of bodies, and readings of sensors.

Sensors of accelerations and of forces between bodies need the acceleration of the state, which is
the solution of the same problem as in a step, and has the same derivative (`solution`).
"""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.bias import Bias
from difftile.worlds.forces import Forces
from difftile.worlds.inertia import Inertia
from difftile.worlds.kinematics import Kinematics
from difftile.worlds.quaternions import mat3, vec3, vec4
from difftile.worlds.reactions import Reactions
from difftile.worlds.sensors import Sensors
from difftile.worlds.topology import Sizes


@dt.data_oriented(frozen=True)
class Observation:
    """Observations of models of some sizes.

    Args:
        sizes: The sizes.
        options: As for `Reactions`: pushed, smooth, width.
    """

    def __init__(self, sizes: Sizes, **options: Any) -> None:
        self.nbody, self.nnode, self.nv = sizes.nbody, sizes.nnode, max(1, sizes.nv)
        self.njnt, self.nu, self.na = max(1, sizes.njnt), max(1, sizes.nu), max(1, sizes.na)
        self.ngeom = max(1, sizes.ngeom)
        self.accelerated = sizes.touching or sizes.reacting
        self.kinematics, self.bias = Kinematics(sizes), Bias(sizes)
        self.inertia, self.reactions = Inertia(sizes), Reactions(sizes, **options)
        self.forces, self.sensors = Forces(sizes), Sensors(sizes)

    @dt.func
    def run(self, m, qpos, qvel, ctrl, act, xfrc, acc, sensordata, bodies, turns):
        """Compute readings, positions and orientations; see `observe`."""
        h = m.timestep[None]
        xpos, xquat = dt.local(self.nbody, vec3), dt.local(self.nbody, vec4)
        anchor, axis = dt.local(self.njnt, vec3), dt.local(self.njnt, vec3)
        xipos, com = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        subtree_com = dt.local(self.nbody, vec3)
        axis_r, axis_t = dt.local(self.nv, vec3), dt.local(self.nv, vec3)
        vel_r, vel_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        force, slope = dt.local(self.nu), dt.local(self.nu)
        drive, act_next = dt.local(self.nv), dt.local(self.na)
        self.kinematics.frames(m, qpos, xpos, xquat, anchor, axis)
        self.kinematics.centres(m, xpos, xquat, xipos, subtree_com, com)
        self.kinematics.axes(m, xquat, com, anchor, axis, axis_r, axis_t)
        self.bias.velocities(m, qvel, axis_r, axis_t, vel_r, vel_t)
        self.forces.actuation(m, h, qpos, qvel, ctrl, act, force, slope, drive, act_next)
        self.sensors.read(
            m, qpos, qvel, xpos, xquat, subtree_com, com, vel_r, vel_t, force, sensordata
        )
        if ti.static(self.accelerated):
            a = dt.local(self.nv)
            for i in range(self.nv):
                a[i] = acc[i]
            geom_xpos, geom_xmat = dt.local(self.ngeom, vec3), dt.local(self.ngeom, mat3)
            moment, rotational = dt.local(self.nbody, vec3), dt.local(self.nbody, mat3)
            self.kinematics.colliders(m, xpos, xquat, geom_xpos, geom_xmat)
            self.inertia.bodies(m, xquat, xipos, com, moment, rotational)
            frames, axes, vel = (xpos, xquat, xipos), (axis_r, axis_t), (vel_r, vel_t)
            inertias, geoms = (moment, rotational), (geom_xpos, geom_xmat)
            state = (qpos, qvel, xfrc)
            self.reactions.read(m, h, state, a, frames, com, axes, vel, inertias, geoms, sensordata)
        for b in range(self.nbody):
            bodies[b] = xpos[b]
            turns[b] = xquat[b]


@dt.kernel
def observe(observation, m, qpos, qvel, ctrl, act, xfrc, acc, sensordata, xpos, xquat):
    """Compute the readings of sensors and the frames of bodies of a world.

    Args:
        observation: The funcs, for the sizes of the model.
        m: The parameters of the model.
        qpos, qvel, ctrl, act: The state, and controls.
        xfrc: Forces on bodies.
        acc: The acceleration, from `respond`; it and `xfrc` are read if a sensor needs them.
        sensordata: Result, (nsensordata,).
        xpos, xquat: Result, (nbody,) of vec3 and vec4.
    """
    observation.run(m, qpos, qvel, ctrl, act, xfrc, acc, sensordata, xpos, xquat)


@dt.func
def responded(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, start, acc):
    """Compute the acceleration of a state; see `respond`."""
    a, b = dt.local(step.nv), dt.local(step.nv)
    for i in range(step.nv):
        a[i] = start[i]
    step.accelerate(m, qpos, qvel, ctrl, act, qfrc, xfrc, a, b)
    for i in range(step.nv):
        acc[i] = a[i]


@responded.backward
def _(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, start, acc):
    a, multiplier, beta = dt.local(step.nv), dt.local(step.nv), dt.local(step.nv)
    com = dt.local(step.nbody, vec3)
    depends = False
    for i in range(step.nv):
        a[i] = acc[i]
        multiplier[i] = acc.grad_in[i]
        if multiplier[i] != 0.0:
            depends = True
    if depends:  # as in `dynamics`
        h = m.timestep[None]
        bodies, tree, geoms, inertias = step.frames(m, qpos)
        mass = step.mass(m, tree, inertias)
        laws = step.laws()
        step.set_laws(m, h, qpos, qvel, geoms, tree, laws)
        step.adjoint(m, h, qpos, qvel, bodies, tree, laws, mass, a, multiplier)
        for n in range(step.nbody):
            com[n] = tree[0][n]
        dt.bwd_diff(solution.phi)(
            m, qpos, qvel, ctrl, act, qfrc, xfrc, com, a, a, multiplier, beta, 1.0
        )


@dt.kernel
def respond(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, start, acc):
    """Compute the acceleration of a world in its state, for the sensors that need it.

    Args:
        step, solution: The funcs of `Step` and `Solution`, for the sizes of the model.
        m: The parameters of the model.
        qpos, qvel, ctrl, act, qfrc, xfrc: The state, controls, and applied forces, see `Step`.
        start: A start for the solver, (nv,), through which no gradient passes.
        acc: Result: the acceleration under constraints, (nv,).
    """
    responded(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, start, acc)
