"""Where on the screen things are that a test wants to click on or drag."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from difftile.viewer import App


def pixel_of(app: App, place: Sequence[float]) -> tuple[float, float]:
    """Return the pixel at which a place of two or three components is shown."""
    at = np.array([place], np.float32)
    x, y = app._layout.scene._projection(at.shape[1] == 3).project(at)[0][0].tolist()
    return x, y
