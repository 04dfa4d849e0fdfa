"""Laws of springs, dampers and armatures, of joints and of tendons.

Stiffness and damping may grow with the stretch and the speed, by polynomials, and actuators add
damping and armature to what they move, times the square of their gear. Source: MuJoCo 4.0,
`mju_polyForce` and `mj_actuatorDamping`.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import JOINTINPARENT, TENDON
from difftile.worlds.topology import Sizes


@dt.data_oriented(frozen=True)
class PassiveLaws:
    """The laws of models of some sizes.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.curved, self.geared, self.nu = sizes.curved, sizes.geared, sizes.nu

    @dt.func
    def stiffness(self, linear, poly, x):
        """Return the stiffness of a spring that is stretched by x."""
        found = linear
        if ti.static(self.curved):
            found += poly[0] * x + poly[1] * x * x
        return found

    @dt.func
    def energy(self, linear, poly, x):
        """Return the energy of a spring that is stretched by x [J]."""
        found = 0.5 * linear * x * x
        if ti.static(self.curved):
            found += poly[0] * x**3 / 3.0 + poly[1] * x**4 / 4.0
        return found

    @dt.func
    def dof_damping(self, m, i, v):
        """Return the damping of a degree of freedom at a speed, and the slope of its force."""
        linear, poly = m.dof_damping[i], m.dof_dampingpoly[i]
        if ti.static(self.geared):
            linear += self.of_actuators(m, m.actuator_damping, m.dof_jntid[i], False)
            if ti.static(self.curved):
                poly += self.of_actuators(m, m.actuator_dampingpoly, m.dof_jntid[i], False)
        return self.resistance(linear, poly, v)

    @dt.func
    def tendon_damping(self, m, t, v):
        """Return the damping of a tendon at a speed, and the slope of its force."""
        linear, poly = m.tendon_damping[t], m.tendon_dampingpoly[t]
        if ti.static(self.geared):
            linear += self.of_actuators(m, m.actuator_damping, t, True)
            if ti.static(self.curved):
                poly += self.of_actuators(m, m.actuator_dampingpoly, t, True)
        return self.resistance(linear, poly, v)

    @dt.func
    def resistance(self, linear, poly, v):
        """Return the factor of -v in the force of a damper, and minus the slope of the force."""
        found, slope = linear, linear
        if ti.static(self.curved):
            speed = abs(v)
            found += poly[0] * speed + poly[1] * speed * speed
            slope += 2.0 * poly[0] * speed + 3.0 * poly[1] * speed * speed
        return found, slope

    @dt.func
    def dof_armature(self, m, i):
        """Return the armature of a degree of freedom."""
        found = m.dof_armature[i]
        if ti.static(self.geared):
            found += self.of_actuators(m, m.actuator_armature, m.dof_jntid[i], False)
        return found

    @dt.func
    def tendon_armature(self, m, t):
        """Return the armature of a tendon [kg]."""
        found = m.tendon_armature[t]
        if ti.static(self.geared):
            found += self.of_actuators(m, m.actuator_armature, t, True)
        return found

    @dt.func
    def of_actuators(self, m, what, target, strung: ti.template()):
        """Return what the actuators of a joint, or of a tendon, add to it.

        Args:
            m: The parameters of the model.
            what: A number, or a vector, of each actuator.
            target: The joint or tendon.
            strung: Whether it is a tendon.
        """
        total = 0.0 * what[0]
        for u in range(self.nu):
            kind, gear = m.actuator_trntype[u], m.actuator_gear[u][0]
            moved = kind <= JOINTINPARENT
            if ti.static(strung):
                moved = kind == TENDON
            if moved and m.actuator_trnid[u][0] == target:
                total += gear * gear * what[u]
        return total
