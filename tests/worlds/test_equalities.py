"""Equality constraints: rollouts beside MuJoCo, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.beside_mujoco import World, filled
from tests.worlds.plain import module
from tests.worlds.test_contacts import check_phi
from tests.worlds.test_steps import error

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

# A four-bar linkage that a connection closes, a joint that follows its crank, and a welded body.
LINKAGE = """<mujoco><option jacobian="dense" tolerance="1e-15" timestep="0.004"/>
  <default><geom type="capsule" size="0.03" contype="0" conaffinity="0"/></default>
  <worldbody>
    <body><joint name="crank" axis="0 1 0" damping="0.1"/><geom fromto="0 0 0 0 0 0.3"/>
      <body name="rod" pos="0 0 0.3"><joint axis="0 1 0"/><geom fromto="0 0 0 0.5 0 0"/></body>
    </body>
    <body name="rocker" pos="0.6 0 0"><joint axis="0 1 0"/><geom fromto="0 0 0 -0.1 0 0.3"/>
      <site name="foot"/></body>
    <body pos="0 0.4 0"><joint name="dial" axis="1 0 0"/><geom fromto="0 0 0 0 0.2 0"/>
      <site name="wrist" pos="0 0.1 0"/>
      <body name="hand" pos="0 0.2 0"><joint axis="0 0 1"/><geom fromto="0 0 0 0 0.2 0"/></body>
    </body>
    <body name="box" pos="0 1 0"><freejoint/><geom type="box" size="0.1 0.05 0.02"/></body>
  </worldbody>
  <equality>
    <connect body1="rod" body2="rocker" anchor="0.5 0 0" solref="0.03 1"/>
    <joint joint1="dial" joint2="crank" polycoef="0.1 0.5 0.2 0 0"/>
    <weld body1="hand" body2="box" torquescale="1.5" solimp="0.8 0.95 0.05"/>
    <connect body1="box" body2="rod" anchor="0 0 0" active="false"/>
  </equality>
  <actuator><motor joint="crank"/></actuator>
  <sensor><force site="foot"/><torque site="wrist"/><accelerometer site="wrist"/></sensor>
  </mujoco>"""


def state() -> tuple[np.ndarray, np.ndarray]:
    """Return a state that violates all equalities."""
    source, rng = mujoco.MjModel.from_xml_string(LINKAGE), np.random.default_rng(2)
    qpos, qvel = source.qpos0.copy(), rng.normal(0, 1, source.nv)
    mujoco.mj_integratePos(source, qpos, rng.normal(0, 0.1, source.nv), 1.0)
    return qpos, qvel


def test_phi_has_the_derivative_of_the_solution() -> None:
    world = World(mujoco, mujoco.MjModel.from_xml_string(LINKAGE))
    world.forward(*state(), (), [0.3])
    check_phi(world)


def test_the_derivative_at_satisfied_equalities_is_finite() -> None:
    """The impedance depends on the length of the error, which has no derivative at 0."""
    equalities = World(mujoco, mujoco.MjModel.from_xml_string(LINKAGE)).equalities
    world = World(mujoco, mujoco.MjModel.from_xml_string(LINKAGE))
    world.forward(world.source.qpos0, np.zeros(world.source.nv), (), [0.0])
    assert equalities.nequality == 3
    check_phi(world)


@pytest.mark.slow  # the adjoint compiles for a minute
def test_rollouts_and_gradients() -> None:
    sim = worlds.Worlds(worlds.load(LINKAGE), 1, dtype=ti.f64, grad=("body_mass", "eq_data"))
    source = mujoco.MjModel.from_xml_string(LINKAGE)
    data, rng, (qpos, qvel) = mujoco.MjData(source), np.random.default_rng(3), state()

    def run(steps: int) -> None:
        sim.reset()
        sim.qpos.from_numpy(qpos[None])
        sim.qvel.from_numpy(qvel[None])
        for _ in range(steps):
            sim.step()
        sim.sense()

    sim.ctrl.fill(0.3)
    run(50)
    data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, 0.3
    for _ in range(50):
        mujoco.mj_step(source, data)
    assert error(sim.qpos.to_numpy()[0], data.qpos) < 1e-8
    assert error(sim.qvel.to_numpy()[0], data.qvel) < 1e-7
    mujoco.mj_forward(source, data)
    assert error(sim.sensordata.to_numpy()[0], data.sensordata) < 1e-7
    with dt.Tape() as tape:
        run(10)
    seed, read = (rng.normal(size=field.shape) for field in (sim.qvel, sim.sensordata))
    tape.backward({sim.qvel: seed, sim.sensordata: read})
    for field in (sim.ctrl, sim.m.body_mass, sim.m.eq_data):
        first, found = field.to_numpy(), []
        along = rng.normal(size=first.shape)
        for t in (1e-5, -1e-5, 2e-5, -2e-5):
            field.from_numpy(first + t * along)
            run(10)
            seen = sim.qvel.to_numpy() * seed, sim.sensordata.to_numpy() * read
            found.append(float(seen[0].sum() + seen[1].sum()))
        field.from_numpy(first)
        wanted = (8 * (found[0] - found[1]) - (found[2] - found[3])) / 12e-5
        ours = float((field.grad.to_numpy() * along).sum())
        assert abs(ours - wanted) < 1e-6 * (1 + abs(wanted))


def test_a_mocap_body_drags_what_is_welded_to_it() -> None:
    text = """<mujoco><option jacobian="dense" tolerance="1e-15"/><worldbody>
      <body name="grip" mocap="true" pos="0 0 1"><geom size="0.05" contype="0"/></body>
      <body name="box" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>
      </worldbody><equality><weld body1="grip" body2="box"/></equality></mujoco>"""
    world, grip = World(mujoco, mujoco.MjModel.from_xml_string(text)), 1
    pos, quat = np.array([0.2, -0.1, 1.1]), np.array([0.8, 0.6, 0.0, 0.0])
    world.data.mocap_pos[0], world.data.mocap_quat[0] = pos, quat
    world.forward(world.source.qpos0, np.linspace(-1, 1, 6))
    world.m.body_pos.values[grip], world.m.body_quat.values[grip] = pos, quat
    smooth = module("tests.worlds.smooth").Smooth(world.model.sizes)
    frames = [filled(np.zeros((3, n)), n) for n in (3, 4)]
    joints = [filled(np.zeros((1, 3)), 3) for _ in range(2)]
    smooth.kinematics.frames(world.m, world.qpos, *frames, *joints)
    np.testing.assert_allclose(frames[0].values, world.data.xpos, 0, 1e-15)
    np.testing.assert_allclose(frames[1].values, world.data.xquat, 0, 1e-15)
    a = world.solve()
    references, _, forces = world.rows()
    assert error(references, world.data.efc_aref) < 1e-12
    assert error(forces, world.data.efc_force) < 1e-8 and np.abs(forces).max() > 1
    assert error(a, world.data.qacc) < 1e-8
