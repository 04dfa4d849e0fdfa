"""Pictures of a cloud in NumPy: an independent reference for losses and gradients.

The loss is a polynomial of degree two in the densities, so that central differences of any step
are exact but for rounding.
"""

import numpy as np

from scenes.volume import VolumeScene


def render(density: np.ndarray, scene: VolumeScene) -> np.ndarray:
    """Return the pictures from all sides, shape (views, rows, columns)."""
    n, res = scene.n, scene.resolution
    row, column = np.mgrid[:res, :res]
    d = np.stack([2 * column / res - 1, 2 * row / res - 1, -np.ones((res, res))])
    d /= np.linalg.norm(d, axis=0)
    images = []
    for angle in scene.angles:
        s, c = np.sin(angle), np.cos(angle)
        turned = np.stack([d[0] * c + d[2] * s, d[1], d[2] * c - d[0] * s])
        image = np.zeros((res, res), density.dtype)
        for k in range(1, scene.samples + 1):
            point = np.array([s, 0.0, c])[:, None, None] + scene.spacing * k * turned
            within = ((point >= -0.5) & (point < 0.5)).all(axis=0)
            x, y, z = np.clip(((point + 0.5) * n).astype(int), 0, n - 1)
            image += np.where(within, density[z, y, x], 0.0)
        images.append(image)
    return np.array(images)


def loss(density: np.ndarray, scene: VolumeScene) -> float:
    """Return the sum over the views of the mean squares that the pictures are off."""
    off = render(density, scene) - render(scene.density, scene)
    return float((off**2).mean(axis=(1, 2)).sum())
