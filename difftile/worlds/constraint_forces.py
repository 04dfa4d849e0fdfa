"""The force of a row of constraints at an acceleration, in a state.

The adjoint of the solver and the sensors need it without the arrays of the solver.
"""

from __future__ import annotations

import difftile as dt
from difftile.worlds.cones import WIDTH, Cones
from difftile.worlds.rows import ConstraintRows
from difftile.worlds.topology import Sizes


@dt.data_oriented(frozen=True)
class ConstraintForces:
    """Forces f(J a + r, D) of contacts, limits and frictionloss.

    Args:
        sizes: The sizes of the model.
        smooth, width, distance: As for `Cones` and `ConstraintRows`.
    """

    def __init__(
        self, sizes: Sizes, smooth: bool = False, width: float = WIDTH, distance: float = 0.0
    ) -> None:
        self.rows, self.cones = ConstraintRows(sizes, smooth, distance), Cones(sizes, smooth, width)

    @dt.func
    def contact(self, m, s, place, law, com, motions):
        """Return the forces along the rows of a contact, from `ConstraintRows.fold`.

        Args:
            m, s, place, law: The model, the slot, and what `ConstraintRows.fold` has found.
            com: The centres of trees.
            motions: What the acceleration does to bodies: rotations and translations.
        """
        dim, reference, weight, mu = law
        z = self.rows.apart(m, s, *place, com, *motions) + reference
        return self.cones.penalty(dim, z, weight, mu)[1]

    @dt.func
    def limit(self, m, h, k, dist, jacobian, qvel, a, moment):
        """Return the force of a limit at an end of its range, from `ConstraintRows.limit`."""
        force = 0.0
        if dist < self.rows.limit_margin(m, k):
            speed = self.rows.along(m, k, jacobian, qvel, moment)
            reference, weight = self.rows.limit_law(m, k, dist, speed, h)
            z = self.rows.along(m, k, jacobian, a, moment) + reference
            force = self.cones.push(z, weight)[1]
        return force

    @dt.func
    def dry(self, m, h, k, qvel, a, moment):
        """Return the force of a row of frictionloss."""
        speed = self.rows.rubbed(m, k, qvel, moment)
        reference, weight = self.rows.friction_law(m, k, speed, h)
        z = self.rows.rubbed(m, k, a, moment) + reference
        return self.cones.rub(z, weight, self.rows.most_friction(m, k))[1]
