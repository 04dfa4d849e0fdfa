"""Rollouts, readings and gradients of models of one feature each, beside MuJoCo's own steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.features import FEATURES
from tests.worlds.test_steps import error

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")
mujoco.set_mju_user_warning(lambda text: None)

STEPS = 20


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    """Run steps by their meaning: a feature takes seconds, where a compiler takes a minute."""
    dt.init(arch="python")
    yield


class Peer:
    """A rollout of MuJoCo, as a function of its first state and its controls.

    Args:
        text: The model.
        seed: Of the first state and the weights.
    """

    def __init__(self, text: str, seed: int) -> None:
        self.model, rng = mujoco.MjModel.from_xml_string(text), np.random.default_rng(seed)
        model = self.model
        self.data, qpos = mujoco.MjData(model), model.qpos0.copy()
        mujoco.mj_integratePos(model, qpos, rng.normal(0, 0.1, model.nv), 1.0)
        self.first = {"qpos": qpos, "qvel": rng.normal(0, 0.5, model.nv)}
        self.first |= {"ctrl": rng.uniform(0.1, 0.6, model.nu), "act": rng.random(model.na)}
        self.weights = [rng.normal(size=n) for n in (model.nv, model.nq, model.nsensordata)]

    def run(self, **changed: np.ndarray) -> list[np.ndarray]:
        """Return velocities, coordinates and readings after the steps."""
        data = self.data
        mujoco.mj_resetData(self.model, data)
        for name, values in (self.first | changed).items():
            getattr(data, name)[:] = values
        for _ in range(STEPS):
            mujoco.mj_step(self.model, data)
        mujoco.mj_forward(self.model, data)
        return [data.qvel.copy(), data.qpos.copy(), data.sensordata.copy()]

    def slope(self, name: str, along: np.ndarray) -> float:
        """Return the derivative of the weighted results, along a direction of tangents."""
        found = []
        for t in (1e-4, -1e-4, 2e-4, -2e-4):
            values = self.first[name].copy()
            if name == "qpos":
                mujoco.mj_integratePos(self.model, values, t * along, 1.0)
            else:
                values += t * along
            results = self.run(**{name: values})
            found.append(sum(w @ x for w, x in zip(self.weights, results, strict=True)))
        return (8 * (found[0] - found[1]) - (found[2] - found[3])) / 12e-4


@pytest.mark.parametrize("name", FEATURES)
def test_rollouts_readings_and_gradients_are_those_of_mujoco(name: str) -> None:
    peer, rng = Peer(FEATURES[name], 0), np.random.default_rng(1)
    sim = worlds.Worlds(worlds.load(peer.model), 1, dtype=ti.f64)
    for field, values in peer.first.items():
        getattr(sim, field).from_numpy(values[None])
    with dt.Tape() as tape:
        sim.step(STEPS)
        sim.sense()
    results = sim.qvel, sim.qpos, sim.sensordata
    wanted = peer.run()
    for found, theirs in zip(results, wanted, strict=True):
        assert error(found.to_numpy()[0], theirs) < 1e-9
    seeds = zip(results, peer.weights, strict=True)
    tape.backward({field: weight[None] for field, weight in seeds if weight.size})
    for field in (key for key, values in peer.first.items() if values.size):
        along = rng.normal(size=peer.model.nv if field == "qpos" else peer.first[field].size)
        slope, bar = peer.slope(field, along), getattr(sim, field).grad.to_numpy()[0]
        if field == "qpos":  # the tangent of a quaternion, by its place on the sphere
            moved = [peer.first["qpos"].copy() for _ in range(2)]
            for values, t in zip(moved, (1e-6, -1e-6), strict=True):
                mujoco.mj_integratePos(peer.model, values, t * along, 1.0)
            along = (moved[0] - moved[1]) / 2e-6
        assert slope != 0
        assert abs(bar @ along - slope) < 1e-7 * (1 + abs(slope)), field
