"""The wave equation and the material points of `benchmarks/memory.py` in plain Taichi.

Written as Taichi's autodiff requires: every state has a time axis, including the grid, since
overwritten values have no gradient. The gradient kernels are called by hand.
"""

from typing import Any

import numpy as np
import taichi as ti


class _Peer:
    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.nbytes = 0
        self.fields: list[Any] = []

    def scalars(self, *shape: int) -> Any:
        self.nbytes += 8 * int(np.prod(shape))
        self.fields.append(ti.field(ti.f32, shape=shape, needs_grad=True))
        return self.fields[-1]

    def vectors(self, *shape: int) -> Any:
        self.nbytes += 16 * int(np.prod(shape))
        self.fields.append(ti.Vector.field(2, ti.f32, shape=shape, needs_grad=True))
        return self.fields[-1]

    def matrices(self, *shape: int) -> Any:
        self.nbytes += 32 * int(np.prod(shape))
        self.fields.append(ti.Matrix.field(2, 2, ti.f32, shape=shape, needs_grad=True))
        return self.fields[-1]

    def forward(self) -> None:
        """Simulate and measure the loss."""
        raise NotImplementedError

    def backward(self) -> None:
        """Run the gradient kernels from the last to the first."""
        raise NotImplementedError

    def differentiate(self) -> None:
        """Simulate and compute the gradient."""
        self.forward()
        self.backward()


class WaveTaichi(_Peer):
    """u[t + 1] = 2 u[t] - u[t - 1] + k lap u[t]; the gradient is with respect to k.

    Args:
        steps: Number of steps.
        pulse: Displacement at the start, shape (n, n); at rest.
        stiffness: k, shape (n, n).
    """

    def __init__(self, steps: int, pulse: np.ndarray, stiffness: np.ndarray) -> None:
        super().__init__(steps)
        n = len(pulse)
        self.pulse = pulse
        # An ndarray: a field of more than 2^31 bytes ends the process.
        u: Any = ti.ndarray(ti.f32, (steps + 2, n, n), needs_grad=True)
        self.nbytes = 8 * (steps + 2) * n * n
        k, loss = self.scalars(n, n), self.scalars()
        self.u, self.k, self.loss = u, k, loss
        k.from_numpy(stiffness)

        @ti.kernel
        def step(u: ti.types.ndarray(ti.f32, ndim=3), t: ti.i32):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    around = u[t, i - 1, j] + u[t, i + 1, j] + u[t, i, j - 1] + u[t, i, j + 1]
                    change = k[i, j] * (around - 4.0 * u[t, i, j])
                    u[t + 1, i, j] = 2.0 * u[t, i, j] - u[t - 1, i, j] + change

        @ti.kernel
        def energy(u: ti.types.ndarray(ti.f32, ndim=3), t: ti.i32):
            for i, j in k:
                loss[None] += u[t, i, j] * u[t, i, j]

        @ti.kernel
        def start(u: ti.types.ndarray(ti.f32, ndim=3), first: ti.types.ndarray()):
            for i, j in k:
                u[0, i, j] = first[i, j]
                u[1, i, j] = first[i, j]

        self._step, self._energy, self._start = step, energy, start

    def forward(self) -> None:
        """Simulate and measure the loss."""
        self._start(self.u, self.pulse)
        self.loss[None] = 0.0
        for t in range(1, self.steps + 1):
            self._step(self.u, t)
        self._energy(self.u, self.steps + 1)

    def backward(self) -> None:
        """Run the gradient kernels from the last to the first."""
        for field in (self.u, self.k):
            field.grad.fill(0.0)
        self.loss.grad[None] = 1.0
        self._energy.grad(self.u, self.steps + 1)
        for t in range(self.steps, 0, -1):
            self._step.grad(self.u, t)

    def gradient(self) -> np.ndarray:
        """Return the gradient of k."""
        return self.k.grad.to_numpy()


class PointsTaichi(_Peer):
    """A fluid of material points; the gradient is with respect to the initial velocities.

    Args:
        steps: Number of steps.
        places: Positions at the start, shape (points, 2), in the unit square.
        speeds: Velocities at the start, same shape.
        n: Cells of the grid along each axis.
        h: Time step.
        stiffness: Pressure of a point that is compressed to volume zero.
        gravity: Acceleration.
    """

    def __init__(
        self,
        steps: int,
        places: np.ndarray,
        speeds: np.ndarray,
        n: int,
        h: float,
        stiffness: float,
        gravity: float,
    ) -> None:
        super().__init__(steps)
        points = len(places)
        self.places, self.speeds = places, speeds
        x, v = self.vectors(steps + 1, points), self.vectors(steps + 1, points)
        c, density = self.matrices(steps + 1, points), self.scalars(steps + 1, points)
        momentum, mass = self.vectors(steps, n, n), self.scalars(steps, n, n)
        velocity, loss = self.vectors(steps, n, n), self.scalars()
        self.v, self.loss = v, loss
        dx = 1.0 / n

        @ti.kernel
        def p2g(t: ti.i32):
            for p in range(points):
                base = ti.cast(x[t, p] * n - 0.5, ti.i32)
                f = x[t, p] * n - ti.cast(base, ti.f32)
                w = [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]
                stress = -h * stiffness * (density[t, p] - 1.0)
                affine = c[t, p] + stress * ti.Matrix([[1.0, 0.0], [0.0, 1.0]])
                for i, j in ti.static(ti.ndrange(3, 3)):
                    offset = ti.Vector([i, j])
                    weight = w[i][0] * w[j][1]
                    way = (ti.cast(offset, ti.f32) - f) * dx
                    momentum[t, base + offset] += weight * (v[t, p] + affine @ way)
                    mass[t, base + offset] += weight

        @ti.kernel
        def move(t: ti.i32):
            for i, j in ti.ndrange(n, n):
                new = ti.Vector([0.0, 0.0])
                if mass[t, i, j] > 0.0:
                    new = momentum[t, i, j] / mass[t, i, j]
                    new[1] -= h * gravity
                    if i < 3 and new[0] < 0.0:
                        new[0] = 0.0
                    if i > n - 3 and new[0] > 0.0:
                        new[0] = 0.0
                    if j < 3 and new[1] < 0.0:
                        new[1] = 0.0
                    if j > n - 3 and new[1] > 0.0:
                        new[1] = 0.0
                velocity[t, i, j] = new

        @ti.kernel
        def g2p(t: ti.i32):
            for p in range(points):
                base = ti.cast(x[t, p] * n - 0.5, ti.i32)
                f = x[t, p] * n - ti.cast(base, ti.f32)
                w = [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]
                new_v = ti.Vector([0.0, 0.0])
                new_c = ti.Matrix([[0.0, 0.0], [0.0, 0.0]])
                for i, j in ti.static(ti.ndrange(3, 3)):
                    offset = ti.Vector([i, j])
                    weight = w[i][0] * w[j][1]
                    way = ti.cast(offset, ti.f32) - f
                    g = velocity[t, base + offset]
                    new_v += weight * g
                    new_c += 4.0 * weight * n * g.outer_product(way)
                v[t + 1, p] = new_v
                c[t + 1, p] = new_c
                x[t + 1, p] = x[t, p] + h * new_v
                density[t + 1, p] = density[t, p] * (1.0 + h * (new_c[0, 0] + new_c[1, 1]))

        @ti.kernel
        def reach():
            for p in range(points):
                loss[None] += x[steps, p][0] / points

        @ti.kernel
        def start(at: ti.types.ndarray(), speed: ti.types.ndarray()):
            for p in range(points):
                x[0, p] = ti.Vector([at[p, 0], at[p, 1]])
                v[0, p] = ti.Vector([speed[p, 0], speed[p, 1]])
                density[0, p] = 1.0

        self._kernels = p2g, move, g2p
        self._start, self._reach = start, reach
        self._sums = momentum, mass

    def forward(self) -> None:
        """Simulate and measure the loss."""
        self._start(self.places, self.speeds)
        for field in (*self._sums, self.loss):
            field.fill(0.0)
        for t in range(self.steps):
            for kernel in self._kernels:
                kernel(t)
        self._reach()

    def backward(self) -> None:
        """Run the gradient kernels from the last to the first."""
        for field in self.fields:
            field.grad.fill(0.0)
        self.loss.grad[None] = 1.0
        self._reach.grad()
        for t in range(self.steps - 1, -1, -1):
            for kernel in reversed(self._kernels):
                kernel.grad(t)

    def gradient(self) -> np.ndarray:
        """Return the gradient of the velocities at the start."""
        return self.v.grad.to_numpy()[0]
