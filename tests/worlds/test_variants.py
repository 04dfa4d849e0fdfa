"""Models of one size, drawn at random, in one compiled step, compared with MuJoCo itself."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.conformance import DATA, NAMES, model, numbers
from tests.worlds.test_steps import error

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

WORLDS, STEPS = 4, 10
DRAWN = ("pos", "size", "mass", "density", "friction", "fromto", "range", "gear", "damping")
DRAWN += ("armature", "stiffness", "frictionloss", "solref", "timestep", "margin", "kp", "kv")
# Compiling takes most of the time.
NAMED = ["cartpole"]
NAMED += [pytest.param(n, marks=pytest.mark.slow) for n in ("double_pendulum", "hopper", "ant")]
NAMED += [pytest.param(n, marks=pytest.mark.slow) for n in ("box", "box_soft", "chain")]


def variant(name: str, rng: np.random.Generator) -> str:
    """Return a model of the reference with other numbers and the same sizes."""

    def drawn(found: re.Match[str]) -> str:
        values = np.array(found[2].split(), float)
        values *= np.exp(rng.normal(0, 0.15, values.shape))
        return f'{found[1]}="{" ".join(f"{x:.9g}" for x in values)}"'

    text = (DATA / f"{name}.xml").read_text(encoding="utf-8")
    return re.sub(rf'\b({"|".join(DRAWN)})="([-+.e\d ]+)"', drawn, text)


def states(compiled: Any, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return coordinates, velocities and controls of some worlds."""
    qpos = np.tile(compiled.qpos0, (WORLDS, 1))
    for one in qpos:
        mujoco.mj_integratePos(compiled, one, rng.normal(0, 0.3, compiled.nv), 1.0)
    qvel = rng.normal(0, 1, (WORLDS, compiled.nv))
    return qpos, qvel, rng.normal(0, 1, (WORLDS, compiled.nu))


@pytest.mark.parametrize("name", NAMED)
def test_one_compiled_step_serves_all_models_of_its_sizes(name: str) -> None:
    """Each of which takes ten steps as in MuJoCo, and kernels are compiled once."""
    worst, counts = 0.0, set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        compiled = mujoco.MjModel.from_xml_string(variant(name, rng))
        sim = worlds.Worlds(worlds.load(compiled), WORLDS, dtype=ti.f64)
        qpos, qvel, ctrl = states(compiled, rng)
        sim.qpos.from_numpy(qpos)
        sim.qvel.from_numpy(qvel)
        if compiled.nu:
            sim.ctrl.from_numpy(ctrl)
        sim.step(substeps=STEPS)
        found = sim.qpos.to_numpy(), sim.qvel.to_numpy()
        for w in range(WORLDS):
            data = mujoco.MjData(compiled)
            data.qpos[:], data.qvel[:], data.ctrl[:] = qpos[w], qvel[w], ctrl[w]
            mujoco.mj_step(compiled, data, STEPS)
            worst = max(worst, error(found[0][w], data.qpos), error(found[1][w], data.qvel))
        counts.add(sim.model.sizes)
    assert len(counts) == 1
    assert worst < 1e-8, worst


def slopes(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return derivatives along a direction in velocities, of each world, and their errors.

    The errors are relative to differences, and NaN where those disagree: kinks of contacts.
    """
    rng = np.random.default_rng(seed)
    compiled = mujoco.MjModel.from_xml_string(variant(name, rng))
    sim = worlds.Worlds(worlds.load(compiled), WORLDS, dtype=ti.f64)
    qpos, qvel, _ = states(compiled, rng)
    wq, wv, along = (rng.standard_normal(x.shape) for x in (qpos, qvel, qvel))
    first = dt.from_numpy(qvel, grad=True)

    def run() -> None:
        sim.qacc.fill(0.0)
        sim.qpos.from_numpy(qpos)
        sim.qvel.copy_from(first)
        sim.step(substeps=STEPS)

    def slope(h: float) -> np.ndarray:
        found = []
        for t in (h, -h):
            first.from_numpy(qvel + t * along)
            run()
            found.append((wq * sim.qpos.to_numpy()).sum(1) + (wv * sim.qvel.to_numpy()).sum(1))
        return (found[0] - found[1]) / (2 * h)

    with dt.Tape() as tape:
        run()
    tape.backward({sim.qpos: wq, sim.qvel: wv})
    ours = (first.grad.to_numpy() * along).sum(1)
    by_step = [slope(h) for h in (1e-4, 2e-4, 4e-4)]
    fine, coarse = ((4 * a - b) / 3 for a, b in itertools.pairwise(by_step))
    scale = 1 + np.abs(fine)
    smooth = np.abs(fine - coarse) < 1e-6 * scale
    return ours, np.where(smooth, np.abs(ours - fine) / scale, np.nan)


@pytest.mark.slow  # compiles the adjoint for each, and runs hundreds of rollouts
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:A gradient passes contacts")  # box, on purpose
def test_gradients_of_variants_are_those_of_differences(name: str) -> None:
    found = [slopes(name, 100 + seed) for seed in range(20)]
    errors = np.array([errors for _, errors in found])
    assert np.isfinite(np.array([ours for ours, _ in found])).all()
    assert np.isfinite(errors).sum() > 20
    assert np.nanmax(errors) < 1e-6


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.filterwarnings("ignore:A gradient passes contacts")
def test_gradcheck_of_one_step(name: str) -> None:
    given = numbers()[name]["states"]
    sim = worlds.Worlds(model(name), len(given), dtype=ti.f64)
    # Moved, since models rest where rows have kinks.
    rng = np.random.default_rng(6)
    qpos, qvel = (np.array([state[key] for state in given]) for key in ("qpos", "qvel"))
    qvel += 0.1 * rng.standard_normal(qvel.shape)
    ctrl = 0.3 * rng.standard_normal(sim.ctrl.shape)

    def step(qpos: Any, qvel: Any, ctrl: Any) -> Any:
        sim.qacc.fill(0.0)
        for field, values in ((sim.qpos, qpos), (sim.qvel, qvel), (sim.ctrl, ctrl)):
            if field.shape[1]:
                field.copy_from(values)
        sim.step()
        return sim.qpos, sim.qvel

    inputs = [dt.from_numpy(values, grad=True) for values in (qpos, qvel, ctrl)]
    assert dt.gradcheck(step, tuple(inputs))
