"""A critic: what a state is worth, learned from rewards of a horizon and a slow copy of itself.

It is in units of the mean reward of a decision: networks of order one stand for returns of
hundreds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.learn.networks import Networks

HIDDEN = 64, 64
BETAS = 0.7, 0.95  # of Adam, as in the code of Xu et al.


@dt.kernel
def look_back(rewards, fell, values, discount: float, trace: float, networks: int, targets):
    """Compute returns by TD(lambda) as mean rewards, backwards from the last state, for all worlds.

    Args:
        rewards, fell: (horizon, worlds).
        values: By network, decision and world, (networks (horizon + 1) count, 1).
        discount, trace: Of rewards by decision, and lambda.
        networks: Their number.
        targets: Result, (horizon, worlds).
    """
    for n in range(rewards.shape[1]):
        steps, count = rewards.shape[0], rewards.shape[1] // networks
        first = n // count * (steps + 1) * count + n % count
        future = values[first + steps * count, 0]
        for back in range(steps):
            t = steps - 1 - back
            after = values[first + (t + 1) * count, 0]
            mixed = (1.0 - trace) * after + trace * future
            future = (1.0 - discount) * rewards[t, n]
            future += ti.select(fell[t, n] != 0, 0.0, discount * mixed)
            targets[t, n] = future


@dt.func
def decision(r, part, parts, steps, count):
    """Return the network, time and world of a decision, counted in worlds of a remainder `part`.

    Args:
        r: The number of the decision: by network, then by time, then by world.
        part, parts: Worlds take part whose number leaves the remainder `part` by `parts`.
        steps, count: Decisions of a world, and worlds of a network.
    """
    few = count // parts
    rest = r % (steps * few)
    return r // (steps * few), rest // few, rest % few * parts + part


@dt.kernel
def choose(history, targets, part: int, parts: int, networks: int, x, wanted):
    """Copy the decisions of every world whose number leaves the remainder `part`."""
    for r in range(x.shape[0]):
        steps, count = targets.shape[0], targets.shape[1] // networks
        k, t, world = decision(r, part, parts, steps, count)
        row = (k * (steps + 1) + t) * count + world
        for i in range(x.shape[1]):
            x[r, i] = history[row, i]
        wanted[r] = targets[t, k * count + world]


@dt.kernel
def miss(values, wanted, errors):
    """Compute half the square of each error."""
    for r in range(wanted.shape[0]):
        errors[r] = 0.5 * (values[r, 0] - wanted[r]) ** 2


@dataclass(frozen=True)
class CriticRates:
    """How a critic learns.

    Attributes:
        discount: Of rewards, by decision.
        trace: Lambda of its targets.
        rate: The step size of Adam.
        updates: After each horizon.
        parts: Into which the worlds are divided for updates, if each is given 16 worlds.
        share: Of the critic in its slow copy after each horizon.
        norm: The largest norm of a network's gradient.
    """

    discount: float = 0.99
    trace: float = 0.95
    rate: float = 2e-3
    updates: int = 16
    parts: int = 16
    share: float = 0.6
    norm: float = 1.0


class Critic:
    """Critics of several networks.

    Args:
        inputs: Numbers that are seen.
        seeds: One for each network.
        count: Worlds of each.
        horizon: Decisions.
        lessons: How they learn.
        dtype: `ti.f32` or `ti.f64`.

    Attributes:
        far: The return of a reward of one for ever.
    """

    def __init__(
        self,
        inputs: int,
        seeds: Sequence[int],
        count: int,
        horizon: int,
        lessons: CriticRates,
        dtype: Any = ti.f32,
    ) -> None:
        self.lessons, self.far = lessons, 1.0 / (1.0 - lessons.discount)
        self.count, self.horizon = count, horizon
        others = [seed + 1000 for seed in seeds]
        self.quick, self.slow = (
            Networks((inputs, *HIDDEN, 1), others, 0.1, dtype) for _ in range(2)
        )
        self.adam = dt.optim.Adam(
            self.quick.parameters, lessons.rate, betas=BETAS, nonfinite="ignore"
        )
        total = count * len(seeds)
        self.values, self.all_values = self.slow.rows(count), self.slow.rows(count * (horizon + 1))
        self.targets = dt.zeros((horizon, total), dtype)
        self.parts = max(min(count // 16, lessons.parts), 1)
        rows = horizon * (count // self.parts)
        self.x = dt.zeros((rows * len(seeds), inputs), dtype)
        self.wanted = dt.zeros(rows * len(seeds), dtype)
        self.errors = dt.zeros(rows * len(seeds), dtype, grad=True)
        self.guesses = self.quick.rows(rows)

    def judge(self, x: dt.Field) -> dt.Field:
        """Return the values of one state of each world, by the slow copy."""
        return self.slow.run(x, self.values)

    def learn(self, history: dt.Field, rewards: dt.Field, fell: dt.Field, rate: float) -> None:
        """Learn from a horizon, with steps scaled by `rate`."""
        lessons, networks = self.lessons, len(self.quick.seeds)
        values = self.slow.run(history, self.all_values)
        numbers = lessons.discount, lessons.trace, networks
        look_back(rewards, fell, values, *numbers, self.targets)
        self.adam.lr = lessons.rate * rate
        for update in range(lessons.updates):
            part = update % self.parts
            choose(history, self.targets, part, self.parts, networks, self.x, self.wanted)
            with dt.Tape() as tape:
                miss(self.quick.run(self.x, self.guesses), self.wanted, self.errors)
            tape.backward({self.errors: 1.0})
            self.quick.limit(networks / len(self.wanted), lessons.norm)
            self.adam.step()
        self.slow.follow(self.quick, lessons.share)
