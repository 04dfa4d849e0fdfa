"""Passive, actuator and applied forces.

Formulas are MuJoCo's (documentation, "Computation": passive forces, actuation model).
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.joints import JointTypes
from difftile.worlds.kinds import (
    AFFINE,
    BALL,
    FILTER,
    FILTEREXACT,
    FREE,
    INTEGRATOR,
)
from difftile.worlds.quaternions import product, three_at, unit_at, vec3
from difftile.worlds.topology import Sizes
from difftile.worlds.transmission import Transmission

_LEAST_TIME = 1e-15  # of a filter [s]


@dt.func
def rotation_between(qpos, qref, at):
    """Return the rotation vector from one orientation to another, at most half a turn long.

    Args:
        qpos, qref: Coordinates: of the orientation, and of the one it starts from.
        at: The place of both quaternions.

    Returns:
        log(qref⁻¹ ⊗ qpos), vec3 [rad], with its limit at the identity.
    """
    q, p = unit_at(qpos, at), unit_at(qref, at)
    return dt.rotations.quat_log(product(ti.Vector([p[0], -p[1], -p[2], -p[3]]), q))


@dt.data_oriented(frozen=True)
class Forces:
    """Forces of models of some sizes.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.nbody = sizes.nbody
        self.njnt = sizes.njnt
        self.nv = sizes.nv
        self.nu = sizes.nu
        self.rows = max(1, sizes.nu)
        self.na = sizes.na
        self.joints = JointTypes(sizes.joints)
        self.gravcomp = sizes.gravcomp
        self.transmission = Transmission(sizes)

    @dt.func
    def springs(self, m, qpos, tau):
        """Add the forces of springs of joints and tendons to tau, (nv,) [N, N m]."""
        for j in range(self.njnt):
            kind, stiffness = m.jnt_type[j], m.jnt_stiffness[j]
            at, i = m.jnt_qposadr[j], m.jnt_dofadr[j]
            free = self.joints.match(kind, FREE)
            if not free and not self.joints.match(kind, BALL):
                tau[i] -= stiffness * (qpos[at] - m.qpos_spring[at])
            else:
                if free:
                    for k in range(3):
                        tau[i + k] -= stiffness * (qpos[at + k] - m.qpos_spring[at + k])
                    at += 3
                    i += 3
                turn = rotation_between(qpos, m.qpos_spring, at)
                for k in range(3):
                    tau[i + k] -= stiffness * turn[k]
        if ti.static(self.transmission.tendons):
            for t in range(self.transmission.ntendon):
                length, rest = self.transmission.tendon_length(m, t, qpos), m.tendon_lengthspring[t]
                stretch = length - ti.math.clamp(length, rest[0], rest[1])
                self.transmission.tendon_pull(m, t, -m.tendon_stiffness[t] * stretch, tau)

    @dt.func
    def damping(self, m, qvel, tau):
        """Add the forces of dampers of joints and tendons to tau, (nv,)."""
        for i in range(self.nv):
            tau[i] -= m.dof_damping[i] * qvel[i]
        if ti.static(self.transmission.tendons):
            for t in range(self.transmission.ntendon):
                speed = self.transmission.tendon_along(m, t, qvel)
                self.transmission.tendon_pull(m, t, -m.tendon_damping[t] * speed, tau)

    @dt.func
    def applied(self, m, xfrc, xipos, com, axis_r, axis_t, tau, pushed: ti.template()):
        """Add the forces on bodies, and gravity compensation, to tau.

        Args:
            m: The parameters of the model.
            xfrc: Forces and torques at centres of mass, in world axes, (6 nbody,) [N, N m]: those
                of body b from 6 b on.
            xipos, com: Centres of mass, and c.
            axis_r, axis_t: Motion axes.
            tau: Forces of degrees of freedom, (nv,).
            pushed: Whether there are forces on bodies; xfrc is not read otherwise.
        """
        if ti.static(pushed or self.gravcomp):
            f_r = dt.local(self.nbody, vec3)
            f_t = dt.local(self.nbody, vec3)
            for b in range(1, self.nbody):
                force = -m.body_gravcomp[b] * m.body_mass[b] * m.gravity[None]
                torque = ti.Vector([0.0, 0.0, 0.0])
                if ti.static(pushed):
                    force += three_at(xfrc, 6 * b)
                    torque += three_at(xfrc, 6 * b + 3)
                f_r[b] += torque + (xipos[b] - com[b]).cross(force)
                f_t[b] += force
            for k in range(self.nbody - 1):
                b = self.nbody - 1 - k
                p = m.body_parentid[b]
                f_r[p] += f_r[b]
                f_t[p] += f_t[b]
            for i in range(self.nv):
                b = m.dof_bodyid[i]
                tau[i] += axis_r[i].dot(f_r[b]) + axis_t[i].dot(f_t[b])

    @dt.func
    def actuation(self, m, h, qpos, qvel, ctrl, act, force, slope, drive, act_next):
        """Compute the forces of actuators.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            qpos, qvel, ctrl, act: Coordinates, velocities, controls, activations.
            force: Result: of each actuator, (nu,).
            slope: Result: the derivative of `force` by the velocity of the actuator, 0 where the
                force is clamped, by the actuator or by its joint, (nu,).
            drive: Result, from zeros: forces of degrees of freedom, (nv,).
            act_next: Result: activations after the step, (na,).
        """
        acting = dt.local(self.nv)
        steep = dt.local(self.rows)
        for u in range(self.nu):
            length = self.transmission.length(m, u, qpos)
            speed = self.transmission.along(m, u, qvel)
            x = self.control(m, u, ctrl)
            a = m.actuator_actadr[u]
            if ti.static(self.na > 0) and a >= 0:
                act_next[a] = self.activated(m, h, u, x, act[a])
                x = act[a]
            gains, biases = m.actuator_gainprm[u], m.actuator_biasprm[u]
            gain, gain_slope = gains[0], 0.0
            if m.actuator_gaintype[u] == AFFINE:
                gain += gains[1] * length + gains[2] * speed
                gain_slope = gains[2]
            f, f_slope = gain * x, gain_slope * x
            if m.actuator_biastype[u] == AFFINE:
                f += biases[0] + biases[1] * length + biases[2] * speed
                f_slope += biases[2]
            if m.actuator_forcelimited[u] == 1:
                low, high = m.actuator_forcerange[u][0], m.actuator_forcerange[u][1]
                if f <= low or f >= high:
                    f_slope = 0.0
                f = ti.math.clamp(f, low, high)
            force[u] = f
            steep[u] = f_slope
            self.transmission.pull(m, u, f, acting)
        for i in range(self.nv):
            j, f = m.dof_jntid[i], acting[i]
            if m.jnt_actfrclimited[j] == 1:
                f = ti.math.clamp(f, m.jnt_actfrcrange[j][0], m.jnt_actfrcrange[j][1])
            drive[i] = f
        for u in range(self.nu):
            f_slope = steep[u]
            if not self.transmission.on_tendon(m, u):
                j = m.actuator_trnid[u][0]
                f, range_ = acting[m.jnt_dofadr[j]], m.jnt_actfrcrange[j]
                if m.jnt_actfrclimited[j] == 1 and (f <= range_[0] or f >= range_[1]):
                    f_slope = 0.0
            slope[u] = f_slope

    @dt.func
    def control(self, m, u, ctrl):
        """Return the control of an actuator, within its range."""
        x = ctrl[u]
        if m.actuator_ctrllimited[u] == 1:
            x = ti.math.clamp(x, m.actuator_ctrlrange[u][0], m.actuator_ctrlrange[u][1])
        return x

    @dt.func
    def activation_rate(self, m, u, ctrl, act):
        """Return the derivative of an activation by time [1/s]."""
        x = self.control(m, u, ctrl)
        if m.actuator_dyntype[u] == FILTER or m.actuator_dyntype[u] == FILTEREXACT:
            x = (x - act) / max(m.actuator_dynprm[u][0], _LEAST_TIME)
        return x

    @dt.func
    def activated_at(self, m, h, u, rate, act):
        """Return the activation of an actuator after a step, from its rate [1/s]."""
        time = max(m.actuator_dynprm[u][0], _LEAST_TIME)
        found = act + h * rate
        if m.actuator_dyntype[u] == FILTEREXACT:
            found = act - rate * time * dt.expm1(-h / time)
        if m.actuator_actlimited[u] == 1:
            found = ti.math.clamp(found, m.actuator_actrange[u][0], m.actuator_actrange[u][1])
        return found

    @dt.func
    def activated(self, m, h, u, x, act):
        """Return the activation of an actuator after a step, from control x and activation act."""
        kind = m.actuator_dyntype[u]
        time = max(m.actuator_dynprm[u][0], _LEAST_TIME)
        found = act
        if kind == INTEGRATOR:
            found = act + h * x
        elif kind == FILTER:
            found = act + h * (x - act) / time
        elif kind == FILTEREXACT:
            found = act - (x - act) * dt.expm1(-h / time)
        if m.actuator_actlimited[u] == 1:
            found = ti.math.clamp(found, m.actuator_actrange[u][0], m.actuator_actrange[u][1])
        return found
