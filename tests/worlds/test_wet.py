"""A fluid under the implicit integrators: steps beside MuJoCo, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.test_steps import error
from tests.worlds.whole import ours, theirs

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

ELLIPSOID = 'fluidshape="ellipsoid"'
FIN = f'<body pos="0.1 0 0"><geom type="ellipsoid" size=".05 .1 .02" {ELLIPSOID}/></body>'
# A body on its own, with a fin in the last case, and one that turns about the world.
CASES = {"box": ("", ""), "ellipsoid": (ELLIPSOID, ""), "fin": (ELLIPSOID, FIN)}
BOUND = 1e-7


def model(case: str, integrator: str) -> Any:
    """Return bodies in a wind."""
    shape, fin = CASES[case]
    return mujoco.MjModel.from_xml_string(f"""<mujoco>
      <option density="200" viscosity="0.5" wind="1 0.3 0" integrator="{integrator}"
        timestep="0.01"/>
      <default><geom contype="0" conaffinity="0"/></default>
      <worldbody><body><freejoint/>
          <geom type="ellipsoid" size=".1 .2 .05" pos="0.05 0 0" {shape}/>{fin}</body>
        <body pos="1 0 0"><joint type="ball"/>
          <geom type="ellipsoid" size=".1 .2 .05" pos="0.3 0 0" {shape}/>
          <body pos="0.5 0 0"><joint axis="0 1 0"/>
            <geom type="box" size="0.1 0.02 0.05" pos="0.1 0 0" {shape}/></body></body>
      </worldbody></mujoco>""")


def start(source: Any, seed: int) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Return a state."""
    rng = np.random.default_rng(seed)
    qpos = source.qpos0 + rng.normal(0, 0.3, source.nq)
    for at in (3, 7):
        qpos[at : at + 4] /= np.linalg.norm(qpos[at : at + 4])
    return qpos, rng.normal(0, 2, source.nv), []


@pytest.mark.parametrize("integrator", ["implicitfast", "implicit"])
@pytest.mark.parametrize("case", CASES)
def test_steps_in_a_fluid(case: str, integrator: str) -> None:
    source = model(case, integrator)
    state = start(source, 1)
    both = ours(worlds.load(source), state), theirs(mujoco, source, state)
    for found, wanted in zip(*both, strict=True):
        assert error(found, wanted) < 1e-10


@pytest.mark.slow  # the adjoint of the derivative of a fluid compiles for minutes
@pytest.mark.parametrize("integrator", ["implicitfast", "implicit"])
def test_gradients_in_a_fluid(integrator: str) -> None:
    source = model("ellipsoid", integrator)
    parameters = ("density", "viscosity", "geom_size", "wind")
    sim = worlds.Worlds(worlds.load(source), 1, dtype=ti.f64, grad=parameters)
    qpos, qvel, _ = start(source, 2)
    rng = np.random.default_rng(3)
    seed = rng.normal(size=sim.qvel.shape)

    def run(steps: int) -> None:
        sim.reset()
        sim.qpos.from_numpy(qpos[None])
        sim.qvel.from_numpy(qvel[None])
        for _ in range(steps):
            sim.step()

    run(50)
    data = mujoco.MjData(source)
    data.qpos[:], data.qvel[:] = qpos, qvel
    for _ in range(50):
        mujoco.mj_step(source, data)
    assert error(sim.qpos.to_numpy()[0], data.qpos) < 1e-11
    sim.reset()
    first = [dt.from_numpy(one[None], grad=True) for one in (qpos, qvel)]
    with dt.Tape() as tape:
        sim.qpos.copy_from(first[0])
        sim.qvel.copy_from(first[1])
        for _ in range(20):
            sim.step()
    tape.backward({sim.qvel: seed})
    given = {"qvel": (first[1], qvel)}
    given |= {name: (getattr(sim.m, name),) * 2 for name in parameters}
    for name, (field, values) in given.items():
        before = np.array(field.to_numpy())
        along, found = rng.normal(size=before.shape) * (np.abs(before) + 0.1), []
        slope = float((field.grad.to_numpy() * along).sum())
        for t in (1e-4, -1e-4, 2e-4, -2e-4):
            if name == "qvel":
                qvel = (before + t * along)[0]
            else:
                field.from_numpy(before + t * along)
            run(20)
            found.append(float((sim.qvel.to_numpy() * seed).sum()))
        if name == "qvel":
            qvel = values
        else:
            field.from_numpy(before)
        wanted = (8 * (found[0] - found[1]) - (found[2] - found[3])) / 12e-4
        assert wanted and abs(slope - wanted) < BOUND * (1 + abs(wanted)), name
