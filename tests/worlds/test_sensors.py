"""Sensors of accelerations and contact forces: readings beside MuJoCo, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.beside_mujoco import filled
from tests.worlds.plain import module
from tests.worlds.test_steps import error
from tests.worlds.whole import ours, theirs

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

# A leg with a sensor of each kind, whose foot presses into the floor.
LEG = """<mujoco><option jacobian="dense" cone="elliptic" tolerance="1e-15" timestep="0.004"/>
  <default><geom solimp="0 0.95 0.05"/></default>
  <worldbody><geom name="floor" type="plane" size="5 5 1" margin="0.01"/>
    <body pos="0 0 0.5"><joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/>
      <geom type="sphere" size="0.1" mass="3"/><site name="hip" pos="0.05 0 0.02"/>
      <body pos="0 0 -0.1"><joint name="knee" axis="0 1 0.2" damping="0.1" range="-1 1"/>
        <geom type="capsule" fromto="0 0 0 0.05 0 -0.3" size="0.05"/>
        <site name="foot" pos="0.05 0 -0.3" size="0.08"/><site name="shin" pos="0.02 0 -0.1"/>
      </body></body></worldbody>
  <actuator><motor joint="knee" gear="3"/></actuator>
  <sensor><touch site="foot"/><touch site="hip"/><accelerometer site="hip"/><force site="shin"/>
    <torque site="shin"/><framepos objtype="site" objname="foot"/></sensor></mujoco>"""
STATES = np.array(
    [
        [-0.11, 0.0, 0.1, -0.4, 0.3, 0.5],  # on the floor
        [0.3, 0.1, 1.05, 0.2, 0.1, 1.0],  # in the air, the knee at its end
    ]
)


def sensing(**options: Any) -> worlds.Worlds:
    """Return a world in each of the states, which are pushed."""
    sim = worlds.Worlds(worlds.load(LEG), len(STATES), dtype=ti.f64, **options)
    sim.qpos.from_numpy(np.ascontiguousarray(STATES[:, :3]))
    sim.qvel.from_numpy(np.ascontiguousarray(STATES[:, 3:]))
    rng = np.random.default_rng(1)
    for one in (sim.ctrl, sim.qfrc_applied, sim.xfrc_applied):
        one.from_numpy(rng.normal(0, 1, one.shape))
    return sim


def test_readings_are_those_of_mujoco_in_the_present_state() -> None:
    sim = sensing()
    sim.qacc.fill(7.0)
    sim.sense()
    assert (sim.qacc.to_numpy() == 7.0).all()  # the next step begins as it would have
    source = mujoco.MjModel.from_xml_string(LEG)
    data, touched = mujoco.MjData(source), 0
    for k in range(len(STATES)):
        data.qpos[:], data.qvel[:] = STATES[k, :3], STATES[k, 3:]
        data.ctrl[:], data.qfrc_applied[:] = sim.ctrl.to_numpy()[k], sim.qfrc_applied.to_numpy()[k]
        data.xfrc_applied[:] = sim.xfrc_applied.to_numpy()[k].reshape(-1, 6)
        data.qacc_warmstart[:] = 0
        mujoco.mj_forward(source, data)
        assert error(sim.sensordata.to_numpy()[k], data.sensordata) < 1e-8
        touched += data.sensordata[0] > 1
    assert touched == 1


@pytest.mark.slow  # the adjoint compiles for a minute
def test_gradients_of_readings_are_those_of_differences() -> None:
    parameters = ("body_mass", "geom_friction", "dof_damping", "site_pos", "geom_solref")
    sim, rng = sensing(grad=parameters), np.random.default_rng(2)
    seed = rng.normal(size=sim.sensordata.shape)
    with dt.Tape() as tape:
        sim.sense()
    tape.backward({sim.sensordata: seed})
    inputs = {name: getattr(sim, name) for name in ("qpos", "qvel", "ctrl")}
    inputs |= {name: getattr(sim, f"{name}_applied") for name in ("qfrc", "xfrc")}
    inputs |= {name: getattr(sim.m, name) for name in parameters}
    for name, field in inputs.items():
        first, along = field.to_numpy(), rng.normal(size=field.to_numpy().shape)
        slopes = []
        for t in (1e-4, -1e-4, 2e-4, -2e-4):
            field.from_numpy(first + t * along * np.maximum(np.abs(first), 0.1))
            sim.sense()
            slopes.append(float((sim.sensordata.to_numpy() * seed).sum()))
        field.from_numpy(first)
        wanted = (8 * (slopes[0] - slopes[1]) - (slopes[2] - slopes[3])) / 12e-4
        gradient = field.grad.to_numpy() * np.maximum(np.abs(first), 0.1)
        assert wanted != 0
        assert abs((gradient * along).sum() - wanted) < 1e-7 * (1 + abs(wanted)), name


@pytest.mark.parametrize("kind", ["sphere", "capsule", "ellipsoid", "cylinder", "box"])
def test_rays_meet_zones_as_in_mujoco(kind: str) -> None:
    meets, rng = module("difftile.worlds.zones").meets, np.random.default_rng(0)
    shape = int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}"))
    hits = 0
    for _ in range(400):
        size, p, u = rng.uniform(0.05, 0.4, 3), rng.normal(0, 0.3, 3), rng.normal(size=3)
        u = np.eye(3)[rng.integers(3)] * np.sign(u[0]) if rng.random() < 0.2 else u
        u /= np.linalg.norm(u)
        theirs = mujoco.mju_rayGeom(np.zeros(3), np.eye(3).ravel(), size, p, u, shape) >= 0
        ours = meets(shape, *(filled([x], 3)[0] for x in (size, p, u)))
        assert bool(ours) == theirs, (size, p, u)
        hits += theirs
    assert 40 < hits < 360


# Bodies without joints of their own, on a base that does not move, flies, or turns about an axis
# through their centres of mass.
TREE = """<mujoco><option jacobian="{jacobian}" tolerance="1e-15"/><worldbody>
  <body name="a" pos="0.1 0 0.2">{base}<geom size="0.1" mass="1" contype="0"/><site name="a"/>
    <body name="b" {b}><geom size="0.1" mass="2" contype="0"/><site name="b" pos="0.1 0.2 0"/>
      <body name="c" {c}><geom size="0.1" mass="3" contype="0"/><site name="c"/></body></body>
  </body>
  <body pos="3 0 0"><joint axis="0 1 0"/><geom fromto="0 0 0 0.2 0 0" type="capsule" size="0.1"
    contype="0"/></body></worldbody><equality>{equality}</equality>
  <sensor><torque site="a"/><force site="a"/><torque site="b"/><force site="b"/><torque site="c"/>
    <force site="c"/><accelerometer site="c"/></sensor></mujoco>"""
BASES = {"at rest": "", "free": "<freejoint/>", "turning": '<joint axis="0 0 1" damping="0.1"/>'}


@pytest.mark.parametrize("base", BASES)
def test_sensors_do_not_feel_equalities_between_bodies_that_cannot_part(base: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(12):
        places = rng.normal(0, 0.3, (3, 3)) * ([0, 0, 1] if base == "turning" else 1)
        b, c = (f'pos="{x} {y} {z}" euler="0 0 {20 * z}"' for x, y, z in places[:2])
        one, other = rng.choice(["a", "b", "c"] + ["world"] * (base == "at rest"), 2, replace=False)
        ends = f'body1="{one}" body2="{other}"'
        at = " ".join(f"{x:.4g}" for x in places[2])
        equality = rng.choice(
            [f'<connect {ends} anchor="{at}"/>', f"<weld {ends}/>"]
            + [f'<weld {ends} relpose="{at} 1 0.2 0 0"/>'] * (base == "at rest")
        )
        jacobian = rng.choice(["dense", "sparse"])
        given = {"base": BASES[base], "b": b, "c": c, "equality": equality, "jacobian": jacobian}
        text = TREE.format(**given)
        source = mujoco.MjModel.from_xml_string(text)
        qpos = source.qpos0.copy()
        mujoco.mj_integratePos(source, qpos, rng.normal(size=source.nv), 1.0)
        state = qpos, rng.normal(size=source.nv), []
        without = mujoco.MjModel.from_xml_string(TREE.format(**given | {"equality": ""}))
        for found, wanted in zip(
            ours(worlds.load(text), state), theirs(mujoco, without, state), strict=True
        ):
            assert error(found, wanted) < 1e-9, equality
        for found, wanted in zip(
            ours(worlds.load(text), state), theirs(mujoco, source, state), strict=True
        ):
            assert error(found, wanted) < 1e-9 or base == "turning", equality
