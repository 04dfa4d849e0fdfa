"""Steps of two bodies whose geoms, of any two kinds, touch, beside MuJoCo.

MuJoCo finds contacts of curved geoms up to a tolerance: contacts are compared first, and those that
agree are put into MuJoCo to their last digit, so that rows, forces and accelerations are compared
to the bounds of random models.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from tests.worlds import pairs
from tests.worlds.beside_mujoco import World
from tests.worlds.test_pairs import matched, of_mujoco, share
from tests.worlds.test_random_models import SOLUTION
from tests.worlds.test_terms import TIGHT, near

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

STEPS = 3
KINDS = list(combinations_with_replacement(pairs.TYPES, 2))[1:]  # two planes do not collide


class PairWorld(World):
    """Two geoms in MuJoCo and here, with the contacts from here."""

    def agree(self, kind: tuple[str, str]) -> bool:
        """Take the contacts from here to MuJoCo; return whether they are those that it has."""
        data, contacts = self.data, self.laws[0]
        count = int(contacts[7][0])
        slots = [int(contacts[6][c]) for c in range(count)]
        points, frames = contacts[1].values[:count], contacts[2].values[:count].reshape(-1, 9)
        depths = [self.depth(s) for s in slots]
        ours = np.array([[d, *p, *f[:3]] for d, p, f in zip(depths, points, frames, strict=True)])
        near = [contact.dist < contact.includemargin for contact in data.contact]
        if not matched(ours.reshape(-1, 7), of_mujoco(data)[near], kind):
            return False
        left = list(range(count))
        for contact in data.contact:
            if contact.dist < contact.includemargin:
                c = min(left, key=lambda c: float(np.abs(points[c] - contact.pos).max()))
                contact.dist, contact.pos[:], contact.frame[:] = depths[c], points[c], frames[c]
                left.remove(c)
        return True

    def depth(self, s: int) -> float:
        """Return the distance of the contact in a slot."""
        rows, geoms = self.solver.rows, (self.geom_xpos, self.geom_xmat)
        return float(rows.contact(self.m, s, geoms, rows.features(self.m, 0, geoms))[0])

    def constrain(self) -> None:
        """Compute the rows, forces and accelerations of MuJoCo again."""
        source, data = self.source, self.data
        mujoco.mj_makeConstraint(source, data)
        mujoco.mj_island(source, data)
        mujoco.mj_projectConstraint(source, data)
        mujoco.mj_referenceConstraint(source, data)
        data.qacc_warmstart[:] = 0
        mujoco.mj_fwdConstraint(source, data)


def check(seed: int) -> int:
    """Compare steps of a pair, one after the other; return how many have other features."""
    rng, kind = np.random.default_rng(seed), KINDS[seed % len(KINDS)]
    world = PairWorld(mujoco, mujoco.MjModel.from_xml_string(pairs.robot(rng, *kind)))
    source, data = world.source, world.data
    qpos = pairs.placed(rng, mujoco, source, 0.4).qpos.copy()
    qvel, other = rng.normal(0, 0.5, source.nv), 0
    for _ in range(STEPS):
        world.forward(qpos, qvel)
        world.set_laws()
        if world.agree(kind):
            world.constrain()
            a = world.solve()
            references, regularisations, forces = world.rows()
            jacobian = data.efc_J.reshape(-1, source.nv)[: data.nefc]
            near(world.jacobian(), jacobian, TIGHT, "the Jacobian")
            near(references, data.efc_aref, TIGHT, "references")
            near(regularisations, data.efc_R, TIGHT, "regularisations")
            near(forces, data.efc_force, SOLUTION, "forces")
            near(a, data.qacc, SOLUTION, "accelerations")
        else:
            other += 1
        mujoco.mj_Euler(source, data)
        qpos, qvel = data.qpos.copy(), data.qvel.copy()
    return other


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_pairs_step_as_in_mujoco(kind: tuple[str, str]) -> None:
    assert check(KINDS.index(kind)) <= STEPS * share(kind)


@pytest.mark.slow  # 1,000 models in two minutes
@pytest.mark.parametrize("group", range(10))
def test_many_pairs_step_as_in_mujoco(group: int) -> None:
    seeds = range(1000 + 100 * group, 1100 + 100 * group)
    assert sum(check(seed) for seed in seeds) <= 0.03 * STEPS * len(seeds)
