"""Unknowns of a model by name: where their values stand, and gradients by them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds

pytest.importorskip("mujoco", reason="needs MuJoCo")

ARM = """<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <body name="arm">
      <joint name="hinge" axis="0 1 0" damping="0.1"/>
      <geom name="a" type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1" contype="0"/>
      <body name="hand" pos="0.4 0 0">
        <joint name="ball" type="ball" damping="0.2"/><geom size="0.1" mass="0.5" contype="0"/>
      </body>
    </body>
  </worldbody>
  <actuator><position name="motor" joint="hinge" kp="3"/></actuator>
</mujoco>"""
UNKNOWNS = ("body_mass['hand']", "dof_damping['hinge']", "body_ipos['arm'][0]", "gravity[2]")


@pytest.fixture(autouse=True)
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield
    dt.init(arch="cpu")


def test_entries_by_name() -> None:
    one = worlds.load(ARM)
    found = worlds.parameters(
        one,
        ("dof_damping['ball'][1]", "dof_damping['hinge']"),
        'body_mass["hand"]',
        "body_inertia[1]",
        "actuator_gainprm['motor'][0]",
        "timestep",
        dtype=ti.f64,
    )
    assert found.names == (
        "dof_damping['ball'][1]",
        'body_mass["hand"]',
        *(f"body_inertia[1][{k}]" for k in range(3)),
        "actuator_gainprm['motor'][0]",
        "timestep",
    )
    assert found.arrays == (
        *("dof_damping", "body_mass", "body_inertia", "actuator_gainprm", "timestep"),
    )
    wanted = [0.2, 0.5, *one.body_inertia[1], 3.0, 0.01]
    np.testing.assert_array_equal(found.values.to_numpy(), wanted)
    sim = worlds.Worlds(one, 2, dtype=ti.f64, per_world=("body_mass", "body_inertia", "timestep"))
    found.values.from_numpy(np.arange(1.0, 8.0))
    found.write(sim)
    np.testing.assert_array_equal(sim.m.dof_damping.to_numpy(), [1, 0.2, 1, 0.2])
    np.testing.assert_array_equal(sim.m.body_mass.to_numpy(), [[0, 1, 2]] * 2)
    np.testing.assert_array_equal(sim.m.body_inertia.to_numpy()[:, 1], [[3, 4, 5]] * 2)
    np.testing.assert_array_equal(sim.m.actuator_gainprm.to_numpy()[0], [6, *[0] * 8])
    np.testing.assert_array_equal(sim.m.timestep.to_numpy(), [7, 7])


WRONG = {
    "body_masss['arm']": "no array of numbers is called 'body_masss'",
    "jnt_type['ball']": "no array of numbers is called 'jnt_type'",
    "body_mass['leg']": "the model has no body 'leg'; it has 'world', 'arm', 'hand'",
    "body_mass": "names no element of 'body_mass'",
    "body_mass['hand'][1]": "'body_mass' has no ['hand'][1].",
    "body_mass[3]": "'body_mass' has no [3].",
    "gravity['z']": "'gravity' belongs to the whole model",
    "gravity[3]": "'gravity' has no [3].",
    "geom_friction['a'][3]": "'geom_friction' has no ['a'][3].",
    "dof_damping['ball'][3]": "'dof_damping' has no ['ball'][3].",
    "mass of the arm": "is no entry of an array: write",
}


@pytest.mark.parametrize("text", WRONG)
def test_texts_that_name_no_entry(text: str) -> None:
    with pytest.raises((KeyError, ValueError)) as caught:
        worlds.parameters(worlds.load(ARM), text)
    assert WRONG[text] in str(caught.value.args[0])


def test_groups_and_shapes_that_do_not_fit() -> None:
    one = worlds.load(ARM)
    with pytest.raises(ValueError, match="have different numbers of components"):
        worlds.parameters(one, ("body_mass['arm']", "body_inertia['arm']"))
    with pytest.raises(ValueError, match=r"\"body_mass\['arm'\]\" is named twice"):
        worlds.parameters(one, "body_mass[1]", "body_mass['arm']")
    sim, each = worlds.Worlds(one, 2), worlds.parameters(one, "body_mass['arm']", worlds=2)
    with pytest.raises(dt.FieldError, match="'body_mass' is shared by all worlds: Worlds"):
        each.write(sim)
    with pytest.raises(dt.FieldError, match=r"has the shape \(3,\); expected \(1,\), or \(2, 1\)"):
        each.write(sim, dt.zeros(3))


@dt.kernel
def judge(qpos, loss):
    for w, i in qpos:
        loss[None] += (1.0 + w) * ti.sin(qpos[w, i] + 0.3 * i)


@pytest.mark.parametrize("each", [False, True])
def test_gradients_are_those_of_differences(each: bool) -> None:
    one = worlds.load(ARM)
    found = worlds.parameters(one, *UNKNOWNS, dtype=ti.f64, worlds=2 if each else None)
    own = found.arrays if each else ("body_mass",)
    sim = worlds.Worlds(one, 2, dtype=ti.f64, grad=found.arrays, per_world=own)
    loss = dt.zeros((), ti.f64, grad=True)

    def value(values: Any = None) -> float:
        if values is not None:
            found.values.from_numpy(values)
        sim.reset()
        sim.qvel.fill(0.7)
        loss.fill(0.0)
        found.write(sim)
        sim.step(2)
        judge(sim.qpos, loss)
        return loss[None]

    start = found.values.to_numpy()
    with dt.Tape(loss):
        value()
    gradient = found.values.grad.to_numpy()
    for at in np.ndindex(start.shape):
        step = np.zeros_like(start)
        step[at] = 1e-4
        slope = (value(start + step) - value(start - step)) / 2e-4
        np.testing.assert_allclose(gradient[at], slope, 1e-6, 1e-10)
        assert gradient[at] != 0


def test_a_start_without_activations() -> None:
    sim = worlds.Worlds(worlds.load(ARM), 2)
    sim.reset(start=worlds.Start(dt.ones(5), dt.zeros(4)))
    assert sim.qpos.to_numpy().tolist() == [[1.0] * 5] * 2
