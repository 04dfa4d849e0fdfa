"""The inputs of the programs that have peers, as arrays of NumPy."""

from __future__ import annotations

import numpy as np

Arrays = tuple[np.ndarray, ...]
COURANT = 1 / 3  # that of `scenes.wave`
ROBOT_STEPS = 20


def gmm(quick: bool) -> Arrays:
    """Return logarithms of weights, means, factors and points, as in ADBench."""
    points, size, gaussians = (20, 3, 4) if quick else (1000, 10, 25)
    rng, triangle = np.random.default_rng(0), size * (size + 1) // 2
    shapes = (gaussians,), (gaussians, size), (gaussians, triangle)
    drawn = [0.3 * rng.standard_normal(shape) for shape in shapes]
    return (*drawn, rng.standard_normal((points, size)))


def network(quick: bool) -> Arrays:
    """Return the weights of two hidden layers and an output, and the inputs."""
    inputs, units, samples = (3, 8, 5) if quick else (8, 64, 256)
    rng = np.random.default_rng(1)
    shapes = (units, inputs), (units, units), (1, units)
    drawn = [rng.standard_normal(shape) / np.sqrt(shape[1]) for shape in shapes]
    return tuple(a.astype(np.float32) for a in (*drawn, rng.standard_normal((samples, inputs))))


def wave(quick: bool) -> Arrays:
    """Return the initial heights and those wanted at the end, each a hill of water."""
    place = np.linspace(0.0, 1.0, 16 if quick else 128)

    def hill(x: float, y: float) -> np.ndarray:
        squares = (place[:, None] - x) ** 2 + (place - y) ** 2
        return np.exp(-squares / 0.01).astype(np.float32)

    return hill(0.5, 0.4), hill(0.3, 0.6)


def wave_steps(quick: bool) -> int:
    """Return the number of states of the wave."""
    return 5 if quick else 200
