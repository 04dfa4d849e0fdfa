"""Air in a closed box with a wall in it, and a puff of smoke that should get behind the wall.

Quantities are on a staggered grid (Harlow and Welch, 1965): smoke and pressure in the middle of
square cells, velocities in the middle of their sides, each along the normal of its side. Lengths
are in cells and times in steps. This module holds only data; the simulation is in
`demos/implicit_fluid.py`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Box:
    """A box of n by n cells; x is the first axis of all arrays, y, upwards, the second.

    Attributes:
        smoke: Density of the smoke at the start, shape (n, n).
        solid: Which cells are wall, shape (n, n).
        goal: Where the smoke should be in the end, (x, y).
        radius: How near to the goal counts as there.
        steps: Time steps of a run.
        softness: Outflow of a cell where the pressure is 1 and the same everywhere. Without
            any, pressures would be known up to a constant.
    """

    smoke: np.ndarray
    solid: np.ndarray
    goal: tuple[float, float]
    radius: float
    steps: int
    softness: float = 1e-6

    @property
    def n(self) -> int:
        """Number of cells along an axis."""
        return len(self.smoke)

    @property
    def near_goal(self) -> np.ndarray:
        """Which cells are in the circle around the goal, shape (n, n)."""
        x, y = np.indices(self.smoke.shape) + 0.5
        return np.hypot(x - self.goal[0], y - self.goal[1]) < self.radius

    @property
    def open_sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Where air can pass: 1 between two cells of air and 0 elsewhere.

        For the sides across x, shape (n + 1, n), and for those across y, shape (n, n + 1).
        """
        air = 1.0 - np.pad(self.solid, 1, constant_values=True)
        return air[1:, 1:-1] * air[:-1, 1:-1], air[1:-1, 1:] * air[1:-1, :-1]


def make_box(n: int = 40, steps: int = 36) -> Box:
    """Return a box with a wall in the middle that leaves gaps above and below it.

    Args:
        n: Number of cells along an axis.
        steps: Time steps of a run.
    """
    x, y = (np.indices((n, n)) + 0.5) / n
    off = np.hypot(x - 0.25, y - 0.4) - 0.1
    return Box(
        smoke=np.clip(0.5 - off * n / 2.0, 0.0, 1.0),
        solid=(np.abs(x - 0.5) < 0.05) & (np.abs(y - 0.5) < 0.25),
        goal=(0.75 * n, 0.4 * n),
        radius=0.16 * n,
        steps=steps,
    )
