"""A step of material points on a grid in space: to the grid, there, and back."""

from __future__ import annotations

import taichi as ti

import difftile as dt

GRAVITY, LEAST_MASS = 0.1, 0.01  # what the grid adds to velocities, and to masses in a quotient


@dt.func
def weights_of(f):
    return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@dt.kernel
def spread(x, v, c, stress, momentum, mass):
    n = ti.cast(mass.shape[0], ti.f32)
    for p in x:
        base = ti.cast(x[p] * n - 0.5, ti.i32)
        f = x[p] * n - ti.cast(base, ti.f32)
        w = weights_of(f)
        affine = c[p] + stress[p] * ti.Matrix.diag(3, 1.0)
        for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
            offset = ti.Vector([i, j, k])
            way = (ti.cast(offset, ti.f32) - f) / n
            weight = w[i].x * w[j].y * w[k].z
            momentum[base + offset] += weight * (v[p] + affine @ way)
            mass[base + offset] += weight


@dt.kernel
def move(momentum, mass, velocity):
    for i, j, k in mass:
        v = momentum[i, j, k] / (mass[i, j, k] + LEAST_MASS)
        v.y -= GRAVITY
        velocity[i, j, k] = v


@dt.kernel
def collect(x, velocity, new_v, new_c):
    n = ti.cast(velocity.shape[0], ti.f32)
    for p in x:
        base = ti.cast(x[p] * n - 0.5, ti.i32)
        f = x[p] * n - ti.cast(base, ti.f32)
        w = weights_of(f)
        v, c = ti.math.vec3(0.0), ti.math.mat3(0.0)
        for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
            offset = ti.Vector([i, j, k])
            way = ti.cast(offset, ti.f32) - f
            g = w[i].x * w[j].y * w[k].z * velocity[base + offset]
            v += g
            c += 4.0 * n * g.outer_product(way)
        new_v[p] = v
        new_c[p] = c


class MaterialPoints:
    """The step, with a grid of its own."""

    def __init__(self, n: int) -> None:
        self._n, self._grid = n, ()

    def __call__(self, x, v, c, stress, new_v, new_c) -> None:
        if not self._grid:
            shape = (self._n,) * 3
            made = [(dt.vec(3, ti.f32)), ti.f32, dt.vec(3, ti.f32)]
            self._grid = tuple(dt.zeros(shape, dtype, grad=True) for dtype in made)
        momentum, mass, velocity = self._grid  # pyrefly: ignore[bad-unpacking]
        momentum.fill(0.0)
        mass.fill(0.0)
        spread(x, v, c, stress, momentum, mass)
        move(momentum, mass, velocity)
        collect(x, velocity, new_v, new_c)
