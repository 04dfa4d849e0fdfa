"""An arm of masses and springs that sticks out from a wall and should roll itself up.

The masses lie in a zigzag, each joined to the two before it: there are as many springs as
coordinates, so the lengths of the springs determine the shape of the arm. Their rest lengths are
sought. This module holds only data; the simulation is in `demos/newton_spring.py`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class SpringArm:
    """Unit point masses joined by springs, and their target.

    Attributes:
        positions: Initial positions of the masses [m], at rest, shape (n, 2); the first two are
            fixed.
        springs: The two masses each spring joins, shape (m, 2), int32.
        target: Desired positions of the masses after the last step [m], shape (n, 2).
        stiffness: Force per unit of strain [N].
        damping: Force per speed at which the ends of a spring part [N s/m].
        drag: Rate at which velocities decay [1/s].
        gravity: Acceleration along y [m/s^2].
        time_step: [s].
    """

    positions: np.ndarray
    springs: np.ndarray
    target: np.ndarray
    stiffness: float = 400.0
    damping: float = 4.0
    drag: float = 5.0
    gravity: float = -0.3
    time_step: float = 0.01

    @property
    def lengths(self) -> np.ndarray:
        """Of the springs at the start [m], shape (m,)."""
        return measure(self.positions, self.springs)


def measure(positions: np.ndarray, springs: np.ndarray) -> np.ndarray:
    """Return the distances between the ends of the springs [m], shape (m,)."""
    return np.linalg.norm(positions[springs[:, 0]] - positions[springs[:, 1]], axis=1)


def make_arm(masses: int = 15, turn: float = np.radians(120.0)) -> SpringArm:
    """Return an arm that starts straight and should roll up.

    Args:
        masses: Those that move; each brings two springs.
        turn: The angle between the two ends of the target [rad].
    """
    spacing, width = 0.06, 0.12
    numbers = np.arange(masses + 2)
    along, across = spacing * numbers, width * (numbers % 2 - 0.5)
    straight = np.stack([along, across], axis=-1)
    # The target turns ever more from the wall on: its curvature grows in proportion to the length.
    fine = np.linspace(0.0, along[-1], 4001)
    angle = turn * (fine / along[-1]) ** 2
    path = np.cumsum(np.stack([np.cos(angle), np.sin(angle)], axis=-1), axis=0) * fine[1]
    path -= path[0]
    center = np.stack([np.interp(along, fine, path[:, k]) for k in range(2)], axis=-1)
    tilt = turn * (along / along[-1]) ** 2
    rolled = center + across[:, None] * np.stack([-np.sin(tilt), np.cos(tilt)], axis=-1)
    rolled[:2] = straight[:2]
    springs = [(k - back, k) for k in range(2, masses + 2) for back in (2, 1)]
    return SpringArm(straight, np.array(springs, np.int32), rolled)
