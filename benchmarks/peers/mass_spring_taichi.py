"""The mass-spring robot in plain Taichi.

The sums of the layers are accumulated in fields: summed in a local, their gradients are silently
wrong and the process may crash, since loops of 32 and more iterations outgrow Taichi's stack of 32
entries for the values of a local. The loops are serial and a step is one kernel: handing a dozen
iterations to the thread pool costs several times more than running them.
"""

from typing import Any

import numpy as np
import taichi as ti

from benchmarks.peers.peer import Peer, clear
from scenes.mass_spring import MassSpringScene, Network

vec2 = ti.math.vec2


def make_mass_spring(
    scene: MassSpringScene, network: Network, steps: int, dtype: Any = ti.f32
) -> Peer:
    """Return the simulation; `dtype` is the `default_fp` of `ti.init` too."""
    robot, h, n_clock, n_inputs = scene.robot, scene.time_step, scene.n_clock, scene.n_inputs
    n, m, n_hidden, goal = len(robot.positions), len(robot.springs), scene.n_hidden, scene.goal
    decay, fall = float(np.exp(-scene.drag * h)), h * scene.gravity
    scalar, vector = ti.field, ti.types.vector(2, dtype).field
    x = vector(shape=(steps + 1, n), needs_grad=True)
    v = vector(shape=(steps + 1, n), needs_grad=True)
    push = vector(shape=(steps, n), needs_grad=True)
    center = vector(shape=steps, needs_grad=True)
    inputs = scalar(dtype, (steps, n_inputs), needs_grad=True)
    sum1, hidden = (scalar(dtype, (steps, n_hidden), needs_grad=True) for _ in range(2))
    sum2 = scalar(dtype, (steps, m), needs_grad=True)
    loss = scalar(dtype, (), needs_grad=True)
    weights = network.arrays()
    parameters = {name: scalar(dtype, w.shape, needs_grad=True) for name, w in weights.items()}
    w1, b1, w2, b2 = parameters.values()
    springs = ti.types.vector(2, ti.i32).field(shape=m)
    material = ti.types.vector(3, dtype).field(shape=m)
    for name, values in weights.items():
        parameters[name].from_numpy(values)
    springs.from_numpy(robot.springs)
    material.from_numpy(np.stack([robot.rest_length, robot.stiffness, robot.actuation], axis=1))
    for k in range(n):
        x[0, k] = robot.positions[k]

    # One iteration of each loop: a kernel that calls a function with loops is not differentiated.
    @ti.func
    def sense_mass(t, k):
        place, speed = scene.sense_gain * (x[t, k] - center[t]), scene.sense_gain * v[t, k]
        for axis in ti.static(range(2)):
            inputs[t, n_clock + 4 * k + axis] = place[axis]
            inputs[t, n_clock + 4 * k + 2 + axis] = speed[axis]

    @ti.func
    def sense_goal(t):
        for axis in ti.static(range(2)):
            inputs[t, n_inputs - 2 + axis] = goal[axis] - center[t][axis]

    @ti.func
    def pull(t, s):
        rest_length, stiffness, actuation = material[s]
        a, b = springs[s]
        d = x[t, a] - x[t, b]
        length = d.norm() + 1e-4
        target = rest_length * (1.0 + actuation * ti.tanh(b2[s] + sum2[t, s]))
        impulse = h * (length - target) * stiffness / length * d
        push[t, a] -= impulse
        push[t, b] += impulse

    @ti.func
    def move(t, k):
        free = decay * v[t, k] + push[t, k] + vec2(0.0, fall)
        height = x[t, k].y - scene.floor
        until, after = h, free
        if height + h * free.y < 0.0 and free.y < -1e-4:
            until, after = -height / free.y, vec2(0.0)
        v[t + 1, k] = after
        x[t + 1, k] = x[t, k] + until * free + (h - until) * after

    @ti.kernel
    def step(t: int):
        ti.loop_config(serialize=True)
        for k in range(n):
            center[t] += x[t, k] / n
        ti.loop_config(serialize=True)
        for j in range(n_clock):
            inputs[t, j] = ti.sin(scene.clock_rate * t * h + 2 * np.pi / n_clock * j)
        ti.loop_config(serialize=True)
        for k in range(n):
            sense_mass(t, k)
        ti.loop_config(serialize=True)
        for _ in range(1):
            sense_goal(t)
        ti.loop_config(serialize=True)
        for i in range(n_hidden):
            for j in range(n_inputs):
                sum1[t, i] += w1[i, j] * inputs[t, j]
        ti.loop_config(serialize=True)
        for i in range(n_hidden):
            hidden[t, i] = ti.tanh(b1[i] + sum1[t, i])
        ti.loop_config(serialize=True)
        for s in range(m):
            for j in range(n_hidden):
                sum2[t, s] += w2[s, j] * hidden[t, j]
        ti.loop_config(serialize=True)
        for s in range(m):
            pull(t, s)
        ti.loop_config(serialize=True)
        for k in range(n):
            move(t, k)

    @ti.kernel
    def measure():
        loss[None] = -x[steps, robot.head].x

    def run():
        clear(center, sum1, sum2, push)
        for t in range(steps):
            step(t)
        measure()

    history = x, v, push, center, inputs, sum1, hidden, sum2
    return Peer(run, loss, parameters, history, constants=(springs, material))
