"""Gradient descent with a step size that adapts, as `particle` and `saddle` prescribe it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import difftile as dt

STEP, TOLERANCE, PATIENCE = 1e-5, 1e-5, 10


def argmin(value_and_gradient: Callable[[Any], tuple[float, Any]], x: Any) -> Any:
    """Return where a gradient or a step is shorter than the tolerance."""
    (value, gradient), eta, gains = value_and_gradient(x), STEP, 0
    while np.linalg.norm(gradient) > TOLERANCE:
        if gains == PATIENCE:
            eta, gains = 2 * eta, 0
            continue
        step = eta * gradient
        if np.linalg.norm(step) <= TOLERANCE:
            break
        value_there, gradient_there = value_and_gradient(x - step)
        if value_there < value:
            x, value, gradient, gains = x - step, value_there, gradient_there, gains + 1
        else:
            eta, gains = eta / 2, 0
    return x


def in_reverse(f: Callable[..., Any], *others: Any) -> Callable[[Any], tuple[float, Any]]:
    """Return the function of the value and the gradient of a kernel, in reverse mode."""
    both = dt.value_and_grad(f)
    return lambda x: both(x, *others)


def forward(f: Callable[..., Any], *others: Any) -> Callable[[Any], tuple[float, Any]]:
    """Return the same function in forward mode, one direction at a time."""

    def both(x: Any) -> tuple[float, Any]:
        pushes = [dt.jvp(lambda x: f(x, *others), x, unit) for unit in np.eye(x.size)]
        return float(pushes[0][0]), np.array([float(slope) for _, slope in pushes])

    return both
