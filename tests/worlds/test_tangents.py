"""Forward mode and second derivatives of steps, compared with central differences in f64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds import random_mjcf
from tests.worlds.conformance import model

WORLDS, STEPS, H = 2, 2, 1e-5


@dt.kernel
def judge(qpos, qvel, wq, wv, loss):
    for w, i in qpos:
        loss[None] += wq[w, i] * ti.sin(qpos[w, i])
    for w, i in qvel:
        loss[None] += wv[w, i] * qvel[w, i] ** 2


class Moved:
    """Worlds of a model, and a direction in which their states move.

    Args:
        of: The model.
        start: The states, (worlds, nq) and (worlds, nv).
    """

    def __init__(self, of: worlds.Model, start: tuple[Any, Any]) -> None:
        self.sim, self.start = worlds.Worlds(of, WORLDS, dtype=ti.f64), start
        rng = np.random.default_rng(0)
        self.dots = tuple(rng.standard_normal(one.shape) for one in start)
        if of.sizes.nq != of.sizes.nv:
            self.dots[0][...] = 0.0  # quaternions are no vectors
        self.weights = tuple(dt.from_numpy(rng.standard_normal(one.shape)) for one in start)

    def after(self, qpos: Any, qvel: Any) -> Any:
        """Return the states after some steps."""
        self.sim.reset(start=worlds.Start(qpos, qvel, self.sim.start().act))
        self.sim.step(STEPS)
        return self.sim.qpos, self.sim.qvel

    def loss(self, qpos: Any, qvel: Any) -> Any:
        """Return a number that depends on these."""
        found = dt.zeros((), ti.f64, grad=True)
        judge(*self.after(qpos, qvel), *self.weights, found)
        return found

    def fields(self, step: float = 0.0) -> tuple[Any, Any]:
        """Return the states, moved along the direction."""
        pairs = zip(self.start, self.dots, strict=True)
        first, second = (dt.from_numpy(x + step * dot, grad=True) for x, dot in pairs)
        return first, second

    def differences(self, f: Any) -> list[Any]:
        """Return the derivative of functions of the states along the direction."""
        ends = [[one.to_numpy() for one in f(*self.fields(step))] for step in (H, -H)]
        return [(high - low) / (2 * H) for high, low in zip(*ends, strict=True)]

    def check(self) -> None:
        """Compare tangents, products with a Hessian, and the reverse."""
        found = [one.to_numpy() for one in dt.jvp(self.after, self.fields(), self.dots)[1]]
        _compare(found, self.differences(self.after))
        bars = dt.vjp(self.after, *self.fields())[1](self.weights)
        back = sum(np.sum(bar.to_numpy() * dot) for bar, dot in zip(bars, self.dots, strict=True))
        there = sum(
            np.sum(dot * weight.to_numpy()) for dot, weight in zip(found, self.weights, strict=True)
        )
        np.testing.assert_allclose(there, back, rtol=1e-10)
        bent = dt.hvp(self.loss, self.fields(), self.dots)
        gradient = dt.grad(self.loss, argnums=(0, 1))
        _compare([one.to_numpy() for one in bent], self.differences(gradient))


def _compare(found: list[Any], wanted: list[Any]) -> None:
    for one, other in zip(found, wanted, strict=True):
        size = 1.0 + np.max(np.abs(other))
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7 * size)


def _started(of: worlds.Model, seed: int = 0) -> Moved:
    sim = worlds.Worlds(of, WORLDS, dtype=ti.f64)
    speeds = 0.3 * np.random.default_rng(seed).standard_normal((WORLDS, of.sizes.nv))
    return Moved(of, (np.tile(sim.start().qpos.to_numpy(), (WORLDS, 1)), speeds))


@pytest.mark.slow  # compiles for about a minute each
@pytest.mark.parametrize("name", ["cartpole", "double_pendulum", "box_soft"])
def test_tangents_through_steps(name: str) -> None:
    moved = _started(model(name))
    if name == "cartpole":
        moved.start[0][1, 0] = 0.355  # at the end of the rail
    moved.check()


@pytest.mark.slow  # compiles for minutes
@pytest.mark.filterwarnings("ignore:A gradient passes contacts")  # at random
@pytest.mark.parametrize("seed", range(2))
def test_tangents_through_steps_of_random_robots(seed: int) -> None:
    _started(worlds.load(random_mjcf.mjcf(seed, bodies=3)), seed).check()
