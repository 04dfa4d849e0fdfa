"""Counts of what happens in steps: contacts made and lost, and steps that went wrong."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import ELLIPTIC
from difftile.worlds.packed import factor
from difftile.worlds.step import WorldStep
from difftile.worlds.topology import Sizes

STEPS, MADE, LOST, CHANGED, STOPPED, INDEFINITE, BROKEN = range(7)  # counts of a world
WHEN, WHY, WHERE = range(3)  # of its first failure: the step, one of the last three, and a slot


@dt.data_oriented(frozen=True)
class StepWatch:
    """Counts of what happens in steps, for models of some sizes.

    Args:
        sizes: The sizes.
        step: The funcs of a step.
    """

    def __init__(self, sizes: Sizes, step: WorldStep) -> None:
        self.step = step
        self.iterations, self.tolerance = step.solver.iterations, step.solver.tolerance
        self.nslot, self.nend, self.ndry = sizes.nslot, sizes.nend, sizes.ndry
        self.contacts, self.limits, self.dries = step.contacts, step.limits, step.dries
        self.nrow = max(1, sizes.nslot + 2 * sizes.nend + sizes.ndry)
        self.nv, self.npacked = sizes.nv, step.npacked
        self.nu = step.nu
        self.elliptic, self.contact_rows = sizes.cone == ELLIPTIC, sizes.nrow

    @dt.func
    def zone(self, dim, z, weight, mu):
        """Return a number for the piece of the penalty that a contact is in, above 0."""
        found = 1
        if z[0] < 0.0:
            found = 2
        if dim > 1:
            if ti.static(self.elliptic):
                n, square = mu[0] * z[0], 0.0
                for k in ti.static(range(1, self.contact_rows)):
                    square += (mu[k] * z[k]) ** 2
                t = ti.sqrt(square)
                found = 1
                if mu[0] * n + t <= 0.0:
                    found = 2
                elif n < mu[0] * t:
                    found = 3
            else:
                found = 1
                for k in ti.static(range(1, self.contact_rows)):
                    if k < dim:
                        if z[0] + mu[k] * z[k] < 0.0:
                            found += 1 << (2 * k - 2)
                        if z[0] - mu[k] * z[k] < 0.0:
                            found += 1 << (2 * k - 1)
        return found

    @dt.func
    def note(self, row, zone, contact, zones, counts):
        """Compare the zone of a row with that of the step before, -1 at the start."""
        before = zones[row]
        if before >= 0 and zone != before:
            counts[CHANGED] += 1
            if contact and before == 0:
                counts[MADE] += 1
            if contact and zone == 0:
                counts[LOST] += 1
        zones[row] = zone

    @dt.func
    def run(self, m, qpos, qvel, ctrl, act, acc, info, zones, counts, failure, residual):
        """Look at a step from a state, and the accelerations that it found; see `watch`."""
        h = m.timestep[None]
        bodies, tree, geoms, inertias = self.step.frames(m, qpos)
        paths = self.step.forces.reach(m, qpos, bodies, tree)
        mass = self.step.mass(m, tree, inertias, paths)
        laws = self.step.laws(paths)
        self.step.set_laws(m, h, qpos, qvel, geoms, tree, laws)
        z = (
            dt.local(self.contacts, self.step.solver.row),
            dt.local(self.limits),
            dt.local(self.dries),
        )
        a = dt.local(self.nv)
        why = 0
        for i in range(self.nv):
            a[i] = acc[i]
            if not abs(acc[i]) < 1e30:
                why = BROKEN
        self.step.solver.set_rows(m, a, tree, laws, z)
        contacts, limits, dries = laws[0], laws[1], laws[2]
        where, least = -1, 1e30
        c, count = 0, contacts[7][0]
        for s in range(self.nslot):
            zone = 0
            if c < count:
                if contacts[6][c] == s:
                    zone = self.zone(contacts[0][c], z[0][c], contacts[4][c], contacts[5][c])
                    if where < 0 or z[0][c][0] < least:
                        where, least = s, z[0][c][0]
                    c += 1
            self.note(s, zone, True, zones, counts)
        for k in range(2 * self.nend):
            zone = 0
            if limits[2][k] > 0.0 and z[1][k] < 0.0:
                zone = 1
            self.note(self.nslot + k, zone, False, zones, counts)
        for k in range(self.ndry):
            most, force = self.step.solver.rows.most_friction(m, k), -dries[1][k] * z[2][k]
            zone = 0
            if force > most:
                zone = 1
            elif force < -most:
                zone = 2
            self.note(self.nslot + 2 * self.nend + k, zone, False, zones, counts)
        force, drive = dt.local(self.nu), dt.local(self.nv)
        slope = dt.local(self.nu)
        self.step.forces.actuation(m, h, qpos, qvel, ctrl, act, paths, force, slope, drive)
        given = (m, h, qvel, slope, paths, bodies, tree, mass)
        self.step.integrator.add_implicit(*given)
        factor(mass, self.nv)
        for i in range(self.nv):
            if mass[i * (i + 1) // 2 + i] <= 0.0 and why == 0:
                why = INDEFINITE
        if info[1] >= self.iterations and info[0] > self.tolerance and why == 0:
            why = STOPPED
        if why > 0:
            counts[why] += 1
            if failure[WHY] == 0:
                failure[WHEN] = counts[STEPS]
                failure[WHY] = why
                failure[WHERE] = where
        residual[0] = max(residual[0], info[0])
        counts[STEPS] += 1


@dt.kernel
def watch(watched, m, qpos, qvel, ctrl, act, acc, info, zones, counts, failure, residual):
    """Count what happens in a step of a world.

    Args:
        watched: The funcs of `StepWatch`.
        m: The parameters of the model.
        qpos, qvel, ctrl, act: The state before the step, and controls.
        acc, info: What `dynamics.accelerate` found.
        zones: The pieces of the penalties of rows, and -1 before the first step.
        counts: STEPS to BROKEN, added to.
        failure: WHEN, WHY and WHERE of the first failure; WHY is 0 before.
        residual: The largest so far, (1,).
    """
    watched.run(m, qpos, qvel, ctrl, act, acc, info, zones, counts, failure, residual)


@dt.kernel
def forget(done, zones):
    """Forget the rows of a world that is reset."""
    for i in zones:
        if done[None] != 0:
            zones[i] = -1
