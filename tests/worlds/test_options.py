"""Every flag and option of MuJoCo does the same here, or the model is refused.

The flags and options are those of the release that is installed, so that new ones are noticed.
"""

from __future__ import annotations

from typing import Any

import pytest

from difftile import worlds
from tests.worlds.test_steps import error
from tests.worlds.whole import ours, theirs

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

# An arm at its limit, with springs, a motor beyond its range and a hand that is within its parent;
# a foot on the floor that a joint follows. Constraints are faster than two steps.
MODEL = """<mujoco><option jacobian="dense" tolerance="1e-15" ls_iterations="100" timestep="0.004"/>
  <default><joint solreflimit="0.005 1" solreffriction="0.006 1"/><geom solref="0.005 0.9"/>
    <equality solref="0.004 1"/></default>
  <worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.3"><joint name="arm" axis="0 1 0" range="-1 0.2" stiffness="3" springref="1"
        damping="0.7" frictionloss="0.1"/>
      <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.05"/>
      <body pos="0.25 0 0" gravcomp="0.5"><joint name="hand" type="slide" axis="1 0 0.2"
          damping="0.2"/>
        <geom size="0.06" mass="0.4"/><site name="hand" pos="0.01 0 0.02" size="0.1"/></body></body>
    <body pos="1 0 0.09"><joint name="foot" type="slide" axis="0.1 0 1"/>
      <joint name="heel" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/>
      <site name="foot" size="0.2"/></body>
    <body pos="-1 0 1"><joint name="head" type="slide" axis="0 0 1"/><geom size="0.1" mass="1"/>
    </body></worldbody>
  <equality><joint joint1="head" joint2="foot" polycoef="0.01 1 0 0 0"/></equality>
  <tendon><fixed name="string" stiffness="5" damping="0.3" springlength="0.1"><joint joint="arm"
    coef="1"/><joint joint="foot" coef="-2"/></fixed></tendon>
  <actuator><position joint="hand" kp="20" kv="0.5" ctrlrange="-0.1 0.1" ctrllimited="true"/>
    <motor tendon="string" gear="0.5"/></actuator>
  <sensor><jointpos joint="arm"/><force site="hand"/><touch site="foot"/>
    <accelerometer site="foot"/></sensor></mujoco>"""
STATE = [0.25, 0.05, 0.0, 0.1, 0.02], [0.5, -0.3, -0.2, 0.4, 0.1], [0.3, 0.7]

# Values of each option, others than those of the model. The last four kinds only say how MuJoCo
# solves; convex and distance-field collisions have no supported geoms.
OPTIONS: dict[str, list[Any]] = {
    **{"timestep": [0.001], "gravity": [[1.0, 2.0, -3.0]], "impratio": [3.0], "cone": [1]},
    **{"integrator": [1, 2, 3, 4], "wind": [[1.0, 0.0, 0.0]], "density": [1.2]},
    **{"viscosity": [0.1], "magnetic": [[1.0, 2.0, 3.0]], "disableactuator": [1]},
    **{"o_margin": [0.1], "o_solref": [[0.1, 1.0]], "o_solimp": [[0.1, 0.2, 0.3, 0.4, 1.0]]},
    **{"o_friction": [[0.1, 0.2, 0.3, 0.4, 0.5]], "sleep_tolerance": [1.0]},
    **{"jacobian": [1, 2], "solver": [1], "iterations": [200], "ls_iterations": [60]},
    **{"tolerance": [1e-16], "ls_tolerance": [0.001]},
    "noslip_iterations": [],  # of which `test_noslip.py` is
    **{"noslip_tolerance": [0.1], "ccd_iterations": [1], "ccd_tolerance": [0.1]},
    **{"sdf_initpoints": [3], "sdf_iterations": [1]},
}
BITS = {
    (field, name): int(bit)
    for field, kind in (("disableflags", "mjtDisableBit"), ("enableflags", "mjtEnableBit"))
    for name, bit in getattr(mujoco, kind).__members__.items()
    if name.startswith(("mjDSBL", "mjENBL"))
}
CASES = [(field, name, bit) for (field, name), bit in BITS.items()]
CASES += [(name, f"{name} {value}", value) for name, values in OPTIONS.items() for value in values]
CASES += [("disableflags", "springs and dampers", 32 + 64)]
# What has no effect on the steps of this model, or on steps at all.
IDLE = {
    *("WARMSTART", "MIDPHASE", "AUTORESET", "NATIVECCD", "ISLAND", "MULTICCD"),
    *("ENERGY", "FWDINV", "INVDISCRETE"),
}


@pytest.mark.parametrize(("field", "name", "value"), CASES, ids=[name for _, name, _ in CASES])
def test_flags_and_options_do_as_in_mujoco_or_are_refused(
    field: str, name: str, value: Any
) -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    plain = theirs(mujoco, model, STATE)
    setattr(model.opt, field, value)
    try:
        loaded = worlds.load(model)
    except worlds.Unsupported:
        return
    wanted = theirs(mujoco, model, STATE)
    if field.endswith("flags"):
        changed = any(error(one, other) > 1e-6 for one, other in zip(plain, wanted, strict=True))
        assert changed != (name[7:] in IDLE)  # the model uses what the flag disables
    found = ours(loaded, STATE)
    if field == "integrator" and value == 1:  # whose steps `runge_kutta` combines
        found, wanted = found[:2], wanted[:2]
    for one, other in zip(found, wanted, strict=True):
        assert error(one, other) < 1e-8


def test_every_option_of_mujoco_is_known() -> None:
    options = mujoco.MjModel.from_xml_string(MODEL).opt
    known = {*OPTIONS, "disableflags", "enableflags"}
    assert {name for name in dir(options) if not name.startswith("_")} == known
