"""Muscles, slider-cranks, armature and polynomials: rollouts beside MuJoCo, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.test_steps import error
from tests.worlds.whole import ours, theirs

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

# An arm that a muscle along a heavy string bends, and a wheel that drives a slider by a rod.
ARM = """<mujoco><option jacobian="dense" timestep="0.005" integrator="{integrator}"
    actuatorgroupdisable="2"/>
  <default><geom type="capsule" size="0.02" contype="0" conaffinity="0"/></default>
  <worldbody>
    <site name="wall" pos="0.1 0.05 0.2"/>
    <body><joint name="shoulder" axis="0 1 0" stiffness="1 0.5 2" damping="0.1 0.05 0.02"/>
      <geom fromto="0 0 0 0.2 0 0"/><site name="elbow" pos="0.15 0 0.03"/>
      <body pos="0.2 0 0"><joint name="hand" type="ball" stiffness="0.3 0.2 0.1" damping="0.02"/>
        <geom fromto="0 0 0 0.15 0 0"/><site name="palm" pos="0.1 0.02 0"/></body>
    </body>
    <body pos="0 0.5 0"><joint name="wheel" axis="0 1 0" armature="0.01"/>
      <geom type="cylinder" size="0.1 0.02"/><site name="pin" pos="0.07 0 0.02"/></body>
    <body pos="0 0.5 0.4"><joint name="rail" type="slide" axis="0 0 1" damping="0.1"/>
      <geom size="0.03 0.04"/><site name="slide" pos="0 0 0.02"/></body>
  </worldbody>
  <tendon>
    <spatial name="string" stiffness="2 1 3" damping="0.1 0.2 0.1" springlength="0.1 0.15"
      armature="0.05"><site site="wall"/><site site="elbow"/><site site="palm"/></spatial>
    <fixed name="belt" damping="0.1 0.1" armature="0.02"><joint joint="shoulder" coef="0.5"/>
      <joint joint="wheel" coef="-0.4"/></fixed>
  </tendon>
  <actuator>
    <muscle tendon="string" force="3" lengthrange="0.1 0.5" range="0.75 1.3" lmin="0.4"
      vmax="2" tausmooth="0.4"/>
    <general name="crank" cranksite="pin" slidersite="slide" cranklength="0.5" gear="0.7"
      gainprm="1" biastype="affine" biasprm="0 -1 -0.1"/>
    <position joint="shoulder" kp="1" gear="1.5" armature="0.02" damping="0.05 0.1 0.2"/>
    <motor tendon="belt" gear="-2" armature="0.01" damping="0.02" group="1"/>
    <general joint="rail" group="2" gainprm="50" dyntype="filter" dynprm="0.1"/>
  </actuator>
  <sensor><force site="palm"/><actuatorpos actuator="crank"/><e_potential/><e_kinetic/></sensor>
  </mujoco>"""
GRADED = (
    *("tendon_armature", "tendon_dampingpoly", "tendon_stiffnesspoly", "actuator_gainprm"),
    *("jnt_stiffnesspoly", "dof_dampingpoly", "actuator_armature", "actuator_dampingpoly"),
    *("actuator_cranklength", "actuator_lengthrange", "actuator_dynprm", "body_inertia"),
)
BOUND = 1e-7


def start(rng: np.random.Generator, source: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a state near rest, with velocities."""
    qpos = source.qpos0 + rng.normal(0, 0.2, source.nq)
    at = source.jnt_qposadr[1]
    qpos[at : at + 4] /= np.linalg.norm(qpos[at : at + 4])
    return qpos, rng.normal(0, 1, source.nv), rng.uniform(0.2, 0.8, source.nu)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit"])
@pytest.mark.parametrize("seed", range(3))
def test_steps_and_readings(integrator: str, seed: int) -> None:
    source = mujoco.MjModel.from_xml_string(ARM.format(integrator=integrator))
    state = start(np.random.default_rng(seed), source)
    both = ours(worlds.load(source), state), theirs(mujoco, source, state)
    for found, wanted in zip(*both, strict=True):
        assert error(found, wanted) < 1e-10


@pytest.mark.slow  # the adjoint compiles for a minute
@pytest.mark.parametrize("integrator", ["implicitfast", "implicit"])
def test_rollouts_and_gradients(integrator: str) -> None:
    source = mujoco.MjModel.from_xml_string(ARM.format(integrator=integrator))
    sim = worlds.Worlds(worlds.load(source), 1, dtype=ti.f64, grad=GRADED)
    rng = np.random.default_rng(3)
    qpos, qvel, ctrl = start(rng, source)
    given = {"qpos": qpos, "qvel": qvel, "ctrl": ctrl, "act": np.array([0.4, 0.2])}
    fields = {name: getattr(sim, name) for name in given}

    def run(steps: int, **changed: np.ndarray) -> None:
        for name, values in {**given, **changed}.items():
            fields[name].from_numpy(np.array([values]))
        for _ in range(steps):
            sim.step()

    run(50)
    data = mujoco.MjData(source)
    for name, values in given.items():
        getattr(data, name)[:] = values
    for _ in range(50):
        mujoco.mj_step(source, data)
    assert error(sim.qpos.to_numpy()[0], data.qpos) < 1e-10
    seed = rng.normal(size=sim.qvel.shape)

    def outcome() -> float:
        return float((sim.qvel.to_numpy() * seed).sum() + (sim.act.to_numpy() * 0.3).sum())

    sim.qacc.fill(0.0)
    for name, values in given.items():
        fields[name].from_numpy(np.array([values]))
    starts = {name: dt.from_numpy(values, grad=True) for name, values in given.items()}
    with dt.Tape() as tape:
        for name, one in starts.items():
            _put(one, fields[name])
        for _ in range(20):
            sim.step()
    tape.backward({sim.qvel: seed, sim.act: np.full(sim.act.shape, 0.3)})
    for name, values in given.items():
        along = rng.normal(size=values.shape)
        slope = _slope(lambda t: run(20, **{name: values + t * along}), outcome)  # noqa: B023
        found = float((starts[name].grad.to_numpy() * along).sum())
        assert abs(found - slope) < BOUND * (1 + abs(slope)), name
    for name in GRADED:
        field = getattr(sim.m, name)
        values = field.to_numpy()
        along = rng.normal(size=values.shape) * (np.abs(values) + 1e-3)
        found = float((field.grad.to_numpy() * along).sum())

        def change(t: float) -> None:
            field.from_numpy(values + t * along)  # noqa: B023
            run(20)

        slope = _slope(change, outcome)
        field.from_numpy(values)
        assert slope and abs(found - slope) < BOUND * (1 + abs(slope)), name


@dt.kernel
def _put(one: Any, field: Any) -> None:
    for i in range(one.shape[0]):
        field[0, i] = one[i]


def _slope(change: Any, outcome: Any, size: float = 1e-4) -> float:
    """Return a difference of fourth order."""
    found = []
    for t in (size, -size, 2 * size, -2 * size):
        change(t)
        found.append(outcome())
    return (8 * (found[0] - found[1]) - (found[2] - found[3])) / (12 * size)
