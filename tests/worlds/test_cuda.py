"""Worlds on CUDA: the numbers of MuJoCo in both float types, and runs that repeat bit for bit.

`pytest -m gpu tests/worlds` runs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.bounds import check_gradients, check_starts, check_states
from tests.worlds.conformance import NAMES, model
from tests.worlds.test_gradients import Rollout

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]

ROBOTS = ("hopper", "ant")  # of which gradients are compared
KINDS = {"f64": ti.f64, "f32": ti.f32}
MANY = 1000  # worlds; no multiple of a warp


@pytest.fixture(scope="module")
def cuda() -> Iterator[None]:
    """Start difftile on CUDA, and on the CPU again for the tests that follow."""
    try:
        dt.init(arch="cuda")
    except dt.FieldError as error:
        dt.init(arch="cpu")
        pytest.skip(f"no CUDA device: {error}")
    yield
    dt.init(arch="cpu")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_states_on_cuda(name: str, kind: str) -> None:
    rollout = Rollout(name, KINDS[kind])
    check_states(rollout, 100 if kind == "f64" else 10)
    check_starts(rollout)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ROBOTS)
def test_gradients_on_cuda(name: str, kind: str) -> None:
    rollout = Rollout(name, KINDS[kind])
    first = check_gradients(rollout, "gradient")
    check_gradients(rollout, "gradient_long")
    steps = rollout.states[0]["gradient"]["steps"]
    again, within = rollout.gradient(steps), rollout.gradient(steps, rollout.kept // 4)
    for runs in zip(first, again, within, strict=True):
        for key, values in runs[0].items():
            np.testing.assert_array_equal(runs[1][key], values, key)
            np.testing.assert_array_equal(runs[2][key], values, key)


@pytest.mark.parametrize("name", ROBOTS)
def test_runs_on_cuda_repeat_bit_for_bit(name: str) -> None:
    """Of many worlds, whose shared masses have a gradient that is a sum over them."""
    reference = Rollout(name, ti.f32)
    sim = worlds.Worlds(model(name), MANY, dtype=ti.f32, grad="body_mass")
    states = [f.to_numpy()[np.arange(MANY) % 3] for f in reference.first]
    states[1] *= np.linspace(0.5, 1.0, MANY, dtype=np.float32)[:, None]
    sim.ctrl.fill(0.1)

    def run() -> list[Any]:
        sim.qpos.from_numpy(states[0])
        sim.qvel.from_numpy(states[1])
        sim.qacc.fill(0.0)
        sim.m.body_mass.grad.fill(0.0)
        with dt.Tape() as tape:
            for _ in range(8):
                sim.step()
        tape.backward({sim.qvel: np.ones(sim.qvel.shape, np.float32)})
        found = {"qpos": sim.qpos, "qvel": sim.qvel, "gradient": sim.m.body_mass.grad}
        return [(name, field.to_numpy()) for name, field in found.items()]

    first, second = run(), run()
    for (name, one), (_, other) in zip(first, second, strict=True):
        assert np.isfinite(one).all() and one.any()
        np.testing.assert_array_equal(one, other, name)
