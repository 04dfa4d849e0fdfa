"""Smoke in an incompressible flow in plain Taichi."""

from typing import Any

import taichi as ti

from benchmarks.peers.peer import Peer
from scenes.smoke import SmokeScene

vec2 = ti.math.vec2


def make_smoke(scene: SmokeScene, original: bool = False, dtype: Any = ti.f32) -> Peer:
    """Return the simulation; `dtype` is the `default_fp` of `ti.init` too."""
    n, steps, dx, relaxations = scene.n, scene.steps, 1.0 / scene.n, scene.relaxations
    vector = ti.types.vector(2, dtype).field
    v0 = vector(shape=(n, n), needs_grad=True)
    v, u = (vector(shape=(steps, n, n), needs_grad=True) for _ in range(2))
    div, smoke = (ti.field(dtype, (steps, n, n), needs_grad=True) for _ in range(2))
    p = ti.field(dtype, ((steps - 1) * relaxations + 1, n, n), needs_grad=True)
    first, target = (ti.field(dtype, (n, n)) for _ in range(2))
    loss = ti.field(dtype, (), needs_grad=True)
    first.from_numpy(scene.smoke)
    target.from_numpy(scene.target)

    @ti.func
    def between(f: ti.template(), t, at):
        i, j = int(ti.floor(at.x)), int(ti.floor(at.y))
        r, b = at.x - i, at.y - j
        low = (1.0 - b) * f[t, i % n, j % n] + b * f[t, i % n, (j + 1) % n]
        high = (1.0 - b) * f[t, (i + 1) % n, j % n] + b * f[t, (i + 1) % n, (j + 1) % n]
        return (1.0 - r) * low + r * high

    @ti.kernel
    def start():
        for i, j in v0:
            v[0, i, j] = v0[i, j]
            smoke[0, i, j] = first[i, j]

    @ti.kernel
    def advect(t: int):
        for i, j in v0:
            u[t, i, j] = between(v, t - 1, vec2(i, j) - v[t - 1, i, j])

    @ti.kernel
    def diverge(t: int):
        for i, j in v0:
            down = u[t, (i + 1) % n, j].x - u[t, (i - 1) % n, j].x
            right = u[t, i, (j + 1) % n].y - u[t, i, (j - 1) % n].y
            div[t, i, j] = -0.5 * dx * (down + right)

    @ti.kernel
    def relax(t: int, k: int):
        for i, j in v0:
            around = p[k, (i + 1) % n, j] + p[k, (i - 1) % n, j]
            around += p[k, i, (j + 1) % n] + p[k, i, (j - 1) % n]
            p[k + 1, i, j] = 0.25 * (div[t, i, j] + around)

    @ti.kernel
    def project(t: int, k: int):
        for i, j in v0:
            down = p[k, (i + 1) % n, j] - p[k, (i - 1) % n, j]
            right = p[k, i, (j + 1) % n] - p[k, i, (j - 1) % n]
            velocity = u[t, i, j] - 0.5 / dx * vec2(down, right)
            v[t, i, j] = velocity
            smoke[t, i, j] = between(smoke, t - 1, vec2(i, j) - velocity)

    @ti.kernel
    def measure():
        for i, j in target:
            loss[None] += (target[i, j] - smoke[steps - 1, i, j]) ** 2 / n**2

    def run():
        loss[None] = 0.0
        start()
        for t in range(1, steps):
            advect(t)
            diverge(t)
            for k in range((t - 1) * relaxations, t * relaxations):
                relax(t, k)
            project(t, max(0, (t - 1) * relaxations - 1) if original else t * relaxations)
        measure()

    return Peer(run, loss, {"v0": v0}, (v, u, div, smoke, p), constants=(first, target))
