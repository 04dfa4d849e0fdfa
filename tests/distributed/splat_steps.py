"""Steps over images of gaussians that ranks own, with and without their exchange."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from difftile.distributed.messaging import Posted
from difftile.distributed.split_rows import SplitRows
from difftile.ranks import current
from difftile.render import Cameras, Splatter, l1, make_gaussians
from difftile.render.splatter import Rendering
from difftile.training import delivery, gaussians_at
from difftile.training.from_points import SH0

WAYS = ("exchange", "no exchange")


class SplatSteps:
    """Images of a cloud of gaussians from a circle around it, compared with grey ones.

    Args:
        gaussians: The number of gaussians of all ranks, with three bands of harmonics.
        images: The number of images, which ranks draw in turn.
        size: Of an image [pixels].
    """

    steps = 1

    def __init__(self, gaussians: int, images: int = 4, size: int = 512) -> None:
        rng = np.random.default_rng(0)
        places = rng.uniform(-1.0, 1.0, (gaussians, 3))
        alike = gaussians_at(places[:2], np.zeros((2, 3)), degree=3)  # neighbours take minutes
        arrays = {name: np.repeat(values[:1], gaussians, axis=0) for name, values in alike.items()}
        arrays["means"][:], arrays["sh0"][:] = places, (rng.random((gaussians, 3)) - 0.5) / SH0
        arrays["scales"][:] = np.log(0.4 * gaussians ** (-1 / 3))
        self.rows = SplitRows(make_gaussians(arrays, dtype=ti.f32))
        self.loss = dt.zeros((), ti.f32, grad=True)
        turns = 2.0 * np.pi * np.arange(images) / images
        eyes = [(3.0 * np.cos(turn), 0.5, 3.0 * np.sin(turn)) for turn in turns]
        self._views = [Cameras.look_at([eye], (0, 0, 0), size, size, dtype=ti.f32) for eye in eyes]
        self._splatters = [Splatter(size, size, depth=False) for _ in eyes]
        self._drawers = [delivery.drawer_of(image) for image in range(images)]
        self._mine = [k for k in range(images) if self._drawers[k] == current().rank]
        self._grey = dt.full((1, size, size), 0.5, dt.vec(3, ti.f32))
        self._drawn: dict[int, Rendering] = {}
        self._delivery = delivery.Delivery()

    def run(self, way: str) -> None:
        """Draw all images, on the open tape.

        Args:
            way: "exchange"; or "no exchange" for the same launches on what arrived before.
        """
        module: Any = delivery
        module.Posted = Posted if way == "exchange" else _Nothing
        self.loss.fill(0.0)
        projections = [
            partial(splatter.project, self.rows, view)
            for splatter, view in zip(self._splatters, self._views, strict=True)
        ]
        arrived = self._delivery(self.rows, projections, self._drawers, self.loss)
        for k, shown in zip(self._mine, arrived, strict=True):
            drawn = self._drawn[k] = self._splatters[k].blend(shown, self._drawn.get(k))
            l1(drawn.image, self._grey, self.loss)

    def restore(self) -> None:
        """Let messages travel again, also those of others."""
        module: Any = delivery
        module.Posted = Posted


class _Nothing:
    """Takes the place of messages, and sends nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def wait(self, what: str) -> None:
        """Do nothing."""
