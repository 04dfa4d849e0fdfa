"""Policies: networks that see the worlds of rollouts, and draw commands around decisions."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from difftile.worlds.learn.networks import Networks
from difftile.worlds.learn.rollouts import Rollouts

HIDDEN = 128, 64, 32


@dt.kernel
def act(commands, log_std, noise: float, ctrl):
    """Add noise, with a standard deviation for each network and control, and squash."""
    for n, i in ti.ndrange(ctrl.shape[0], ctrl.shape[1]):
        k = n // (ctrl.shape[0] // log_std.shape[0])
        ctrl[n, i] = ti.tanh(commands[n, i] + noise * ti.exp(log_std[k, 0, i]) * dt.randn())


@dt.kernel
def act_freely(commands, log_std, ctrl, surprise):
    """Act with noise, and write minus the log-probability of the action of each world."""
    for n in range(ctrl.shape[0]):
        k, total = n // (ctrl.shape[0] // log_std.shape[0]), 0.0
        for i in range(ctrl.shape[1]):
            z = dt.randn()
            u = commands[n, i] + ti.exp(log_std[k, 0, i]) * z
            ctrl[n, i] = ti.tanh(u)
            # The logarithm of the derivative of tanh, 1 - tanh(u)^2, which is 0 for large u.
            steepness = 2.0 * (math.log(2.0) - abs(u) - ti.log(1.0 + ti.exp(-2.0 * abs(u))))
            total += 0.5 * z * z + 0.5 * math.log(2.0 * math.pi) + log_std[k, 0, i] + steepness
        surprise[n] = total


@dataclass(frozen=True)
class PolicyRates:
    """How a policy moves along its gradient.

    Attributes:
        rate: The step size of Adam.
        betas: Of Adam.
        norm: The largest norm of a network's gradient.
        noise: Standard deviation of commands at first, before they are squashed.
        spread: That of decisions at first, over the states.
    """

    rate: float
    betas: tuple[float, float]
    norm: float = 1.0
    noise: float = 0.37
    spread: float = 1.0


class Policy:
    """Policies of several networks.

    Args:
        rollouts: The worlds.
        steps: How it moves.
        make: Makes the networks, of kernels or of torch.

    Attributes:
        net: The networks; the logarithms of standard deviations are among their parameters.
        log_std: These, (networks, 1, nu).
    """

    def __init__(
        self, rollouts: Rollouts, steps: PolicyRates, make: Callable[..., Networks] = Networks
    ) -> None:
        self.rollouts, self.steps = rollouts, steps
        controls, dtype = rollouts.model.sizes.nu, rollouts.dtype
        self.net = make((rollouts.inputs, *HIDDEN, controls), rollouts.seeds, steps.spread, dtype)
        shape = rollouts.networks, 1, controls
        self.log_std = dt.full(shape, float(np.log(steps.noise)), dtype, grad=True)
        self.net.parameters["log_std"] = self.log_std
        self.commands = self.net.rows(rollouts.count)
        self.adam = dt.optim.Adam(
            self.net.parameters, steps.rate, betas=steps.betas, nonfinite="ignore"
        )

    def decide(self, noise: float, t: int | None = None) -> None:
        """Set the controls for the present state, that of decision t."""
        commands = self.net.run(self.rollouts.look(t), self.commands)
        act(commands, self.log_std, noise, self.rollouts.env.action)

    def explore(self, t: int, surprise: dt.Field) -> None:
        """Set the controls as `decide` does; `surprise` is minus their log-probability."""
        commands = self.net.run(self.rollouts.look(t), self.commands)
        act_freely(commands, self.log_std, self.rollouts.env.action, surprise)

    def clear(self) -> None:
        """Set the gradients to zero."""
        for parameter in self.net.parameters.values():
            parameter.grad.fill(0.0)

    def move(self, scale: float, rate: float) -> None:
        """Move along the gradients times `scale`, by steps times `rate`."""
        self.net.limit(scale, self.steps.norm)
        self.adam.lr = self.steps.rate * rate
        self.adam.step()


def fields_of(policy: Policy, **others: Any) -> dict[str, dt.Field]:
    """Return the fields of a policy, of other networks and of what was seen, by name."""
    nets = {"actor": policy.net, **others}
    found = {f"{name}.{k}": f for name, net in nets.items() for k, f in net.parameters.items()}
    rollouts = policy.rollouts
    seen = {name: getattr(rollouts, name) for name in ("mean", "square", "inverse", "batches")}
    return found | {f"seen.{name}": field for name, field in seen.items()}
