"""Where cameras are, and where they look."""

import numpy as np


def look_at_origin(eyes: np.ndarray) -> np.ndarray:
    """Return the axes of cameras that stand upright: to the right, down and ahead.

    Args:
        eyes: Where they are, shape (views, 3) and off the y axis.

    Returns:
        Shape (views, 3, 3), an axis a row.
    """
    ahead = -eyes / np.linalg.norm(eyes, axis=1, keepdims=True)
    right = np.cross(ahead, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    return np.stack([right, np.cross(ahead, right), ahead], axis=1)
