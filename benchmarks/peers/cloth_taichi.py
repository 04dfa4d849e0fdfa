"""The cloth that falls on a ball in plain Taichi; the loops are serial and a step is one kernel."""

from typing import Any

import numpy as np
import taichi as ti

from benchmarks.peers.peer import Peer, clear
from scenes.cloth import ClothScene, Parameters

vec3 = ti.math.vec3


def make_cloth(
    scene: ClothScene,
    parameters: Parameters,
    masses: np.ndarray,
    places: np.ndarray,
    every: int,
    steps: int,
    dtype: Any = ti.f32,
    serial: bool = False,
) -> Peer:
    """Return the simulation.

    Args:
        scene: Cloth, ball and air.
        parameters: The wind and the stiffness.
        masses: The observed masses.
        places: Where they were seen [m], shape (looks, masses, 3).
        every: Time steps between observations.
        steps: Of a run.
        dtype: The `default_fp` of `ti.init` too.
        serial: One thread for each loop.
    """
    cloth, h, mass = scene.cloth, scene.time_step, scene.cloth.mass
    n, n_springs, n_triangles = len(cloth.positions), len(cloth.springs), len(cloth.triangles)
    looks, n_masses = places.shape[:2]
    vector, triple = ti.types.vector(3, dtype).field, ti.types.vector(3, ti.i32).field
    x, v = (vector(shape=(steps + 1, n), needs_grad=True) for _ in range(2))
    push = vector(shape=(steps, n), needs_grad=True)
    wind = vector(shape=2, needs_grad=True)
    stiffness = ti.field(dtype, 3, needs_grad=True)
    loss = ti.field(dtype, (), needs_grad=True)
    first, seen = vector(shape=n), vector(shape=(looks, n_masses))
    springs, triangles = triple(shape=n_springs), triple(shape=n_triangles)
    rest_length, observed = ti.field(dtype, n_springs), ti.field(ti.i32, n_masses)
    for field, values in (
        (wind, parameters.wind), (stiffness, parameters.stiffness), (first, cloth.positions),
        (seen, places), (springs, cloth.springs), (triangles, cloth.triangles),
        (rest_length, cloth.rest_length), (observed, masses),
    ):  # fmt: skip
        field.from_numpy(values)
    center, gravity = vec3(*scene.center), vec3(0.0, 0.0, h * scene.gravity)

    @ti.kernel
    def start():
        for p in first:
            x[0, p] = first[p]

    @ti.func
    def pull(t, s):
        a, b, kind = springs[s]
        d = x[t, a] - x[t, b]
        length = d.norm()
        force = stiffness[kind] * (length - rest_length[s]) / mass
        slow = scene.damping * (v[t, a] - v[t, b]).dot(d) / length
        change = h * (force + slow) / length * d
        push[t, a] -= change
        push[t, b] += change

    @ti.func
    def blow(t, k):
        a, b, c = triangles[k]
        area = 0.5 * (x[t, b] - x[t, a]).cross(x[t, c] - x[t, a])
        air = ti.math.mix(wind[0], wind[1], t * h)
        through = (air - (v[t, a] + v[t, b] + v[t, c]) / 3).dot(area) / area.norm()
        change = h * scene.drag * through / (3 * mass) * area
        push[t, a] += change
        push[t, b] += change
        push[t, c] += change

    @ti.func
    def move(t, p):
        free = v[t, p] + gravity + push[t, p]
        d = x[t, p] + h * free - center
        distance = d.norm()
        normal = d / distance
        out = ti.max(scene.radius - distance, 0.0) / h
        inward = free.dot(normal)
        slide = free - inward * normal
        speed = ti.sqrt(ti.max(slide.norm_sqr(), 1e-16))
        slide *= ti.max(1.0 - scene.friction * out / speed, 0.0)
        after = slide + (inward + out) * normal
        v[t + 1, p] = after
        x[t + 1, p] = x[t, p] + h * after

    @ti.kernel
    def step(t: int):
        ti.loop_config(serialize=serial)
        for s in range(n_springs):
            pull(t, s)
        ti.loop_config(serialize=serial)
        for k in range(n_triangles):
            blow(t, k)
        ti.loop_config(serialize=serial)
        for p in range(n):
            move(t, p)

    @ti.kernel
    def look(k: int, t: int):
        ti.loop_config(serialize=True)
        for i in range(n_masses):
            off = 100.0 * (x[t, observed[i]] - seen[k, i])
            loss[None] += off.norm_sqr() / (looks * n_masses)

    def run() -> None:
        loss[None] = 0.0
        clear(push)
        start()
        for t in range(steps):
            step(t)
            if (t + 1) % every == 0:
                look(t // every, t + 1)

    constants = first, seen, springs, triangles, rest_length, observed
    differentiated = {"wind": wind, "stiffness": stiffness}
    return Peer(run, loss, differentiated, (x, v, push), constants=constants)
