"""Splats in difftile and in gsplat: an image, its distance from another, and all gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.gpu_rows.side import DIFFTILE, Arrays, Makers, nothing
from benchmarks.rendering import camera, cloud, noise


def makers(n: int, size: int) -> Makers:
    """Return who draws n gaussians on a square image."""
    return {
        DIFFTILE: lambda: Ours(n, size),
        "gsplat": lambda: InGsplat(n, size, packed=False),
        "gsplat, packed": lambda: InGsplat(n, size, packed=True),
    }


class Ours:
    """The splats in difftile."""

    name, in_one = DIFFTILE, False
    seed = staticmethod(nothing)

    def __init__(self, n: int, size: int) -> None:
        self._rows, self._view = dt.render.make_gaussians(cloud(n), dtype=ti.f32), camera(size)
        self._splatter = dt.render.Splatter(size, size, depth=False)
        self._out = self._splatter(self._rows, self._view)
        target = abs(noise((1, size, size)))
        self._target = dt.from_numpy(target, dt.vec(3, ti.f32))
        self._loss = dt.zeros((), ti.f32, grad=True)
        self._tape = dt.Tape()

    def forward(self) -> None:
        self._splatter(self._rows, self._view, self._out)

    def clear(self) -> None:
        dt.zero_grads()

    def record(self) -> None:
        self._loss[None] = 0.0
        self._tape = dt.Tape()
        with self._tape:
            self.forward()
            dt.render.l1(self._out.image, self._target, self._loss)

    def backward(self) -> None:
        self._tape.backward({self._loss: 1.0})

    def synchronize(self) -> None:
        ti.sync()

    def results(self) -> tuple[Arrays, Arrays]:
        rows = self._rows
        names = "means", "scales", "quaternions", "opacities", "sh0", "shN"
        gradients = {name: getattr(rows, name).grad.to_numpy() for name in names}
        return {"image": self._out.image.to_numpy()}, gradients


class InGsplat:
    """The splats in gsplat, whose kernels take scales and opacities as they are."""

    in_one = False
    clear = seed = staticmethod(nothing)

    def __init__(self, n: int, size: int, *, packed: bool) -> None:
        from benchmarks.peers.splats_gsplat import GsplatPeer  # noqa: PLC0415 - is optional

        self.name = "gsplat, packed" if packed else "gsplat"
        view = camera(size)
        self._peer: Any = GsplatPeer(
            cloud(n),
            np.asarray(view.world_to_camera(), np.float32),
            view.intrinsics.to_numpy(),
            abs(noise((1, size, size))),
            packed=packed,
        )
        self.forward, self.record = self._peer.forward, self._peer.record
        self.backward, self.synchronize = self._peer.backward, self._peer.synchronize

    def results(self) -> tuple[Arrays, Arrays]:
        return self._peer.results()
