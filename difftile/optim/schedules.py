"""Learning rates that change: functions from the number of steps done to a rate.

Any function works, such as `lr=lambda t: 0.1 / (1 + t)`; these are the common ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from difftile.diagnostics import LaunchError

Schedule: TypeAlias = Callable[[int], float]


def constant(rate: float) -> Schedule:
    """Return the schedule that is always `rate`."""
    return lambda t: rate


def linear(start: float, end: float, steps: int) -> Schedule:
    """Return the schedule that goes in a straight line from `start` to `end` and stays there."""
    last = _steps(steps, "linear")
    return lambda t: start + (end - start) * min(t / last, 1.0)


def exponential(start: float, factor: float, steps: int = 1) -> Schedule:
    """Return the schedule that changes continuously, by `factor` over each `steps` steps."""
    length = _steps(steps, "exponential")
    return lambda t: start * factor ** (t / length)


def step(start: float, factor: float, steps: int) -> Schedule:
    """Return the schedule that is multiplied by `factor` after each `steps` steps."""
    length = _steps(steps, "step")
    return lambda t: start * factor ** (t // length)


def cosine(start: float, steps: int, end: float = 0.0) -> Schedule:
    """Return the schedule that falls to `end` along half a cosine wave and stays there.

    Source: Loshchilov and Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, 2017.
    """
    last = _steps(steps, "cosine")
    return lambda t: end + (start - end) * 0.5 * (1.0 + math.cos(math.pi * min(t / last, 1.0)))


def warmup(steps: int, then: float | Schedule) -> Schedule:
    """Return the schedule that rises to the first rate of another in so many steps, and follows it.

    The first step already uses 1/steps of that rate.
    """
    length = _steps(steps, "warmup")
    after = then if callable(then) else constant(then)
    return lambda t: after(0) * (t + 1) / length if t < length else after(t - length)


def _steps(steps: int, name: str) -> int:
    if not steps >= 1:
        raise LaunchError(f"dt.optim.schedules.{name}: steps is 1 or more, not {steps!r}.")
    return steps
