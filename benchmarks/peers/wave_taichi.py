"""The wave equation in plain Taichi."""

from typing import Any

import taichi as ti

from benchmarks.peers.peer import Peer
from scenes.wave import WaveScene


def make_wave(scene: WaveScene, steps: int, dtype: Any = ti.f32) -> Peer:
    """Return the simulation; `dtype` is the `default_fp` of `ti.init` too."""
    n, courant = scene.n, scene.courant
    initial = ti.field(dtype, (n, n), needs_grad=True)
    # A rim of cells that stay zero is the flat water outside.
    p = ti.field(dtype, (steps, n + 2, n + 2), needs_grad=True)
    target = ti.field(dtype, (n, n))
    loss = ti.field(dtype, (), needs_grad=True)
    target.from_numpy(scene.target)

    @ti.kernel
    def start():
        for i, j in initial:
            p[0, i + 1, j + 1] = initial[i, j]

    @ti.kernel
    def step(t: int):
        for i, j in ti.ndrange((1, n + 1), (1, n + 1)):
            now = p[t - 1, i, j]
            around = p[t - 1, i - 1, j] + p[t - 1, i + 1, j]
            around += p[t - 1, i, j - 1] + p[t - 1, i, j + 1]
            p[t, i, j] = 2.0 * now - p[t - 2, i, j] + courant * (around - 4.0 * now)

    @ti.kernel
    def measure():
        for i, j in target:
            loss[None] += (target[i, j] - p[steps - 1, i + 1, j + 1]) ** 2 / n**2

    def run():
        loss[None] = 0.0
        start()
        for t in range(2, steps):
            step(t)
        measure()

    return Peer(run, loss, {"initial": initial}, history=(p,), constants=(target,))
