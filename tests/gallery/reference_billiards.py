"""Billiards in NumPy: an independent reference for losses and gradients.

Complex numbers pass through (branches look at real parts), so that derivatives can be had by a
complex step as well as by differences.
"""

import numpy as np

from demos.support.training import slope
from scenes.billiards import BilliardsScene


def simulate(
    scene: BilliardsScene, cue_position: np.ndarray, cue_velocity: np.ndarray, steps: int
) -> tuple[complex | float, np.ndarray]:
    """Run `steps` updates.

    Args:
        scene: Balls and goal.
        cue_position: Start of the cue ball [m], shape (2,); real or complex.
        cue_velocity: Its velocity there [m/s], shape (2,); real or complex.
        steps: Number of updates.

    Returns:
        The loss, the squared distance of the target ball from the goal [m^2], and all positions,
        (steps + 1, n, 2).
    """
    dt, diameter = scene.time_step, 2 * scene.radius
    dtype = np.result_type(cue_position, cue_velocity, np.float64)
    x = np.concatenate([[cue_position], scene.rack()]).astype(dtype)
    v = np.concatenate([[cue_velocity], np.zeros((scene.n_balls - 1, 2))]).astype(dtype)
    track = [x]
    for _ in range(steps):
        ahead = x + dt * v
        d = ahead[:, None] - ahead[None]
        # The distance of a ball from itself is put far away.
        distance = np.sqrt((d * d).sum(axis=-1) + np.eye(len(x)))
        normal = d / (distance + 1e-6)[..., None]
        approach = (normal * (v[:, None] - v[None])).sum(axis=-1)
        hit = (distance.real < diameter) & (approach.real < 0)
        strength = np.where(hit, -0.5 * (1 + scene.elasticity) * approach, 0)
        impulse = strength[..., None] * normal
        floored = np.where(approach.real < -1e-3, approach, -1e-3)
        late = (distance - diameter) / floored - dt
        late = np.where(late.real < 0, late, 0)
        v = v + impulse.sum(axis=1)
        x = x + dt * v + (late[..., None] * impulse).sum(axis=1)
        track.append(x)
    miss = x[scene.target] - scene.goal
    return (miss * miss).sum(), np.array(track)


def gradients(scene: BilliardsScene, start: np.ndarray, steps: int) -> np.ndarray:
    """Return the derivatives of the loss by `start`, (2, 2), in the same shape, by complex steps.

    The rows of `start` are position [m] and velocity [m/s] of the cue ball.
    """
    found = np.zeros((2, 2))
    for entry in np.ndindex(2, 2):
        moved = start.astype(complex)
        moved[entry] += 1e-30j
        found[entry] = complex(simulate(scene, *moved, steps)[0]).imag / 1e-30
    return found


def differences(scene: BilliardsScene, start: np.ndarray, steps: int, eps: float) -> np.ndarray:
    """Return the same by central differences of fourth order."""
    found = np.zeros((2, 2))
    for entry in np.ndindex(2, 2):

        def loss(change: float, entry: tuple[int, ...] = entry) -> float:
            moved = start.copy()
            moved[entry] += change
            return float(simulate(scene, *moved, steps)[0].real)

        found[entry] = slope(loss, eps)
    return found
