"""Constants of a model that are taken at its rest position, compared with MuJoCo's compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from difftile import worlds
from tests.worlds.conformance import model, numbers
from tests.worlds.test_driven import ARM

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

KEYS = ("tendon_invweight0", "tendon_length0", "actuator_acc0", "body_invweight0", "dof_invweight0")


@pytest.mark.parametrize("name", ["ant", "chain"])
def test_refreshed_constants_are_those_of_the_compiler(name: str) -> None:
    one, wanted = worlds.Model(numbers()[name]["arrays"]), model(name)
    for key in ("body_invweight0", "dof_invweight0", "body_subtreemass"):
        getattr(one, key)[:] = 0
    worlds.refresh_constants(one)
    for key in ("body_invweight0", "dof_invweight0", "body_subtreemass"):
        np.testing.assert_allclose(getattr(one, key), getattr(wanted, key), 1e-12, 1e-14)


def test_constants_follow_a_mass() -> None:
    one = worlds.Model(numbers()["box"]["arrays"])
    one.body_mass[1] *= 2
    worlds.refresh_constants(one)
    np.testing.assert_allclose(one.body_invweight0[1, 0], 0.5 * model("box").body_invweight0[1, 0])


def test_constants_of_tendons_and_muscles() -> None:
    """As MuJoCo recomputes them after a change of masses; one body slides along the world's z."""
    source = mujoco.MjModel.from_xml_string(ARM.format(integrator="Euler"))
    one = worlds.load(source)
    source.body_mass[:] *= 1.7
    one.body_mass[:] *= 1.7
    source.body_inertia[:] *= 1.3
    one.body_inertia[:] *= 1.3
    for key in KEYS:
        getattr(one, key)[:] = 0.0
    mujoco.mj_setConst(source, mujoco.MjData(source))
    worlds.refresh_constants(one)
    for key in KEYS:
        np.testing.assert_allclose(getattr(one, key), getattr(source, key), 1e-11, 1e-14)
