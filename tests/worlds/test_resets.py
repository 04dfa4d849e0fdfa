"""Parts of resets of worlds, with a mass on a rail in the place of a robot."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.worlds.dynamics import accelerate
from difftile.worlds.resets import reset


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


def test_the_solver_of_a_world_that_is_reset_starts_anew() -> None:
    given = [dt.full(2, value, ti.f64) for value in (1.0, 2.0, 3.0)]
    for done, kept in ((0, [4.0, 5.0, 6.0, 7.0]), (1, [1.0, 2.0, 3.0, 0.0])):
        state = [dt.full(2, value, ti.f64) for value in (4.0, 5.0, 6.0, 7.0)]
        reset(dt.full((), done, ti.i32), *given, *state)
        assert [one.to_numpy().tolist() for one in state] == [[value] * 2 for value in kept]


@dt.data_oriented
class Rail:
    """The funcs of `Step` and `Solution` for a mass m[0] that is pushed, and slowed."""

    nv = nbody = 1

    @dt.func
    def accelerate(self, m, qpos, qvel, ctrl, act, qfrc, xfrc, a, b):
        a[0] = (ctrl[0] - qvel[0]) / m[0]
        b[0] = a[0]
        return 0.0, 1

    @dt.func
    def multipliers(self, m, qpos, qvel, ctrl, act, a, b_bar, com, multiplier, beta):
        beta[0] = b_bar[0]

    @dt.func
    def centres(self, m, qpos, com):
        com[0] = ti.Vector([0.0, 0.0, 0.0])

    @dt.func
    def tangents(self, m, qpos, qvel, ctrl, act, a, push, excess, a_dot, b_dot):
        a_dot[0] = excess[0]
        b_dot[0] = excess[0]

    @dt.func
    def phi(self, m, qpos, qvel, ctrl, act, qfrc, xfrc, com, a, b, multiplier, beta):
        return beta[0] * (ctrl[0] - qvel[0]) / m[0]


def test_a_state_that_is_no_number_leaves_no_gradient_in_a_world_that_is_reset_later() -> None:
    for speed, seed, slope in ((1.0, 1.0, -0.5), (1.0, 0.0, 0.0), (math.nan, 0.0, 0.0)):
        mass, qvel, ctrl = (dt.full(1, value, ti.f64, grad=True) for value in (2.0, speed, 3.0))
        others = [dt.zeros(1, ti.f64) for _ in range(4)]
        acc, info = dt.zeros(1, ti.f64), dt.zeros(2, ti.f64)
        out, rail = dt.zeros(1, ti.f64, grad=True), Rail()
        qpos, act, qfrc, xfrc = others
        with dt.Tape() as tape:
            accelerate(rail, rail, mass, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info)
        tape.backward({out: np.array([seed])})
        assert float(mass.grad[0]) == slope  # -(3 - 1) / 2^2


def test_the_tangent_of_a_solution_is_that_of_its_equations() -> None:
    mass = dt.full(1, 2.0, ti.f64, grad=True)

    def pushed(mass: dt.Field) -> dt.Field:
        qpos, qvel, ctrl, act, qfrc, xfrc, acc, out = (dt.zeros(1, ti.f64) for _ in range(8))
        ctrl.fill(3.0)
        rail, info = Rail(), dt.zeros(2, ti.f64)
        accelerate(rail, rail, mass, qpos, qvel, ctrl, act, qfrc, xfrc, acc, out, info)
        return out

    value, slope = dt.jvp(pushed, mass, np.array([1.0]))
    assert (float(value[0]), float(slope[0])) == (1.5, -0.75)
