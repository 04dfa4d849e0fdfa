"""Gradients that reach contacts before they touch, `Worlds(contact_gradient="distance")`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.beside_mujoco import World
from tests.worlds.conformance import DATA

DISTANCE = 0.03
MODEL = """<mujoco><option jacobian="dense" tolerance="1e-15" cone="{cone}"/>
  <default><geom solimp="0 0.9 0.01" solref="0.03 0.8" friction="0.6"/></default><worldbody>
  <geom type="plane" size="1 1 1" contype="3" conaffinity="3"/>
  <body pos="0 0 0.11"><freejoint/><geom size="0.1" {far}/></body>
  <body pos="1 0 0.098"><freejoint/><geom type="capsule" size="0.1 0.2" euler="90 0 0"/></body>
  <body pos="2 0 0.115"><freejoint/>
    <geom type="box" size="0.1 0.2 0.1" contype="2" conaffinity="2" {far}/></body>
  <body pos="3 0 0.2"><freejoint/><geom size="0.1"/></body>
  <body pos="3 0.1 0.4"><freejoint/><geom size="0.1" {far}/></body>
  </worldbody></mujoco>"""
WIDER = f'margin="{DISTANCE}" solimp="0 0.9 {DISTANCE}" solmix="1e10"'


@pytest.fixture(scope="module")
def mujoco() -> Any:
    return pytest.importorskip("mujoco", reason="needs MuJoCo")


def scene(mujoco: Any, cone: str, far: str, **options: Any) -> World:
    """Return a scene of contacts at distances of 0.01, -0.002, 0.015 and 0.024."""
    source = mujoco.MjModel.from_xml_string(MODEL.format(cone=cone, far=far))
    world = World(mujoco, source, **options)
    world.forward(source.qpos0, np.random.default_rng(2).standard_normal(source.nv) * 0.3)
    return world


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_rows_are_those_of_a_wider_margin_until_contacts_touch(mujoco: Any, cone: str) -> None:
    ours, wide = scene(mujoco, cone, "", distance=DISTANCE), scene(mujoco, cone, WIDER)
    assert (ours.data.ncon, wide.data.ncon) == (2, 8)
    found, wanted = ours.solve(), wide.data.qacc
    assert np.abs(found - wanted).max() < 1e-8 * (1 + np.abs(wanted).max())
    assert np.abs(wide.data.qacc - ours.data.qacc).max() > 10


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_phi_has_the_derivative_of_the_second_model(mujoco: Any, cone: str) -> None:
    world = scene(mujoco, cone, "", distance=DISTANCE)
    qpos, qvel = world.qpos.values.copy(), world.qvel.values.copy()
    a, nv = world.solve(), world.source.nv
    a_bar = np.random.default_rng(5).standard_normal(nv)
    multipliers = world.multipliers(a_bar.copy())

    def both(e: np.ndarray, t: float) -> np.ndarray:
        q = qpos.copy()
        mujoco.mj_integratePos(world.source, q, e, t)
        world.forward(q, qvel)
        return np.array([a_bar @ world.solve(start=a), world.phi(a, multipliers)])

    for k in (0, 2, 3, 8, 14, 15, 16, 26):
        e, h = np.eye(nv)[k], 1e-5
        fine, coarse = (both(e, t) - both(e, -t) for t in (h, 2 * h))
        solution, phi = (8 * fine - coarse) / (12 * h)
        assert abs(solution - phi) < 1e-6 * (1 + abs(solution))


HAND = """<mujoco><option timestep="0.005" gravity="0 0 0" jacobian="dense" tolerance="1e-15"/>
  <default><geom condim="1" {given}/></default><worldbody>
  <body><joint name="hand" type="slide" axis="1 0 0"/><geom size="0.05" mass="1"/></body>
  <body pos="0.12 0 0"><joint type="slide" axis="1 0 0"/><geom size="0.05" mass="0.5"/></body>
  </worldbody><actuator><motor joint="hand"/></actuator></mujoco>"""


def hand(**options: Any) -> Any:
    """Return worlds of a hand and a ball that are 2 cm apart."""
    model = worlds.load(HAND.format(given='solimp="0 0.95 0.01"'))
    return worlds.Worlds(model, 2, dtype=ti.f64, **options)


def test_gradients_of_a_step_are_those_of_the_second_model(mujoco: Any) -> None:
    """Compiled, of worlds in which the bodies do not touch, and in the end nearly."""
    wider = f'margin="{DISTANCE / 2}" solimp="0 0.95 {DISTANCE}"'  # margins add up
    source = mujoco.MjModel.from_xml_string(HAND.format(given=wider))
    data = mujoco.MjData(source)
    states = np.array([[0.003, 0.0, 0.2, 0.0, 0.5], [0.015, 0.0, 0.3, 0.1, 0.3]])

    def speed(x: np.ndarray) -> float:
        data.qpos[:], data.qvel[:], data.ctrl[:], data.qacc_warmstart[:] = x[:2], x[2:4], x[4:], 0
        mujoco.mj_step(source, data)
        return float(data.qvel[1])

    sim = hand(contact_gradient="distance", distance=DISTANCE)
    for field, part in ((sim.qpos, np.s_[:2]), (sim.qvel, np.s_[2:4]), (sim.ctrl, np.s_[4:])):
        field.from_numpy(states[:, part])
    with dt.Tape() as tape:
        sim.step()
    np.testing.assert_array_equal(sim.qvel.to_numpy()[:, 1], states[:, 3])  # as the model says
    tape.backward({sim.qvel: np.array([[0.0, 1.0], [0.0, 1.0]])})
    found = np.hstack([field.grad.to_numpy() for field in (sim.qpos, sim.qvel, sim.ctrl)])
    for k, x in enumerate(states):
        sides = [(speed(x + 1e-6 * e) - speed(x - 1e-6 * e)) / 2e-6 for e in np.eye(5)]
        np.testing.assert_allclose(found[k], sides, rtol=1e-6, atol=1e-8)
        assert abs(sides[0]) > 5 and sides[4] > 1e-3


@dt.kernel
def missed(qpos, target, loss):
    """Add the squares of the distances of the balls from their target."""
    for w in range(2):
        loss[None] += 0.5 * (qpos[w, 1] - target) ** 2


def rolled(sim: Any, push: np.ndarray, target: float) -> tuple[float, np.ndarray]:
    """Return the loss of constant pushes over 0.15 s, and its gradient by them."""
    sim.reset()
    sim.ctrl.from_numpy(push[:, None])
    loss = dt.zeros((), dtype=ti.f64, grad=True)
    with dt.Tape(loss):
        for _ in range(30):
            sim.step()
        missed(sim.qpos, target, loss)
    return float(loss.to_numpy()), sim.ctrl.grad.to_numpy()[:, 0]


@pytest.mark.slow
def test_a_descent_finds_the_push_for_a_ball_that_it_does_not_touch() -> None:
    """Where the exact gradient is zero, one from a distance leads to the target."""
    afar, exact = hand(contact_gradient="distance", distance=DISTANCE), hand()
    push, target = np.array([0.5, 1.0]), 0.05
    before, none = rolled(exact, push, target)
    assert not none.any()
    first, slope = rolled(afar, push, target)
    assert first == before and np.all(slope < -1e-6)
    size = np.zeros(2)
    for _ in range(15):
        loss, slope = rolled(afar, push, target)
        size = 0.7 * size + 0.3 * slope**2
        push -= 0.5 * slope / np.sqrt(size + 1e-12)
    assert loss < 0.05 * before


@pytest.mark.slow
def test_a_hopper_above_the_floor_has_the_gradient_of_wider_margins(mujoco: Any) -> None:
    source = mujoco.MjModel.from_xml_path(str(DATA / "hopper.xml"))
    model, data = worlds.load(source), mujoco.MjData(source)
    source.opt.tolerance = 1e-15
    source.geom_margin[0] += 10
    rng = np.random.default_rng(4)
    qpos = source.qpos0.copy()
    data.qpos[:] = qpos
    mujoco.mj_forward(source, data)
    qpos[1] += 0.3 * DISTANCE - min(contact.dist for contact in data.contact)
    qvel, weight = 0.3 * rng.standard_normal((2, source.nv))
    source.geom_margin[0] += DISTANCE - 10
    source.geom_solimp[:, 0], source.geom_solimp[:, 2] = 0, DISTANCE

    def after(along: np.ndarray, moved: bool, t: float) -> float:
        data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = qpos, qvel, 0
        if moved:
            mujoco.mj_integratePos(source, data.qpos, along, t)
        else:
            data.qvel[:] += t * along
        mujoco.mj_step(source, data)
        return float(weight @ data.qvel)

    sim = worlds.Worlds(model, 1, dtype=ti.f64, contact_gradient="distance", distance=DISTANCE)
    sim.qpos.from_numpy(qpos[None])
    sim.qvel.from_numpy(qvel[None])
    with dt.Tape() as tape:
        sim.step()
    tape.backward({sim.qvel: weight[None]})
    for found, moved in ((sim.qpos.grad.to_numpy()[0], True), (sim.qvel.grad.to_numpy()[0], False)):
        wanted = np.array(
            [(after(e, moved, 1e-6) - after(e, moved, -1e-6)) / 2e-6 for e in np.eye(source.nv)]
        )
        assert np.abs(found - wanted).max() < 1e-6 * (1 + np.abs(wanted).max())
    assert data.ncon > 0
