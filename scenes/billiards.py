"""A cue ball before a triangle of balls, the last of which should reach a goal.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "billiards"): all balls are alike, nothing
slows them down, and the initial position and velocity of the cue ball are optimised.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, slots=True)
class BilliardsScene:
    """Balls of one mass and radius on a plane without friction or cushions.

    Attributes:
        layers: Columns of the triangle: one ball in the first, two in the second, and so on.
        radius: Of all balls [m].
        elasticity: Speed after a collision over speed before it, along the line of the centers.
        time_step: [s].
        cue_position: Where the cue ball starts before the optimisation [m], shape (2,).
        cue_velocity: Its velocity [m/s], shape (2,).
        corner: Center of the first ball of the triangle [m], shape (2,).
        goal: Desired final position of the last ball of the triangle [m], shape (2,).
    """

    layers: int = 4
    radius: float = 0.03
    elasticity: float = 0.8
    time_step: float = 0.003
    cue_position: np.ndarray = field(default_factory=lambda: np.array([0.1, 0.5]))
    cue_velocity: np.ndarray = field(default_factory=lambda: np.array([0.3, 0.0]))
    corner: np.ndarray = field(default_factory=lambda: np.array([0.5, 0.5]))
    goal: np.ndarray = field(default_factory=lambda: np.array([0.9, 0.75]))

    @property
    def n_balls(self) -> int:
        """Number of balls: the cue ball, which is ball 0, and the balls of the triangle."""
        return 1 + self.layers * (self.layers + 1) // 2

    @property
    def target(self) -> int:
        """The ball that is sent to the goal: the last one."""
        return self.n_balls - 1

    def rack(self) -> np.ndarray:
        """Initial positions of the balls of the triangle [m], shape (n_balls - 1, 2).

        Balls of a column touch; the next column is one diameter farther away, 0.35 of it lower.
        """
        spacing = 2 * self.radius
        places = [(i, j - 0.35 * i) for i in range(self.layers) for j in range(i + 1)]
        return self.corner + spacing * np.array(places)
