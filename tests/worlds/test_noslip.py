"""Sweeps after the solver, `noslip_iterations`: beside MuJoCo, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.plain_python import Shaped
from tests.worlds.beside_mujoco import filled
from tests.worlds.plain import Local, module, parameters
from tests.worlds.random_mjcf import mjcf, state
from tests.worlds.test_random_models import is_rough

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

# Bodies that slide, roll and rest on a slope, one on another, and an arm with dry joints.
SCENE = """<mujoco>
  <option timestep="0.004" noslip_iterations="{sweeps}" noslip_tolerance="{tolerance}"
    cone="{cone}" impratio="2" solver="Newton" iterations="100" tolerance="1e-15"/>
  <worldbody>
    <geom type="plane" size="5 5 1" zaxis="0.1 0.05 1" condim="{dim}"/>
    <body pos="0 0 0.15"><freejoint/>
      <geom type="sphere" size="0.1" condim="{dim}" friction="0.5 0.01 0.01"/></body>
    <body pos="0.2 0 0.15"><freejoint/><geom type="capsule" size="0.05 0.1" condim="{dim}"/></body>
    <body pos="0.18 0.02 0.35"><freejoint/><geom type="sphere" size="0.08" condim="{dim}"/></body>
    <body pos="-1 0 0.15"><freejoint/>
      <geom type="box" size="0.1 0.08 0.06" condim="{dim}"/></body>
    <body pos="0 1 0.5"><joint axis="0 1 0" frictionloss="0.3"/>
      <geom type="capsule" size="0.03 0.2"/>
      <body pos="0 0 0.2"><joint name="wrist" axis="1 0 0" frictionloss="0.2"/>
        <geom type="sphere" size="0.1" pos="0.1 0 0.1"/></body></body>
  </worldbody>
  <equality><joint joint1="wrist" polycoef="0.1 0 0 0 0"/></equality>
</mujoco>"""

CASES = [
    *(("pyramidal", 3, 1, 0.0), ("pyramidal", 4, 20, 1e-6), ("pyramidal", 6, 3, 1e-6)),
    *(("elliptic", 3, 20, 1e-6), ("elliptic", 4, 5, 1e-2), ("elliptic", 6, 3, 1e-6)),
]
SAME = 1e-9  # of accelerations


def swept(source: Any, data: Any, qfrc: Any = None, xfrc: Any = None) -> np.ndarray:
    """Return the acceleration after the sweeps in the state of MuJoCo's data."""
    one = worlds.load(source)
    sizes, m = one.sizes, parameters(one)
    step = module("difftile.worlds.step").WorldStep(sizes, pushed=xfrc is not None)
    sliding = module("difftile.worlds.noslip").NoSlip(sizes, step)
    given = (filled(x if len(x) else [0.0]) for x in (data.qpos, data.qvel, data.ctrl, data.act))
    given = m, *given
    pushed = Local(sizes.nv), Local(6 * sizes.nbody)
    if qfrc is not None:
        pushed = filled(qfrc), filled(xfrc)
    start, _, a, b = (Local(sizes.nv) for _ in range(4))
    step.accelerate(*given, *pushed, start, Local(sizes.nv))
    vectors = Local(sizes.nbody, Shaped((3,))), Local(sizes.nbody, Shaped((3,)))
    sliding.slide(*given, start, a, b, vectors)
    return a.values


def settled(text: str, speed: float) -> tuple[Any, Any]:
    """Return a model of MuJoCo, and its data after some steps."""
    source = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(source)
    data.qvel[:] = np.random.default_rng(1).normal(0, speed, source.nv)
    for _ in range(60):
        mujoco.mj_step(source, data)
    mujoco.mj_forward(source, data)
    return source, data


@pytest.mark.parametrize(("cone", "dim", "sweeps", "tolerance"), CASES)
def test_accelerations_are_those_of_mujoco(
    cone: str, dim: int, sweeps: int, tolerance: float
) -> None:
    text = SCENE.format(cone=cone, dim=dim, sweeps=sweeps, tolerance=tolerance)
    source, data = settled(text, 0.1)
    wanted, scale = data.qacc.copy(), 1.0 + np.abs(data.qacc).max()
    found = swept(source, data)
    source.opt.noslip_iterations = 0
    mujoco.mj_forward(source, data)
    assert np.abs(data.qacc - wanted).max() > 1e-3  # the sweeps do something
    assert np.abs(found - wanted).max() < SAME * scale


def test_islands_are_one_where_they_are_switched_off() -> None:
    text = SCENE.format(cone="pyramidal", dim=3, sweeps=20, tolerance=1e-3)
    source, data = settled(text, 0.1)
    source.opt.disableflags = 1 << 18
    mujoco.mj_forward(source, data)
    assert np.abs(swept(source, data) - data.qacc).max() < SAME * (1 + np.abs(data.qacc).max())


def check(seed: int) -> bool:
    """Compare the accelerations of a random model; return whether it has any friction."""
    source = mujoco.MjModel.from_xml_string(mjcf(seed))
    rng = np.random.default_rng([seed, 1])
    source.opt.noslip_iterations = rng.integers(1, 6)
    source.opt.noslip_tolerance = rng.choice([0.0, 1e-6])
    given = state(worlds.load(source), rng, size=0.3)
    data = mujoco.MjData(source)
    for name in ("qpos", "qvel", "act", "ctrl"):
        getattr(data, name)[:] = given[name]
    data.qfrc_applied[:], data.xfrc_applied[:] = given["qfrc"], given["xfrc"]
    mujoco.mj_forward(source, data)
    if is_rough(data):
        return False
    found = swept(source, data, given["qfrc"], given["xfrc"].ravel())
    error = np.abs(found - data.qacc).max() / (1 + np.abs(data.qacc).max())
    assert error < 1e-8, (seed, error)
    return True


def test_random_models_are_those_of_mujoco() -> None:
    assert sum(check(seed) for seed in range(12)) > 6


@pytest.mark.slow
@pytest.mark.parametrize("group", range(10))
def test_many_random_models_are_those_of_mujoco(group: int) -> None:
    for seed in range(100 + 40 * group, 140 + 40 * group):
        check(seed)


# A capsule that slides and rolls, with an arm whose joint is dry.
SLIDER = """<mujoco>
  <option timestep="0.004" noslip_iterations="3" cone="{cone}" tolerance="1e-15" {option}/>
  <worldbody><geom type="plane" size="5 5 1" zaxis="0.1 0.05 1" condim="{dim}" {soft}/>
    <body pos="0 0 0.1"><freejoint/>
      <geom name="rod" type="capsule" size="0.05 0.1" condim="{dim}" friction=".4 .1 .05" {soft}/>
      <site name="low" size="0.2"/>
      <body pos="0 0 0.1"><joint name="arm" axis="0 1 0" frictionloss="0.1" damping="0.1"/>
        <geom type="sphere" size="0.06" pos="0.1 0 0" condim="{dim}" friction="1.2 .01 .01" {soft}/>
        <site name="hand" pos="0.1 0 0.02"/></body></body>
  </worldbody>
  <actuator><motor joint="arm"/></actuator>
  <sensor><force site="hand"/><torque site="hand"/><accelerometer site="hand"/><touch site="low"/>
  </sensor>
</mujoco>"""
KINDS = [("pyramidal", 3, 'integrator="implicitfast"'), ("elliptic", 4, "")]


@pytest.mark.parametrize(("cone", "dim", "option"), KINDS)
def test_gradients_and_sensors(cone: str, dim: int, option: str) -> None:
    """Steps, sensors and gradients of 20 steps: beside MuJoCo, and differences of the steps."""
    given = {"cone": cone, "dim": dim, "option": option, "soft": 'solimp="0 0.95 0.01"'}
    source, data = settled(SLIDER.format(**given), 0.4)
    sim = worlds.Worlds(worlds.load(source), 1, dtype=ti.f64, grad=("body_mass", "geom_friction"))
    start = worlds.Start(
        dt.from_numpy(data.qpos[None], grad=True), dt.from_numpy(data.qvel[None], grad=True)
    )
    torque = rng_of(2).normal(0.0, 0.3, 1)
    weights, count = rng_of(3).normal(size=(1, source.nv)), 20

    def run() -> float:
        sim.reset(start=start)
        sim.ctrl.from_numpy(torque[None])
        sim.step(count)
        with dt.no_grad():
            return float((sim.qvel.to_numpy() * weights).sum())

    with dt.Tape() as tape:
        run()
    tape.backward({sim.qvel: weights})
    data.ctrl[:] = torque
    for _ in range(count):
        mujoco.mj_step(source, data)
    np.testing.assert_allclose(sim.qvel.to_numpy()[0], data.qvel, 0, 1e-9)
    mujoco.mj_forward(source, data)
    sim.sense()
    scale = 1.0 + np.abs(data.sensordata).max()
    assert data.ncon and np.abs(sim.sensordata.to_numpy()[0] - data.sensordata).max() < 1e-8 * scale
    for field in (start.qvel, sim.m.body_mass, sim.m.geom_friction):
        here = field.to_numpy()
        way = rng_of(4).uniform(0.5, 1.0, here.shape) * (here != 0.0)
        found = float((field.grad.to_numpy() * way).sum())
        ends = {}
        for t in (-2e-5, -1e-5, 1e-5, 2e-5):
            field.from_numpy(here + t * way)
            ends[t] = run()
        field.from_numpy(here)
        wanted = (8 * (ends[1e-5] - ends[-1e-5]) - ends[2e-5] + ends[-2e-5]) / 12e-5
        assert abs(found - wanted) < 1e-7 * (1.0 + abs(wanted))


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_gradients_from_a_distance_are_refused() -> None:
    one = worlds.load(SCENE.format(cone="pyramidal", dim=3, sweeps=3, tolerance=0))
    with pytest.raises(dt.FieldError, match="noslip_iterations, whose gradients are exact"):
        worlds.Worlds(one, 1, contact_gradient="distance")
