"""Passive, actuator and applied forces.

Formulas are MuJoCo's (documentation, "Computation": passive forces, actuation model).
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.bias import Bias
from difftile.worlds.fluid import Fluid, size_of
from difftile.worlds.joints import JointTypes
from difftile.worlds.kinds import (
    AFFINE,
    BALL,
    FILTER,
    FILTEREXACT,
    FREE,
    MUSCLE,
    MUSCULAR,
    TENDON,
)
from difftile.worlds.muscles import muscle_bias, muscle_gain, muscle_rate
from difftile.worlds.passive_laws import PassiveLaws
from difftile.worlds.paths import Paths
from difftile.worlds.quaternions import conjugate, product, three_at, unit_at, vec3
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
    return dt.rotations.quat_log(product(conjugate(p), q))


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
        self.rows, self.tendons = max(1, sizes.nu), max(1, sizes.ntendon)
        self.na = sizes.na
        self.joints = JointTypes(sizes.joints)
        self.lifting, self.lifts = sizes.lifting, sizes.nv if sizes.lifting else 1
        self.gravcomp, self.fluid = sizes.gravcomp, Fluid(sizes)
        self.ntendon, self.clamped = sizes.ntendon, sizes.clamped
        self.transmission, self.paths = Transmission(sizes), Paths(sizes)
        self.laws, self.bias, self.nnode = PassiveLaws(sizes), Bias(sizes), sizes.nnode
        self.muscles, self.acting, self.muted = sizes.muscles, sizes.acting, sizes.muted

    @dt.func
    def springs(self, m, qpos, tau):
        """Add the forces of springs of joints to tau, (nv,) [N, N m]."""
        for j in range(self.njnt):
            kind, linear, poly = m.jnt_type[j], m.jnt_stiffness[j], m.jnt_stiffnesspoly[j]
            at, i = m.jnt_qposadr[j], m.jnt_dofadr[j]
            free = self.joints.match(kind, FREE)
            if not free and not self.joints.match(kind, BALL):
                stretch = qpos[at] - m.qpos_spring[at]
                tau[i] -= self.laws.stiffness(linear, poly, stretch) * stretch
            else:
                if free:
                    away = three_at(qpos, at) - three_at(m.qpos_spring, at)
                    firm = self.laws.stiffness(linear, poly, size_of(away))
                    for k in range(3):
                        tau[i + k] -= firm * away[k]
                    at += 3
                    i += 3
                turn = rotation_between(qpos, m.qpos_spring, at)
                firm = self.laws.stiffness(linear, poly, size_of(turn))
                for k in range(3):
                    tau[i + k] -= firm * turn[k]

    @dt.func
    def passive(self, m, qpos, qvel, paths, tau):
        """Add the forces of springs and dampers, of joints and tendons, to tau, (nv,)."""
        self.springs(m, qpos, tau)
        for i in range(self.nv):
            tau[i] -= self.laws.dof_damping(m, i, qvel[i])[0] * qvel[i]
        if ti.static(self.ntendon > 0):
            for t in range(self.ntendon):
                self.paths.pull(m, t, paths[1], self.tendon_force(m, t, qvel, paths), tau)

    @dt.func
    def tendon_force(self, m, t, qvel, paths):
        """Return the force of the spring and the damper of a tendon, along its length [N]."""
        length, rest = paths[0][t], m.tendon_lengthspring[t]
        stretch = length - ti.math.clamp(length, rest[0], rest[1])
        speed = self.paths.along(m, t, paths[1], qvel)
        firm = self.laws.stiffness(m.tendon_stiffness[t], m.tendon_stiffnesspoly[t], stretch)
        return -firm * stretch - self.laws.tendon_damping(m, t, speed)[0] * speed

    @dt.func
    def sway(self, m, qvel, bodies, tree, vel, paths, bias):
        """Add the forces by which armature of tendons resists the change of moments to bias, (nv,).

        Args:
            m: The parameters of the model.
            qvel: Velocities.
            bodies, tree: Frames of bodies, and c and the motion axes.
            vel: Velocities of nodes: rotations and translations.
            paths: From `reach`.
        """
        if ti.static(self.paths.armed):
            still, acc = dt.local(self.nv), (dt.local(self.nnode, vec3), dt.local(self.nnode, vec3))
            self.bias.accelerations(m, qvel, still, (tree[1], tree[2]), vel, acc[0], acc[1])
            for t in range(self.ntendon):
                armature = self.laws.tendon_armature(m, t)
                drift = self.paths.drift(m, t, bodies, tree[0], vel, acc)
                self.paths.pull(m, t, paths[1], armature * drift, bias)

    @dt.func
    def applied(self, m, xfrc, bodies, com, axis_r, axis_t, vel, paths, tau, pushed: ti.template()):
        """Add the forces on bodies, gravity compensation, and forces of a fluid, to tau.

        Args:
            m: The parameters of the model.
            xfrc: Forces and torques at centres of mass, in world axes, (6 nbody,) [N, N m]: those
                of body b from 6 b on.
            bodies, com: Frames of bodies and their centres of mass, and c.
            axis_r, axis_t: Motion axes.
            vel: Velocities of nodes, which a fluid needs.
            paths: From `reach`.
            tau: Forces of degrees of freedom, (nv,).
            pushed: Whether there are forces on bodies; xfrc is not read otherwise.
        """
        if ti.static(pushed or self.gravcomp or self.fluid.some):
            f_r = dt.local(self.nbody, vec3)
            f_t = dt.local(self.nbody, vec3)
            for b in range(1, self.nbody):
                force = self.weight(m, b)
                torque = ti.Vector([0.0, 0.0, 0.0])
                if ti.static(pushed):
                    force += three_at(xfrc, 6 * b)
                    torque += three_at(xfrc, 6 * b + 3)
                f_r[b] += torque + (bodies[2][b] - com[b]).cross(force)
                f_t[b] += force
            if ti.static(self.fluid.some):
                self.fluid.push(m, bodies, com, vel, f_r, f_t)
            for k in range(self.nbody - 1):
                b = self.nbody - 1 - k
                p = m.body_parentid[b]
                f_r[p] += f_r[b]
                f_t[p] += f_t[b]
            for i in range(self.nv):
                b = m.dof_bodyid[i]
                tau[i] += axis_r[i].dot(f_r[b]) + axis_t[i].dot(f_t[b])
                if ti.static(self.lifting):
                    tau[i] -= paths[2][i]  # which is a force of actuators

    @dt.func
    def reach(self, m, qpos, bodies, tree):
        """Return what forces of a state need to know of its positions.

        Args:
            m: The parameters of the model.
            qpos: Coordinates.
            bodies: Positions and orientations of bodies, and centres of mass.
            tree: Centres of trees, and axes of motion.

        Returns:
            Lengths and moments of paths, as `Paths.of`; and the gravity compensation that counts
            as a force of actuators, (nv,) if there is any.
        """
        length, moment = self.paths.of(m, qpos, bodies, tree)
        lift = dt.local(self.lifts)
        if ti.static(self.lifting):
            com, axis_r, axis_t = tree
            f_r, f_t = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
            for b in range(1, self.nbody):
                force = self.weight(m, b)
                f_r[b] += (bodies[2][b] - com[b]).cross(force)
                f_t[b] += force
            for k in range(self.nbody - 1):
                b = self.nbody - 1 - k
                f_r[m.body_parentid[b]] += f_r[b]
                f_t[m.body_parentid[b]] += f_t[b]
            for i in range(self.nv):
                if m.jnt_actgravcomp[m.dof_jntid[i]] == 1:
                    b = m.dof_bodyid[i]
                    lift[i] = axis_r[i].dot(f_r[b]) + axis_t[i].dot(f_t[b])
        return length, moment, lift

    @dt.func
    def weight(self, m, b):
        """Return the force that compensates for the gravity of a body."""
        return -m.body_gravcomp[b] * m.body_mass[b] * m.gravity[None]

    @dt.func
    def actuation(self, m, h, qpos, qvel, ctrl, act, paths, force, slope, drive):
        """Compute the forces of actuators.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            qpos, qvel, ctrl, act: Coordinates, velocities, controls, activations.
            paths: From `reach`.
            force: Result: of each actuator, (nu,).
            slope: Result: the derivative of `force` by the velocity of the actuator, 0 where the
                force is clamped, by the actuator, its joint or its tendon, (nu,).
            drive: Result, from zeros: forces of degrees of freedom, (nv,).
        """
        acting = dt.local(self.nv)
        raw, steep = dt.local(self.rows), dt.local(self.rows)
        for u in range(self.nu):
            if self.works(m, u):
                raw[u], steep[u] = self.pushed(m, h, u, qpos, qvel, ctrl, act, paths)
        share = dt.local(self.tendons)
        if ti.static(self.clamped):
            self.clamp(m, raw, share)
        for u in range(self.nu):
            f, f_slope = raw[u], steep[u]
            if ti.static(self.clamped):
                if m.actuator_trntype[u] == TENDON and share[m.actuator_trnid[u][0]] != 1.0:
                    f *= share[m.actuator_trnid[u][0]]
                    f_slope = 0.0
            if m.actuator_forcelimited[u] == 1:
                low, high = m.actuator_forcerange[u][0], m.actuator_forcerange[u][1]
                f = ti.math.clamp(f, low, high)
                if f <= low or f >= high:
                    f_slope = 0.0
            force[u] = f
            steep[u] = f_slope
            self.transmission.pull(m, u, f, paths, acting)
        for i in range(self.nv):
            if ti.static(
                self.lifting and self.nu > 0 and self.acting
            ):  # as in MuJoCo, which needs actuators
                acting[i] += paths[2][i]
            j, f = m.dof_jntid[i], acting[i]
            if m.jnt_actfrclimited[j] == 1:
                f = ti.math.clamp(f, m.jnt_actfrcrange[j][0], m.jnt_actfrcrange[j][1])
            drive[i] = f
        for u in range(self.nu):
            if self.transmission.path(m, u) < 0:
                j = m.actuator_trnid[u][0]
                f, range_ = acting[m.jnt_dofadr[j]], m.jnt_actfrcrange[j]
                if m.jnt_actfrclimited[j] == 1 and (f <= range_[0] or f >= range_[1]):
                    steep[u] = 0.0
            slope[u] = steep[u]

    @dt.func
    def works(self, m, u):
        """Return whether an actuator has a force, and activations that change."""
        found = True
        if ti.static(not self.acting):
            found = False
        elif ti.static(self.muted):
            found = m.actuator_muted[u] == 0
        return found

    @dt.func
    def pushed(self, m, h, u, qpos, qvel, ctrl, act, paths):
        """Return the force of an actuator before clamps, and its derivative by its velocity."""
        length = self.transmission.length(m, u, qpos, paths)
        speed = self.transmission.along(m, u, qvel, paths)
        x, a = self.control(m, u, ctrl), m.actuator_actadr[u]
        if ti.static(self.na > 0):
            if a >= 0 and m.actuator_actearly[u] == 1:
                x = self.activated(m, h, u, x, act[a])
            elif a >= 0:
                x = act[a]
        x = self.transmission.nearest(m, u, x, length)
        gains, biases = m.actuator_gainprm[u], m.actuator_biasprm[u]
        gain, gain_slope = gains[0], 0.0
        if m.actuator_gaintype[u] == AFFINE:
            gain += gains[1] * length + gains[2] * speed
            gain_slope = gains[2]
        if ti.static(self.muscles):
            if m.actuator_gaintype[u] == MUSCLE:
                span, acc0 = m.actuator_lengthrange[u], m.actuator_acc0[u]
                gain, gain_slope = muscle_gain(gains, span, acc0, length, speed)
        f, f_slope = gain * x, gain_slope * x
        if m.actuator_biastype[u] == AFFINE:
            f += biases[0] + biases[1] * length + biases[2] * speed
            f_slope += biases[2]
        if ti.static(self.muscles):
            if m.actuator_biastype[u] == MUSCLE:
                span, acc0 = m.actuator_lengthrange[u], m.actuator_acc0[u]
                f += muscle_bias(biases, span, acc0, length)
        return f, f_slope

    @dt.func
    def clamp(self, m, force, share):
        """Compute the share of each tendon's forces that its range leaves, (ntendon,)."""
        total = dt.local(self.tendons)
        for u in range(self.nu):
            if m.actuator_trntype[u] == TENDON:
                total[m.actuator_trnid[u][0]] += force[u]
        for t in range(self.ntendon):
            part, f = 1.0, total[t]
            if m.tendon_actfrclimited[t] == 1 and f != 0.0:
                part = ti.math.clamp(f, m.tendon_actfrcrange[t][0], m.tendon_actfrcrange[t][1]) / f
            share[t] = part

    @dt.func
    def activations(self, m, h, ctrl, act, act_next):
        """Compute activations after the step, (na,)."""
        if ti.static(self.na > 0):
            for u in range(self.nu):
                a = m.actuator_actadr[u]
                if a >= 0:
                    act_next[a] = self.activated(m, h, u, self.control(m, u, ctrl), act[a])

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
        return self.rate(m, u, self.control(m, u, ctrl), act)

    @dt.func
    def rate(self, m, u, x, act):
        """Return the derivative of an activation by time, under the control x [1/s]."""
        kind, found = m.actuator_dyntype[u], x
        if kind == FILTER or kind == FILTEREXACT:
            found = (x - act) / max(m.actuator_dynprm[u][0], _LEAST_TIME)
        if ti.static(self.muscles):
            if kind == MUSCULAR:
                found = muscle_rate(m.actuator_dynprm[u], x, act)
        if not self.works(m, u):
            found = 0.0
        return found

    @dt.func
    def activated_at(self, m, h, u, rate, act):
        """Return the activation of an actuator after a step, from its rate [1/s]."""
        time = max(m.actuator_dynprm[u][0], _LEAST_TIME)
        found = act + h * rate
        if m.actuator_dyntype[u] == FILTEREXACT:
            found = act - rate * time * dt.expm1(-h / time)
        if ti.static(self.acting):
            if m.actuator_actlimited[u] == 1:
                found = ti.math.clamp(found, m.actuator_actrange[u][0], m.actuator_actrange[u][1])
        return found

    @dt.func
    def activated(self, m, h, u, x, act):
        """Return the activation of an actuator after a step, from control x and activation act."""
        return self.activated_at(m, h, u, self.rate(m, u, x, act), act)
