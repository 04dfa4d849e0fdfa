"""What actuators move: lengths, velocities, and the forces on degrees of freedom.

A transmission has a moment for each degree of freedom that it moves, by which velocities become one
velocity, and one force becomes forces. Those of joints are the gear, those of a tendon the gear
times the moments of its path, and those of a site the moments of a path (documentation of MuJoCo,
"Computation", "Actuation model"). A servo of a ball joint, or of the turn of a site, takes the
shortest way around the circle (`wrapPeriod` of MuJoCo 4.0).
"""

from __future__ import annotations

import math

import difftile as dt
from difftile import ti
from difftile.worlds.joints import JointTypes
from difftile.worlds.kinds import AFFINE, BALL, FREE, SITED
from difftile.worlds.paths import Paths
from difftile.worlds.quaternions import unit_at
from difftile.worlds.topology import Sizes


@dt.data_oriented(frozen=True)
class Transmission:
    """The transmissions of models of some sizes.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.paths, self.routed, self.nv = Paths(sizes), sizes.npath > 0, sizes.nv
        self.joints, self.turning = JointTypes(sizes.pulled), sizes.turning

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
    def path(self, m, u):
        """Return the path that an actuator pulls, or -1 for one of a joint."""
        found = -1
        if ti.static(self.routed):
            found = m.actuator_pathid[u]
        return found

    @dt.func
    def scale(self, m, u, p):
        """Return the gear of an actuator on a tendon; paths of sites have theirs in them."""
        found = 1.0
        if p < self.paths.ntendon:
            found = m.actuator_gear[u][0]
        return found

    @dt.func
    def length(self, m, u, qpos, paths):
        """Return the length of an actuator."""
        target, gear, p = m.actuator_trnid[u][0], m.actuator_gear[u], self.path(m, u)
        found = 0.0
        if p >= 0:
            if ti.static(self.routed):
                found = self.scale(m, u, p) * paths[0][p]
        else:
            at = m.jnt_qposadr[target]
            if self.joints.match(m.jnt_type[target], BALL):
                turn = dt.rotations.quat_log(unit_at(qpos, at))
                found = gear[0] * turn[0] + gear[1] * turn[1] + gear[2] * turn[2]
            elif not self.joints.match(m.jnt_type[target], FREE):
                found = gear[0] * qpos[at]
        return found

    @dt.func
    def period(self, m, u):
        """Return the length of a whole turn of a servo that only turns; 0 for other actuators."""
        gear, turns, found = m.actuator_gear[u], 0, 0.0
        if self.path(m, u) < 0:
            if self.joints.match(m.jnt_type[m.actuator_trnid[u][0]], BALL):
                turns = 1
        elif m.actuator_trntype[u] == SITED and m.actuator_trnid[u][1] >= 0:
            if gear[0] == 0.0 and gear[1] == 0.0 and gear[2] == 0.0:
                turns = 1
                gear = ti.Vector([gear[3], gear[4], gear[5], 0.0, 0.0, 0.0])
        if turns == 1 and m.actuator_gaintype[u] == 0 and m.actuator_biastype[u] == AFFINE:
            if m.actuator_dyntype[u] == 0 and m.actuator_gainprm[u][0] == -m.actuator_biasprm[u][1]:
                found = 2.0 * math.pi * ti.Vector([gear[0], gear[1], gear[2]]).norm()
        return found

    @dt.func
    def nearest(self, m, u, x, length):
        """Return the input of an actuator, by whole turns as near to its length as it can be."""
        found = x
        if ti.static(self.turning):
            period = self.period(m, u)
            if period > 0.0:
                found = x - period * ti.round((x - length) / period)
        return found

    @dt.func
    def along(self, m, u, x, paths):
        """Return the motion of an actuator for one of the degrees of freedom."""
        target, gear, p = m.actuator_trnid[u][0], m.actuator_gear[u], self.path(m, u)
        total = 0.0
        if p >= 0:
            if ti.static(self.routed):
                total = self.scale(m, u, p) * self.paths.along(m, p, paths[1], x)
        else:
            i = m.jnt_dofadr[target]
            for k in range(self.span(m, target)):
                total += gear[k] * x[i + k]
        return total

    @dt.func
    def form(self, m, u, x, y, paths):
        """Return x^T S y with the matrix S that `square` adds for the weight 1."""
        total, p = 0.0, self.path(m, u)
        if p >= 0:
            if ti.static(self.routed):
                scale = self.scale(m, u, p)
                total = scale * scale * self.paths.form(m, p, paths[1], x, y)
        else:
            total = self.along(m, u, x, paths) * self.along(m, u, y, paths)
        return total

    @dt.func
    def pull(self, m, u, force, paths, tau):
        """Add the force of an actuator to those of the degrees of freedom."""
        target, gear, p = m.actuator_trnid[u][0], m.actuator_gear[u], self.path(m, u)
        if p >= 0:
            if ti.static(self.routed):
                self.paths.pull(m, p, paths[1], self.scale(m, u, p) * force, tau)
        else:
            i = m.jnt_dofadr[target]
            for k in range(self.span(m, target)):
                tau[i + k] += gear[k] * force

    @dt.func
    def square(self, m, u, weight, paths, M):
        """Add a weight times the square of an actuator's moments to a packed matrix."""
        target, gear, p = m.actuator_trnid[u][0], m.actuator_gear[u], self.path(m, u)
        if p >= 0:
            if ti.static(self.routed):
                scale = self.scale(m, u, p)
                self.paths.square(m, p, paths[1], weight * scale * scale, M, False)
        else:
            i0 = m.jnt_dofadr[target]
            for k in range(self.span(m, target)):
                i = i0 + k
                for n in range(k + 1):
                    M[i * (i + 1) // 2 + i0 + n] += weight * gear[k] * gear[n]
