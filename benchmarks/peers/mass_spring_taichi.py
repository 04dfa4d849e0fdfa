"""The mass-spring robot in plain Taichi, differentiated by Taichi's own autodiff.

Written the way Taichi's autodiff needs it: every state has a time axis, so that nothing is ever
overwritten, and the sums of the layers are accumulated in fields. (Summed in a local variable,
their gradients are silently wrong and the process may crash: the loops of 32 and more iterations
outgrow Taichi's stack of 32 entries for the values of a local.)

Written also the way Taichi runs it fastest, unless told otherwise: the loops are serial, since
handing a dozen iterations to the thread pool costs several times more than running them, a step is
one kernel, and the gradient kernels are called by hand, since a `ti.ad.Tape` compiles kernels of
its own.
"""

from typing import Any

import numpy as np
import taichi as ti

from scenes.mass_spring import MassSpringScene, Network


class MassSpringTaichi:
    """A simulation of a fixed number of steps, to be made after `ti.init`.

    Args:
        scene: Robot and world.
        steps: Number of updates; the fields hold one state more.
        dtype: ti.f32 or ti.f64, which must be the `default_fp` of `ti.init` too.
        fused: Whether a step is one kernel rather than three.
        serial: Whether the loops run in the calling thread rather than in the thread pool.

    Attributes:
        x: Positions [m], shape (steps + 1, n) of 2-vectors.
        loss: Minus the final x of the head [m], 0-D.
        parameters: The weights of the network by name.
        bytes_held: Bytes of all differentiable fields, their gradients included.
    """

    def __init__(
        self,
        scene: MassSpringScene,
        steps: int,
        dtype=ti.f32,
        *,
        fused: bool = True,
        serial: bool = True,
    ):
        robot = scene.robot
        n, m = len(robot.positions), len(robot.springs)
        n_hidden, n_inputs, n_clock = scene.n_hidden, scene.n_inputs, scene.n_clock
        dt, rate, gain, floor = scene.time_step, scene.clock_rate, scene.sense_gain, scene.floor
        decay, fall = float(np.exp(-scene.drag * dt)), dt * scene.gravity
        goal_x, goal_y = (float(value) for value in scene.goal)
        phase, head = 2 * np.pi / n_clock, robot.head

        self.steps = steps
        self.bytes_held = 0
        self._np_dtype = np.dtype(np.float32 if dtype == ti.f32 else np.float64)

        def scalars(*shape: int) -> Any:
            self.bytes_held += 2 * int(np.prod(shape)) * self._np_dtype.itemsize
            return ti.field(dtype, shape=shape, needs_grad=True)

        def vectors(*shape: int) -> Any:
            self.bytes_held += 4 * int(np.prod(shape)) * self._np_dtype.itemsize
            return ti.Vector.field(2, dtype, shape=shape, needs_grad=True)

        def constants(values: np.ndarray, kind) -> Any:
            made = ti.field(kind, shape=values.shape)
            np_dtype = np.int32 if kind == ti.i32 else self._np_dtype
            made.from_numpy(np.ascontiguousarray(values, np_dtype))
            return made

        x, v = vectors(steps + 1, n), vectors(steps + 1, n)
        push, center = vectors(steps, n), vectors(steps)
        inputs = scalars(steps, n_inputs)
        sum1, hidden = scalars(steps, n_hidden), scalars(steps, n_hidden)
        sum2, activation = scalars(steps, m), scalars(steps, m)
        w1, b1 = scalars(n_hidden, n_inputs), scalars(n_hidden)
        w2, b2 = scalars(m, n_hidden), scalars(m)
        loss = scalars()
        spring_a = constants(robot.springs[:, 0], ti.i32)
        spring_b = constants(robot.springs[:, 1], ti.i32)
        rest = constants(robot.rest_length, dtype)
        stiffness = constants(robot.stiffness, dtype)
        actuation = constants(robot.actuation, dtype)

        # One iteration of each loop: the kernels below must spell out the loops themselves, since
        # Taichi refuses to differentiate a kernel that calls a function with loops.
        @ti.func
        def sense_mass(t, k):
            place = gain * (x[t, k] - center[t])
            speed = gain * v[t, k]
            inputs[t, n_clock + 4 * k] = place[0]
            inputs[t, n_clock + 4 * k + 1] = place[1]
            inputs[t, n_clock + 4 * k + 2] = speed[0]
            inputs[t, n_clock + 4 * k + 3] = speed[1]

        @ti.func
        def sense_goal(t):
            inputs[t, n_inputs - 2] = goal_x - center[t][0]
            inputs[t, n_inputs - 1] = goal_y - center[t][1]

        @ti.func
        def pull_spring(t, i):
            a, b = spring_a[i], spring_b[i]
            d = x[t, a] - x[t, b]
            length = d.norm() + 1e-4
            target = rest[i] * (1.0 + actuation[i] * activation[t, i])
            impulse = dt * (length - target) * stiffness[i] / length * d
            push[t, a] -= impulse
            push[t, b] += impulse

        @ti.func
        def move_mass(t, i):
            free = decay * v[t, i] + push[t, i] + ti.Vector([0.0, fall])
            height = x[t, i][1] - floor
            after = free
            time = 0.0 * height
            if height + dt * free[1] < 0.0 and free[1] < -1e-4:
                time = -height / free[1]
                after = ti.Vector([0.0, 0.0])
            v[t + 1, i] = after
            x[t + 1, i] = x[t, i] + time * free + (dt - time) * after

        @ti.kernel
        def think(t: ti.i32):
            ti.loop_config(serialize=serial)
            for k in range(n):
                center[t] += x[t, k] / n
            ti.loop_config(serialize=serial)
            for j in range(n_clock):
                inputs[t, j] = ti.sin(rate * t * dt + phase * j)
            ti.loop_config(serialize=serial)
            for k in range(n):
                sense_mass(t, k)
            ti.loop_config(serialize=serial)
            for _ in range(1):
                sense_goal(t)
            ti.loop_config(serialize=serial)
            for i in range(n_hidden):
                for j in range(n_inputs):
                    sum1[t, i] += w1[i, j] * inputs[t, j]
            ti.loop_config(serialize=serial)
            for i in range(n_hidden):
                hidden[t, i] = ti.tanh(b1[i] + sum1[t, i])
            ti.loop_config(serialize=serial)
            for i in range(m):
                for j in range(n_hidden):
                    sum2[t, i] += w2[i, j] * hidden[t, j]
            ti.loop_config(serialize=serial)
            for i in range(m):
                activation[t, i] = ti.tanh(b2[i] + sum2[t, i])

        @ti.kernel
        def pull(t: ti.i32):
            ti.loop_config(serialize=serial)
            for i in range(m):
                pull_spring(t, i)

        @ti.kernel
        def move(t: ti.i32):
            ti.loop_config(serialize=serial)
            for i in range(n):
                move_mass(t, i)

        @ti.kernel
        def step(t: ti.i32):
            ti.loop_config(serialize=serial)
            for k in range(n):
                center[t] += x[t, k] / n
            ti.loop_config(serialize=serial)
            for j in range(n_clock):
                inputs[t, j] = ti.sin(rate * t * dt + phase * j)
            ti.loop_config(serialize=serial)
            for k in range(n):
                sense_mass(t, k)
            ti.loop_config(serialize=serial)
            for _ in range(1):
                sense_goal(t)
            ti.loop_config(serialize=serial)
            for i in range(n_hidden):
                for j in range(n_inputs):
                    sum1[t, i] += w1[i, j] * inputs[t, j]
            ti.loop_config(serialize=serial)
            for i in range(n_hidden):
                hidden[t, i] = ti.tanh(b1[i] + sum1[t, i])
            ti.loop_config(serialize=serial)
            for i in range(m):
                for j in range(n_hidden):
                    sum2[t, i] += w2[i, j] * hidden[t, j]
            ti.loop_config(serialize=serial)
            for i in range(m):
                activation[t, i] = ti.tanh(b2[i] + sum2[t, i])
            ti.loop_config(serialize=serial)
            for i in range(m):
                pull_spring(t, i)
            ti.loop_config(serialize=serial)
            for i in range(n):
                move_mass(t, i)

        @ti.kernel
        def measure():
            loss[None] = -x[steps, head][0]

        @ti.kernel
        def clear_sums():
            for t in range(steps):
                center[t] = ti.Vector([0.0, 0.0])
                for k in range(n):
                    push[t, k] = ti.Vector([0.0, 0.0])
                for i in range(n_hidden):
                    sum1[t, i] = 0.0
                for i in range(m):
                    sum2[t, i] = 0.0

        @ti.kernel
        def clear_gradients():
            for t in range(steps + 1):
                for k in range(n):
                    x.grad[t, k] = ti.Vector([0.0, 0.0])
                    v.grad[t, k] = ti.Vector([0.0, 0.0])
            for t in range(steps):
                center.grad[t] = ti.Vector([0.0, 0.0])
                for k in range(n):
                    push.grad[t, k] = ti.Vector([0.0, 0.0])
                for j in range(n_inputs):
                    inputs.grad[t, j] = 0.0
                for i in range(n_hidden):
                    sum1.grad[t, i] = 0.0
                    hidden.grad[t, i] = 0.0
                for i in range(m):
                    sum2.grad[t, i] = 0.0
                    activation.grad[t, i] = 0.0
            for i in range(n_hidden):
                b1.grad[i] = 0.0
                for j in range(n_inputs):
                    w1.grad[i, j] = 0.0
            for i in range(m):
                b2.grad[i] = 0.0
                for j in range(n_hidden):
                    w2.grad[i, j] = 0.0

        self.x, self.loss = x, loss
        self.parameters = {"w1": w1, "b1": b1, "w2": w2, "b2": b2}
        self._step = [step] if fused else [think, pull, move]
        self._measure = measure
        self._clear_sums, self._clear_gradients = clear_sums, clear_gradients
        states = np.zeros((steps + 1, n, 2), self._np_dtype)
        states[0] = robot.positions
        x.from_numpy(states)

    def set_network(self, network: Network) -> None:
        """Copy the weights in."""
        for name, values in network.arrays().items():
            self.parameters[name].from_numpy(values.astype(self._np_dtype))

    def forward(self) -> None:
        """Simulate, filling all states and the loss."""
        self._clear_sums()
        for t in range(self.steps):
            for kernel in self._step:
                kernel(t)
        self._measure()

    def backward(self) -> None:
        """Replay in reverse what `forward` ran, filling the gradients."""
        self._clear_gradients()
        self.loss.grad[None] = 1.0
        self._measure.grad()
        for t in reversed(range(self.steps)):
            for kernel in reversed(self._step):
                kernel.grad(t)

    def gradients(self) -> dict[str, np.ndarray]:
        """The gradients of the weights by name."""
        return {name: made.grad.to_numpy() for name, made in self.parameters.items()}
