"""A cue ball before a triangle of balls, the last of which should reach a goal.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "billiards"): all balls are alike, nothing
slows them down, and the initial position and velocity of the cue ball are optimised.

Run this file for a few steps of the optimisation; the demo `billiards` does all of them.
"""

from dataclasses import dataclass, field

import numpy as np

import difftile as dt
from difftile import ti

vec4 = ti.math.vec4


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


@dt.data_oriented
class Billiards:
    """Balls in fields: the start of the cue ball, and in place where all are and how fast.

    Args:
        scene: Balls and goal.
        steps: Number of updates of a run.
        dtype: Of all fields.
    """

    def __init__(self, scene: BilliardsScene, steps: int, dtype=ti.f32):
        self.scene, self.steps, self.target, self.h = scene, steps, scene.target, scene.time_step
        self.contact, self.bounce = 2.0 * scene.radius, 0.5 * (1.0 + scene.elasticity)
        vector, n = dt.vec(2, dtype), scene.n_balls
        # Position and velocity of a ball are one vector, so that a single field is moved.
        self.balls, self.change = (dt.zeros(n, dt.vec(4, dtype), grad=True) for _ in range(2))
        self.rack = dt.from_numpy(scene.rack(), dtype=vector)
        self.goal = dt.from_numpy(scene.goal, dtype=vector)
        self.loss = dt.zeros((), dtype, grad=True)
        self.init_x = dt.from_numpy(scene.cue_position, dtype=vector, grad=True)
        self.init_v = dt.from_numpy(scene.cue_velocity, dtype=vector, grad=True)
        self.parameters = {"init_x": self.init_x, "init_v": self.init_v}

    @dt.kernel
    def start(self):
        for i in self.rack:
            self.balls[i + 1] = vec4(self.rack[i], 0.0, 0.0)
        self.balls[0] = vec4(self.init_x[None], self.init_v[None])

    @dt.kernel
    def step(self):
        # Every ball sums the effects of the others, from their positions without collisions.
        for i in self.balls:
            change = vec4(self.h * self.balls[i].zw, 0.0, 0.0)
            for j in range(self.balls.shape[0]):
                between = self.balls[i] - self.balls[j]
                d = between.xy + self.h * between.zw
                distance = d.norm()
                if distance < self.contact:
                    normal = d / (distance + 1e-6)
                    approach = normal.dot(between.zw)
                    if approach < 0.0:  # never so of a ball and itself
                        impulse = -self.bounce * approach * normal
                        # Since the impact, which is a part of the step ago, they go another way.
                        since = (distance - self.contact) / min(-1e-3, approach)
                        change += vec4(min(since, self.h) * impulse, impulse)
            self.change[i] = change
        for i in self.balls:
            self.balls[i] += self.change[i]

    @dt.kernel
    def measure(self):
        self.loss[None] = (self.balls[self.target].xy - self.goal[None]).norm_sqr()

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        dt.repeat(self.step, self.steps)
        self.measure()


if __name__ == "__main__":
    billiards = Billiards(BilliardsScene(), steps=1024)
    descent = dt.optim.Adam(billiards.parameters, 0.01)
    for _ in range(8):
        with dt.Tape(billiards.loss):
            billiards.run()
        print(f"loss {billiards.loss[None]:.6f}")
        descent.step()
