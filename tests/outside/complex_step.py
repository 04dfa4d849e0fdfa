"""Gradients of functions of NumPy by the complex step (Squire and Trapp, SIAM Review 40, 1998)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_STEP = 1e-30


def gradient(f: Callable[[Any], Any], x: Any) -> Any:
    """Return the derivatives of `f` by each number of `x`, along the first axes of the result."""
    x = np.asarray(x, dtype=float)
    found = []
    for index in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[index] += 1j * _STEP
        found.append(np.imag(f(moved)) / _STEP)
    return np.reshape(found, (*x.shape, *np.shape(found[0])))


def slope(f: Callable[[Any], Any], x: Any, direction: Any) -> Any:
    """Return the derivative of `f` along a direction."""
    return np.imag(f(x + 1j * _STEP * direction)) / _STEP
