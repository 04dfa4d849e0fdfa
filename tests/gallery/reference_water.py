"""A pool seen through water in NumPy: an independent reference for losses and gradients.

Complex numbers pass through (cuts and comparisons use the real part), so that `derivative` is a
complex step: exact to rounding, without a step size to choose.
"""

import numpy as np

from scenes.wave import WaterScene
from tests.gallery.reference_wave import height

_STEP = 1e-30


def render(initial: np.ndarray, scene: WaterScene, steps: int) -> np.ndarray:
    """Return the image seen through the last state of the water, shape (n, n, 3)."""
    n = len(initial)
    wide = np.pad(height(initial, steps), 1)
    cell = 1.0 / n
    slope_y = 0.5 / cell * (wide[2:, 1:-1] - wide[:-2, 1:-1])
    slope_x = 0.5 / cell * (wide[1:-1, 2:] - wide[1:-1, :-2])
    row, column = np.mgrid[:n, :n]
    y, x = _clip(row - 2 * slope_y, n - 2), _clip(column - 2 * slope_x, n - 2)
    i, j = y.real.astype(int), x.real.astype(int)
    u, v = (y - i)[..., None], (x - j)[..., None]
    b = scene.bottom
    upper, lower = b[i, j] * (1 - v) + b[i, j + 1] * v, b[i + 1, j] * (1 - v) + b[i + 1, j + 1] * v
    return upper * (1 - u) + lower * u


def loss(initial: np.ndarray, scene: WaterScene, steps: int) -> complex | float:
    """Return the mean squared error of the colours."""
    return np.mean((render(initial, scene, steps) - scene.target) ** 2)


def derivative(initial: np.ndarray, direction: np.ndarray, scene: WaterScene, steps: int) -> float:
    """Return the derivative of the loss along a direction."""
    return loss(initial + 1j * _STEP * direction, scene, steps).imag / _STEP


def _clip(place: np.ndarray, high: float) -> np.ndarray:
    return np.where(place.real < 0, 0, np.where(place.real > high, high, place))
