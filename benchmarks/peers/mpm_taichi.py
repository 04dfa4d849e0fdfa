"""A step of material points in space in plain Taichi, and its hand-written adjoint."""

import taichi as ti

from benchmarks.gpu_rows.mpm import GRAVITY, LEAST_MASS
from benchmarks.peers.kernels_taichi import Peer
from benchmarks.peers.peer import clear

vec3, mat3 = ti.math.vec3, ti.math.mat3


@ti.func
def weights_of(f):
    return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@ti.func
def slopes_of(f):
    return [f - 1.5, -2.0 * (f - 1.0), f - 0.5]


class Launches:
    """Kernels that run one after another, and their gradients by Taichi in reverse."""

    def __init__(self, begin, *kernels) -> None:
        self._begin, self._kernels = begin, kernels

    def __call__(self) -> None:
        self._begin()
        for kernel in self._kernels:
            kernel()

    def grad(self) -> None:
        for kernel in reversed(self._kernels):
            kernel.grad()


def make_mpm(n_grid: int, x, v, c, stress, new_v, new_c) -> Peer:
    n = float(n_grid)
    shape = (n_grid,) * 3
    momentum, velocity = (ti.Vector.field(3, ti.f32, shape, needs_grad=True) for _ in range(2))
    mass = ti.field(ti.f32, shape, needs_grad=True)

    @ti.kernel
    def spread():
        for p in x:
            base = ti.cast(x[p] * n - 0.5, ti.i32)
            f = x[p] * n - ti.cast(base, ti.f32)
            w = weights_of(f)
            affine = c[p] + stress[p] * ti.Matrix.identity(ti.f32, 3)
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                offset = ti.Vector([i, j, k])
                way = (ti.cast(offset, ti.f32) - f) / n
                weight = w[i].x * w[j].y * w[k].z
                momentum[base + offset] += weight * (v[p] + affine @ way)
                mass[base + offset] += weight

    @ti.kernel
    def move():
        for i, j, k in mass:
            moving = momentum[i, j, k] / (mass[i, j, k] + LEAST_MASS)
            velocity[i, j, k] = moving - vec3(0.0, GRAVITY, 0.0)

    @ti.kernel
    def collect():
        for p in x:
            base = ti.cast(x[p] * n - 0.5, ti.i32)
            f = x[p] * n - ti.cast(base, ti.f32)
            w = weights_of(f)
            found_v, found_c = vec3(0.0), mat3(0.0)
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                offset = ti.Vector([i, j, k])
                way = ti.cast(offset, ti.f32) - f
                g = w[i].x * w[j].y * w[k].z * velocity[base + offset]
                found_v += g
                found_c += 4.0 * n * g.outer_product(way)
            new_v[p] = found_v
            new_c[p] = found_c

    @ti.kernel
    def collect_adjoint():
        for p in x:
            base = ti.cast(x[p] * n - 0.5, ti.i32)
            f = x[p] * n - ti.cast(base, ti.f32)
            w, slope = weights_of(f), slopes_of(f)
            v_bar, c_bar = new_v.grad[p], 4.0 * n * new_c.grad[p]
            f_bar = vec3(0.0)
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                offset = ti.Vector([i, j, k])
                way = ti.cast(offset, ti.f32) - f
                weight = w[i].x * w[j].y * w[k].z
                found = velocity[base + offset]
                pulled = v_bar + c_bar @ way
                velocity.grad[base + offset] += weight * pulled
                f_bar -= weight * (c_bar.transpose() @ found)
                f_bar += found.dot(pulled) * vec3(
                    slope[i].x * w[j].y * w[k].z,
                    w[i].x * slope[j].y * w[k].z,
                    w[i].x * w[j].y * slope[k].z,
                )
            x.grad[p] = n * f_bar

    @ti.kernel
    def move_adjoint():
        for i, j, k in mass:
            rate = 1.0 / (mass[i, j, k] + LEAST_MASS)
            bar = rate * velocity.grad[i, j, k]
            momentum.grad[i, j, k] = bar
            mass.grad[i, j, k] = -rate * bar.dot(momentum[i, j, k])

    @ti.kernel
    def spread_adjoint():
        for p in x:
            base = ti.cast(x[p] * n - 0.5, ti.i32)
            f = x[p] * n - ti.cast(base, ti.f32)
            w, slope = weights_of(f), slopes_of(f)
            affine = c[p] + stress[p] * ti.Matrix.identity(ti.f32, 3)
            f_bar, v_bar, affine_bar = vec3(0.0), vec3(0.0), mat3(0.0)
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                offset = ti.Vector([i, j, k])
                way = (ti.cast(offset, ti.f32) - f) / n
                weight = w[i].x * w[j].y * w[k].z
                g = momentum.grad[base + offset]
                weight_bar = g.dot(v[p] + affine @ way) + mass.grad[base + offset]
                v_bar += weight * g
                affine_bar += weight * g.outer_product(way)
                f_bar -= weight / n * (affine.transpose() @ g)
                f_bar += weight_bar * vec3(
                    slope[i].x * w[j].y * w[k].z,
                    w[i].x * slope[j].y * w[k].z,
                    w[i].x * w[j].y * slope[k].z,
                )
            x.grad[p] += n * f_bar
            v.grad[p] = v_bar
            c.grad[p] = affine_bar
            stress.grad[p] = affine_bar.trace()

    def adjoint() -> None:
        collect_adjoint()
        move_adjoint()
        spread_adjoint()

    both = Launches(lambda: clear(momentum, mass), spread, move, collect)
    return Peer(both, adjoint, both, lambda: clear(momentum.grad, mass.grad, velocity.grad))
