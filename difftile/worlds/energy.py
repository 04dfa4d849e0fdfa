"""Energies, as MuJoCo counts them: gravity, springs of joints, and the motion of all inertia."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.fluid import size_of
from difftile.worlds.forces import rotation_between
from difftile.worlds.joints import JointTypes
from difftile.worlds.kinds import BALL, FREE
from difftile.worlds.passive_laws import PassiveLaws
from difftile.worlds.quaternions import three_at
from difftile.worlds.topology import Sizes


@dt.data_oriented(frozen=True)
class Energy:
    """Energies of models of some sizes.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.nbody = sizes.nbody
        self.njnt = sizes.njnt
        self.nv = sizes.nv
        self.joints = JointTypes(sizes.joints)
        self.ntendon, self.laws = sizes.ntendon, PassiveLaws(sizes)

    @dt.func
    def potential(self, m, qpos, xipos, paths):
        """Return the energy of positions [J], 0 at the origin and at rest of springs.

        Args:
            m: The parameters of the model.
            qpos: Coordinates, (nq,).
            xipos: Centres of mass of bodies, (nbody,) of vec3.
            paths: From `Paths.of`.
        """
        total = 0.0
        for b in range(1, self.nbody):
            total -= m.body_mass[b] * m.gravity[None].dot(xipos[b])
        for j in range(self.njnt):
            kind, at = m.jnt_type[j], m.jnt_qposadr[j]
            linear, poly = m.jnt_stiffness[j], m.jnt_stiffnesspoly[j]
            free = self.joints.match(kind, FREE)
            if not free and not self.joints.match(kind, BALL):
                total += self.laws.energy(linear, poly, qpos[at] - m.qpos_spring[at])
            else:
                if free:
                    away = three_at(qpos, at) - three_at(m.qpos_spring, at)
                    total += self.laws.energy(linear, poly, size_of(away))
                    at += 3
                turn = rotation_between(qpos, m.qpos_spring, at)
                total += self.laws.energy(linear, poly, size_of(turn))
        if ti.static(self.ntendon > 0):
            for t in range(self.ntendon):
                length, rest = paths[0][t], m.tendon_lengthspring[t]
                stretch = length - ti.math.clamp(length, rest[0], rest[1])
                linear, poly = m.tendon_stiffness[t], m.tendon_stiffnesspoly[t]
                total += self.laws.energy(linear, poly, stretch)
        return total

    @dt.func
    def kinetic(self, M, qvel):
        """Return the energy of motion [J], armature included.

        Args:
            M: The inertia matrix, its lower triangle by rows.
            qvel: Velocities, (nv,).
        """
        total = 0.0
        for i in range(self.nv):
            total += 0.5 * M[i * (i + 1) // 2 + i] * qvel[i] * qvel[i]
            for j in range(i):
                total += M[i * (i + 1) // 2 + j] * qvel[i] * qvel[j]
        return total
