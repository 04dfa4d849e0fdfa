"""Material points in three dimensions, which migrate between ranks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import taichi

import difftile as dt
from difftile import distributed as dist
from difftile import ti

vec3 = ti.math.vec3
WAYS = ("exchange",)


@dt.func
def weights_of(f):
    return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@dt.kernel
def clear(momentum, mass):
    for at in ti.grouped(mass):
        momentum[at] = vec3(0.0, 0.0, 0.0)
        mass[at] = 0.0


@dt.kernel
def to_grid(x, v, density, count, momentum, mass, first: vec3, stiffness: float):
    for p in range(count[None]):
        place = x[p] - first
        base = ti.cast(place - 0.5, ti.i32)
        f = place - ti.cast(base, ti.f32)
        w = weights_of(f)
        for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
            offset = ti.Vector([i, j, k])
            weight = w[i].x * w[j].y * w[k].z
            way = ti.cast(offset, ti.f32) - f
            momentum[base + offset] += weight * (v[p] - stiffness * (density[p] - 1.0) * way)
            mass[base + offset] += weight


@dt.kernel
def to_velocity(momentum, mass, fall: float):
    for at in ti.grouped(mass):
        if mass[at] > 0.0:
            momentum[at] = momentum[at] / mass[at] - vec3(0.0, fall, 0.0)


@dt.kernel
def to_points(x, v, density, count, velocity, first: vec3, h: float):
    for p in range(count[None]):
        place = x[p] - first
        base = ti.cast(place - 0.5, ti.i32)
        f = place - ti.cast(base, ti.f32)
        w = weights_of(f)
        new = vec3(0.0, 0.0, 0.0)
        spread = 0.0
        for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
            offset = ti.Vector([i, j, k])
            weight = w[i].x * w[j].y * w[k].z
            g = velocity[base + offset]
            new += weight * g
            spread += 4.0 * weight * g.dot(ti.cast(offset, ti.f32) - f)
        v[p] = new
        x[p] = x[p] + h * new
        density[p] = density[p] * (1.0 - h * spread)


@dt.kernel
def nudge(x, v, count, h: float):
    for p in range(count[None]):
        x[p] = x[p] + h * v[p]


@dt.kernel
def measure(x, count, loss):
    for p in range(count[None]):
        loss[None] += x[p].y


class Points:
    """A periodic box full of fluid, f32, about four points in a cell.

    Args:
        shape: The cells of all ranks along each axis.
        steps: Time steps of a run.
    """

    def __init__(self, shape: tuple[int, int, int], steps: int) -> None:
        self.steps = steps
        self.grid = dist.Grid(shape, halo=2, periodic=True)
        self.momentum = self.grid.field(vec3, grad=True)
        self.mass = self.grid.field(ti.f32, grad=True)
        self.numbers = 4 * int(np.prod(self.grid.inner_shape))
        room = self.numbers * 5 // 4 + 64
        self.points = dist.Particles(
            self.grid,
            spacing=1.0,
            x=dt.zeros(room, vec3, grad=True),
            v=dt.zeros(room, vec3, grad=True),
            density=dt.zeros(room, ti.f32, grad=True),
        )
        rng = np.random.default_rng(0)
        total = 4 * int(np.prod(shape))
        self.start = {
            "x": rng.uniform(0.0, shape, (total, 3)).astype(np.float32),
            "v": rng.normal(0.0, 1.0, (total, 3)).astype(np.float32),
            "density": np.ones(total, np.float32),
        }
        self.loss = dt.zeros((), ti.f32, grad=True)

    def prepare(self) -> None:
        """Put the points at their places, which is not measured."""
        self.points.from_global(self.start)

    def run(self, way: str) -> None:
        """Simulate."""
        one, first = self.points, vec3(*(float(n) for n in self.grid.origin))
        self.loss.fill(0.0)
        for _ in range(self.steps):
            clear(self.momentum, self.mass)
            to_grid(one.x, one.v, one.density, one.count, self.momentum, self.mass, first, 0.1)
            self.grid.accumulate(self.momentum, self.mass)
            to_velocity(self.momentum, self.mass, 1e-3)
            self.grid.exchange(self.momentum)
            to_points(one.x, one.v, one.density, one.count, self.momentum, first, 0.1)
            one.migrate()
        measure(one.x, one.count, self.loss)
        dist.sum(self.loss)

    def communication(self) -> dict[str, Callable[[], object]]:
        """Return what ranks do together in a step, by name; each call waits for a device."""

        def moved() -> None:
            one = self.points
            nudge(one.x, one.v, one.count, 0.1)
            one.migrate()
            taichi.sync()

        def accumulated() -> None:
            self.grid.accumulate(self.momentum, self.mass)
            taichi.sync()

        def exchanged() -> None:
            self.grid.exchange(self.momentum)
            taichi.sync()

        return {"migration": moved, "accumulation": accumulated, "exchange": exchanged}
