"""What actuators and tendons move: lengths, velocities, and the forces on degrees of freedom.

A transmission has a moment for each degree of freedom that it moves, by which velocities become one
velocity, and one force becomes forces. Those of joints are the gear, those of a fixed tendon the
gear times the coefficients of its joints (documentation of MuJoCo, "Computation", "Actuation
model", and "Modeling", "Tendons").
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.joints import JointTypes
from difftile.worlds.kinds import BALL, FREE, TENDON
from difftile.worlds.quaternions import unit_at
from difftile.worlds.topology import Sizes


@dt.data_oriented(frozen=True)
class Transmission:
    """The transmissions of models of some sizes.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.tendons = sizes.ntendon > 0
        self.ntendon, self.nv = sizes.ntendon, sizes.nv
        self.joints = JointTypes(sizes.pulled)

    @dt.func
    def span(self, m, j):
        """Return the degrees of freedom of a joint: 6, 3 or 1."""
        found = 1
        if self.joints.match(m.jnt_type[j], FREE):
            found = 6
        elif self.joints.match(m.jnt_type[j], BALL):
            found = 3
        return found

    @dt.func
    def on_tendon(self, m, u):
        """Return whether an actuator pulls a tendon."""
        found = False
        if ti.static(self.tendons):
            found = m.actuator_trntype[u] == TENDON
        return found

    @dt.func
    def tendon_length(self, m, t, qpos):
        """Return the length of a tendon [m or rad]."""
        length = 0.0
        for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            length += m.wrap_prm[w] * qpos[m.wrap_qposadr[w]]
        return length

    @dt.func
    def tendon_along(self, m, t, x):
        """Return the motion of a tendon for one of the degrees of freedom."""
        total = 0.0
        for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            total += m.wrap_prm[w] * x[m.wrap_dofadr[w]]
        return total

    @dt.func
    def tendon_pull(self, m, t, force, tau):
        """Add the force of a tendon to those of the degrees of freedom."""
        for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            tau[m.wrap_dofadr[w]] += m.wrap_prm[w] * force

    @dt.func
    def is_above(self, m, j, i):
        """Return whether degree of freedom j moves what i moves; i itself counts."""
        for _ in range(self.nv):
            if i <= j:
                break
            i = m.dof_parentid[i]
        return i == j

    @dt.func
    def tendon_square(self, m, t, weight, M):
        """Add a weight times the square of a tendon's moments to a packed matrix.

        Only to entries of degrees of freedom above each other, as those of the inertia matrix:
        MuJoCo's integrator drops the others.
        """
        for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            for v in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
                i, j = m.wrap_dofadr[w], m.wrap_dofadr[v]
                if self.is_above(m, j, i):
                    M[i * (i + 1) // 2 + j] += weight * m.wrap_prm[w] * m.wrap_prm[v]

    @dt.func
    def tendon_form(self, m, t, x, y):
        """Return x^T S y with the matrix S that `tendon_square` adds for the weight 1."""
        total = 0.0
        for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
            for v in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
                i, j = m.wrap_dofadr[w], m.wrap_dofadr[v]
                if self.is_above(m, j, i) or self.is_above(m, i, j):
                    total += m.wrap_prm[w] * m.wrap_prm[v] * x[i] * y[j]
        return total

    @dt.func
    def length(self, m, u, qpos):
        """Return the length of an actuator."""
        target, gear = m.actuator_trnid[u][0], m.actuator_gear[u]
        found = 0.0
        if self.on_tendon(m, u):
            if ti.static(self.tendons):
                found = gear[0] * self.tendon_length(m, target, qpos)
        else:
            at = m.jnt_qposadr[target]
            if self.joints.match(m.jnt_type[target], BALL):
                turn = dt.rotations.quat_log(unit_at(qpos, at))
                found = gear[0] * turn[0] + gear[1] * turn[1] + gear[2] * turn[2]
            elif not self.joints.match(m.jnt_type[target], FREE):
                found = gear[0] * qpos[at]
        return found

    @dt.func
    def along(self, m, u, x):
        """Return the motion of an actuator for one of the degrees of freedom."""
        target, gear = m.actuator_trnid[u][0], m.actuator_gear[u]
        total = 0.0
        if self.on_tendon(m, u):
            if ti.static(self.tendons):
                total = gear[0] * self.tendon_along(m, target, x)
        else:
            i = m.jnt_dofadr[target]
            for k in range(self.span(m, target)):
                total += gear[k] * x[i + k]
        return total

    @dt.func
    def form(self, m, u, x, y):
        """Return x^T S y with the matrix S that `square` adds for the weight 1."""
        total = 0.0
        if self.on_tendon(m, u):
            if ti.static(self.tendons):
                gear = m.actuator_gear[u][0]
                total = gear * gear * self.tendon_form(m, m.actuator_trnid[u][0], x, y)
        else:
            total = self.along(m, u, x) * self.along(m, u, y)
        return total

    @dt.func
    def pull(self, m, u, force, tau):
        """Add the force of an actuator to those of the degrees of freedom."""
        target, gear = m.actuator_trnid[u][0], m.actuator_gear[u]
        if self.on_tendon(m, u):
            if ti.static(self.tendons):
                self.tendon_pull(m, target, gear[0] * force, tau)
        else:
            i = m.jnt_dofadr[target]
            for k in range(self.span(m, target)):
                tau[i + k] += gear[k] * force

    @dt.func
    def square(self, m, u, weight, M):
        """Add a weight times the square of an actuator's moments to a packed matrix."""
        target, gear = m.actuator_trnid[u][0], m.actuator_gear[u]
        if self.on_tendon(m, u):
            if ti.static(self.tendons):
                self.tendon_square(m, target, weight * gear[0] * gear[0], M)
        else:
            i0 = m.jnt_dofadr[target]
            for k in range(self.span(m, target)):
                i = i0 + k
                for n in range(k + 1):
                    M[i * (i + 1) // 2 + i0 + n] += weight * gear[k] * gear[n]
