"""Waves on a square in NumPy: an independent reference for losses and gradients.

The loss is a polynomial of degree two in the initial heights, so that central differences of any
step are exact but for rounding.
"""

import numpy as np


def height(initial: np.ndarray, steps: int, courant: float = 1.0 / 3.0) -> np.ndarray:
    """Return the last of `steps` states: `initial`, flat water, and so on, shape (n, n)."""
    states = [initial, np.zeros_like(initial)]
    for _ in range(2, steps):
        before, now = states[-2:]
        wide = np.pad(now, 1)
        laplacian = wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2] - 4 * now
        states.append(2 * now - before + courant * laplacian)
    return states[steps - 1]


def loss(initial: np.ndarray, target: np.ndarray, steps: int) -> float:
    """Return the mean squared difference of the last state and the target."""
    return float(np.mean((target - height(initial, steps)) ** 2))
