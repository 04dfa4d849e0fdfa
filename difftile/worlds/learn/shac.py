"""Short-horizon actor-critic: policies from gradients through simulations.

Xu et al., "Accelerated Policy Learning with Parallel Differentiable Simulation", ICLR 2022: the
gradient of the return over a short horizon passes through the simulation, and a critic stands for
the rest. Gradients that pass between steps are shortened world by world.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import difftile as dt
from difftile import ti, worlds
from difftile.worlds.learn.critics import BETAS, Critic, CriticRates
from difftile.worlds.learn.networks import Networks
from difftile.worlds.learn.policies import Policy, PolicyRates
from difftile.worlds.learn.rollouts import Measure, Progress, Rollouts


@dataclass(frozen=True)
class ShacRates:
    """Numbers of the method.

    Attributes:
        horizon: Decisions from one update to the next.
        world_norm: The largest norm of the gradient by a world's state.
        entropy: The temperature: how much a nat of the entropy of a decision is worth, in rewards
            (Xing et al., "Stabilizing Reinforcement Learning in Differentiable Multiphysics
            Simulation", ICLR 2025, who tune it as well). 0 is for none.
        actor: How the policy moves.
        critic: How the critic learns.
    """

    horizon: int = 16
    world_norm: float = 100.0
    entropy: float = 0.0
    actor: PolicyRates = field(default_factory=lambda: PolicyRates(2e-3, BETAS, spread=0.5))
    critic: CriticRates = field(default_factory=CriticRates)


@dt.kernel
def bound(qpos, qvel, most: float):
    """Leave the state as it is; the gradient of a world is shortened to a norm of `most`."""
    for n in range(qpos.shape[0]):
        for i in range(qpos.shape[1]):
            qpos[n, i] = qpos[n, i]
        for i in range(qvel.shape[1]):
            qvel[n, i] = qvel[n, i]


@bound.backward(approx=True)
@dt.kernel
def _(qpos, qvel, most: float):
    for n in range(qpos.shape[0]):
        square = 0.0
        for i in range(qpos.shape[1]):
            square += qpos.grad_in[n, i] ** 2
        for i in range(qvel.shape[1]):
            square += qvel.grad_in[n, i] ** 2
        shorter = min(1.0, most / max(ti.sqrt(square), 1e-12))
        for i in range(qpos.shape[1]):
            qpos.grad_out[n, i] += ti.select(square < 1e30, shorter * qpos.grad_in[n, i], 0.0)
        for i in range(qvel.shape[1]):
            qvel.grad_out[n, i] += ti.select(square < 1e30, shorter * qvel.grad_in[n, i], 0.0)


@dt.kernel
def foresee(weights, values, far: float, cost):
    """Subtract the discounted value of the last state."""
    for n in range(cost.shape[0]):
        cost[n] -= weights[n] * far * values[n, 0]


@dt.kernel
def encourage(surprise, entropy: float, reward, total):
    """Add what the entropy of decisions is worth to their rewards, and keep the sum."""
    for n in range(reward.shape[0]):
        reward[n] += entropy * surprise[n]
        total[n] += dt.stop_grad(entropy * surprise[n])


class Shac:
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
        rates: ShacRates = ShacRates(),
        dtype: Any = ti.f32,
        make: Callable[..., Networks] = Networks,
        measure: Measure | None = None,
    ) -> None:
        self.rollouts = rollouts = Rollouts(
            model, task, count, seeds, rates.horizon, dtype, measure
        )
        self.rates = rates
        total = rollouts.total
        self._surprise, self._bonus = dt.zeros(total, dtype, grad=True), dt.zeros(total, dtype)
        self.policy = Policy(rollouts, rates.actor, make)
        self.critic = Critic(rollouts.inputs, seeds, count, rates.horizon, rates.critic, dtype)

    def roll_out(self, noise: float = 1.0) -> None:
        """Simulate a horizon; `rollouts.cost` is minus the return of each world."""
        rollouts, critic, rates = self.rollouts, self.critic, self.rates
        for t in range(rates.horizon):
            bound(rollouts.sim.qpos, rollouts.sim.qvel, rates.world_norm)
            if rates.entropy and noise:
                self.policy.explore(t, self._surprise)
                rollouts.env.step()
                encourage(self._surprise, rates.entropy, rollouts.env.reward, self._bonus)
                rollouts.earn(t, rates.critic.discount)
            else:
                self.policy.decide(noise, t)
                rollouts.step(t, rates.critic.discount)
        values = critic.judge(rollouts.look(rates.horizon))
        foresee(rollouts.weights, values, critic.far, rollouts.cost)

    def improve(self, rate: float = 1.0) -> Progress:
        """Go on by one horizon and update the networks, with step sizes scaled by `rate`."""
        rollouts, rates = self.rollouts, self.rates
        rollouts.open()
        self._bonus.fill(0.0)
        self.policy.clear()
        with dt.Tape() as tape:
            self.roll_out()
        tape.backward({rollouts.cost: 1.0})
        self.policy.move(1.0 / (rollouts.count * rates.horizon), rate)
        self.critic.learn(rollouts.history, rollouts.rewards, rollouts.fell, rate)
        found = rollouts.close()
        if not rates.entropy:  # which spares a wait for the device
            return found
        bonus = self._bonus.to_numpy().reshape(rollouts.networks, -1).mean(axis=1)
        return replace(found, reward=found.reward - bonus / rates.horizon)
