"""Many worlds at once, beside the numbers of MuJoCo and beside worlds by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile import worlds
from tests.worlds.conformance import model, numbers
from tests.worlds.test_steps import error

ROBOT = "hopper"


@pytest.fixture
def sim() -> Any:
    """Return a world for each state of the reference, each of which has its own masses."""
    return worlds.Worlds(model(ROBOT), 3, dtype=ti.f64, per_world="body_mass")


def put(sim: Any, states: list[dict[str, Any]]) -> None:
    for name in ("qpos", "qvel"):
        getattr(sim, name).from_numpy(np.array([one[name] for one in states]))


def test_states_after_steps_are_those_of_mujoco(sim: Any) -> None:
    states = numbers()[ROBOT]["states"]
    put(sim, states)
    for t in range(10):
        sim.ctrl.from_numpy(np.array([one["ctrl"][t] for one in states]))
        sim.step()
        for k, one in enumerate(states):
            if wanted := one["after"].get(str(t + 1)):
                bound = 1e-9 if t == 0 else 1e-8
                assert error(sim.qpos.to_numpy()[k], wanted["qpos"]) < bound
                assert error(sim.qvel.to_numpy()[k], wanted["qvel"]) < bound


def test_masses_of_each_world_are_its_own(sim: Any) -> None:
    """A heavier world moves as one of a model that is heavier."""
    state = numbers()[ROBOT]["states"][1]
    masses = np.outer([1.0, 1.5, 1.0], model(ROBOT).body_mass)
    sim.m.body_mass.from_numpy(masses)
    put(sim, [state] * 3)
    for _ in range(3):
        sim.step()
    arrays = {**model(ROBOT).arrays, "body_mass": masses[1]}
    heavier = worlds.Model({**numbers()[ROBOT]["arrays"], **arrays})
    alone = worlds.Worlds(heavier, 1, dtype=ti.f64, per_world="body_mass")
    put(alone, [state])
    for _ in range(3):
        alone.step()
    found = sim.qpos.to_numpy()
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_allclose(found[1], alone.qpos.to_numpy()[0], rtol=0, atol=1e-13)
    assert np.abs(found[1] - found[0]).max() > 1e-6


def test_worlds_that_are_done_start_again(sim: Any) -> None:
    put(sim, numbers()[ROBOT]["states"])
    before = sim.qpos.to_numpy()
    done = dt.from_numpy(np.array([0, 1, 0], np.int32))
    sim.reset(done)
    after = sim.qpos.to_numpy()
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])
    np.testing.assert_array_equal(after[1], model(ROBOT).qpos0)
    assert not sim.qvel.to_numpy()[1].any()


def test_sensors_and_frames_of_worlds() -> None:
    name = "double_pendulum"
    sim = worlds.Worlds(model(name), 3, dtype=ti.f64)
    put(sim, numbers()[name]["states"])
    sim.sense()
    terms = [one["terms"] for one in numbers()[name]["states"]]
    assert error(sim.sensordata.to_numpy(), [one["sensordata"] for one in terms]) < 1e-12
    assert error(sim.xpos.to_numpy(), [one["xpos"] for one in terms]) < 1e-12
    assert error(sim.xquat.to_numpy(), [one["xquat"] for one in terms]) < 1e-12


def test_a_model_without_joints_is_refused() -> None:
    arrays = {**model("box").arrays, **{n: np.array(0) for n in ("nq", "nv", "nu", "na", "njnt")}}
    arrays |= {"nbody": 2, "ngeom": 2, "nsite": 0, "body_jntnum": np.zeros(2, int)}
    empty = [key for key in arrays if key.startswith(("jnt_", "dof_", "qpos"))]
    still = worlds.Model({key: value for key, value in arrays.items() if key not in empty})
    with pytest.raises(dt.FieldError, match="has no joints"):
        worlds.Worlds(still, 2)


def test_smooth_contact_is_another_model_near_the_limits_of_joints() -> None:
    states = numbers()["cartpole"]["states"]
    sims = [
        worlds.Worlds(model("cartpole"), 3, dtype=ti.f64, contact=c) for c in ("model", "smooth")
    ]
    for sim in sims:
        put(sim, states)
        sim.qpos[1, 0] = 0.36  # beyond the end of the rail
        sim.step()
    exact, smooth = (sim.qvel.to_numpy() for sim in sims)
    assert 0 < np.abs(exact[1] - smooth[1]).max() < 0.1 * np.abs(exact[1]).max()
    with pytest.raises(dt.FieldError, match="not 'soft'"):
        worlds.Worlds(model("cartpole"), 2, contact="soft")
