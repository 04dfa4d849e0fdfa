"""What robots see while they learn to walk, and what they are rewarded for."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti, worlds

MODELS = Path(__file__).parent / "models"  # of ant.xml and hopper.xml, by `Model.save`
HINGE = 3  # MuJoCo's number of the type
_GOLDEN = 0.618034  # from the phase of one world to that of the next, in turns
EFFORT = 0.02  # the price of squared controls


@dt.func
def put(x, number, n, i, mean, inverse):
    """Write a number that world n sees, less its mean and in standard deviations."""
    k = n // (x.shape[0] // mean.shape[0])
    x[n, i] = (number - mean[k, i]) * inverse[k, i]


@dt.kernel
def observe(qpos, qvel, first: int, turns: float, mean, inverse, x):
    """Write what the worlds see, (worlds, nq - first + nv + 2).

    Coordinates from `first` on, velocities, and a clock: the cosine and sine of a phase, of which
    each world has its own.

    Args:
        qpos, qvel: The state.
        first: The first coordinate that is seen.
        turns: Turns of the clock.
        mean, inverse: Means, and one over standard deviations, of what the worlds of each network
            see, (networks, nq - first + nv + 2).
        x: Result.
    """
    for n in range(qpos.shape[0]):
        coordinates = qpos.shape[1] - first
        for i in range(coordinates):
            put(x, qpos[n, first + i], n, i, mean, inverse)
        for i in range(qvel.shape[1]):
            put(x, qvel[n, i], n, coordinates + i, mean, inverse)
        phase = 2.0 * math.pi * (turns + _GOLDEN * n)
        put(x, ti.cos(phase), n, coordinates + qvel.shape[1], mean, inverse)
        put(x, ti.sin(phase), n, coordinates + qvel.shape[1] + 1, mean, inverse)


@dt.func
def effort(ctrl, n):
    total = 0.0
    for i in range(ctrl.shape[1]):
        total += ctrl[n, i] ** 2
    return EFFORT * total


@dt.func
def pay(n, gain, is_well, t, factor, weights, rewards, fell, done, cost):
    """Add a reward to a world's return, which begins anew where the world fell."""
    earned = ti.select(is_well, gain, 0.0)
    rewards[t, n] = dt.stop_grad(earned)
    cost[n] -= weights[n] * earned
    fell[t, n] = ti.select(is_well, 0, 1)
    done[n] = fell[t, n]
    weights[n] = ti.select(is_well, weights[n] * factor, 1.0)


@dt.kernel
def reward_ant(qpos, qvel, ctrl, t: int, factor: float, weights, rewards, fell, done, cost):
    """Speed, an upright trunk that looks ahead, and its height, as in Xu et al. (ICLR 2022)."""
    for n in range(qpos.shape[0]):
        w, x, y, z = qpos[n, 3], qpos[n, 4], qpos[n, 5], qpos[n, 6]
        up, ahead = 1.0 - 2.0 * (x * x + y * y), 1.0 - 2.0 * (y * y + z * z)
        gain = qvel[n, 0] + 0.1 * up + 0.3 * ahead + (qpos[n, 2] - 0.27)
        is_well = qpos[n, 2] > 0.27 and qpos[n, 2] < 2.0 and up > 0.0 and abs(qvel[n, 0]) < 30.0
        pay(n, gain, is_well, t, factor, weights, rewards, fell, done, cost)


@dt.kernel
def reward_hopper(qpos, qvel, ctrl, t: int, factor: float, weights, rewards, fell, done, cost):
    """Speed, an upright trunk, its height, and effort."""
    for n in range(qpos.shape[0]):
        gain = qvel[n, 0] + 1.0 - qpos[n, 2] ** 2 + (qpos[n, 1] - 0.7) - effort(ctrl, n)
        is_well = qpos[n, 1] > 0.7 and qpos[n, 1] < 3.0 and abs(qpos[n, 2]) < 0.7
        pay(n, gain, is_well, t, factor, weights, rewards, fell, done, cost)


@dataclass(frozen=True)
class Gait:
    """A robot that learns to run along x.

    Attributes:
        first: The first coordinate that is seen; those before say where the robot is.
        reward: The kernel of the reward.
        spread: Standard deviation of the joints at the start [rad].
        clock: Turns of the clock that it sees [Hz].
        speed: The largest speed along x at the start [m/s].
        stiffness, damping: Of springs and dampers that hold the joints as in the model [N m/rad,
            N m s/rad].
        strength: Of the motors, relative to those in the file of the model.
        joints: The first coordinate of the joints that differ at the start.
    """

    first: int
    reward: Callable[..., None]
    joints: int
    spread: float = 0.1
    clock: float = 3.0
    speed: float = 1.0
    strength: float = 1.0
    stiffness: float = 0.0
    damping: float = 0.0

    def starts(
        self, model: worlds.Model, count: int, seed: int, dtype: Any = ti.f32
    ) -> worlds.Start:
        """Return states with joints drawn around those of the model, at any speed up to `speed`."""
        draw = np.random.default_rng(seed)
        qpos = np.tile(np.asarray(model.qpos0, float), (count, 1))
        qpos[:, self.joints :] += self.spread * draw.normal(size=qpos[:, self.joints :].shape)
        qvel, act = (np.zeros((count, n)) for n in (model.sizes.nv, model.sizes.na))
        qvel[:, 0] = draw.uniform(0.0, self.speed, count)
        return worlds.Start(*(dt.from_numpy(one, dtype=dtype) for one in (qpos, qvel, act)))

    def inputs(self, model: worlds.Model) -> int:
        """Return how many numbers a world sees."""
        return model.sizes.nq - self.first + model.sizes.nv + 2


GAITS = {
    "ant": Gait(2, reward_ant, 7, strength=2.5, stiffness=120.0, damping=2.0),
    "hopper": Gait(1, reward_hopper, 3),
}


def robot(name: str) -> worlds.Model:
    """Return the model of a robot, with motors as strong as it needs them to run."""
    model = worlds.load_arrays(MODELS / f"{name}.npz")
    gait = GAITS[name]
    model.actuator_gear[:, 0] *= gait.strength
    is_hinge = model.jnt_type == HINGE
    model.jnt_stiffness[is_hinge] += gait.stiffness
    at = model.jnt_qposadr[is_hinge]
    model.qpos_spring[at] = model.qpos0[at]
    model.dof_damping[model.jnt_dofadr[is_hinge]] += gait.damping
    return model
