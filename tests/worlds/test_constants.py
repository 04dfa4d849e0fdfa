"""Constants of a model that are taken at its rest position, compared with MuJoCo's compiler."""

from __future__ import annotations

import numpy as np
import pytest

from difftile import worlds
from tests.worlds.conformance import model, numbers


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
