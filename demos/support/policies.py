"""Policies: networks that see the worlds of a herd, and draw commands around what they decide."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import difftile as dt
from demos.support.herds import Herd
from demos.support.networks import Networks
from difftile import ti

HIDDEN = 128, 64, 32


@dt.kernel
def act(commands, log_std, noise: float, ctrl):
    """Add noise, with a standard deviation for each network and control, and squash."""
    for n, i in ti.ndrange(ctrl.shape[0], ctrl.shape[1]):
        k = n // (ctrl.shape[0] // log_std.shape[0])
        ctrl[n, i] = ti.tanh(commands[n, i] + noise * ti.exp(log_std[k, 0, i]) * dt.randn())


@dataclass(frozen=True)
class Steps:
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
        herd: The worlds.
        steps: How it moves.
        make: Makes the networks, of kernels or of torch.

    Attributes:
        net: The networks; the logarithms of standard deviations are among their parameters.
        log_std: These, (networks, 1, nu).
    """

    def __init__(self, herd: Herd, steps: Steps, make: Callable[..., Networks] = Networks) -> None:
        self.herd, self.steps = herd, steps
        controls, dtype = herd.model.sizes.nu, herd.dtype
        self.net = make((herd.inputs, *HIDDEN, controls), herd.seeds, steps.spread, dtype)
        shape = herd.networks, 1, controls
        self.log_std = dt.full(shape, float(np.log(steps.noise)), dtype, grad=True)
        self.net.parameters["log_std"] = self.log_std
        self.commands = self.net.rows(herd.count)
        self.adam = dt.optim.Adam(
            self.net.parameters, steps.rate, betas=steps.betas, nonfinite="ignore"
        )

    def decide(self, noise: float, t: int | None = None) -> None:
        """Set the controls for the present state, that of decision t."""
        commands = self.net.run(self.herd.look(t), self.commands)
        act(commands, self.log_std, noise, self.herd.env.action)

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
    """Return the fields of a policy and of other networks, and what the herd has seen, by name."""
    nets = {"actor": policy.net, **others}
    found = {f"{name}.{k}": f for name, net in nets.items() for k, f in net.parameters.items()}
    herd = policy.herd
    seen = {"mean": herd.mean, "square": herd.square, "inverse": herd.inverse}
    return found | {f"seen.{name}": field for name, field in seen.items()}
