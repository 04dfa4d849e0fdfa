"""Sensors of the distance of geoms: beside MuJoCo, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.test_steps import error
from tests.worlds.whole import ours, theirs

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

HAND = """<mujoco><option ccd_tolerance="1e-13"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody><geom name="floor" type="plane" size="1 1 1" pos="0 0 -0.5" zaxis="0.1 0 1"/>
    <body name="tray" pos="0.5 0 0"><geom type="box" size="0.1 0.2 0.02" euler="10 20 0"/>
      <geom name="cup" type="capsule" size="0.04 0.1" pos="0 0.1 0.1"/></body>
    <body name="arm"><joint axis="0 1 0.2"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
      <body name="hand" pos="0.3 0 0"><joint type="ball"/>
        <geom name="tip" size="0.05"/><geom type="box" size="0.06 0.03 0.02" pos="0.1 0 0"/></body>
    </body>
  </worldbody>
  <sensor><distance body1="hand" body2="tray" cutoff="1"/>
    <normal body1="tray" body2="hand" cutoff="2"/>
    <fromto geom1="tip" geom2="cup" cutoff="3"/><distance geom1="tip" geom2="floor" cutoff="2"/>
    <distance geom1="tip" geom2="cup"/><fromto geom1="tip" geom2="cup" cutoff="0.01"/>
    <distance body1="arm" body2="world" cutoff="0.7"/><normal geom1="tip" geom2="floor" cutoff="5"/>
  </sensor></mujoco>"""


@pytest.mark.parametrize("seed", range(6))
def test_distances_of_geoms_and_of_bodies(seed: int) -> None:
    source = mujoco.MjModel.from_xml_string(HAND)
    rng = np.random.default_rng(seed)
    state = source.qpos0 + rng.normal(0, 0.4, source.nq), rng.normal(size=source.nv), []
    found, wanted = ours(worlds.load(source), state)[1], theirs(mujoco, source, state)[1]
    assert error(found, wanted) < 1e-10
    assert np.abs(wanted[source.sensor_adr[5] :][:6]).max() == 0.0  # beyond the cutoff


@pytest.mark.slow  # two searches, and their adjoint, compile for a minute
def test_gradients_of_distances() -> None:
    sim = worlds.Worlds(worlds.load(HAND), 1, dtype=ti.f64, grad="geom_size")
    rng = np.random.default_rng(1)
    qpos = sim.model.qpos0 + rng.normal(0, 0.3, sim.model.sizes.nq)
    seed = rng.normal(size=sim.sensordata.shape)
    sizes = sim.m.geom_size.to_numpy()

    def read() -> float:
        sim.sense()
        return float((sim.sensordata.to_numpy() * seed).sum())

    sim.qpos.from_numpy(qpos[None])
    with dt.Tape() as tape:
        sim.sense()
    tape.backward({sim.sensordata: seed})
    for field, values in ((sim.qpos, qpos[None]), (sim.m.geom_size, sizes)):
        along, found = rng.normal(size=values.shape), []
        ours_ = float((field.grad.to_numpy() * along).sum())
        for t in (1e-5, -1e-5, 2e-5, -2e-5):
            field.from_numpy(values + t * along)
            found.append(read())
        field.from_numpy(values)
        slope = (8 * (found[0] - found[1]) - (found[2] - found[3])) / 12e-5
        assert slope and abs(ours_ - slope) < 1e-7 * (1 + abs(slope))
