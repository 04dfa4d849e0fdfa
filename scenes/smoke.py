"""Smoke in a flow that forms a picture: a periodic square, sought is the velocity at the start.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, section 4.3, "smoke"): smoke starts as a
checkerboard, an incompressible flow carries it, and after a hundred steps it should look like a
picture. This module holds data only; how smoke moves is written in `demos/smoke.py`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class SmokeScene:
    """A periodic square of n cells of side 1/n along each axis, with smoke in it.

    Velocities are in cells a step, and the time is counted in steps.

    Attributes:
        smoke: Density at the start, shape (n, n).
        target: Desired density at the end, shape (n, n).
        steps: States of a run, the first one included, so that it makes `steps` - 1 updates.
        relaxations: Jacobi iterations for the pressure of a step.
    """

    smoke: np.ndarray
    target: np.ndarray
    steps: int = 100
    relaxations: int = 10

    @property
    def n(self) -> int:
        """Number of cells along an axis."""
        return len(self.smoke)


def make_scene(n: int = 128, steps: int = 100, relaxations: int = 10) -> SmokeScene:
    """Return a checkerboard of eight squares along each axis, which should become a ∂.

    Args:
        n: Number of cells along an axis.
        steps: States of a run, the first one included.
        relaxations: Jacobi iterations for the pressure of a step.
    """
    i, j = np.indices((n, n)) * 8 // n
    return SmokeScene(((i + j) % 2).astype(float), draw_del(n), steps, relaxations)


def draw_del(n: int) -> np.ndarray:
    """Return a ∂ as an image with smooth edges, rows from top to bottom, shape (n, n).

    Its bowl is a tilted ellipse; its stem goes along an arc of a larger circle, from the right of
    the bowl to the top left.
    """
    y, x = (np.indices((n, n)) + 0.5) / n
    bowl = 0.19 * (np.hypot((x - 0.47) / 0.19, (y - 0.62) / 0.19) - 1.0)
    center, radius, end = (0.37, 0.5), 0.32, -1.9
    angle = np.arctan2(y - center[1], x - center[0])
    arc = np.abs(np.hypot(x - center[0], y - center[1]) - radius)
    tip = center[0] + radius * np.cos(end), center[1] + radius * np.sin(end)
    round_end = np.hypot(x - tip[0], y - tip[1])
    stem = np.where((angle > end) & (angle < 0.5), arc, round_end)
    distance = np.minimum(np.abs(bowl), stem) - 0.045
    return np.clip(0.5 - distance * n / 2.0, 0.0, 1.0)
