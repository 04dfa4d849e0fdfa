"""Short-horizon actor-critic: policies from gradients through simulations.

Xu et al., "Accelerated Policy Learning with Parallel Differentiable Simulation", ICLR 2022: the
gradient of the return over a short horizon passes through the simulation, and a critic stands for
the rest. Episodes end by time at the end of a horizon, so that only that state needs the critic.
Gradients that pass between steps are shortened world by world.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

import difftile as dt
from demos.support.networks import Networks
from difftile import ti, worlds
from scenes.gaits import Gait, observe

HIDDEN = 128, 64, 32


@dataclass(frozen=True)
class Rates:
    """Numbers of the method.

    Attributes:
        horizon: Decisions from one update to the next.
        substeps: Steps of the simulation for each decision.
        episode: Horizons after which a world begins again.
        noise: Standard deviation of commands, before they are squashed.
        discount: Of rewards, by decision.
        trace: Lambda of the targets of the critic.
        actor, critic: Step sizes of Adam.
        updates: Of the critic after each horizon.
        parts: Into which the worlds are divided for these.
        share: Of the critic in its slow copy after each horizon.
        norm: The largest norm of a network's gradient.
        world_norm: The largest norm of the gradient by a world's state.
    """

    horizon: int = 32
    substeps: int = 4
    episode: int = 8
    noise: float = 0.25
    discount: float = 0.99
    trace: float = 0.95
    actor: float = 2e-3
    critic: float = 2e-3
    updates: int = 16
    parts: int = 8
    share: float = 0.6
    norm: float = 1.0
    world_norm: float = 100.0


@dt.kernel
def act(commands, noise: float, ctrl):
    for n, i in ti.ndrange(ctrl.shape[0], ctrl.shape[1]):
        ctrl[n, i] = ti.tanh(commands[n, i] + noise * dt.randn())


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
def store(seen, fell, t: int, networks: int, history, done):
    """Keep what the worlds see at decision t, and which of them fell after the one before."""
    for n in range(seen.shape[0]):
        count = seen.shape[0] // networks
        row = (n // count * (fell.shape[0] + 1) + t) * count + n % count
        for i in range(seen.shape[1]):
            history[row, i] = seen[n, i]
        if t > 0:
            done[n] = fell[t - 1, n]


@dt.kernel
def close(weights, values, cost):
    """Subtract the discounted value of the last state."""
    for n in range(cost.shape[0]):
        cost[n] -= weights[n] * values[n, 0]


@dt.kernel
def look_back(rewards, fell, values, discount: float, trace: float, networks: int, targets):
    """Compute returns by TD(lambda), backwards from the last state, for all worlds."""
    for n in range(rewards.shape[1]):
        steps, count = rewards.shape[0], rewards.shape[1] // networks
        first = n // count * (steps + 1) * count + n % count
        future = values[first + steps * count, 0]
        for back in range(steps):
            t = steps - 1 - back
            after = values[first + (t + 1) * count, 0]
            mixed = (1.0 - trace) * after + trace * future
            future = rewards[t, n] + ti.select(fell[t, n] != 0, 0.0, discount * mixed)
            targets[t, n] = future


@dt.kernel
def choose(history, targets, part: int, parts: int, networks: int, x, wanted):
    """Copy the decisions of every world whose number leaves the remainder `part`."""
    for r in range(x.shape[0]):
        steps, count = targets.shape[0], targets.shape[1] // networks
        few = count // parts
        k, rest = r // (steps * few), r % (steps * few)
        t, world = rest // few, rest % few * parts + part
        row = (k * (steps + 1) + t) * count + world
        for i in range(x.shape[1]):
            x[r, i] = history[row, i]
        wanted[r] = targets[t, k * count + world]


@dt.kernel
def miss(values, wanted, errors):
    for r in range(wanted.shape[0]):
        errors[r] = 0.5 * (values[r, 0] - wanted[r]) ** 2


@dt.kernel
def grow_old(age, episode: int, done):
    for n in range(age.shape[0]):
        age[n] += 1
        done[n] = ti.select(age[n] >= episode, 1, 0)
        age[n] = ti.select(age[n] >= episode, 0, age[n])


@dataclass(frozen=True, slots=True)
class Progress:
    """Means of a horizon, for each network.

    Attributes:
        speed: Along x at its end [m/s].
        reward: Of a decision.
        falls: Share of the worlds that fell.
    """

    speed: np.ndarray
    reward: np.ndarray
    falls: np.ndarray


class Shac:
    """Policies and their worlds.

    Args:
        model: The robot.
        gait: What it sees and earns.
        count: Worlds of each network.
        seeds: One for each network.
        rates: Numbers of the method.
        dtype: `ti.f32` or `ti.f64`.
    """

    def __init__(
        self,
        model: worlds.Model,
        gait: Gait,
        count: int,
        seeds: list[int],
        rates: Rates,
        dtype: Any = ti.f32,
    ) -> None:
        self.model, self.gait, self.rates, self.count = model, gait, rates, count
        self.networks = networks = len(seeds)
        total, sizes, horizon = count * networks, model.sizes, rates.horizon
        self.sim = worlds.Worlds(model, total, dtype=dtype)
        inputs = sizes.nq - gait.first + sizes.nv
        self.actor = Networks((inputs, *HIDDEN, sizes.nu), seeds, 0.1, dtype)
        others = [seed + 1000 for seed in seeds]
        self.critic, self.slow = (
            Networks((inputs, *HIDDEN, 1), others, dtype=dtype) for _ in range(2)
        )
        betas = 0.7, 0.95  # as in the paper's code
        self.adam = {
            name: dt.optim.Adam(network.parameters, 1e-3, betas=betas, nonfinite="ignore")
            for name, network in (("actor", self.actor), ("critic", self.critic))
        }
        self.seen = dt.zeros((total, inputs), dtype, grad=True)
        self.commands, self.values = self.actor.rows(count), self.slow.rows(count)
        self.history = dt.zeros((total * (horizon + 1), inputs), dtype)
        self.all_values = self.slow.rows(count * (horizon + 1))
        self.rewards, self.targets = (dt.zeros((horizon, total), dtype) for _ in range(2))
        self.fell = dt.zeros((horizon, total), ti.i32)
        self.weights, self.cost = dt.zeros(total, dtype), dt.zeros(total, dtype, grad=True)
        self.done, self.age = dt.zeros(total, ti.i32), dt.zeros(total, ti.i32)
        self.parts = min(rates.parts, count)
        few = horizon * (count // self.parts)
        self.x = dt.zeros((few * networks, inputs), dtype)
        self.wanted = dt.zeros(few * networks, dtype)
        self.errors = dt.zeros(few * networks, dtype, grad=True)
        self.guesses = self.critic.rows(few)
        self.start = gait.starts(model, total, seeds[0], dtype)
        self.begin()

    def begin(self) -> None:
        """Put all worlds at the start, with episodes that end at different times."""
        self.sim.reset(None, self.start)
        self.age.from_numpy((np.arange(len(self.age)) % self.rates.episode).astype(np.int32))

    def decide(self, noise: float) -> None:
        """Set the controls for the present state."""
        observe(self.sim.qpos, self.sim.qvel, self.gait.first, self.seen)
        act(self.actor.run(self.seen, self.commands), noise, self.sim.ctrl)

    def roll_out(self) -> None:
        """Simulate a horizon; `cost` is minus the return of each world."""
        rates, sim = self.rates, self.sim
        for t in range(rates.horizon):
            bound(sim.qpos, sim.qvel, rates.world_norm)
            self.decide(rates.noise)
            with dt.no_grad():
                store(self.seen, self.fell, t, self.networks, self.history, self.done)
            sim.step(rates.substeps)
            earnings = self.weights, self.rewards, self.fell, self.cost
            self.gait.reward(sim.qpos, sim.qvel, sim.ctrl, t, rates.discount, *earnings)
            with dt.no_grad():
                store(self.seen, self.fell, t + 1, self.networks, self.history, self.done)
            sim.reset(self.done, self.start)
        observe(sim.qpos, sim.qvel, self.gait.first, self.seen)
        with dt.no_grad():
            store(self.seen, self.fell, rates.horizon, self.networks, self.history, self.done)
        close(self.weights, self.slow.run(self.seen, self.values), self.cost)

    def improve(self, rate: float = 1.0) -> Progress:
        """Go on by one horizon and update the networks, with step sizes scaled by `rate`."""
        rates, sim = self.rates, self.sim
        self.cost.fill(0.0)
        self.weights.fill(1.0)
        with dt.Tape() as tape:
            self.roll_out()
        tape.backward({self.cost: 1.0})
        self.actor.limit(1.0 / (self.count * rates.horizon), rates.norm)
        self._move("actor", rates.actor * rate)
        values = self.slow.run(self.history, self.all_values)
        look_back(
            self.rewards,
            self.fell,
            values,
            rates.discount,
            rates.trace,
            self.networks,
            self.targets,
        )
        self._learn_values(rates.critic * rate)
        speed = sim.qvel.to_numpy()[:, 0]
        means = [speed, self.rewards.to_numpy().mean(axis=0), self.fell.to_numpy().max(axis=0)]
        found = Progress(*(one.reshape(self.networks, -1).mean(axis=1) for one in means))
        sim.detach()
        grow_old(self.age, rates.episode, self.done)
        sim.reset(self.done, self.start)
        return found

    def _learn_values(self, rate: float) -> None:
        for update in range(self.rates.updates):
            part = update % self.parts
            given = self.history, self.targets, part, self.parts, self.networks
            choose(*given, self.x, self.wanted)
            with dt.Tape() as tape:
                miss(self.critic.run(self.x, self.guesses), self.wanted, self.errors)
            tape.backward({self.errors: 1.0})
            self.critic.limit(self.networks / len(self.wanted), self.rates.norm)
            self._move("critic", rate)
        self.slow.follow(self.critic, self.rates.share)

    def _move(self, name: str, rate: float) -> None:
        self.adam[name].lr = rate
        self.adam[name].step()
