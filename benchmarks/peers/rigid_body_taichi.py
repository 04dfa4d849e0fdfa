"""The robots of rigid bodies in plain Taichi.

As in `mass_spring_taichi` the sums of the layers are accumulated in fields, the loops are serial
and a step is one kernel.
"""

from typing import Any

import numpy as np
import taichi as ti

from benchmarks.peers.peer import Peer, clear
from scenes.mass_spring import Network
from scenes.rigid_body import RigidBodyScene

vec2, vec3 = ti.math.vec2, ti.math.vec3


@ti.func
def turned(r, angle):
    """Turn a vector counterclockwise."""
    c, s = ti.cos(angle), ti.sin(angle)
    return vec2(c * r.x - s * r.y, s * r.x + c * r.y)


@ti.func
def speed_at(r, v):
    """Velocity of the point of a body that is at `r` from its center."""
    return v.xy + v.z * vec2(-r.y, r.x)


@ti.func
def moments(r, impulse):
    """An impulse at `r` as generalised impulses of a body: along x, along y, and in rotation."""
    return vec3(impulse, r.cross(impulse))


@ti.func
def give(inverse, r, direction):
    """Velocity along `direction` that a body gains at `r` by a unit impulse there."""
    return inverse.x + inverse.z * r.cross(direction) ** 2


def make_rigid_body(
    scene: RigidBodyScene,
    network: Network,
    steps: int,
    dtype: Any = ti.f32,
    impacts: bool = True,
) -> Peer:
    """Return the simulation; `dtype` is the `default_fp` of `ti.init` too."""
    robot, h, n_clock, n_inputs = scene.robot, scene.time_step, scene.n_clock, scene.n_inputs
    n, m, n_hidden, head = len(robot.boxes), len(robot.links), scene.n_hidden, robot.head
    decay, fall = float(np.exp(-scene.drag * h)), h * scene.gravity
    weights = network.arrays()
    scalar, vector, body = (
        ti.field,
        ti.types.vector(2, dtype).field,
        ti.types.vector(3, dtype).field,
    )
    # Of a body x, y and angle are one vector, and so are the rates at which they change.
    x, v = (body(shape=(steps + 1, n), needs_grad=True) for _ in range(2))
    push, late = (body(shape=(steps, n), needs_grad=True) for _ in range(2))
    inputs = scalar(dtype, (steps, n_inputs), needs_grad=True)
    sum1, hidden = (scalar(dtype, (steps, n_hidden), needs_grad=True) for _ in range(2))
    sum2 = scalar(dtype, (steps, m), needs_grad=True)
    loss = scalar(dtype, (), needs_grad=True)
    parameters = {name: scalar(dtype, w.shape, needs_grad=True) for name, w in weights.items()}
    w1, b1, w2, b2 = parameters.values()
    half, inverse, anchors = vector(shape=n), body(shape=n), vector(shape=(m, 2))
    ends, material = ti.types.vector(2, ti.i32).field(shape=m), body(shape=m)
    for name, values in weights.items():
        parameters[name].from_numpy(values)
    half.from_numpy(robot.halves)
    inverse.from_numpy(robot.inverse_mass)
    anchors.from_numpy(robot.anchors)
    ends.from_numpy(robot.ends)
    material.from_numpy(robot.material)
    for k in range(n):
        x[0, k] = robot.places[k]

    # One iteration of each loop: a kernel that calls a function with loops is not differentiated.
    @ti.func
    def sense(t, k):
        j = n_clock + 6 * k
        place, speed = scene.sense_gain * (x[t, k] - x[t, head]), scene.sense_gain * v[t, k]
        inputs[t, j], inputs[t, j + 1] = place.x, place.y
        inputs[t, j + 2], inputs[t, j + 3] = speed.x, speed.y
        inputs[t, j + 4], inputs[t, j + 5] = scene.sense_gain * x[t, k].z, speed.z

    @ti.func
    def pull(t, s):
        rest_length, stiffness, actuation = material[s]
        a, b = ends[s]
        r_a, r_b = turned(anchors[s, 0], x[t, a].z), turned(anchors[s, 1], x[t, b].z)
        d = x[t, a].xy + r_a - x[t, b].xy - r_b
        length = d.norm() + 1e-4
        target = rest_length * (1.0 + actuation * ti.tanh(b2[s] + sum2[t, s]))
        impulse = h * (length - target) * stiffness / length * d
        if rest_length == 0.0:  # a joint stops the two points relative to each other
            apart = speed_at(r_a, v[t, a]) - speed_at(r_b, v[t, b])
            speed = apart.norm() + 0.1
            along = apart / speed
            yielding = give(inverse[a], r_a, along) + give(inverse[b], r_b, along)
            impulse += speed / yielding * along
        push[t, a] -= inverse[a] * moments(r_a, impulse)
        push[t, b] += inverse[b] * moments(r_b, impulse)

    @ti.func
    def touch(t, k, corner):
        side = vec2(corner % 2 * 2 - 1, corner // 2 * 2 - 1)
        r = turned(side * half[k], x[t, k].z)
        u = speed_at(r, v[t, k]) + vec2(0.0, fall)
        height = x[t, k].y + r.y - scene.floor
        after = height + h * u.y
        if after < 0.0:
            rise = give(inverse[k], r, vec2(0.0, 1.0))
            slide = give(inverse[k], r, vec2(1.0, 0.0))
            stop = ti.max(-u.y, 0.0) / rise
            held = scene.friction * stop
            bounce = vec2(ti.math.clamp(-u.x / slide, -held, held), stop)
            gain = inverse[k] * moments(r + h * u, bounce)
            if impacts and height > 0.0:  # unchanged until the impact
                late[t, k] -= ti.min(height / ti.max(-u.y, 1e-3), h) * gain
            lift = vec2(0.0, -h * scene.penalty * after / rise)
            push[t, k] += gain + inverse[k] * moments(r + h * u, lift)

    @ti.func
    def move(t, k):
        after = decay * v[t, k] + push[t, k] + vec3(0.0, fall, 0.0)
        v[t + 1, k] = after
        x[t + 1, k] = x[t, k] + h * after + late[t, k]

    @ti.kernel
    def step(t: int):
        ti.loop_config(serialize=True)
        for j in range(n_clock):
            inputs[t, j] = ti.sin(scene.clock_rate * h * t + 2.0 * ti.math.pi * j / n_clock)
        ti.loop_config(serialize=True)
        for k in range(n):
            sense(t, k)
        ti.loop_config(serialize=True)
        for axis in range(2):
            inputs[t, n_inputs - 2 + axis] = vec2(scene.goal)[axis]
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
            for corner in range(4):
                touch(t, k, corner)
        ti.loop_config(serialize=True)
        for k in range(n):
            move(t, k)

    @ti.kernel
    def measure():
        loss[None] = (x[steps, head].xy - vec2(scene.goal)).norm()

    def run():
        clear(push, late, sum1, sum2)
        for t in range(steps):
            step(t)
        measure()

    history = x, v, push, late, inputs, sum1, hidden, sum2
    return Peer(run, loss, parameters, history, constants=(half, inverse, anchors, ends, material))
