"""The robots of `scenes/mpm.py`, in one process, and thrown over the borders of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from scenes import mpm
from scenes.mpm import WALL, Mpm, Mpm3d, collect, corotated, neo_hookean, spread

SPEED = (3.0, -2.0, 0.5)  # at the start [m/s]
TYPES = {"f32": ti.f32, "f64": ti.f64}


def scene_of(dim: int) -> tuple[Any, Any]:
    scene = mpm.make_scene("robot", 50) if dim == 2 else mpm.make_scene_3d("robot", 16)
    scene.positions[:, 0] += 0.22  # to the middle, where a border is
    controller = mpm.make_controller(scene)
    return scene, mpm.Controller(30.0 * controller.weights, controller.bias + 0.1)


def in_one_process(dim: int, steps: int, type_: str) -> Any:
    """Run the scene as it is; return the loss, positions, and gradients."""
    scene, controller = scene_of(dim)
    robot = (Mpm if dim == 2 else Mpm3d)(scene, controller, steps, TYPES[type_])
    robot.start()
    robot.v.fill(SPEED[:dim])
    with dt.Tape(robot.loss):
        for t in range(steps):
            robot.step(t)
        robot.measure()
    fields = robot.x, robot.v, robot.weights, robot.bias
    return robot.loss.to_numpy().item(), robot.x.to_numpy(), [f.grad.to_numpy() for f in fields]


@dt.kernel
def actuate(weights, bias, activation, t: int, h: float, rate: float, sines: int):
    for k in activation:
        total = bias[k]
        for j in range(sines):
            phase = 2.0 * ti.math.pi * j / sines
            total += weights[k, j] * ti.sin(rate * h * t + phase)
        activation[k] = ti.tanh(total)


@dt.kernel
def to_grid(
    x, v, C, F, muscle, count, momentum, mass, activation, material, corner, n: int, h: float
):
    for p in range(count[None]):
        now = F[p] + h * C[p] @ F[p]
        stress = law(now, material.stiffness)
        if muscle[p] >= 0:
            pull = material.strength * activation[muscle[p]]
            axis = ti.static(x[p].n - 1)
            stress += pull * now[:, axis].outer_product(now[:, axis])
        F[p] = now
        affine = C[p] / n - 4.0 * n * h * material.volume * stress
        spread(momentum, mass, n, x[p] - corner / n, 1.0, v[p], affine)


@dt.func
def law(F, stiffness):
    if ti.static(F.n == 2):
        return corotated(F, stiffness)
    return neo_hookean(F, stiffness)


@dt.kernel
def move_nodes_2d(momentum, mass, first, n: int, fall: float, friction: float):
    for i, j in mass:
        v = momentum[i, j] * 0.0
        if mass[i, j] > 0.0:
            v = momentum[i, j] / (mass[i, j] + 1e-10)
            v.y -= fall
        x, y = i + first[0], j + first[1]
        if (x < WALL and v.x < 0.0) or (x > n - WALL and v.x > 0.0) or (y > n - WALL and v.y > 0.0):
            v *= 0.0
        if y < WALL and v.y < 0.0:
            grip = friction * v.y
            v.x -= ti.math.clamp(v.x, grip, -grip)
            v.y = 0.0
        momentum[i, j] = v


@dt.kernel
def move_nodes_3d(momentum, mass, first, n: int, fall: float, friction: float):
    for i, j, k in mass:
        v = momentum[i, j, k] * 0.0
        if mass[i, j, k] > 0.0:
            v = momentum[i, j, k] / (mass[i, j, k] + 1e-10)
            v.y -= fall
        x, y, z = i + first[0], j + first[1], k + first[2]
        if (x < WALL and v.x < 0.0) or (x > n - WALL and v.x > 0.0):
            v *= 0.0
        if (z < WALL and v.z < 0.0) or (z > n - WALL and v.z > 0.0):
            v *= 0.0
        if y < WALL and v.y < 0.0:
            slip = v
            slip.y = 0.0
            v = ti.max(0.0, 1.0 + friction * v.y / (slip.norm() + 1e-10)) * slip
        if y > n - WALL and v.y > 0.0:
            v *= 0.0
        momentum[i, j, k] = v


@dt.kernel
def to_particles(x, v, C, count, velocity, corner, n: int, h: float):
    for p in range(count[None]):
        v[p], C[p] = collect(velocity, n, x[p] - corner / n)
        x[p] += h * v[p]


@dt.kernel
def measure(x, count, loss, n_solid: float):
    for p in range(count[None]):
        loss[None] -= x[p].x / n_solid


def on_ranks(dim: int, steps: int, type_: str, boxes: Any, limit: int | None = None) -> Any:
    """Run on all ranks; return the same, the counts of particles, and the steps run again."""
    scene, controller = scene_of(dim)
    dtype, n, h, total = TYPES[type_], scene.n_grid, scene.time_step, len(scene.positions)
    vector, matrix = dt.vec(dim, dtype), dt.mat(dim, dim, dtype)
    grid = dist.Grid((n,) * dim, boxes, halo=2)
    p = dist.Particles(
        grid,
        spacing=1 / n,
        x=dt.zeros(total, vector, grad=True),
        v=dt.zeros(total, vector, grad=True),
        C=dt.zeros(total, matrix, grad=True),
        F=dt.zeros(total, matrix, grad=True),
        muscle=dt.zeros(total, ti.i32),
    )
    momentum, mass = grid.field(vector, grad=True), grid.field(dtype, grad=True)
    weights = dt.from_numpy(controller.weights, dtype=dtype, grad=True)
    bias = dt.from_numpy(controller.bias, dtype=dtype, grad=True)
    activation = dt.zeros(scene.n_muscles, dtype, grad=True)
    loss = dt.zeros((), dtype, grad=True)
    p.from_global(
        {
            "x": scene.positions.astype(np.dtype(type_.replace("f32", "f4").replace("f64", "f8"))),
            "v": np.broadcast_to(SPEED[:dim], (total, dim)),
            "F": np.broadcast_to(np.eye(dim), (total, dim, dim)),
            "muscle": scene.muscle,
        }
    )
    order, counts = p.order(), [p.count.to_numpy().item()]
    first, corner = list(grid.origin), [float(one) for one in grid.origin]
    move_nodes = move_nodes_2d if dim == 2 else move_nodes_3d
    with dt.Tape(loss, **({} if limit is None else {"memory": limit})) as tape:
        for t in range(steps):
            actuate(weights, bias, activation, t, h, scene.clock_rate, scene.n_clock)
            momentum.fill(0.0)
            mass.fill(0.0)
            state = p.x, p.v, p.C, p.F, p.muscle, p.count
            to_grid(*state, momentum, mass, activation, scene, corner, n, h)
            grid.accumulate(momentum, mass)
            move_nodes(momentum, mass, first, n, h * scene.gravity, scene.friction)
            momentum.exchange()
            to_particles(p.x, p.v, p.C, p.count, momentum, corner, n, h)
            p.migrate()
            counts.append(p.count.to_numpy().item())
        measure(p.x, p.count, loss, scene.n_solid)
        dist.sum(loss)
    dist.all_reduce([weights, bias])
    gradients = [order.to_global(p.x.grad), order.to_global(p.v.grad)]
    gradients += [weights.grad.to_numpy(), bias.grad.to_numpy()]
    return loss.to_numpy().item(), p.to_global()["x"], gradients, counts, tape.recomputed
