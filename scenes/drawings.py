"""Pictures made of formulas, for scenes whose originals read photographs from files."""

import numpy as np


def draw_disc(
    y: np.ndarray, x: np.ndarray, radius: float, edge: float, middle: float = 0.0
) -> np.ndarray:
    """Return 1 inside a disc and 0 outside of it, at places.

    Args:
        y: Downwards, any shape.
        x: To the right, of the same shape.
        radius: Of the disc.
        edge: The width over which it fades.
        middle: Its y; its x is 0.
    """
    return _rise((radius - np.hypot(y - middle, x)) / edge)


def draw_yin_yang(y: np.ndarray, x: np.ndarray, edge: float) -> np.ndarray:
    """Return 0 in yin and 1 in yang, which share a disc of radius 1, at places.

    Args:
        y: Downwards, any shape.
        x: To the right, of the same shape.
        edge: The width over which one fades into the other.
    """
    head, eye = (
        [draw_disc(y, x, r, edge, middle) for middle in (-0.5, 0.5)] for r in (1 / 2, 1 / 6)
    )
    yang = _rise(x / edge)
    yang = np.maximum(yang, head[0]) * (1.0 - head[1])
    return np.maximum(yang * (1.0 - eye[0]), eye[1])


def _rise(place: np.ndarray) -> np.ndarray:
    """Rise from 0 at -1/2 to 1 at 1/2 without a kink."""
    t = np.clip(place + 0.5, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)
