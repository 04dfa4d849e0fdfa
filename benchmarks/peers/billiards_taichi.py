"""Billiards in plain Taichi.

The loops are serial and a step is one kernel: waking the thread pool for eleven balls costs several
times more than moving them.
"""

from typing import Any

import taichi as ti

from benchmarks.peers.peer import Peer, clear
from scenes.billiards import BilliardsScene

vec2 = ti.math.vec2


def make_billiards(scene: BilliardsScene, steps: int, dtype: Any = ti.f32) -> Peer:
    """Return the simulation; `dtype` is the `default_fp` of `ti.init` too."""
    n, h, contact, rack = scene.n_balls, scene.time_step, 2.0 * scene.radius, scene.rack()
    vector = ti.types.vector(2, dtype).field
    x, v = (vector(shape=(steps + 1, n), needs_grad=True) for _ in range(2))
    push, jump = (vector(shape=(steps, n), needs_grad=True) for _ in range(2))
    init_x, init_v = (vector(shape=(), needs_grad=True) for _ in range(2))
    loss = ti.field(dtype, (), needs_grad=True)
    init_x[None], init_v[None] = scene.cue_position, scene.cue_velocity
    for i in range(1, n):
        x[0, i] = rack[i - 1]

    @ti.kernel
    def start():
        x[0, 0] = init_x[None]
        v[0, 0] = init_v[None]

    @ti.func
    def collide(t, i, j):
        d = x[t, i] - x[t, j] + h * (v[t, i] - v[t, j])
        distance = d.norm()
        if distance < contact:
            normal = d / (distance + 1e-6)
            approach = normal.dot(v[t, i] - v[t, j])
            if approach < 0.0:
                impulse = -0.5 * (1.0 + scene.elasticity) * approach * normal
                since = (distance - contact) / ti.min(-1e-3, approach)
                push[t, i] += impulse
                jump[t, i] += ti.min(since - h, 0.0) * impulse

    @ti.kernel
    def step(t: int):
        ti.loop_config(serialize=True)
        for i in range(n):
            for j in range(n):
                if i != j:
                    collide(t, i, j)
        ti.loop_config(serialize=True)
        for i in range(n):
            after = v[t, i] + push[t, i]
            v[t + 1, i] = after
            x[t + 1, i] = x[t, i] + h * after + jump[t, i]

    @ti.kernel
    def measure():
        loss[None] = (x[steps, scene.target] - vec2(scene.goal)).norm_sqr()

    def run():
        clear(push, jump)
        start()
        for t in range(steps):
            step(t)
        measure()

    return Peer(run, loss, {"init_x": init_x, "init_v": init_v}, history=(x, v, push, jump))
