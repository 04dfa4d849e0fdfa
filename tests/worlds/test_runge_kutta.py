"""Steps by Runge-Kutta beside MuJoCo, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.beside_mujoco import filled
from tests.worlds.plain import module
from tests.worlds.test_steps import error

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

# A body in flight with an arm, whose motors have activations of each kind.
MODEL = """<mujoco><option timestep="0.01" integrator="RK4" jacobian="dense"/>
  <default><geom contype="0"/></default>
  <worldbody><body><freejoint/><geom type="box" size="0.2 0.1 0.05"/>
    <body pos="0.2 0 0"><joint type="ball" damping="0.1" stiffness="0.5"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
      <body pos="0.3 0 0"><joint name="a" axis="0 1 0" damping="0.2"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 0.1"/>
        <body pos="0.2 0 0.1"><joint name="b" axis="1 0 0" armature="0.01"/>
          <geom size="0.05"/></body></body></body></body></worldbody>
  <actuator><motor joint="a"/><general joint="a" dyntype="integrator" actrange="-1 0.32"/>
    <general joint="b" dyntype="filter" dynprm="0.05"/>
    <general joint="b" dyntype="filterexact" dynprm="0.03" ctrlrange="-0.5 0.5"/></actuator>
  </mujoco>"""


class Flight:
    """A world that starts from a state of its own."""

    def __init__(self) -> None:
        self.source = mujoco.MjModel.from_xml_string(MODEL)
        self.sim = worlds.Worlds(worlds.load(MODEL), 1, dtype=ti.f64, grad="body_mass")
        rng, one = np.random.default_rng(4), self.source
        qpos = one.qpos0 + rng.normal(0, 0.1, one.nq)
        for at in (3, 7):
            qpos[at : at + 4] /= np.linalg.norm(qpos[at : at + 4])
        self.first = qpos, rng.normal(0, 2, one.nv), rng.normal(0, 0.3, one.na)
        self.sim.ctrl.from_numpy(np.array([[0.2, 1.0, -0.7, 0.9]]))

    def run(self, steps: int) -> None:
        sim = self.sim
        sim.reset()
        for field, values in zip((sim.qpos, sim.qvel, sim.act), self.first, strict=True):
            field.from_numpy(values[None])
        sim.step(substeps=steps)


def test_steps_are_those_of_mujoco() -> None:
    flight = Flight()
    data = mujoco.MjData(flight.source)
    data.qpos[:], data.qvel[:], data.act[:] = flight.first
    data.ctrl[:] = flight.sim.ctrl.to_numpy()[0]
    flight.run(20)
    for _ in range(20):
        mujoco.mj_step(flight.source, data)
    for name in ("qpos", "qvel", "act"):
        assert error(getattr(flight.sim, name).to_numpy()[0], getattr(data, name)) < 1e-11, name
    assert data.act[0] == 0.32  # at its end


@pytest.mark.slow  # the adjoint compiles for a minute
def test_gradients_are_those_of_differences() -> None:
    flight, rng = Flight(), np.random.default_rng(5)
    sim = flight.sim
    with dt.Tape() as tape:
        flight.run(4)
    seeds = {name: rng.normal(size=getattr(sim, name).shape) for name in ("qpos", "qvel", "act")}
    tape.backward({getattr(sim, name): seed for name, seed in seeds.items()})
    for field in (sim.ctrl, sim.m.body_mass):
        given, found = field.to_numpy(), []
        along = rng.normal(size=given.shape) * np.maximum(np.abs(given), 0.1)
        for t in (1e-4, -1e-4, 2e-4, -2e-4):
            field.from_numpy(given + t * along)
            flight.run(4)
            found.append(
                sum((getattr(sim, k).to_numpy() * seed).sum() for k, seed in seeds.items())
            )
        field.from_numpy(given)
        wanted = (8 * (found[0] - found[1]) - (found[2] - found[3])) / 12e-4
        ours = float((field.grad.to_numpy() * along).sum())
        assert wanted and abs(ours - wanted) < 1e-8 * (1 + abs(wanted)), field.shape


@pytest.mark.parametrize("angle", [0.0, 0.01, 0.31, 0.32, 2.0, 3.0])
def test_rates_of_rotation_vectors_are_those_of_the_rotation(angle: float) -> None:
    rate, rng = module("difftile.worlds.runge_kutta").rotation_rate, np.random.default_rng(6)
    turn, spin, h = rng.normal(size=3), rng.normal(size=3), 1e-5
    turn *= angle / np.linalg.norm(turn)
    found = rate(*(filled([x], 3)[0] for x in (turn, spin)))

    def after(start: np.ndarray, more: np.ndarray, t: float) -> np.ndarray:
        q = np.eye(4)[0]
        mujoco.mju_quatIntegrate(q, start, 1.0)
        mujoco.mju_quatIntegrate(q, more, t)
        return q

    ends = [after(turn + t * found, np.zeros(3), 0.0) - after(turn, spin, t) for t in (h, -h)]
    assert np.abs(ends[0] - ends[1]).max() / (2 * h) < 1e-9
