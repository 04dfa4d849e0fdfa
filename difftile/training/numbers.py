"""Raw parameters of gaussians converted in NumPy and double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def sigmoid(logits: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the opacities for logits."""
    return 0.5 * (1.0 + np.tanh(0.5 * logits.astype(np.float64)))


def logit(opacities: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the logits of opacities in (0, 1)."""
    opacity = np.asarray(opacities, np.float64)
    return np.log(opacity) - np.log1p(-opacity)


def rotations(quaternions: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the rotations of quaternions w, x, y, z of any length, shape (n, 3, 3)."""
    q = quaternions.astype(np.float64)
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=1) for row in rows], axis=1)
