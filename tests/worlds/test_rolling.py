"""Torsional and rolling friction, compiled: a ball that spins and rolls, and a rod on its side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.beside_mujoco import World
from tests.worlds.test_contacts import check_phi

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

MODEL = """<mujoco><option timestep="0.004" tolerance="1e-15" jacobian="dense" {option}/>
  <default><geom solref="0.02 1" solimp="0 0.95 0.01" friction="0.7 0.05 0.02"/></default>
  <worldbody><geom type="plane" size="1 1 1" friction="0.3 0.01 0.01"/>
    <body pos="0 0 0.096"><freejoint/><geom size="0.1" mass="0.7" condim="{ball}"/></body>
    <body pos="0.5 0 0.048"><freejoint/>
      <geom type="capsule" size="0.05 0.1" euler="90 0 20" mass="0.4" condim="{rod}"/></body>
  </worldbody></mujoco>"""
CASES = {
    "elliptic": ('cone="elliptic" impratio="2"', 6, 4),
    "pyramidal": ('cone="pyramidal"', 4, 6),
}


def started(case: str) -> tuple[Any, np.ndarray]:
    """Return a model of MuJoCo and velocities: the ball rolls and spins, the rod turns."""
    option, ball, rod = CASES[case]
    source = mujoco.MjModel.from_xml_string(MODEL.format(option=option, ball=ball, rod=rod))
    return source, np.array([0.4, 0.1, 0.0, -1.0, 4.0, 9.0, 0.0, 0.2, 0.0, 0.3, 0.2, 5.0])


@pytest.mark.parametrize("case", CASES)
def test_phi_has_the_derivative_of_the_solution(case: str) -> None:
    source, qvel = started(case)
    world = World(mujoco, source)
    world.forward(source.qpos0, qvel)
    check_phi(world)


@pytest.mark.slow  # the adjoint is compiled
@pytest.mark.parametrize("case", CASES)
def test_rollouts_and_gradients(case: str) -> None:
    source, qvel = started(case)
    data, model, rng = mujoco.MjData(source), worlds.load(source), np.random.default_rng(3)
    sim = worlds.Worlds(model, 1, dtype=ti.f64, grad=("geom_friction", "body_mass"))

    def run(steps: int) -> None:
        sim.reset()
        sim.qvel.from_numpy(qvel[None])
        for _ in range(steps):
            sim.step()

    run(50)
    data.qvel[:] = qvel
    for _ in range(50):
        mujoco.mj_step(source, data)
    np.testing.assert_allclose(sim.qpos.to_numpy()[0], data.qpos, 0, 1e-8)
    np.testing.assert_allclose(sim.qvel.to_numpy()[0], data.qvel, 0, 1e-7)
    # Torsional friction has slowed down spins, and rolling friction what rolls.
    assert abs(data.qvel[5]) < 6.0 and abs(data.qvel[11]) < 4.0
    assert case == "pyramidal" or np.hypot(*data.qvel[:2]) < 0.35

    with dt.Tape() as tape:
        run(12)
    seed = rng.normal(size=sim.qvel.shape)
    tape.backward({sim.qvel: seed})
    for field in (sim.m.geom_friction, sim.m.body_mass):
        first, along, found = field.to_numpy(), rng.normal(size=field.to_numpy().shape), []
        for t in (1e-6, -1e-6, 2e-6, -2e-6):
            field.from_numpy(first + t * along)
            run(12)
            found.append(float((sim.qvel.to_numpy() * seed).sum()))
        field.from_numpy(first)
        wanted = (8 * (found[0] - found[1]) - (found[2] - found[3])) / 12e-6
        ours = float((field.grad.to_numpy() * along).sum())
        assert abs(wanted) > 1e-3
        assert ours == pytest.approx(wanted, rel=1e-7)
