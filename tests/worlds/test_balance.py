"""Phi, from which gradients of steps come, has the equations that steps solve.

At the accelerations of a step both of its parts are 0, whatever lambda and beta are: a term that
one of them lacks, or has twice, is seen without a derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from difftile import worlds
from tests.worlds.beside_mujoco import VEC3, filled
from tests.worlds.plain import Local, module, parameters
from tests.worlds.random_mjcf import mjcf, state
from tests.worlds.test_driven import ARM
from tests.worlds.test_driven import start as of_arm
from tests.worlds.test_wet import CASES, model
from tests.worlds.test_wet import start as in_fluid

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")


def unbalanced(one: worlds.Model, given: tuple[np.ndarray, ...], seed: int) -> float:
    """Return Phi of a step of a model, in parts of the powers of M a and of its terms."""
    sizes, m = one.sizes, parameters(one)
    rng = np.random.default_rng(seed)
    step = module("difftile.worlds.step").WorldStep(sizes)
    solution = module("difftile.worlds.solution").Solution(sizes)
    qpos, qvel, ctrl = (filled(x) for x in given)
    act = filled(rng.uniform(0.1, 0.7, max(1, sizes.na)))
    a, b, com = Local(sizes.nv), Local(sizes.nv), Local(sizes.nbody, VEC3)
    inputs = m, qpos, qvel, ctrl, act, Local(sizes.nv), Local(6 * sizes.nbody)
    step.accelerate(*inputs, a, b)
    step.centres(m, qpos, com)
    multiplier, beta = (filled(rng.normal(size=sizes.nv)) for _ in range(2))
    found = [
        solution.phi(*inputs, com, a, b, *two)
        for two in ((multiplier, Local(sizes.nv)), (Local(sizes.nv), beta))
    ]
    bodies, tree, _, inertias = step.frames(m, qpos)
    mass = step.mass(m, tree, inertias, step.forces.reach(m, qpos, bodies, tree))
    scale = np.abs(mass.values).max() * (np.abs(a.values).max() + np.abs(b.values).max())
    return max(map(abs, found)) / (1.0 + scale)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit"])
def test_muscles_cranks_and_armature(integrator: str) -> None:
    source = mujoco.MjModel.from_xml_string(ARM.format(integrator=integrator))
    for seed in range(2):
        given = of_arm(np.random.default_rng(seed), source)
        assert unbalanced(worlds.load(source), given, seed) < 1e-11


@pytest.mark.parametrize("integrator", ["implicitfast", "implicit"])
@pytest.mark.parametrize("case", CASES)
def test_fluids(case: str, integrator: str) -> None:
    source = model(case, integrator)
    qpos, qvel, _ = in_fluid(source, 3)
    given = qpos, qvel, np.zeros(1)
    assert unbalanced(worlds.load(source), given, 3) < 1e-11


@pytest.mark.parametrize("group", range(4))
def test_random_models(group: int) -> None:
    for seed in range(3 * group, 3 * group + 3):
        one = worlds.load(mujoco.MjModel.from_xml_string(mjcf(seed)))
        drawn = state(one, np.random.default_rng(seed), size=0.3)
        ctrl = drawn["ctrl"] if one.sizes.nu else np.zeros(1)
        assert unbalanced(one, (drawn["qpos"], drawn["qvel"], ctrl), seed) < 1e-9
