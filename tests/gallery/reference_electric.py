"""The charge that follows way-points, in NumPy: an independent reference.

Complex numbers pass through (comparisons look at real parts), so a complex step gives derivatives.
"""

import numpy as np

from scenes.electric import ElectricScene


def goal_at(scene: ElectricScene, ways: np.ndarray, t: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where the goals are, and their velocities, both of shape (ways, 2)."""
    segment, part = divmod(t, scene.segment)
    a, b = ways[segment], ways[segment + 1]
    part = part / scene.segment
    return (1 - part) * a + part * b, b - a


def simulate(
    scene: ElectricScene,
    weights: dict[str, np.ndarray],
    ways: np.ndarray,
    steps: int,
    stale: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[complex | float, np.ndarray, np.ndarray]:
    """Run from the first way-points, at rest.

    Args:
        scene: The charges.
        weights: w1, b1, w2, b2; real or complex.
        ways: Way-points [m], shape (way-points, ways, 2).
        steps: States of the run, that at the start included.
        stale: Positions and velocities that the network reads instead of those it should, by step.

    Returns:
        The loss, and positions and velocities of all steps, each of shape (steps, ways, 2).
    """
    h, decay = scene.time_step, np.exp(-scene.drag * scene.time_step)
    dtype = np.result_type(*weights.values(), np.float64)
    x, v = ways[0].astype(dtype), np.zeros(ways[0].shape, dtype)
    xs, vs, loss = [x], [v], 0.0
    for t in range(1, steps):
        place, way = goal_at(scene, ways, t)
        seen_x, seen_v = (x, v) if stale is None else (stale[0][t], stale[1][t])
        inputs = np.concatenate([seen_x - 0.5, seen_v, place - 0.5, way - 0.5], axis=1)
        hidden = np.tanh(inputs @ weights["w1"] + weights["b1"])
        charge = np.tanh(hidden @ weights["w2"] + weights["b2"])
        r = x[:, None] - scene.charges
        distance = np.sqrt((r * r).sum(axis=2))
        distance = np.where(distance.real > scene.radius, distance, scene.radius)
        force = scene.strength * (charge[:, :, None] * r / distance[:, :, None] ** 3).sum(axis=1)
        v = decay * v + h * force
        x = x + h * v
        xs.append(x)
        vs.append(v)
        loss = loss + h * ((x - place) ** 2).sum() / len(x)
    return loss, np.array(xs), np.array(vs)
