"""A sphere that falls onto a plane: gradients through an impact, beside the slope of a secant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.conformance import numbers

pytestmark = pytest.mark.slow  # half a minute of compiling

HEIGHTS = np.linspace(0.275, 0.325, 41)  # [m]; the sphere's radius is 0.1
STEP, DURATION = 0.0005, 0.25  # [s]


def sphere(solimp: list[float]) -> worlds.Model:
    """Return a sphere above a plane, with MuJoCo's default `solref`, from the arrays of a box."""
    arrays = {key: np.array(value) for key, value in numbers()["box_soft"]["arrays"].items()}
    arrays["geom_type"][1] = 2
    arrays["geom_size"][1] = [0.1, 0, 0]
    arrays["geom_solimp"][:] = solimp
    arrays["geom_solref"][:] = [0.02, 1]
    arrays["body_inertia"][1] = 0.4 * arrays["body_mass"][1] * 0.01
    found = worlds.Model(arrays)
    worlds.refresh_constants(found)
    return found


@pytest.fixture(scope="module")
def heights() -> Any:
    """Return a function from a model to heights at the end, and their derivatives."""
    sim = worlds.Worlds(sphere([0, 0.95, 0.01, 0.5, 2]), len(HEIGHTS), dtype=ti.f64)

    def fall(solimp: list[float]) -> tuple[np.ndarray, np.ndarray]:
        sim.m.geom_solimp.from_numpy(sphere(solimp).geom_solimp)
        sim.m.timestep.from_numpy(np.array(STEP))
        sim.reset()
        qpos = sim.qpos.to_numpy()
        qpos[:, 2] = HEIGHTS
        first, last = dt.from_numpy(qpos, grad=True), np.zeros(qpos.shape)
        last[:, 2] = 1.0
        with dt.Tape() as tape:
            sim.qpos.copy_from(first)
            for _ in range(round(DURATION / STEP)):
                sim.step()
        tape.backward({sim.qpos: last})
        return sim.qpos.to_numpy()[:, 2], first.grad.to_numpy()[:, 2]

    return fall


def test_the_mean_derivative_is_the_slope_of_the_secant(heights: Any) -> None:
    """Where impedance begins at 0; the spread comes from the time of impact within a step."""
    z, slopes = heights([0, 0.95, 0.01, 0.5, 2])
    secant = (z[-1] - z[0]) / (HEIGHTS[-1] - HEIGHTS[0])
    assert -0.2 < secant < -0.14  # -0.17
    assert abs(slopes.mean() - secant) < 0.05 * abs(secant)
    assert slopes.std() < 0.04


def test_a_jump_of_the_impedance_turns_the_sign_of_the_derivative(heights: Any) -> None:
    """With MuJoCo's default: the derivative of the steps as they ran leaves out the jump."""
    z, slopes = heights([0.9, 0.95, 0.001, 0.5, 2])
    secant = (z[-1] - z[0]) / (HEIGHTS[-1] - HEIGHTS[0])
    assert -0.16 < secant < -0.1  # -0.13
    assert 0.24 < slopes.mean() < 0.34  # 0.29
