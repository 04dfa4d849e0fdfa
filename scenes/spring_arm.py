"""An arm of masses and springs that sticks out from a wall and should roll itself up.

The masses lie in a zigzag, each joined to the two before it: there are as many springs as
coordinates, so the lengths of the springs determine the shape of the arm. Their rest lengths are
sought.

Run this file for a few steps of the optimisation; the demo `newton-spring` does all of them.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import ti

vec2 = ti.math.vec2


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


@dt.kernel
def step(
    x,
    v,
    force,
    rest,
    springs,
    stiffness: float,
    damping: float,
    drag: float,
    gravity: float,
    h: float,
):
    """Move the masses by one step of symplectic Euler; the first two are fixed."""
    for i in force:
        force[i] = vec2(0.0, gravity) - drag * v[i]
    for k in springs:
        a, b = springs[k][0], springs[k][1]
        along = x[b] - x[a]
        length = along.norm()
        along /= length
        parting = (v[b] - v[a]).dot(along)
        pull = stiffness * (length / rest[k] - 1.0) + damping * parting
        force[a] += pull * along
        force[b] -= pull * along
    for i in range(2, x.shape[0]):
        v[i] += h * force[i]
        x[i] += h * v[i]


@dt.kernel
def miss(x, target, loss):
    """Add the mean squared distance of the masses from their targets [m^2]."""
    for i in x:
        away = x[i] - target[i]
        loss[None] += away.dot(away) / (x.shape[0] - 2)


class Arm:
    """The arm, as a function of its rest lengths."""

    def __init__(self, scene: SpringArm, steps: int):
        self.scene, self.steps = scene, steps
        vector = dt.vec(2, ti.f64)
        self.start = dt.from_numpy(scene.positions, dtype=vector)
        self.springs = dt.from_numpy(scene.springs, dtype=ti.math.ivec2)
        self.target = dt.from_numpy(scene.target, dtype=vector)
        self.world = scene.stiffness, scene.damping, scene.drag, scene.gravity, scene.time_step

    def move(self, rest: dt.Field) -> dt.Field:
        """Return the positions of the masses after the last step."""
        x = dt.zeros_like(self.start)
        x.copy_from(self.start)
        v, force = dt.zeros_like(x), dt.zeros_like(x)
        for _ in dt.steps(self.steps):
            step(x, v, force, rest, self.springs, *self.world)
        return x

    def loss(self, rest: dt.Field) -> dt.Field:
        """Return the mean squared distance of the masses from the target then [m^2]."""
        loss = dt.zeros((), ti.f64)
        miss(self.move(rest), self.target, loss)
        return loss

    def nodes(self, lengths: np.ndarray) -> np.ndarray:
        """Return the final positions of the masses for these rest lengths [m], shape (n, 2)."""
        return self.move(dt.from_numpy(lengths)).to_numpy()

    def measure(self, lengths: np.ndarray) -> float:
        """Return the loss with these rest lengths [m^2]."""
        return float(self.loss(dt.from_numpy(lengths))[None])


if __name__ == "__main__":
    arm = Arm(make_arm(masses=6), steps=200)
    loss_and_gradient, hessian = dt.value_and_grad(arm.loss), dt.hessian(arm.loss)
    rest = arm.scene.lengths
    for _ in range(8):
        loss, gradient = loss_and_gradient(rest)
        print(f"loss {loss:.6f}")
        # Newton's direction; negative curvatures count as positive, and changes stay below 10 %.
        curvatures, axes = np.linalg.eigh(hessian(rest))
        change = -axes @ (axes.T @ gradient / np.abs(curvatures))
        rest = rest + change * min(1.0, 0.1 / np.max(np.abs(change / rest)))
