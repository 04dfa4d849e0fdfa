"""What a state looks like: frames of bodies, and readings of sensors.

Sensors of accelerations and of forces between bodies need the acceleration of the state, which is
the solution of the same problem as in a step, and has the same derivative (`solution`).
"""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.bias import Bias
from difftile.worlds.energy import Energy
from difftile.worlds.forces import Forces
from difftile.worlds.inertia import Inertia
from difftile.worlds.kinds import (
    E_KINETIC,
    E_POTENTIAL,
    ENERGIES,
    SOLVED,
    SUBTREEANGMOM,
    SUBTREELINVEL,
)
from difftile.worlds.kinematics import Kinematics
from difftile.worlds.quaternions import mat3, three_at, vec3, vec4
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
        self.njnt, self.nu = max(1, sizes.njnt), max(1, sizes.nu)
        self.ngeom = max(1, sizes.ngeom)
        found = set(sizes.sensors)
        self.accelerated = not found.isdisjoint(SOLVED)
        self.carrying = not found.isdisjoint((SUBTREELINVEL, SUBTREEANGMOM))
        self.counting, self.energy, self.nsensor = E_KINETIC in found, Energy(sizes), sizes.nsensor
        self.noslip = sizes.noslip
        self.energies = not found.isdisjoint(ENERGIES)
        self.npacked = sizes.nv * (sizes.nv + 1) // 2
        self.kinematics, self.bias = Kinematics(sizes), Bias(sizes)
        self.inertia, self.reactions = Inertia(sizes), Reactions(sizes, **options)
        self.forces, self.sensors = Forces(sizes), Sensors(sizes)

    @dt.func
    def run(self, m, qpos, qvel, ctrl, act, xfrc, given, sensordata, bodies, turns):
        """Compute readings, positions and orientations; see `observe`."""
        h = m.timestep[None]
        xpos, xquat = dt.local(self.nbody, vec3), dt.local(self.nbody, vec4)
        anchor, axis = dt.local(self.njnt, vec3), dt.local(self.njnt, vec3)
        xipos, com = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        subtree_com = dt.local(self.nbody, vec3)
        axis_r, axis_t = dt.local(self.nv, vec3), dt.local(self.nv, vec3)
        vel_r, vel_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        force, slope = dt.local(self.nu), dt.local(self.nu)
        drive = dt.local(self.nv)
        self.kinematics.frames(m, qpos, xpos, xquat, anchor, axis)
        self.kinematics.centres(m, xpos, xquat, xipos, subtree_com, com)
        self.kinematics.axes(m, xquat, com, anchor, axis, axis_r, axis_t)
        self.bias.velocities(m, qvel, axis_r, axis_t, vel_r, vel_t)
        paths = self.forces.reach(m, qpos, (xpos, xquat, xipos), (com, axis_r, axis_t))
        self.forces.actuation(m, h, qpos, qvel, ctrl, act, paths, force, slope, drive)
        moment, rotational = dt.local(self.nbody, vec3), dt.local(self.nbody, mat3)
        carried, turning = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        frames, axes, vel = (xpos, xquat, xipos), (axis_r, axis_t), (vel_r, vel_t)
        if ti.static(self.accelerated or self.carrying or self.counting):
            self.inertia.bodies(m, xquat, xipos, com, moment, rotational)
        if ti.static(self.carrying):
            self.inertia.subtrees(m, com, subtree_com, moment, rotational, vel, carried, turning)
        subtrees = (subtree_com, carried, turning)
        self.sensors.read(
            m, qpos, qvel, frames, com, vel, paths, subtrees, force, drive, sensordata
        )
        if ti.static(self.accelerated):
            a, moving = dt.local(self.nv), dt.local(self.nv)
            outer_r, outer_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
            for i in range(self.nv):
                a[i] = given[0][i]
            if ti.static(self.noslip):
                for i in range(self.nv):
                    moving[i] = given[1][i]
                for b in range(self.nbody):
                    outer_r[b] = three_at(given[2], 6 * b)
                    outer_t[b] = three_at(given[2], 6 * b + 3)
            else:
                for i in range(self.nv):
                    moving[i] = given[0][i]
            geom_xpos, geom_xmat = dt.local(self.ngeom, vec3), dt.local(self.ngeom, mat3)
            self.kinematics.colliders(m, xpos, xquat, geom_xpos, geom_xmat)
            inertias, geoms = (moment, rotational), (geom_xpos, geom_xmat)
            state = (qpos, qvel, xfrc)
            self.reactions.read(
                m,
                h,
                state,
                (a, moving),
                (outer_r, outer_t),
                frames,
                com,
                axes,
                vel,
                paths,
                force,
                inertias,
                geoms,
                sensordata,
            )
        if ti.static(self.energies):
            self.count(m, qpos, qvel, xipos, axes, paths, moment, rotational, sensordata)
        for b in range(self.nbody):
            bodies[b] = xpos[b]
            turns[b] = xquat[b]

    @dt.func
    def count(self, m, qpos, qvel, xipos, axes, paths, moment, rotational, sensordata):
        """Store the readings of sensors of energy; inertias become those of whole subtrees."""
        kinetic = 0.0
        if ti.static(self.counting):
            mass = dt.local(self.npacked)
            self.inertia.matrix(m, moment, rotational, axes[0], axes[1], paths, mass)
            kinetic = self.energy.kinetic(mass, qvel)
        for s in range(self.nsensor):
            if m.sensor_type[s] == E_POTENTIAL:
                self.sensors.scalar(m, s, self.energy.potential(m, qpos, xipos, paths), sensordata)
            elif m.sensor_type[s] == E_KINETIC:
                self.sensors.scalar(m, s, kinetic, sensordata)


@dt.kernel
def observe(
    observation, m, qpos, qvel, ctrl, act, xfrc, solved, acc, outer, sensordata, xpos, xquat
):
    """Compute the readings of sensors and the frames of bodies of a world.

    Args:
        observation: The funcs, for the sizes of the model.
        m: The parameters of the model.
        qpos, qvel, ctrl, act: The state, and controls.
        xfrc: Forces on bodies.
        solved: The acceleration, from `respond`; it and `xfrc` are read if a sensor needs them.
        acc, outer: The acceleration, and the forces on bodies, after the sweeps of `noslip`, if the
            model has these.
        sensordata: Result, (nsensordata,).
        xpos, xquat: Result, (nbody,) of vec3 and vec4.
    """
    observation.run(m, qpos, qvel, ctrl, act, xfrc, (solved, acc, outer), sensordata, xpos, xquat)


@dt.func
def responded(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, start, acc, info):
    """Compute the acceleration of a state; see `respond`."""
    a, b = dt.local(step.nv), dt.local(step.nv)
    for i in range(step.nv):
        a[i] = start[i]
    residual, steps = step.accelerate(m, qpos, qvel, ctrl, act, qfrc, xfrc, a, b)
    for i in range(step.nv):
        acc[i] = a[i]
    info[0] = residual
    info[1] = steps


@responded.backward
def _(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, start, acc, info):
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
        paths = step.forces.reach(m, qpos, bodies, tree)
        mass, laws = step.mass(m, tree, inertias, paths), step.laws(paths)
        step.set_laws(m, h, qpos, qvel, geoms, tree, laws)
        step.adjoint(m, h, qpos, qvel, bodies, tree, laws, mass, a, multiplier)
        for n in range(step.nbody):
            com[n] = tree[0][n]
        dt.bwd_diff(solution.phi)(
            m, qpos, qvel, ctrl, act, qfrc, xfrc, com, a, a, multiplier, beta, 1.0
        )


@dt.kernel
def respond(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, start, acc, info):
    """Compute the acceleration of a world in its state, for sensors and sweeps that need it.

    Args:
        step, solution: The funcs of `Step` and `Solution`, for the sizes of the model.
        m: The parameters of the model.
        qpos, qvel, ctrl, act, qfrc, xfrc: The state, controls, and applied forces, see `Step`.
        start: A start for the solver, (nv,), through which no gradient passes.
        acc: Result: the acceleration under constraints, (nv,).
        info: Result: as for `dynamics.accelerate`, (2,).
    """
    responded(step, solution, m, qpos, qvel, ctrl, act, qfrc, xfrc, start, acc, info)
