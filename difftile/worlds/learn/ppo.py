"""Proximal policy optimisation, whose gradients do not pass through the simulation.

Schulman et al., 2017: decisions that turned out better than the critic expected become more
probable, by several passes over a horizon, and by a bounded ratio to what was probable before.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti, worlds
from difftile.worlds.learn.critics import Critic, CriticRates, decision
from difftile.worlds.learn.networks import Networks
from difftile.worlds.learn.policies import Policy, PolicyRates
from difftile.worlds.learn.rollouts import Measure, Progress, Rollouts


@dataclass(frozen=True)
class PpoRates:
    """Numbers of the method.

    Attributes:
        horizon: Decisions from one update to the next.
        passes: Over the decisions of a horizon.
        parts: Into which the worlds are divided for each pass.
        clip: The largest change of a probability that pays, as a share.
        actor: How the policy moves.
        critic: How the critic learns.
    """

    horizon: int = 32
    passes: int = 5
    parts: int = 4
    clip: float = 0.2
    actor: PolicyRates = field(
        default_factory=lambda: PolicyRates(5e-4, (0.9, 0.999), noise=0.6, spread=0.1)
    )
    critic: CriticRates = field(default_factory=lambda: CriticRates(rate=1e-3, share=1.0))


@dt.kernel
def draw(commands, log_std, t: int, steps: int, drawn, old, ctrl):
    """Draw commands around decisions, keep them and their log-probabilities, and squash them."""
    for n in range(ctrl.shape[0]):
        networks = log_std.shape[0]
        count = ctrl.shape[0] // networks
        k, likely = n // count, 0.0
        row = (k * steps + t) * count + n % count
        for i in range(ctrl.shape[1]):
            z = dt.randn()
            drawn[row, i] = commands[n, i] + ti.exp(log_std[k, 0, i]) * z
            likely -= 0.5 * z * z + log_std[k, 0, i]
            ctrl[n, i] = ti.tanh(drawn[row, i])
        old[row] = likely


@dt.kernel
def pick(
    history, drawn, old, gains, part: int, parts: int, networks: int, steps: int, x, u, likely, gain
):
    """Copy the decisions of every world whose number leaves the remainder `part`."""
    for r in range(x.shape[0]):
        count = old.shape[0] // (networks * steps)
        k, t, world = decision(r, part, parts, steps, count)
        row = (k * steps + t) * count + world
        for i in range(x.shape[1]):
            x[r, i] = history[(k * (steps + 1) + t) * count + world, i]
        for i in range(u.shape[1]):
            u[r, i] = drawn[row, i]
        likely[r] = old[row]
        gain[r] = gains[row]


@dt.kernel
def surrogate(commands, log_std, u, likely, gain, clip: float, loss):
    """Compute the loss of each decision: minus its gain by the ratio of probabilities."""
    for r in range(gain.shape[0]):
        k = r // (gain.shape[0] // log_std.shape[0])
        now = 0.0
        for i in range(u.shape[1]):
            z = (u[r, i] - commands[r, i]) * ti.exp(-log_std[k, 0, i])
            now -= 0.5 * z * z + log_std[k, 0, i]
        ratio = ti.exp(now - likely[r])
        bounded = min(max(ratio, 1.0 - clip), 1.0 + clip)
        loss[r] = -min(ratio * gain[r], bounded * gain[r])


class Ppo:
    """Policies and their worlds.

    Args:
        model: The robot; None for that of the task.
        task: What it sees and earns.
        count: Worlds of each network.
        seeds: One for each network.
        rates: Numbers of the method.
        dtype: `ti.f32` or `ti.f64`.
        make: Makes the networks of the policy, of kernels or of torch.
        measure: What to follow beside the reward.
    """

    def __init__(
        self,
        model: worlds.Model | None,
        task: worlds.Task,
        count: int,
        seeds: Sequence[int],
        rates: PpoRates = PpoRates(),
        dtype: Any = ti.f32,
        make: Callable[..., Networks] = Networks,
        measure: Measure | None = None,
    ) -> None:
        self.rates = rates
        self.rollouts = rollouts = Rollouts(
            model, task, count, seeds, rates.horizon, dtype, measure
        )
        self.policy = Policy(rollouts, rates.actor, make)
        self.critic = Critic(rollouts.inputs, seeds, count, rates.horizon, rates.critic, dtype)
        controls, rows = rollouts.model.sizes.nu, rollouts.total * rates.horizon
        self.drawn, self.old = dt.zeros((rows, controls), dtype), dt.zeros(rows, dtype)
        self.gains = dt.zeros(rows, dtype)
        self.parts = min(rates.parts, count)
        few = rates.horizon * (count // self.parts)
        self.commands, few = self.policy.net.rows(few), few * rollouts.networks
        self.x, self.u = dt.zeros((few, rollouts.inputs), dtype), dt.zeros((few, controls), dtype)
        self.likely, self.gain = (dt.zeros(few, dtype) for _ in range(2))
        self.loss = dt.zeros(few, dtype, grad=True)

    def roll_out(self) -> None:
        """Simulate a horizon, and keep what was decided."""
        rollouts, policy, steps = self.rollouts, self.policy, self.rates.horizon
        for t in range(steps):
            commands = policy.net.run(rollouts.look(t), policy.commands)
            draw(commands, policy.log_std, t, steps, self.drawn, self.old, rollouts.env.action)
            rollouts.step(t, self.rates.critic.discount)
        rollouts.look(steps)

    def improve(self, rate: float = 1.0) -> Progress:
        """Go on by one horizon and update the networks, with step sizes scaled by `rate`."""
        rollouts = self.rollouts
        rollouts.open()
        self.roll_out()
        self.critic.learn(rollouts.history, rollouts.rewards, rollouts.fell, rate)
        self._weigh()
        for _ in range(self.rates.passes):
            for part in range(self.parts):
                self._learn(part, rate)
        return rollouts.close()

    def _weigh(self) -> None:
        """Compute by how much each decision was better than the critic, in standard deviations."""
        rollouts, steps = self.rollouts, self.rates.horizon
        values = self.critic.all_values[-1].to_numpy()
        before = values.reshape(rollouts.networks, steps + 1, rollouts.count)[:, :-1]
        found = self.critic.targets.to_numpy().reshape(steps, rollouts.networks, rollouts.count)
        gains = found.transpose(1, 0, 2) - before
        mean, spread = (f(gains, axis=(1, 2), keepdims=True) for f in (np.mean, np.std))
        self.gains.from_numpy(((gains - mean) / (spread + 1e-8)).ravel())

    def _learn(self, part: int, rate: float) -> None:
        policy, rollouts = self.policy, self.rollouts
        given = self.rollouts.history, self.drawn, self.old, self.gains
        numbers = part, self.parts, rollouts.networks, self.rates.horizon
        pick(*given, *numbers, self.x, self.u, self.likely, self.gain)
        with dt.Tape() as tape:
            commands = policy.net.run(self.x, self.commands)
            expected = self.u, self.likely, self.gain
            surrogate(commands, policy.log_std, *expected, self.rates.clip, self.loss)
        tape.backward({self.loss: 1.0})
        policy.move(rollouts.networks / len(self.gain), rate)
