"""The dissimilarity of two pictures."""

from typing import Any

import numpy as np

import difftile as dt
from difftile import ti


def run(quick: bool) -> list[Any]:
    """Return the loss, and its gradient by the pixels of one."""
    size = 16 if quick else 64
    image, target = np.random.default_rng(0).uniform(size=(2, size, size, 3)).astype(np.float32)
    pixels = dt.from_numpy(image, dtype=dt.vec(3, ti.f32), grad=True)
    loss = dt.zeros((), grad=True)
    with dt.Tape(loss):
        dt.render.dssim(pixels, dt.from_numpy(target, dtype=dt.vec(3, ti.f32)), loss)
    return [loss, pixels.grad]
