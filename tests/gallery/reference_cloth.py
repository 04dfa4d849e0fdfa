"""The cloth in NumPy: an independent reference for losses and gradients.

Everything is written so that complex numbers pass through (branches look at real parts), hence a
complex step gives derivatives to rounding.
"""

import numpy as np

from scenes.cloth import ClothScene


def run(scene: ClothScene, wind: np.ndarray, stiffness: np.ndarray, steps: int) -> np.ndarray:
    """Return where the masses are after 0, 1, ... steps [m], shape (steps + 1, n, 3)."""
    cloth, h = scene.cloth, scene.time_step
    x = cloth.positions.astype(np.result_type(wind, stiffness, float))
    v = np.zeros_like(x)
    track = [x]
    for t in range(steps):
        force = np.zeros_like(x)
        force[:, 2] += cloth.mass * scene.gravity
        _pull(scene, stiffness, x, v, force)
        _blow(scene, wind[0] + t * h * (wind[1] - wind[0]), x, v, force)
        v = _touch(scene, x, v + h * force / cloth.mass)
        x = x + h * v
        track.append(x)
    return np.array(track)


def loss(track: np.ndarray, masses: np.ndarray, every: int, places: np.ndarray) -> complex | float:
    """Return the mean square distance from where the masses were seen [cm^2]."""
    off = track[every::every, masses] - places
    return 1e4 * (off**2).sum() / off[..., 0].size


def _length(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt((vectors**2).sum(axis=1))


def _pull(
    scene: ClothScene, stiffness: np.ndarray, x: np.ndarray, v: np.ndarray, force: np.ndarray
) -> None:
    cloth = scene.cloth
    a, b, kind = cloth.springs.T
    length = _length(x[b] - x[a])
    along = (x[b] - x[a]) / length[:, None]
    rate = ((v[b] - v[a]) * along).sum(axis=1)
    tension = stiffness[kind] * (length - cloth.rest_length) + cloth.mass * scene.damping * rate
    np.add.at(force, a, tension[:, None] * along)
    np.add.at(force, b, -tension[:, None] * along)


def _blow(
    scene: ClothScene, air: np.ndarray, x: np.ndarray, v: np.ndarray, force: np.ndarray
) -> None:
    corners = scene.cloth.triangles
    a, b, c = (x[corners[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    area, normal = 0.5 * _length(cross), cross / _length(cross)[:, None]
    speed = ((air - v[corners].mean(axis=1)) * normal).sum(axis=1)
    for k in range(3):
        np.add.at(force, corners[:, k], (scene.drag * area * speed / 3)[:, None] * normal)


def _touch(scene: ClothScene, x: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Velocities after contact: no mass ends up inside, and friction is at most Coulomb's."""
    v = free.copy()
    for p in range(len(x)):
        d = x[p] + scene.time_step * free[p] - scene.center
        distance = np.sqrt((d**2).sum())
        if distance.real >= scene.radius:
            continue
        normal, push = d / distance, (scene.radius - distance) / scene.time_step
        across = (free[p] * normal).sum()
        slide = free[p] - across * normal
        speed = np.sqrt((slide**2).sum())
        sticks = scene.friction * push.real >= speed.real
        slide = np.zeros(3) if sticks else slide * (1 - scene.friction * push / speed)
        v[p] = slide + (across + push) * normal
    return v
