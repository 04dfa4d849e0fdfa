"""Model-predictive control: the next decisions are planned by gradients, again at each of them.

A plan of some decisions moves along the gradient of its return through the simulation, for all
worlds at once; the first decision is taken, and the next plan starts with the rest. Variants of
each plan move side by side, and the best of them goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

import difftile as dt
from difftile import ti, worlds


@dataclass(frozen=True)
class MpcRates:
    """Numbers of the method.

    Attributes:
        horizon: Decisions of a plan.
        updates: Of each plan, by one gradient each.
        rate: How far decisions move in an update, before they are squashed: the root of the mean
            square at first, which falls to nothing.
        variants: Plans that are improved side by side for each world.
        spread: Standard deviation of the variants around the plan.
    """

    horizon: int = 40
    updates: int = 6
    rate: float = 0.2
    variants: int = 8
    spread: float = 0.7


@dt.kernel
def command(plan, t: int, action):
    """Squash the decisions of plans at time t."""
    for n, i in ti.ndrange(action.shape[0], action.shape[1]):
        action[n, i] = ti.tanh(plan[t, n, i])


@dt.kernel
def earn(reward, done, playing, total):
    """Add the rewards of worlds that have not failed."""
    for n in reward:
        total[n] += playing[n] * reward[n]
        playing[n] = ti.select(done[n] == 0, playing[n], 0.0)


@final
class Mpc:
    """Plans for the worlds of an environment.

    Args:
        env: The environment, whose worlds are acted in.
        rates: Numbers of the method.
        seed: Of the variants.

    Attributes:
        plan: Decisions before they are squashed, (horizon, worlds, nu).
    """

    def __init__(
        self, env: worlds.Environment, rates: MpcRates = MpcRates(), seed: int = 0
    ) -> None:
        self.env, self.rates, self._rng = env, rates, np.random.default_rng(seed)
        count = env.worlds * rates.variants
        endless = replace(env.task, episode=2**30)
        self.ahead = worlds.environment(
            env.model, endless, worlds=count, dtype=env.dtype, check=False
        )
        self.plan = np.zeros((rates.horizon, env.worlds, env.actions))
        self._plans = dt.zeros((rates.horizon, count, env.actions), env.dtype, grad=True)
        self._total = dt.zeros(count, env.dtype, grad=True)
        self._playing = dt.zeros(count, env.dtype)

    @staticmethod
    def _of(env: worlds.Environment) -> tuple[Any, ...]:
        sim = env.sim
        return (sim.qpos, sim.qvel, sim.act) if env.model.sizes.na else (sim.qpos, sim.qvel)

    def act(self) -> np.ndarray:
        """Plan from the present state of all worlds, and return the first decisions, (worlds, nu).

        The state of the environment is left as it is.
        """
        rates, count = self.rates, self.rates.variants
        spread = rates.spread * self._rng.normal(size=(rates.horizon, count, *self.plan.shape[1:]))
        spread[:, 0] = 0.0
        plans = (self.plan[:, None] + spread).reshape(self._plans.shape)
        best, most = plans, np.full(len(self._total), -np.inf)
        size = rates.rate * np.sqrt(rates.horizon * self.env.actions)
        for update in range(rates.updates):
            self._begin(plans)
            with dt.Tape() as tape:
                self._play()
            tape.backward({self._total: 1.0})
            best, most = self._better(plans, best, most)
            share = size * (1.0 - update / rates.updates)
            plans = plans + share * _even(self._plans.grad.to_numpy())
        self._begin(plans)
        self._play()
        best, most = self._better(plans, best, most)
        chosen = most.reshape(count, -1).argmax(axis=0)
        every = best.reshape(rates.horizon, count, *self.plan.shape[1:])
        plan = every[:, chosen, np.arange(self.env.worlds)]
        self.plan = np.concatenate([plan[1:], plan[-1:]])
        return np.tanh(plan[0])

    def _better(
        self, plans: np.ndarray, best: np.ndarray, most: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the best of each plan so far, and what it earns."""
        total = self._total.to_numpy()
        better = total > most  # False for NaN
        return np.where(better[None, :, None], plans, best), np.where(better, total, most)

    def _begin(self, plans: np.ndarray) -> None:
        """Put all worlds of plans into the present state."""
        env, ahead, variants = self.env, self.ahead, self.rates.variants
        pairs = [*zip(self._of(env), self._of(ahead), strict=True)]
        pairs += [(getattr(env, name), getattr(ahead, name)) for name in ("goal", "time", "index")]
        for source, field in pairs:
            now = source.to_numpy()
            field.from_numpy(np.tile(now, (variants, *(1,) * (now.ndim - 1))))
        self._plans.from_numpy(plans)
        self._total.fill(0.0)
        self._playing.fill(1.0)

    def _play(self) -> None:
        """Play all plans."""
        ahead = self.ahead
        for t in range(self.rates.horizon):
            command(self._plans, t, ahead.action)
            ahead.step(renew=False)
            earn(ahead.reward, ahead.done, self._playing, self._total)


def _even(gradient: np.ndarray) -> np.ndarray:
    """Return the gradients of plans, (horizon, plans, nu), each of norm 1; 0 where not finite."""
    norm = np.sqrt((gradient**2).sum(axis=(0, 2), keepdims=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        even = gradient / norm
    return np.where(np.isfinite(norm) & (norm > 0.0), even, 0.0)
