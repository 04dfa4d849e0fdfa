"""All smooth terms of a state, as one func: what tests compare with MuJoCo.

Run as plain Python by `plain.py`, and compiled.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.bias import Bias
from difftile.worlds.energy import Energy
from difftile.worlds.forces import Forces
from difftile.worlds.inertia import Inertia
from difftile.worlds.integrate import WorldIntegrator
from difftile.worlds.kinematics import Kinematics
from difftile.worlds.observe import Observation
from difftile.worlds.quaternions import mat3, vec3, vec4
from difftile.worlds.topology import Sizes


@dt.data_oriented
class Smooth:
    """The terms of models of some sizes."""

    def __init__(self, sizes: Sizes) -> None:
        self.nq, self.nv, self.nbody, self.nnode = sizes.nq, sizes.nv, sizes.nbody, sizes.nnode
        self.njnt = max(1, sizes.njnt)
        self.nu, self.na = max(1, sizes.nu), max(1, sizes.na)
        self.nM = sizes.nv * (sizes.nv + 1) // 2
        self.kinematics, self.inertia, self.bias = Kinematics(sizes), Inertia(sizes), Bias(sizes)
        self.forces, self.integrator = Forces(sizes), WorldIntegrator(sizes)
        self.observation, self.energy = Observation(sizes), Energy(sizes)

    @dt.func
    def terms(self, m, s, out):
        """Compute everything that follows from a state.

        Args:
            m: The parameters of the model.
            s: The state: qpos, qvel, act, ctrl, qfrc (applied), xfrc (6 nbody), qacc.
            out: The results, each from zeros.
        """
        h = m.timestep[None]
        anchor = dt.local(self.njnt, vec3)
        axis = dt.local(self.njnt, vec3)
        axis_r = dt.local(self.nv, vec3)
        axis_t = dt.local(self.nv, vec3)
        moment = dt.local(self.nbody, vec3)
        rotational = dt.local(self.nbody, mat3)
        vel_r = dt.local(self.nnode, vec3)
        vel_t = dt.local(self.nnode, vec3)
        xpos = dt.local(self.nbody, vec3)
        xquat = dt.local(self.nbody, vec4)
        xipos = dt.local(self.nbody, vec3)
        com = dt.local(self.nbody, vec3)
        subtree_com = dt.local(self.nbody, vec3)
        M = dt.local(self.nM)
        bias = dt.local(self.nv)
        slope = dt.local(self.nu)
        force = dt.local(self.nu)
        drive = dt.local(self.nv)
        act = dt.local(self.na)
        self.kinematics.frames(m, s.qpos, xpos, xquat, anchor, axis)
        self.kinematics.centres(m, xpos, xquat, xipos, subtree_com, com)
        self.kinematics.axes(m, xquat, com, anchor, axis, axis_r, axis_t)
        self.inertia.bodies(m, xquat, xipos, com, moment, rotational)
        self.bias.velocities(m, s.qvel, axis_r, axis_t, vel_r, vel_t)
        self.bias.forces(m, s.qvel, axis_r, axis_t, vel_r, vel_t, moment, rotational, bias)
        passive, tree = dt.local(self.nv), (com, axis_r, axis_t)
        bodies = (xpos, xquat, xipos)
        paths = self.forces.reach(m, s.qpos, bodies, tree)
        self.forces.sway(m, s.qvel, bodies, tree, (vel_r, vel_t), paths, bias)
        self.forces.passive(m, s.qpos, s.qvel, paths, passive)
        applied = dt.local(self.nv)
        self.forces.applied(
            *(m, s.xfrc, (xpos, xquat, xipos), com, axis_r, axis_t, (vel_r, vel_t)),
            paths,
            applied,
            True,
        )
        self.forces.actuation(m, h, s.qpos, s.qvel, s.ctrl, s.act, paths, force, slope, drive)
        self.forces.activations(m, h, s.ctrl, s.act, act)
        seen, turns = dt.local(self.nbody, vec3), dt.local(self.nbody, vec4)
        self.observation.run(
            *(m, s.qpos, s.qvel, s.ctrl, s.act, s.xfrc),
            *((s.qacc, s.qacc, s.xfrc), out.sensordata, seen, turns),
        )
        self.inertia.matrix(m, moment, rotational, axis_r, axis_t, paths, M)
        M_hat = dt.local(self.nM)
        self.integrator.matrix(m, h, M, s.qvel, slope, paths, bodies, tree, M_hat)
        moving = dt.local(self.nv)
        self.integrator.solve_alone(
            m, h, M_hat, s.total, s.qvel, bodies, tree, rotational, moving, False
        )
        b = dt.local(self.nv)
        if ti.static(self.integrator.whole):
            inertias = (dt.local(self.nbody, vec3), dt.local(self.nbody, mat3))
            self.inertia.bodies(m, xquat, xipos, com, *inertias)
            given = (m, h, M_hat, s.total, s.qvel, bodies, tree, inertias, b)
            self.integrator.solve_whole(*given, False)
        for i in range(self.nv):
            b[i] += s.b[i] + moving[i]
        self.integrator.advance(m, h, s.qpos, s.qvel, b, out.qpos_next, out.qvel_next)
        for i in range(self.nv):
            out.qfrc_bias[i] = bias[i]
            out.qfrc_passive[i] = passive[i]
            out.qfrc_applied[i] = applied[i] + s.qfrc[i]
            out.qfrc_actuator[i] = drive[i]
        for k in range(self.nM):
            out.M[k] = M[k]
            out.M_hat[k] = M_hat[k]
        for k in ti.static(range(3)):
            for n in range(self.nbody):
                out.subtree_com[n, k] = subtree_com[n][k]
                out.xpos[n, k] = xpos[n][k]
        for k in ti.static(range(4)):
            for n in range(self.nbody):
                out.xquat[n, k] = xquat[n][k]
        for k in range(self.na):
            out.act_next[k] = act[k]
        out.energy[0] = self.energy.potential(m, s.qpos, xipos, paths)
        out.energy[1] = self.energy.kinetic(M, s.qvel)


@dt.data_oriented
class Forms:
    """What the adjoint of a step needs, for models of some sizes."""

    def __init__(self, sizes: Sizes) -> None:
        self.nv, self.nbody, self.nnode = sizes.nv, sizes.nbody, sizes.nnode
        self.njnt = max(1, sizes.njnt)
        self.nu, self.na = max(1, sizes.nu), max(1, sizes.na)
        self.nM = sizes.nv * (sizes.nv + 1) // 2
        self.kinematics, self.inertia = Kinematics(sizes), Inertia(sizes)
        self.forces, self.integrator = Forces(sizes), WorldIntegrator(sizes)

    @dt.func
    def forms(self, m, s, along, b, out):
        """Return `excess`, and solve with M̂ and its transpose for free bodies."""
        h = m.timestep[None]
        anchor = dt.local(self.njnt, vec3)
        axis = dt.local(self.njnt, vec3)
        axis_r = dt.local(self.nv, vec3)
        axis_t = dt.local(self.nv, vec3)
        moment = dt.local(self.nbody, vec3)
        rotational = dt.local(self.nbody, mat3)
        xpos = dt.local(self.nbody, vec3)
        xquat = dt.local(self.nbody, vec4)
        xipos = dt.local(self.nbody, vec3)
        com = dt.local(self.nbody, vec3)
        subtree_com = dt.local(self.nbody, vec3)
        M = dt.local(self.nM)
        M_hat = dt.local(self.nM)
        slope = dt.local(self.nu)
        force = dt.local(self.nu)
        drive = dt.local(self.nv)
        act = dt.local(self.na)
        self.kinematics.frames(m, s.qpos, xpos, xquat, anchor, axis)
        self.kinematics.centres(m, xpos, xquat, xipos, subtree_com, com)
        self.kinematics.axes(m, xquat, com, anchor, axis, axis_r, axis_t)
        self.inertia.bodies(m, xquat, xipos, com, moment, rotational)
        tree = (com, axis_r, axis_t)
        paths = self.forces.reach(m, s.qpos, (xpos, xquat, xipos), tree)
        self.inertia.matrix(m, moment, rotational, axis_r, axis_t, paths, M)
        self.forces.actuation(m, h, s.qpos, s.qvel, s.ctrl, s.act, paths, force, slope, drive)
        bodies = (xpos, xquat, xipos)
        self.integrator.matrix(m, h, M, s.qvel, slope, paths, bodies, tree, M_hat)
        self.integrator.solve_alone(
            m, h, M_hat, s.total, s.qvel, bodies, tree, rotational, out.solved, False
        )
        self.integrator.solve_alone(
            m, h, M_hat, s.total, s.qvel, bodies, tree, rotational, out.transposed, True
        )
        self.inertia.bodies(m, xquat, xipos, com, moment, rotational)
        return self.integrator.excess(
            m, h, slope, paths, along, b, s.qvel, bodies, tree, com, (moment, rotational)
        )
