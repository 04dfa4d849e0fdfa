"""Air and smoke in a box in NumPy: an independent reference for losses and gradients.

Pressures come from the whole matrix, which is made of the incidence of cells and sides. Complex
numbers pass through, so that a complex step gives derivatives.
"""

from typing import Any

import numpy as np


def bilinear(f: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return values between elements, with the outermost ones repeated beyond."""
    wide = np.pad(f, 2, mode="edge")
    inside = [
        np.where(at.real < -1, -1, np.where(at.real > size, size, at)) + 2
        for at, size in zip((x, y), f.shape, strict=True)
    ]
    (i, j), (r, s) = zip(
        *((np.floor(at.real).astype(int), at - np.floor(at.real)) for at in inside), strict=True
    )
    return (1 - r) * ((1 - s) * wide[i, j] + s * wide[i, j + 1]) + r * (
        (1 - s) * wide[i + 1, j] + s * wide[i + 1, j + 1]
    )


class Projection:
    """Makes velocities free of divergence."""

    def __init__(self, open_u: np.ndarray, open_v: np.ndarray, softness: float) -> None:
        self.open_u, self.open_v, n = open_u, open_v, open_u.shape[1]
        cells = np.arange(n * n).reshape(n, n)
        pairs = [(cells[:-1], cells[1:]), (cells[:, :-1], cells[:, 1:])]
        behind, ahead = (np.concatenate([pair[k].ravel() for pair in pairs]) for k in (0, 1))
        weights = np.concatenate([open_u[1:-1].ravel(), open_v[:, 1:-1].ravel()])
        matrix = softness * np.eye(n * n)
        for row, column, value in (
            (behind, behind, weights),
            (ahead, ahead, weights),
            (behind, ahead, -weights),
            (ahead, behind, -weights),
        ):
            np.add.at(matrix, (row, column), value)
        # By modes, so that rounding errors in the softest of them, the constants, stay there.
        self.rigidity, self.modes = np.linalg.eigh(matrix)

    def __call__(self, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u, v = self.open_u * u, self.open_v * v
        inflow = -np.diff(u, axis=0) - np.diff(v, axis=1)
        p = self.modes @ (self.modes.T @ inflow.ravel() / self.rigidity)
        p = p.reshape(inflow.shape)
        u[1:-1] -= self.open_u[1:-1] * np.diff(p, axis=0)
        v[:, 1:-1] -= self.open_v[:, 1:-1] * np.diff(p, axis=1)
        return u, v


def loss(box: Any, project: Projection, u: np.ndarray, v: np.ndarray) -> complex:
    """Return the mean square distance from the goal of the smoke after the last step."""
    smoke = box.smoke + 0 * u[0, 0]
    u, v = project(u, v)

    def origins(shape: tuple[int, ...], off: tuple[float, float]) -> Any:
        """Return the origin of the air that is in the middle of these sides or cells."""
        x, y = (index + shift for index, shift in zip(np.indices(shape), off, strict=True))
        return x - bilinear(u, x, y - 0.5), y - bilinear(v, x - 0.5, y)

    for _ in range(box.steps):
        x, y = origins(u.shape, (0.0, 0.5))
        u_next = bilinear(u, x, y - 0.5)
        x, y = origins(v.shape, (0.5, 0.0))
        u, v = project(u_next, bilinear(v, x - 0.5, y))
        x, y = origins(smoke.shape, (0.5, 0.5))
        smoke = bilinear(smoke, x - 0.5, y - 0.5)
    x, y = np.indices(smoke.shape) + 0.5
    away = (x - box.goal[0]) ** 2 + (y - box.goal[1]) ** 2
    return (smoke * away).sum() / smoke.sum()
