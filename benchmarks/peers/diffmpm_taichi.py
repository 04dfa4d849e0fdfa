"""The robot and the fish of material points in plain Taichi.

The grid has a time axis too. With one grid that every step clears, and that the adjoint of a step
computes again (`ti.ad.grad_replaced`, as in the program of the paper), it holds 0.3 of the bytes
and takes some 1.2 times as long: `one_grid` runs that.
"""

from collections.abc import Callable
from typing import Any

import taichi as ti

from benchmarks.peers.peer import Peer, clear
from scenes.mpm import Controller, MpmScene

WALL = 3  # cells from the border of the grid to the walls

vec2, mat2 = ti.math.vec2, ti.math.mat2


@ti.func
def spline(f):
    """Weights of three nodes in a row for a particle f cells from the first one, 1/2 <= f < 3/2."""
    return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@ti.func
def corotated(F, stiffness):
    """Kirchhoff stress under a deformation F, where both Lamé parameters are `stiffness`."""
    R, _ = ti.polar_decompose(F)
    J = F.determinant()
    shear = 2.0 * (F - R) @ F.transpose()
    return stiffness * (shear + mat2((J - 1.0) * J, 0.0, 0.0, (J - 1.0) * J))


def make_diffmpm(
    scene: MpmScene,
    controller: Controller,
    steps: int,
    dtype: Any = ti.f32,
    one_grid: bool = False,
) -> Peer:
    """Return the simulation; `dtype` is the `default_fp` of `ti.init` too."""
    n, h, count, n_muscles = scene.n_grid, scene.time_step, len(scene.positions), scene.n_muscles
    vector, matrix = ti.types.vector(2, dtype).field, ti.types.matrix(2, 2, dtype).field
    x, v = (vector(shape=(steps + 1, count), needs_grad=True) for _ in range(2))
    C, F = (matrix(shape=(steps + 1, count), needs_grad=True) for _ in range(2))
    grids = 1 if one_grid else steps
    momentum, velocity = (vector(shape=(grids, n, n), needs_grad=True) for _ in range(2))
    mass = ti.field(dtype, (grids, n, n), needs_grad=True)
    activation = ti.field(dtype, (steps, n_muscles), needs_grad=True)
    weights = ti.field(dtype, controller.weights.shape, needs_grad=True)
    bias = ti.field(dtype, n_muscles, needs_grad=True)
    loss = ti.field(dtype, (), needs_grad=True)
    fluid, muscle = ti.field(ti.i32, count), ti.field(ti.i32, count)
    first = vector(shape=count)
    weights.from_numpy(controller.weights)
    bias.from_numpy(controller.bias)
    fluid.from_numpy(scene.fluid)
    muscle.from_numpy(scene.muscle)
    first.from_numpy(scene.positions)

    @ti.kernel
    def start():
        for p in range(count):
            x[0, p] = first[p]
            F[0, p] = mat2(1.0, 0.0, 0.0, 1.0)

    @ti.kernel
    def actuate(t: int):
        ti.loop_config(serialize=True)
        for k in range(n_muscles):
            total = bias[k]
            for j in ti.static(range(scene.n_clock)):
                phase = 2.0 * ti.math.pi * j / scene.n_clock
                total += weights[k, j] * ti.sin(scene.clock_rate * h * t + phase)
            activation[t, k] = ti.tanh(total)

    @ti.kernel
    def p2g(t: int, g: int):
        for p in range(count):
            base = int(x[t, p] * n - 0.5)
            f = x[t, p] * n - base
            w = spline(f)
            new_F = F[t, p] + h * C[t, p] @ F[t, p]
            m, stress = 1.0, mat2(0.0)
            if fluid[p] == 1:
                J = new_F.determinant()
                m, pressure = scene.fluid_mass, scene.stiffness * (J - 1.0)
                new_F = mat2(ti.sqrt(J), 0.0, 0.0, ti.sqrt(J))
                stress = mat2(pressure, 0.0, 0.0, scene.uprightness * pressure)
            else:
                stress = corotated(new_F, scene.stiffness)
                if muscle[p] >= 0:
                    pull = scene.strength * activation[t, muscle[p]]
                    stress += pull * new_F[:, 1].outer_product(new_F[:, 1])
            F[t + 1, p] = new_F
            affine = m / n * C[t, p] - 4.0 * n * h * scene.volume * stress
            thrust = m * v[t, p] - affine @ f
            for i, j in ti.static(ti.ndrange(3, 3)):
                offset = ti.Vector([i, j])
                weight = w[i].x * w[j].y
                momentum[g, base + offset] += weight * (thrust + affine @ offset)
                mass[g, base + offset] += weight * m

    @ti.kernel
    def collide(g: int):
        for i, j in ti.ndrange(n, n):
            u = momentum[g, i, j] / (mass[g, i, j] + 1e-10) - vec2(0.0, h * scene.gravity)
            left, right, top = i < WALL, i > n - WALL, j > n - WALL
            if (left and u.x < 0.0) or (right and u.x > 0.0) or (top and u.y > 0.0):
                u = vec2(0.0)
            if j < WALL and u.y < 0.0:
                grip = scene.friction * u.y
                u = vec2(u.x - ti.math.clamp(u.x, grip, -grip), 0.0)
            velocity[g, i, j] = u

    @ti.kernel
    def g2p(t: int, g: int):
        for p in range(count):
            base = int(x[t, p] * n - 0.5)
            f = x[t, p] * n - base
            w = spline(f)
            new_v, B = vec2(0.0), mat2(0.0)
            for i, j in ti.static(ti.ndrange(3, 3)):
                offset = ti.Vector([i, j])
                u = w[i].x * w[j].y * velocity[g, base + offset]
                new_v += u
                B += u.outer_product(offset)
            v[t + 1, p] = new_v
            C[t + 1, p] = 4.0 * n * (B - new_v.outer_product(f))
            x[t + 1, p] = x[t, p] + h * new_v

    @ti.kernel
    def measure():
        for p in range(count):
            if fluid[p] == 0:
                loss[None] -= x[steps, p].x / scene.n_solid

    def substep(t):
        p2g(t, t)
        collide(t)
        g2p(t, t)

    def run():
        loss[None] = 0.0
        clear(momentum, mass)
        start()
        for t in range(steps):
            actuate(t)
            substep(t)
        measure()

    parameters, grid = {"weights": weights, "bias": bias}, (momentum, velocity, mass)
    if one_grid:
        substep = with_one_grid(grid, p2g, collide, g2p)
        return Peer(run, loss, parameters, (x, v, C, F, activation), grid, (fluid, muscle, first))
    history = x, v, C, F, activation, *grid
    return Peer(run, loss, parameters, history, constants=(fluid, muscle, first))


def with_one_grid(grid: tuple[Any, ...], p2g: Any, collide: Any, g2p: Any) -> Callable[[int], None]:
    """Return a step that fills the grid afresh, and again in its adjoint."""
    momentum, velocity, mass = grid

    @ti.ad.grad_replaced
    def substep(t):
        clear(momentum, mass)
        p2g(t, 0)
        collide(0)
        g2p(t, 0)

    @ti.ad.grad_for(substep)
    def substep_grad(t):
        clear(momentum, mass, momentum.grad, velocity.grad, mass.grad)
        p2g(t, 0)
        collide(0)
        g2p.grad(t, 0)
        collide.grad(0)
        p2g.grad(t, 0)

    return substep
