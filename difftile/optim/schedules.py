"""Learning rates that change: functions from the number of steps done to a rate.

Any function works, such as `lr=lambda t: 0.1 / (1 + t)`; these are the common ones, and can be
pickled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from difftile.diagnostics import LaunchError
from difftile.tracebacks import boundary

Schedule: TypeAlias = Callable[[int], float]


@dataclass(frozen=True)
class _Constant:
    rate: float

    def __call__(self, t: int) -> float:
        return self.rate


@dataclass(frozen=True)
class _Linear:
    start: float
    end: float
    steps: int

    def __call__(self, t: int) -> float:
        return self.start + (self.end - self.start) * min(t / self.steps, 1.0)


@dataclass(frozen=True)
class _Exponential:
    start: float
    factor: float
    steps: int

    def __call__(self, t: int) -> float:
        return self.start * self.factor ** (t / self.steps)


@dataclass(frozen=True)
class _Step:
    start: float
    factor: float
    steps: int

    def __call__(self, t: int) -> float:
        return self.start * self.factor ** (t // self.steps)


@dataclass(frozen=True)
class _Cosine:
    start: float
    end: float
    steps: int

    def __call__(self, t: int) -> float:
        wave = 0.5 * (1.0 + math.cos(math.pi * min(t / self.steps, 1.0)))
        return self.end + (self.start - self.end) * wave


@dataclass(frozen=True)
class _Warmup:
    steps: int
    then: Schedule

    def __call__(self, t: int) -> float:
        if t < self.steps:
            return self.then(0) * (t + 1) / self.steps
        return self.then(t - self.steps)


@boundary
def constant(rate: float) -> Schedule:
    """Return the schedule that is always `rate`."""
    return _Constant(rate)


@boundary
def linear(start: float, end: float, steps: int) -> Schedule:
    """Return the schedule that goes in a straight line from `start` to `end` and stays there."""
    return _Linear(start, end, _steps(steps, "linear"))


@boundary
def exponential(start: float, factor: float, steps: int = 1) -> Schedule:
    """Return the schedule that changes continuously, by `factor` over each `steps` steps."""
    return _Exponential(start, factor, _steps(steps, "exponential"))


@boundary
def step(start: float, factor: float, steps: int) -> Schedule:
    """Return the schedule that is multiplied by `factor` after each `steps` steps."""
    return _Step(start, factor, _steps(steps, "step"))


@boundary
def cosine(start: float, steps: int, end: float = 0.0) -> Schedule:
    """Return the schedule that falls to `end` along half a cosine wave and stays there.

    Source: Loshchilov and Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, 2017.
    """
    return _Cosine(start, end, _steps(steps, "cosine"))


@boundary
def warmup(steps: int, then: float | Schedule) -> Schedule:
    """Return the schedule that rises to the first rate of another in so many steps, and follows it.

    The first step already uses 1/steps of that rate.
    """
    return _Warmup(_steps(steps, "warmup"), then if callable(then) else constant(then))


def _steps(steps: int, name: str) -> int:
    if not steps >= 1:
        raise LaunchError(f"dt.optim.schedules.{name}: steps is 1 or more, not {steps!r}.")
    return steps
