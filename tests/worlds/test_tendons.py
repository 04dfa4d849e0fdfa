"""Fixed tendons: rollouts beside MuJoCo, and their gradients."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds import plain
from tests.worlds.plain import Local
from tests.worlds.test_steps import error
from tests.worlds.test_terms import full, state_of
from tests.worlds.whole import ours, theirs

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

# A finger of two links that one motor bends, and a thumb that the same string pulls.
FINGER = """<mujoco><option jacobian="dense" timestep="0.005" integrator="implicitfast"/>
  <default><geom type="capsule" size="0.02" contype="0" conaffinity="0"/></default>
  <worldbody>
    <body><joint name="base" axis="0 1 0"/><geom fromto="0 0 0 0.2 0 0"/>
      <body pos="0.2 0 0"><joint name="tip" axis="0 1 0"/><geom fromto="0 0 0 0.15 0 0"/></body>
    </body>
    <body pos="0 0.3 0"><joint name="thumb" axis="1 0 1"/><geom fromto="0 0 0 0.2 0 0"/></body>
  </worldbody>
  <tendon>
    <fixed name="flexor" stiffness="0.5" damping="0.05" springlength="-0.1 0.2">
      <joint joint="base" coef="0.8"/><joint joint="tip" coef="-0.6"/>
      <joint joint="thumb" coef="0.3"/></fixed>
    <fixed name="band" stiffness="0.2"><joint joint="thumb" coef="1"/></fixed>
  </tendon>
  <actuator><position tendon="flexor" kp="2" kv="0.1" gear="1.3"/><motor joint="tip"/></actuator>
  </mujoco>"""


@pytest.mark.slow  # the adjoint compiles for a minute
def test_rollouts_and_gradients() -> None:
    parameters = ("wrap_prm", "tendon_stiffness", "tendon_damping", "tendon_lengthspring")
    sim = worlds.Worlds(worlds.load(FINGER), 1, dtype=ti.f64, grad=parameters)
    source = mujoco.MjModel.from_xml_string(FINGER)
    data, rng = mujoco.MjData(source), np.random.default_rng(3)
    first = rng.normal(0, 0.3, (2, 1, source.nv))
    sim.ctrl.from_numpy(np.array([[0.4, 0.1]]))

    def run(steps: int) -> None:
        sim.reset()
        sim.qpos.from_numpy(first[0])
        sim.qvel.from_numpy(first[1])
        for _ in range(steps):
            sim.step()

    run(50)
    data.qpos[:], data.qvel[:], data.ctrl[:] = first[0, 0], first[1, 0], [0.4, 0.1]
    for _ in range(50):
        mujoco.mj_step(source, data)
    assert error(sim.qpos.to_numpy()[0], data.qpos) < 1e-11
    with dt.Tape() as tape:
        run(10)
    seed = rng.normal(size=sim.qvel.shape)
    tape.backward({sim.qvel: seed})
    for field in (sim.ctrl, *(getattr(sim.m, name) for name in parameters)):
        given, found = field.to_numpy(), []
        along = rng.normal(size=given.shape)
        if field is sim.m.tendon_lengthspring:  # the ends of a range at one place stay together
            along[:] = along[:, :1]
        for t in (1e-4, -1e-4, 2e-4, -2e-4):
            field.from_numpy(given + t * along)
            run(10)
            found.append(float((sim.qvel.to_numpy() * seed).sum()))
        field.from_numpy(given)
        wanted = (8 * (found[0] - found[1]) - (found[2] - found[3])) / 12e-4
        ours = float((field.grad.to_numpy() * along).sum())
        assert wanted and abs(ours - wanted) < 1e-8 * (1 + abs(wanted)), field.shape


def test_the_implicit_part_is_the_same_in_both_directions() -> None:
    """Of the string: links on different branches are not coupled, neither in a step nor back."""
    one = worlds.load(FINGER)
    rng, nv = np.random.default_rng(1), one.sizes.nv
    state = state_of(one, {"qpos": rng.normal(size=nv), "qvel": rng.normal(size=nv)})
    state["total"][:] = 0.0
    found = plain.terms(one, state)
    across = full(found["M_hat"])[2, :2]
    np.testing.assert_array_equal(across, full(found["M"])[2, :2])
    forms = plain.module("tests.worlds.smooth").Forms(one.sizes)
    along, b = rng.normal(size=(2, nv))
    out = SimpleNamespace(solved=Local(nv), transposed=Local(nv))
    excess = forms.forms(plain.parameters(one), SimpleNamespace(**state), along, b, out)
    wanted = along @ ((full(found["M_hat"]) - full(found["M"])) @ b)
    assert abs(wanted) > 1e-5
    np.testing.assert_allclose(excess, wanted, rtol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_more_tendons_than_joints(seed: int) -> None:
    """The index of a tendon is none of a joint, and an actuator may pull any of them."""
    rng, said = np.random.default_rng(seed), ""
    joints = [f"j{k}" for k in range(rng.integers(1, 3))]
    for name in joints:
        said += f'<body><joint name="{name}" axis="0 1 1"/><geom size="0.1" contype="0"/></body>'
    tendons = [f"t{k}" for k in range(rng.integers(len(joints) + 1, 6))]
    strings = "".join(
        f'<fixed name="{t}" stiffness="{rng.random():.3g}"><joint joint="{rng.choice(joints)}" '
        f'coef="{rng.normal():.3g}"/></fixed>'
        for t in tendons
    )
    targets = [("tendon", t) for t in tendons] + [("joint", j) for j in joints]
    targets += [("jointinparent", j) for j in joints]
    rng.shuffle(targets)
    motors = "".join(f'<position {kind}="{name}" kp="2"/>' for kind, name in targets)
    text = f"""<mujoco><worldbody>{said}</worldbody><tendon>{strings}</tendon>
      <actuator>{motors}</actuator><sensor><jointpos joint="j0"/></sensor></mujoco>"""
    source = mujoco.MjModel.from_xml_string(text)
    state = rng.normal(size=source.nq), rng.normal(size=source.nv), rng.normal(size=source.nu)
    both = ours(worlds.load(text), state), theirs(mujoco, source, state)
    for found, wanted in zip(*both, strict=True):
        assert error(found, wanted) < 1e-10
