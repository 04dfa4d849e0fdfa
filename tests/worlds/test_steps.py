"""Whole steps of the reference models, compared with the numbers of MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

from tests.worlds.conformance import NAMES, model, numbers
from tests.worlds.plain import Local, module, parameters


def error(found: np.ndarray, wanted: list[float]) -> float:
    """Return the largest difference, relative to 1 + the largest entry."""
    difference = np.abs(found - np.array(wanted)).max(initial=0)
    return float(difference / (1 + np.abs(wanted).max(initial=0)))


def filled(values: list[float]) -> Local:
    found = Local(max(1, len(values)))
    found.values[: len(values)] = values
    return found


@pytest.mark.parametrize("name", NAMES)
def test_states_after_steps_are_those_of_mujoco(name: str) -> None:
    sizes, given = model(name).sizes, numbers()[name]["states"][1]
    step, m = module("difftile.worlds.step").WorldStep(sizes), parameters(model(name))
    qpos, qvel, act = (filled(given[key]) for key in ("qpos", "qvel", "act"))
    a, forces = Local(sizes.nv), (Local(sizes.nv), Local(6 * sizes.nbody))
    for t in range(10):
        ctrl = filled(given["ctrl"][t] if sizes.nu else [])
        after = Local(sizes.nq), Local(sizes.nv), Local(max(1, sizes.na))
        residual, _ = step.step(m, qpos, qvel, ctrl, act, *forces, a, *after)
        assert residual < 1e-11
        qpos, qvel, act = after
        if wanted := given["after"].get(str(t + 1)):
            bound = 1e-9 if t == 0 else 1e-8
            assert error(qpos.values, wanted["qpos"]) < bound
            assert error(qvel.values, wanted["qvel"]) < bound
            assert error(act.values[: sizes.na], wanted["act"]) < bound
