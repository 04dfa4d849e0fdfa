"""A cloth that falls on a ball, in difftile and in plain Taichi."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.gpu_rows.side import DIFFTILE, Arrays, Makers, nothing
from benchmarks.peers.cloth_taichi import make_cloth
from scenes.cloth import FallingCloth, choose_masses, draw_parameters, make_scene

SIDE, STEPS, EVERY = 128, 100, 50


def makers(scale: float) -> Makers:
    """Return who simulates a cloth; the time between two looks at it is that of so many steps."""
    side = max(round(SIDE * scale**0.5), 12)
    scene, parameters = make_scene(side, side), draw_parameters(0)
    masses = choose_masses(scene.cloth, 5)
    rng = np.random.default_rng(4)
    places = scene.cloth.positions[masses] + 0.01 * rng.standard_normal(
        (STEPS // EVERY, len(masses), 3)
    )
    return {
        DIFFTILE: lambda: Ours(FallingCloth(scene, parameters, masses, EVERY, STEPS), places),
        "Taichi": lambda: InTaichi(make_cloth(scene, parameters, masses, places, EVERY, STEPS)),
    }


class Ours:
    """A fall in difftile."""

    name, in_one = DIFFTILE, False
    seed = staticmethod(nothing)

    def __init__(self, fall: FallingCloth, places: np.ndarray) -> None:
        fall.places.from_numpy(places)
        self._fall, self._tape = fall, dt.Tape(fall.loss)
        self.forward = fall.run

    def clear(self) -> None:
        dt.zero_grads()

    def record(self) -> None:
        self._tape = dt.Tape()
        with self._tape:
            self._fall.run()

    def backward(self) -> None:
        self._tape.backward({self._fall.loss: 1.0})

    def synchronize(self) -> None:
        ti.sync()

    def results(self) -> tuple[Arrays, Arrays]:
        parameters = self._fall.parameters
        gradients = {name: one.grad.to_numpy() for name, one in parameters.items()}
        return {"loss": self._fall.loss.to_numpy()}, gradients


class InTaichi:
    """A fall in plain Taichi, with a time axis."""

    name, in_one = "Taichi", False
    clear = seed = staticmethod(nothing)

    def __init__(self, peer: Any) -> None:
        self._peer, self.forward = peer, peer.run
        self._tape: Any = None

    def record(self) -> None:
        self._tape = ti.ad.Tape(self._peer.loss, clear_gradients=False)
        self._tape.eval_on_exit = False
        with self._tape:
            self._peer.run()

    def backward(self) -> None:
        self._peer.clear_gradients()
        self._tape.grad()

    def synchronize(self) -> None:
        ti.sync()

    def results(self) -> tuple[Arrays, Mapping[str, np.ndarray]]:
        return {"loss": self._peer.loss.to_numpy()}, self._peer.gradients()
