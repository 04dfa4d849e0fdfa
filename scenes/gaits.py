"""What robots see while they learn to walk, and what they are rewarded for."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti, worlds

MODELS = Path(__file__).parent / "models"  # of ant.xml and hopper.xml, by `Model.save`
SEEN_SPEED = 0.2  # of velocities among the observations
EFFORT = 0.02  # the price of squared controls


@dt.kernel
def observe(qpos, qvel, first: int, seen):
    """Write coordinates from `first` on, and velocities, (worlds, nq - first + nv)."""
    for n in range(qpos.shape[0]):
        for i in range(first, qpos.shape[1]):
            seen[n, i - first] = qpos[n, i]
        for i in range(qvel.shape[1]):
            seen[n, qpos.shape[1] - first + i] = SEEN_SPEED * qvel[n, i]


@dt.func
def effort(ctrl, n):
    total = 0.0
    for i in range(ctrl.shape[1]):
        total += ctrl[n, i] ** 2
    return EFFORT * total


@dt.func
def pay(n, gain, is_well, t, factor, weights, rewards, fell, cost):
    """Add a reward to a world's return, which begins anew where the world fell."""
    earned = ti.select(is_well, gain, 0.0)
    rewards[t, n] = dt.stop_grad(earned)
    cost[n] -= weights[n] * earned
    fell[t, n] = ti.select(is_well, 0, 1)
    weights[n] = ti.select(is_well, weights[n] * factor, 1.0)


@dt.kernel
def reward_ant(qpos, qvel, ctrl, t: int, factor: float, weights, rewards, fell, cost):
    """Speed, an upright trunk that looks ahead, its height, and effort."""
    for n in range(qpos.shape[0]):
        w, x, y, z = qpos[n, 3], qpos[n, 4], qpos[n, 5], qpos[n, 6]
        up, ahead = 1.0 - 2.0 * (x * x + y * y), 1.0 - 2.0 * (y * y + z * z)
        gain = qvel[n, 0] + 0.1 * up + 0.5 * ahead + (qpos[n, 2] - 0.3) - effort(ctrl, n)
        is_well = qpos[n, 2] > 0.3 and qpos[n, 2] < 2.0 and up > 0.0 and abs(qvel[n, 0]) < 30.0
        pay(n, gain, is_well, t, factor, weights, rewards, fell, cost)


@dt.kernel
def reward_hopper(qpos, qvel, ctrl, t: int, factor: float, weights, rewards, fell, cost):
    """Speed, an upright trunk, its height, and effort."""
    for n in range(qpos.shape[0]):
        gain = qvel[n, 0] + 1.0 - qpos[n, 2] ** 2 + (qpos[n, 1] - 0.7) - effort(ctrl, n)
        is_well = qpos[n, 1] > 0.7 and qpos[n, 1] < 3.0 and abs(qpos[n, 2]) < 0.7
        pay(n, gain, is_well, t, factor, weights, rewards, fell, cost)


@dataclass(frozen=True)
class Gait:
    """A robot that learns to run along x.

    Attributes:
        first: The first coordinate that is seen; those before say where the robot is.
        reward: The kernel of the reward.
        spread: Standard deviation of the joints at the start [rad].
        joints: The first coordinate of the joints that differ at the start.
    """

    first: int
    reward: Callable[..., None]
    joints: int
    spread: float = 0.1

    def starts(
        self, model: worlds.Model, count: int, seed: int, dtype: Any = ti.f32
    ) -> worlds.Start:
        """Return states at rest, with joints drawn around those of the model."""
        qpos = np.tile(np.asarray(model.qpos0, float), (count, 1))
        drawn = np.random.default_rng(seed).normal(size=qpos[:, self.joints :].shape)
        qpos[:, self.joints :] += self.spread * drawn
        rest = (np.zeros((count, n)) for n in (model.sizes.nv, model.sizes.na))
        return worlds.Start(*(dt.from_numpy(one, dtype=dtype) for one in (qpos, *rest)))


GAITS = {"ant": Gait(2, reward_ant, 7), "hopper": Gait(1, reward_hopper, 3)}


def robot(name: str) -> worlds.Model:
    """Return the model of a robot."""
    return worlds.load_arrays(MODELS / f"{name}.npz")
