"""Many copies of a robot, driven by several networks: what they see, earn, and when they begin.

The worlds of a network stand side by side, and what they see is scaled by means and variances that
are kept for each network. Episodes end by time at the end of a horizon, so that only the last
state of a horizon is in need of a critic; a world that fails begins again at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti, worlds

_LEAST = 1e-4  # is added to variances of what is seen
_NEVER = 2**30  # decisions after which the environment would end an episode; `Rollouts` does


@dt.kernel
def scale(obs, mean, inverse, x):
    """Write what worlds see, less its mean and in standard deviations.

    Args:
        obs: What they see, (worlds, inputs).
        mean, inverse: Means, and one over standard deviations, of what the worlds of each network
            see, (networks, inputs).
        x: Result.
    """
    for n, i in ti.ndrange(obs.shape[0], obs.shape[1]):
        k = n // (obs.shape[0] // mean.shape[0])
        x[n, i] = (obs[n, i] - mean[k, i]) * inverse[k, i]


@dt.kernel
def pay(reward, done, t: int, factor: float, weights, rewards, fell, cost):
    """Add rewards to the returns of worlds, which begin anew where they fell."""
    for n in range(reward.shape[0]):
        rewards[t, n] = dt.stop_grad(reward[n])
        cost[n] -= weights[n] * reward[n]
        fell[t, n] = done[n]
        weights[n] = ti.select(done[n] == 0, weights[n] * factor, 1.0)


@dt.kernel
def include(x, before: float, mean, square, inverse):
    """Let means and variances of `before` batches include one more.

    Args:
        x: The batch, scaled by what they are, (rows, n).
        before: The number of batches so far, of the same size.
        mean, square: Means and variances, (networks, n).
        inverse: One over the standard deviations, (networks, n).
    """
    for k, i in ti.ndrange(mean.shape[0], mean.shape[1]):
        rows = x.shape[0] // mean.shape[0]
        new, spread = 0.0, 0.0
        for r in range(k * rows, (k + 1) * rows):
            new += x[r, i] / rows
        for r in range(k * rows, (k + 1) * rows):
            spread += (x[r, i] - new) ** 2 / rows
        share = 1.0 / (before + 1.0)
        apart, spread = new / inverse[k, i], spread / inverse[k, i] ** 2
        square[k, i] += share * (spread - square[k, i]) + share * (1.0 - share) * apart**2
        mean[k, i] += share * apart
        inverse[k, i] = 1.0 / ti.sqrt(square[k, i] + _LEAST)


@dt.kernel
def store(x, t: int, steps: int, networks: int, history):
    """Keep what the worlds see at decision t, by network, decision and world."""
    for n, i in ti.ndrange(x.shape[0], x.shape[1]):
        count = x.shape[0] // networks
        row = (n // count * (steps + 1) + t) * count + n % count
        history[row, i] = x[n, i]


@dt.kernel
def grow_old(fell, episode: int, age, done):
    """Count the horizons of each world since it began, and let old ones begin again."""
    for n in range(age.shape[0]):
        has_fallen = 0
        for t in range(fell.shape[0]):
            has_fallen = max(has_fallen, fell[t, n])
        age[n] = ti.select(has_fallen != 0, 0, age[n] + 1)
        done[n] = ti.select(age[n] >= episode, 1, 0)
        age[n] = ti.select(age[n] >= episode, 0, age[n])


@dataclass(frozen=True, slots=True)
class Progress:
    """Means of a horizon, each for every network, (networks,).

    Attributes:
        reward: Of a decision.
        failed: Share of the worlds that failed.
        measured: What `Measure` found at the end of the horizon.
    """

    reward: np.ndarray
    failed: np.ndarray
    measured: np.ndarray


@dataclass(frozen=True, slots=True)
class Measure:
    """A number to follow beside the reward, such as the speed of a robot.

    Args:
        name: With its unit.
        of: Returns it for each network, (networks,), at the end of a horizon.
    """

    name: str
    of: Callable[[Rollouts], np.ndarray]


class Rollouts:
    """Worlds, and what a horizon leaves for those who learn from it.

    Args:
        model: The robot; None for that of the task.
        task: What it sees and earns.
        count: Worlds of each network.
        seeds: One for each network.
        horizon: Decisions from one update to the next.
        dtype: `ti.f32` or `ti.f64`.
        measure: What `close` measures.

    Attributes:
        env: The environment.
        sim: Its worlds.
        decision: The time from one decision to the next [s].
        x: What they see, scaled, (worlds, inputs).
        history: The same at all decisions and at the end, (networks (horizon + 1) count, inputs).
        rewards, fell: At each decision, (horizon, worlds).
        cost: Minus the return of each world.
        weights: The discount of its next reward.
        episode: Horizons after which a world begins again.
        age: Horizons since each world began.
    """

    def __init__(
        self,
        model: worlds.Model | None,
        task: worlds.Task,
        count: int,
        seeds: Sequence[int],
        horizon: int,
        dtype: Any = ti.f32,
        measure: Measure | None = None,
    ) -> None:
        if count < 1 or horizon < 1 or not seeds:
            raise ValueError(
                f"learning takes at least one world, one decision and one seed, not {count} "
                f"worlds, a horizon of {horizon} and the seeds {list(seeds)}."
            )
        self.model, self.task, self.count = model or task.load(), task, count
        self.seeds, self.horizon, self.measure = list(seeds), horizon, measure
        self.episode = max(1, round(task.episode / horizon))
        self.networks, self.dtype = len(seeds), dtype
        self.total = total = count * self.networks
        endless = replace(task, episode=_NEVER)
        made = {"worlds": total, "seed": seeds[0], "dtype": dtype, "check": False}
        self.env = worlds.environment(self.model, endless, **made)
        self.sim, self.decision = self.env.sim, self.env.decision
        self.inputs = inputs = self.env.observations
        self.x = dt.zeros((total, inputs), dtype, grad=True)
        shape = self.networks, inputs
        self.mean, self.square = (dt.zeros(shape, dtype) for _ in range(2))
        self.inverse, self.batches = dt.full(shape, 1.0, dtype), dt.zeros((), dtype)
        self.history = dt.zeros((total * (horizon + 1), inputs), dtype)
        self.rewards = dt.zeros((horizon, total), dtype)
        self.fell = dt.zeros((horizon, total), ti.i32)
        self.weights, self.cost = dt.zeros(total, dtype), dt.zeros(total, dtype, grad=True)
        self.done, self.age = dt.zeros(total, ti.i32), dt.zeros(total, ti.i32)
        self.begin()

    def begin(self, at_rest: bool = False) -> None:
        """Put all worlds at their first start, with episodes that end at different times."""
        self.env.seed(self.seeds[0])
        self.env.reset()
        if at_rest:
            self.sim.qvel.fill(0.0)
        self.age.from_numpy((np.arange(self.total) % self.episode).astype(np.int32))

    def open(self) -> None:
        """Begin a horizon."""
        self.cost.fill(0.0)
        self.weights.fill(1.0)

    def look(self, t: int | None = None) -> dt.Field:
        """Return what the worlds see, and keep it as that of decision t."""
        scale(self.env.observe(), self.mean, self.inverse, self.x)
        if t is not None:
            with dt.no_grad():
                store(self.x, t, self.horizon, self.networks, self.history)
        return self.x

    def step(self, t: int, discount: float) -> None:
        """Do as decided at t, earn, and begin again where a world fell."""
        self.env.step()
        self.earn(t, discount)

    def earn(self, t: int, discount: float) -> None:
        """Add the rewards of decision t, after a step of the environment."""
        earnings = self.weights, self.rewards, self.fell, self.cost
        pay(self.env.reward, self.env.done, t, discount, *earnings)

    def close(self) -> Progress:
        """End a horizon after its last `look`: states become constants, and old worlds new.

        Raises:
            FieldError: An action was not a number; the message says of which world, and when.
        """
        include(self.x, self.batches[None], self.mean, self.square, self.inverse)
        self.batches[None] = self.batches[None] + 1.0
        self.env.check()
        means = self.rewards.to_numpy().mean(axis=0), self.fell.to_numpy().max(axis=0)
        reward, failed = (one.reshape(self.networks, -1).mean(axis=1) for one in means)
        measured = np.zeros(self.networks) if self.measure is None else self.measure.of(self)
        found = Progress(reward, failed, measured)
        self.env.detach()
        grow_old(self.fell, self.episode, self.age, self.done)
        self.env.reset(self.done)
        return found
