"""The mass-spring robot in plain Taichi as one kernel of serial loops, with the one over time.

The state is in place, and there is no gradient: Taichi's autodiff requires a time axis, and with
one it takes the gradient through this kernel to be zero, without an error.
"""

import numpy as np
import taichi as ti

from benchmarks.peers.peer import Peer
from scenes.mass_spring import MassSpringScene, Network

vec2 = ti.math.vec2


def make_mass_spring(scene: MassSpringScene, network: Network, steps: int) -> Peer:
    """Return the simulation."""
    robot, h, n_clock, n_inputs = scene.robot, scene.time_step, scene.n_clock, scene.n_inputs
    n, m, n_hidden, goal = len(robot.positions), len(robot.springs), scene.n_hidden, scene.goal
    decay, fall, gain = float(np.exp(-scene.drag * h)), h * scene.gravity, scene.sense_gain
    vector = ti.types.vector(2, ti.f32).field
    first, x, v, free = (vector(shape=n) for _ in range(4))
    senses, hidden = ti.field(ti.f32, n_inputs), ti.field(ti.f32, n_hidden)
    loss = ti.field(ti.f32, ())
    weights = network.arrays()
    w1, b1, w2, b2 = (ti.field(ti.f32, values.shape) for values in weights.values())
    clock = ti.field(ti.f32, (steps, n_clock))
    springs = ti.types.vector(2, ti.i32).field(shape=m)
    material = ti.types.vector(3, ti.f32).field(shape=m)
    for weight, values in zip((w1, b1, w2, b2), weights.values(), strict=True):
        weight.from_numpy(values)
    phases = 2 * np.pi / n_clock * np.arange(n_clock)
    clock.from_numpy(np.sin(scene.clock_rate * h * np.arange(steps)[:, None] + phases))
    first.from_numpy(robot.positions)
    springs.from_numpy(robot.springs)
    material.from_numpy(np.stack([robot.rest_length, robot.stiffness, robot.actuation], axis=1))

    @ti.func
    def step(t):
        center = vec2(0.0)
        for k in range(n):
            center += x[k] / n
        for j in range(n_clock):
            senses[j] = clock[t, j]
        for k in range(n):
            place, speed, j = gain * (x[k] - center), gain * v[k], n_clock + 4 * k
            senses[j], senses[j + 1] = place.x, place.y
            senses[j + 2], senses[j + 3] = speed.x, speed.y
        for axis in ti.static(range(2)):
            senses[n_inputs - 2 + axis] = goal[axis] - center[axis]
        for i in range(n_hidden):
            total = b1[i]
            for j in range(n_inputs):
                total += w1[i, j] * senses[j]
            hidden[i] = ti.tanh(total)
        for k in range(n):
            free[k] = decay * v[k] + vec2(0.0, fall)
        for s in range(m):
            total = b2[s]
            for j in range(n_hidden):
                total += w2[s, j] * hidden[j]
            rest_length, stiffness, actuation = material[s]
            a, b = springs[s]
            d = x[a] - x[b]
            length = d.norm() + 1e-4
            target = rest_length * (1.0 + actuation * ti.tanh(total))
            impulse = h * (length - target) * stiffness / length * d
            free[a] -= impulse
            free[b] += impulse
        for k in range(n):
            height = x[k].y - scene.floor
            until, after = h, free[k]
            if height + h * free[k].y < 0.0 and free[k].y < -1e-4:
                until, after = -height / free[k].y, vec2(0.0)
            x[k] += until * free[k] + (h - until) * after
            v[k] = after

    @ti.kernel
    def run():
        ti.loop_config(serialize=True)
        for _ in range(1):
            for k in range(n):
                x[k], v[k] = first[k], vec2(0.0)
            for t in range(steps):
                step(t)
            loss[None] = -x[robot.head].x

    return Peer(run, loss, {}, ())
